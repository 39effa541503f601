"""A JupyterLab to drive with a browser: started on a folder, stopped at the end, quiet about news."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# JavaScript: the kernel of the notebook that is open has nothing to do.
IDLE = """() => {
    const open = window.jupyterapp && window.jupyterapp.shell.currentWidget;
    const session = open && open.sessionContext && open.sessionContext.session;
    return Boolean(session && session.kernel && session.kernel.status === 'idle');
}"""


@dataclass
class Server:
    """A JupyterLab on a folder of notebooks."""

    address: str
    folder: Path

    def url(self, name: str) -> str:
        """Return where a browser opens the notebook *name*, without what it had open before."""
        return f"{self.address}/lab/tree/{name}?token=secret&reset"

    def write(self, name: str, *cells: str) -> str:
        """Write a notebook of code cells; return its name."""
        content = {
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"cell-{number}",
                    "execution_count": None,
                    "metadata": {},
                    "outputs": [],
                    "source": source,
                }
                for number, source in enumerate(cells)
            ],
            "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        (self.folder / name).write_text(json.dumps(content), encoding="utf-8")
        return name


@contextmanager
def jupyterlab(folder: Path) -> Iterator[Server]:
    """Yield a JupyterLab that serves *folder*."""
    settings = folder.parent / "settings"
    news = settings / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    news.parent.mkdir(parents=True, exist_ok=True)
    news.write_text('{"fetchNews": "false"}', encoding="utf-8")  # else a question lies over the page
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        f"--ServerApp.root_dir={folder}",
        f"--ServerApp.port={port}",
        "--IdentityProvider.token=secret",
        f"--LabApp.user_settings_dir={settings}",
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.extension_manager=readonly",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    with (folder.parent / "jupyterlab.log").open("w") as log:
        started = subprocess.Popen(command, stdout=log, stderr=log, env=dict(os.environ), cwd=folder)
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(f"{address}/api?token=secret")
            yield Server(address, folder)
        finally:
            started.terminate()
            started.wait(timeout=30)


def _wait_for(address: str) -> None:
    for _ in range(240):
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise AssertionError(f"JupyterLab does not answer at {address}")
