"""What stands in a home-grown file: its fields, how often each comes, and what it holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from quality_lab.errors import InputError
from quality_lab.formats.exact import is_json
from quality_lab.formats.mapping.csv_rows import csv_rows, delimiter_of, is_table
from quality_lab.formats.mapping.paths import Node, written_path
from quality_lab.formats.streams import Stream
from quality_lab.formats.units import raw_units
from quality_lab.records import ReadNotes

_RECORDS_LOOKED_AT = 2_000
_BYTES_LOOKED_AT = 16 << 20
_DEEPEST = 5
_ELEMENTS_LOOKED_AT = 50
_VALUES_KEPT = 500
_NOT_A_LETTER = re.compile(r"[\W_]+")


@dataclass(slots=True)
class Field:
    """One field of a kind of record."""

    keys: tuple[str, ...]  # from the top of the record; "[]" is every element of a list
    count: int = 0  # how often it came
    kinds: Counter[str] = field(default_factory=Counter)  # string, number, bool, null, object, list
    values: Counter[str] = field(default_factory=Counter)  # scalars as text
    in_text: int = 0  # objects and lists that came as text

    @property
    def path(self) -> str:
        """Return its path, as a map writes it."""
        return written_path(*self.keys)

    @property
    def word(self) -> str:
        """Return its name without case and marks: tool_name, toolName and "Tool name" are one."""
        return folded(self.keys[-1])

    @property
    def filled(self) -> int:
        """Return how often it held something other than null and ""."""
        return sum(self.kinds.values()) - self.kinds["null"] - self.values.get("", 0)

    def mostly(self, *kinds: str) -> bool:
        """Say whether it is nearly always of one of these *kinds*, where it is something."""
        known = sum(self.kinds.values()) - self.kinds["null"]
        return known > 0 and sum(self.kinds[kind] for kind in kinds) >= 0.9 * known

    @property
    def is_short(self) -> bool:
        """Say whether its values are like names: short, on one line."""
        return bool(self.values) and all(len(one) <= 80 and "\n" not in one for one in self.values)


@dataclass(frozen=True, slots=True)
class Sampled:
    """The beginning of a file."""

    is_table: bool
    records: tuple[Node, ...]
    whole: bool  # these are all of its records
    encoding: str | None = None  # where it is not UTF-8
    delimiter: str | None = None  # of a table


def folded(name: str) -> str:
    """Return *name* without case, blanks and marks.

    >>> folded("Tool_Name"), folded("durationMs")
    ('toolname', 'durationms')
    """
    return _NOT_A_LETTER.sub("", name).casefold()


def sample(path: Path) -> Sampled:
    """Return the first records of the file at *path*.

    Raises: InputError: it cannot be read, or holds neither JSON objects nor a table.
    """
    with Stream(path, shown=str(path)) as stream:
        head = stream.head(1 << 16)
        table = is_table(head)
        encoding = None if _is_utf8(head) else "cp1252"
        delimiter = delimiter_of(head.splitlines()[0].decode("latin-1")) if table else None
        nodes: list[Node] = []
        size, whole = 0, True
        for text in _texts(stream, table=table, encoding=encoding):
            if len(nodes) >= _RECORDS_LOOKED_AT or size > _BYTES_LOOKED_AT:
                whole = False
                break
            size += len(text)
            nodes.append(Node(text))
    if not nodes:
        raise InputError(f"{path}: wanted JSON objects, or a table with a header row; found neither")
    return Sampled(table, tuple(nodes), whole, encoding, delimiter)


def _texts(stream: Stream, *, table: bool, encoding: str | None) -> Iterator[bytes]:
    if table:
        for row in csv_rows(stream, ReadNotes(), delimiter=None, encoding=encoding):
            if row.cells and row.raw.problem is None:
                yield row.cells
        return
    for raw in raw_units(stream, ReadNotes()):
        text = raw.text.strip()
        if raw.problem is None and text[:1] == b"{" and is_json(text):
            yield text


def _is_utf8(head: bytes) -> bool:
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as problem:
        return problem.start > len(head) - 4  # cut in the middle of a character
    return True


def fields_of(records: Sequence[Node]) -> dict[tuple[str, ...], Field]:
    """Return the fields of *records* by their keys, in the order in which they first came."""
    found: dict[tuple[str, ...], Field] = {}
    for record in records:
        _visit(record, (), found)
    return found


def _visit(node: Node, keys: tuple[str, ...], found: dict[tuple[str, ...], Field]) -> None:
    if keys:
        one = found.setdefault(keys, Field(keys))
        one.count += 1
        kind = _kind(node)
        one.kinds[kind] += 1
        if kind in ("object", "list"):
            one.in_text += node.raw[:1] == b'"'
        elif kind != "null" and (len(one.values) < _VALUES_KEPT or (node.text or "") in one.values):
            one.values[node.text or ""] += 1
    if len(keys) > _DEEPEST:
        return
    for name, below in node.members.items():
        _visit(below, (*keys, name), found)
    for below in islice(node.elements, _ELEMENTS_LOOKED_AT):
        _visit(below, (*keys, "[]"), found)


def _kind(node: Node) -> str:
    first = node.raw[:1]
    if first == b'"':
        if node.members:
            return "object"
        return "list" if node.elements else "string"
    kinds = {b"{": "object", b"[": "list", b"n": "null", b"t": "bool", b"f": "bool"}
    return kinds.get(first, "number")
