"""What reviewers are called: `data/people.toml` gives ids their names, and changes nobody's identity.

    [people]
    3 = "Dana"
    "dana@example.com" = "Dana"

An id goes on counting, joining and being exported as itself; a name is what people read in its place.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from quality_lab.errors import InputError

Row = TypeVar("Row")
_PERSONS = frozenset({"reviewer", "author", "owner"})  # fields of rows that hold the id of one


class Person(str):
    """The id of a person, which it is equal to and written as; `name` is what to show to readers.

    >>> dana = Person("3", "Dana")
    >>> dana == "3", f"{dana}", shown(dana), shown("5")
    (True, '3', 'Dana', '5')
    """

    __slots__ = ("name",)
    name: str

    def __new__(cls, id_: str, name: str) -> Person:
        """Return *id_* with its *name*."""
        person = super().__new__(cls, id_)
        person.name = name
        return person

    def __reduce__(self) -> tuple[type[Person], tuple[str, str]]:
        """Return how it is copied."""
        return Person, (str(self), self.name)


def shown(text: str) -> str:
    """Return what readers are to see of *text*: the name, where it is a person's id that has one."""
    return text.name if isinstance(text, Person) else text


@dataclasses.dataclass(frozen=True, slots=True)
class People:
    """The names of people by their ids."""

    names: Mapping[str, str]

    def __bool__(self) -> bool:
        """Say whether anybody has a name."""
        return bool(self.names)

    def person(self, id_: str) -> str:
        """Return *id_* with its name beside it, or as it is where nobody named it."""
        name = self.names.get(id_)
        return id_ if name is None else Person(id_, name)

    def name(self, id_: str) -> str:
        """Return the name to show for *id_*: itself where nobody named it."""
        return self.names.get(id_, id_)

    def ids(self, reviewers: Iterable[str]) -> list[str]:
        """Return *reviewers*, each an id or a name, and beside a name all ids that have it."""
        found = []
        for reviewer in reviewers:
            found += [reviewer, *(id_ for id_, name in self.names.items() if name == reviewer)]
        return list(dict.fromkeys(found))

    def one_id(self, ids: Iterable[str]) -> dict[str, str]:
        """Return for each of the *ids* the one that stands for its person: of those that share a name the least.

        >>> People({"3": "Dana", "dana@example.com": "Dana"}).one_id(["dana@example.com", "3", "5"])
        {'3': '3', '5': '5', 'dana@example.com': '3'}
        """
        first: dict[str, str] = {}
        return {id_: first.setdefault(self.name(id_), id_) for id_ in sorted(set(ids))}

    def named(self, rows: Iterable[Row]) -> list[Row]:
        """Return *rows* (dataclasses) with names beside the ids of reviewers, authors and owners in them."""
        return [self._named(row) for row in rows] if self.names else list(rows)

    def _named(self, row: Row) -> Row:
        changed: dict[str, Any] = {}
        row_class: type = type(row)
        for name in _fields(row_class):
            value = getattr(row, name)
            if isinstance(value, str):
                person = self.person(value)
                if person is not value:
                    changed[name] = person
            elif value:
                changed[name] = tuple(
                    self._named(inner) if dataclasses.is_dataclass(inner) else inner for inner in value
                )
        return dataclasses.replace(row, **changed) if changed else row  # type: ignore[type-var]  # rows are dataclasses


@cache
def _fields(row_class: type) -> tuple[str, ...]:
    """Return the fields that hold a person's id, or a tuple of records that may."""
    found = []
    for field in dataclasses.fields(row_class):
        holds_records = str(field.type).startswith("tuple[") and not str(field.type).startswith("tuple[str")
        if field.name in _PERSONS or holds_records:
            found.append(field.name)
    return tuple(found)


NOBODY = People({})


def people_path(home: Path) -> Path:
    """Return where a home's names lie."""
    return home / "data" / "people.toml"


def read_people(home: Path) -> People:
    """Return the names that the home's `data/people.toml` gives; none where there is no such file.

    Ids stand in a table `people`, or at the top of the file.

    Raises: InputError where the file cannot be read, is no TOML, or has something else than names in it.
    """
    path = people_path(home)
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        return NOBODY
    except (OSError, ValueError) as problem:
        raise InputError(f"{path}: cannot be read: {problem}") from None
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f'{path}: wanted TOML, such as 3 = "Dana" below [people]; {problem}') from None
    below = table.pop("people", {})
    if not isinstance(below, dict):
        raise InputError(f"{path}: people: wanted a table of names by id, got {below!r:.80}")
    names = {}
    for id_, name in [*table.items(), *below.items()]:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{path}: {id_}: wanted a name in quotes, got {name!r:.80}")
        names[id_] = name.strip()
    return People(names)
