"""The command line as a process of its own: with bounds, without root, and with its peak of memory told."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# What a process was before it became this program counts in its `ru_maxrss`; VmHWM begins anew.
_RUNNER = """
import atexit, sys
told = sys.argv.pop(1)
def tell():
    with open("/proc/self/status") as status:
        peak = next((line.split()[1] for line in status if line.startswith("VmHWM")), "0")
    try:
        with open(told, "w") as file:
            file.write(peak)
    except OSError:
        pass
atexit.register(tell)
from quality_lab.cli import main
main()
"""

# A first load brings in whatever is imported late: the interpreter itself may lie where only root may look.
_WITHOUT_ROOT = """
import contextlib, io, json, os, pwd, sys
from quality_lab.cli import main
warm, arguments = json.loads(sys.argv[1])
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    for command in warm:
        with contextlib.suppress(SystemExit):
            main(command)
if os.geteuid() == 0:
    nobody = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setgid(nobody.pw_gid)
    os.setuid(nobody.pw_uid)
main(arguments)
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str
    peak_bytes: int  # of memory that it really held

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


def command(*arguments: object) -> list[str]:
    """Return what starts `quality-lab ARGUMENTS`."""
    return [sys.executable, "-m", "quality_lab", *map(str, arguments)]


def run_apart(
    *arguments: object, environment: dict[str, str] | None = None, before: Callable[[], object] | None = None
) -> Ended:
    """Return how the command ended in a process of its own, in which *before* was called first."""
    with tempfile.NamedTemporaryFile() as told:
        ran = subprocess.run(
            [sys.executable, "-c", _RUNNER, told.name, *map(os.fspath, map(str, arguments))],
            capture_output=True,
            check=False,
            env={**os.environ, **(environment or {})},
            preexec_fn=before,
        )
        peak = int(Path(told.name).read_text() or "0") * 1024
    return Ended(ran.returncode, ran.stdout.decode(), ran.stderr.decode(), peak)


def run_without_root(*arguments: object, warm: list[list[object]]) -> Ended:
    """Return how the command ended for a user who may do nothing special; *warm* are commands run before."""
    words = json.dumps([[list(map(str, one)) for one in warm], list(map(str, arguments))])
    ran = subprocess.run(
        [sys.executable, "-c", _WITHOUT_ROOT, words], capture_output=True, text=True, check=False
    )
    return Ended(ran.returncode, ran.stdout, ran.stderr, 0)


def largest_file(size: int) -> Callable[[], None]:
    """Return what lets a process write no file larger than *size* bytes."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
