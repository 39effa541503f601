"""Files that are written whole: whoever reads one finds the old content or the new, and never a part."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from quality_lab.errors import OutputError


def write_whole(path: Path, content: str, *, mode: int | None = None, errors: str = "strict") -> None:
    """Lay *content* down at *path* in one step, on the disk when this returns.

    Without *mode* a file that is there keeps its own, and a new one is readable by everybody. *errors* says what
    becomes of a lone surrogate, as `str.encode` takes it.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "minutes.md"
    >>> write_whole(path, "Nothing was decided.")
    >>> path.read_text(encoding="utf-8"), [one.name for one in path.parent.iterdir()]
    ('Nothing was decided.', ['minutes.md'])

    Raises: OutputError where the file cannot be written; then what was there is there still.
    """
    target = path.resolve()
    try:
        if mode is None:
            mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
        handle, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors=errors, newline="\n") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(draft).chmod(mode)
            Path(draft).replace(target)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error
