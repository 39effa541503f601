"""How the journal is kept once a meeting is over: the git command for it, or why there is none to show."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

_FOLDER = "data/journal"
_STANDS = f"What was said stands in {_FOLDER} all the same."


@dataclass(frozen=True, slots=True)
class Keeping:
    """A command for the shell, or a sentence that says why none would do anything."""

    command: str | None
    why_not: str | None = None


def keeping(home: Path, *, lines: int, message: str) -> Keeping:
    """Return the command that commits the journal of *home* with *message*; git is asked, and changes nothing.

    There is none where the journal has no *lines* of the meeting, where git is not installed, and where the
    journal lies in no git work tree or in a folder that git ignores.
    """
    if not lines or not (home / _FOLDER).is_dir():
        return Keeping(None, "The journal has no line of this meeting, so there is nothing to keep.")
    inside = _git(home, "rev-parse", "--is-inside-work-tree")
    if inside is None:
        return Keeping(None, f"No git command is shown: git does not answer here. {_STANDS}")
    if inside.stdout.strip() != "true":
        return Keeping(None, f"No git command is shown: {home} is in no git work tree. {_STANDS}")
    ignored = _git(home, "check-ignore", "--verbose", "--", _FOLDER)
    if ignored is not None and ignored.returncode == 0:
        rule = ignored.stdout.partition("\t")[0]
        return Keeping(None, f"No git command is shown: git ignores {_FOLDER} here ({rule}). {_STANDS}")
    return Keeping(f"git add {_FOLDER} && git commit -m {shlex.quote(message)} -- {_FOLDER}")


def _git(home: Path, *given: str) -> subprocess.CompletedProcess[str] | None:
    """Return what git answers in *home*; None where there is no git that answers."""
    try:
        return subprocess.run(
            ["git", *given],
            cwd=home,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
