"""Files that are replaced in one step, and a lock for those who write them in turn."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quality_lab.errors import OutputError

WAIT_S = 30.0


def replace_file(path: Path, content: str, *, mode: int | None = None) -> None:
    """Write *content* so that a reader sees the old file or the new one, never a part.

    Without *mode* an existing file keeps its own, and a new one is readable by everybody.

    Raises:
        OutputError: the file cannot be written.
    """
    target = path.resolve()
    try:
        if mode is None:
            mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(mode)
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error}") from error


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
