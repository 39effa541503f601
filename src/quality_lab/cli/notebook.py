"""`quality-lab notebook`."""

from __future__ import annotations

import os
import subprocess
import sys

import click

from quality_lab.cli.options import example, with_lab
from quality_lab.errors import InputError
from quality_lab.lab import Lab


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog=example("quality-lab notebook", "quality-lab notebook --no-browser --port 8899"),
)
@click.argument("jupyter_options", nargs=-1, type=click.UNPROCESSED)
@with_lab
def notebook(lab: Lab, jupyter_options: tuple[str, ...]) -> int:
    """Open JupyterLab on the notebooks of this home; other options go to JupyterLab.

    Templates that the home lacks are copied into its notebooks/ first; those that are there stay as they are.
    """
    folder = lab.notebooks()
    surroundings = {**os.environ, "QUALITY_LAB_HOME": str(lab.home)}
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}", *jupyter_options]
    try:
        return subprocess.run(command, env=surroundings, check=False).returncode and 1
    except OSError as error:
        raise InputError(f"JupyterLab cannot be started: {error}") from error
