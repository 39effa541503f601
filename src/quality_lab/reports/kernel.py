"""A kernel of this very interpreter, started before anything else so that it wakes while we import."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from quality_lab.errors import NotFine

_LONGEST_SOCKET = 90  # characters; the operating system allows a little over a hundred
_WARM = "quality_lab.reports.warm"


@contextmanager
def early_kernel(folder: Path) -> Iterator[Any]:
    """Yield the manager of a kernel that works in *folder*; it is shut down afterwards, come what may.

    It runs this interpreter whatever kernels the user has registered, without the user's IPython profile,
    start-up files and history, and it speaks over sockets that no other user can reach.
    """
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager  # a blocking one hides that its kernel died
    from jupyter_core.utils import run_sync

    clients = []

    class Manager(AsyncKernelManager):
        """A manager that remembers its clients: whoever did not start a kernel leaves their sockets open."""

        def client(self, **options: Any) -> Any:
            clients.append(super().client(**options))
            return clients[-1]

    own = Path(tempfile.mkdtemp(prefix="ql-"))
    try:
        manager = Manager(kernel_name="python3")
        manager._kernel_spec = KernelSpec(  # the only way past the user's own list of kernels
            argv=[
                sys.executable,
                "-Xfrozen_modules=off",
                "-m",
                "ipykernel_launcher",
                "-f",
                "{connection_file}",
                "--HistoryManager.enabled=False",
                f"--IPKernelApp.exec_lines=__import__({_WARM!r})",
            ],
            display_name="Python 3",
            language="python",
        )
        manager.connection_file = str(own / "k.json")
        if os.name == "posix" and len(manager.connection_file) < _LONGEST_SOCKET:
            manager.transport = "ipc"
            manager.ip = str(own / "k")
        environment = {**os.environ, "IPYTHONDIR": str(own / "ipython"), "PLOTLY_RENDERER": "plotly_mimetype"}
        try:
            run_sync(manager.start_kernel)(cwd=str(folder), env=environment)
        except OSError as error:
            raise NotFine(f"no kernel could be started in {folder}: {error}") from error
        try:
            yield manager
        finally:
            for client in clients:
                client.stop_channels()
            run_sync(manager.shutdown_kernel)(now=True)
    finally:
        shutil.rmtree(own, ignore_errors=True)
