"""A lock for those who write one file in turn."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quality_lab.errors import OutputError

WAIT_S = 30.0


@contextmanager
def file_lock(path: Path, *, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold the lock of *path*, a hidden file beside it, while the block runs.

    Raises:
        OutputError: the folder cannot be written, or another process held the lock for *wait_s* seconds.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = (path.parent / f".{path.name}.lock").open("a")
    except OSError as error:
        raise OutputError(f"{path} cannot be locked for writing: {error}") from error
    with lock:
        gives_up = time.monotonic() + wait_s
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > gives_up:
                    held = f"another process has been writing {path} for {wait_s:g} seconds"
                    raise OutputError(held) from None
                time.sleep(0.02)
        yield  # closing the file releases the lock
