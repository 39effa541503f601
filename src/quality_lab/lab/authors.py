"""Under which id the journal writes what somebody says, whether an id was given or a name."""

from __future__ import annotations

import getpass
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from quality_lab.journal import Journal
from quality_lab.people import read_people


@dataclass(frozen=True, slots=True)
class Author:
    """Who says something: the id that the journal has, and what to tell where that is not what was given."""

    id: str
    notice: str | None = None


def author_of(home: Path, given: str | None) -> Author:
    """Return who is meant by *given*, an id or a name of the home's `people.toml`; nobody is git's `user.name`.

    An id that stands in the file, or a name that does not, is taken as it is. A name is written as the id that
    has it; of several ids as the one that wrote in the journal last, else as the first in the file.

    Raises: InputError where the home's `people.toml` is none.
    """
    wanted = given or reviewer_name()
    names = read_people(home).names
    ids = [id_ for id_, name in names.items() if name == wanted.strip()]
    if wanted in names or not ids:
        return Author(wanted)
    one = ids[0]
    why = "the id of that name"
    if len(ids) > 1:
        used = _wrote_last(Journal(home / "data" / "journal"), ids)
        one = used or one
        kept = "wrote in the journal last" if used else "comes first there"
        why = f"of {', '.join(ids)} the id that {kept}"
    return Author(one, f"{wanted} is written as {one}, in people.toml {why}")


def authors_of(home: Path, given: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the ids of several people, each person once, and what to tell of names and of whom was named twice.

    Raises: InputError where the home's `people.toml` is none.
    """
    people = read_people(home)
    ids: dict[str, str] = {}
    notices = []
    for one in given:
        author = author_of(home, one)
        if author.notice is not None:
            notices.append(author.notice)
        name = people.name(author.id)
        if name in ids:
            notices.append(f"{name} is named twice among the reviewers, and counted once")
        ids.setdefault(name, author.id)
    return list(ids.values()), list(dict.fromkeys(notices))


def ids_of_person(home: Path, given: str) -> list[str]:
    """Return every id under which this person, an id or a name, may have written; the name itself is one."""
    people = read_people(home)
    name = people.name(given)
    return list(dict.fromkeys([given, *people.ids([name])]))


def _wrote_last(journal: Journal, ids: list[str]) -> str | None:
    """Return which of *ids* wrote the newest line of the journal that is any of theirs."""
    lines = (line for shelf in ("labels", "decisions", "cases", "queues") for line in journal.lines(shelf))
    theirs = (
        (str(line.get("created_at")), str(line["author"])) for line in lines if line.get("author") in ids
    )
    return max(theirs, default=("", None))[1]


def reviewer_name() -> str:
    """Return git's `user.name`, else the name of the account."""
    try:
        found = subprocess.run(
            ["git", "config", "user.name"], capture_output=True, text=True, timeout=5, check=False
        )
        name = found.stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        name = ""
    return name or getpass.getuser()
