"""Which folder is the home of a lab: the one that was named, else the nearest that has a `data/`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from quality_lab.errors import UsageError

VARIABLE = "QUALITY_LAB_HOME"


@dataclass(frozen=True, slots=True)
class Home:
    """The folder under which `data/` and `reports/` lie, and how it was found."""

    path: Path
    found: str  # where it was looked for, as words that may follow "the home is …"


def find_home(named: Path | str | None, *, environment: Mapping[str, str], start: Path) -> Home:
    """Return the home: *named*, else `QUALITY_LAB_HOME`, else the nearest with a `data/` from *start* up.

    Where there is none, it is *start* itself, and the first load makes its `data/`.

    Raises: UsageError if the home that was named is something else than a folder.
    """
    if named is not None:
        return Home(_folder(Path(named), "the home that was named"), "as named")
    if environment.get(VARIABLE):
        return Home(_folder(Path(environment[VARIABLE]), VARIABLE), f"from {VARIABLE}")
    for folder in (start, *start.parents):
        if (folder / "data").is_dir():
            return Home(folder, f"the nearest folder at or above {start} that has a data/")
    return Home(start, f"the current folder: neither it nor one above has a data/, and {VARIABLE} is not set")


def _folder(path: Path, what: str) -> Path:
    whole = path.expanduser().absolute()
    if whole.exists() and not whole.is_dir():
        raise UsageError(f"{what} is to be a folder; {path} is not one")
    return whole
