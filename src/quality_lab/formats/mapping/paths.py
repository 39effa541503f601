"""Paths into a record, and the record they lead into: `result.items[0].name`, one level parsed at a time.

A key that holds a full stop, a bracket or a quote stands in quotes (`"tool.name".value`). `$.` leads from the
top of the record where a path stands below an `each`. A string that holds a JSON object or list is entered as
if it were one, and every value that a path leads to is the text that was written.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import msgspec

from quality_lab.formats.json_pieces import Pieces, list_in, object_in, string_in

_any = msgspec.json.Decoder()
EACH = None  # the step that stands for every element of a list

Step = str | int | None
_STEP = re.compile(r'"(?:[^"\\]|\\.)*"|\[\d*\]|[^.\[\]"]+')
_SPELL_NOTHING = frozenset(("", "none", "null", "nan"))
_PLAIN = re.compile(r'[^.\[\]"$][^.\[\]"]*')


class BadPath(ValueError):
    """A text that is no path; its own text says why."""


@dataclass(frozen=True, slots=True)
class Path:
    """Where a value stands in a record."""

    text: str  # as it was written
    steps: tuple[Step, ...]
    from_top: bool = False  # `$.`: from the top of the record, not from the element of an `each`


def parse_path(text: str) -> Path:
    """Return the path that *text* writes.

    Raises: BadPath.

    >>> parse_path('calls[].args[0]."tool.name"').steps
    ('calls', None, 'args', 0, 'tool.name')
    """
    from_top = text == "$" or text.startswith(("$.", "$["))
    rest = text[1:].removeprefix(".") if from_top else text
    steps: list[Step] = []
    at = 0
    while at < len(rest):
        if rest[at] == ".":
            at += 1
            if not steps or at == len(rest) or rest[at] in ".[":
                raise BadPath(f"a full stop without a name beside it in {text!r}")
        found = _STEP.match(rest, at)
        if found is None or (steps and found[0][0] != "[" and rest[at - 1] != "."):
            raise BadPath(f"character {at} of {text!r} is no part of a path such as result.items[0].name")
        step = found[0]
        if step.startswith("["):
            steps.append(int(step[1:-1]) if step != "[]" else EACH)
        else:
            steps.append(str(json.loads(step)) if step.startswith('"') else step)
        at = found.end()
    if not steps and not from_top:
        raise BadPath("an empty path")
    return Path(text, tuple(steps), from_top)


@lru_cache(maxsize=4096)
def written_path(*keys: str) -> str:
    """Return the path of nested *keys* as it is written in a map; "[]" stands for every element.

    >>> written_path("result", "tool.name")
    'result."tool.name"'
    """
    parts = [
        key if key == "[]" or _PLAIN.fullmatch(key) else json.dumps(key, ensure_ascii=False) for key in keys
    ]
    return ".".join(parts).replace(".[]", "[]")


def text_in(raw: bytes) -> str | None:
    """Return a value as text: a string's own, any other as it is written; None for null and ""."""
    if raw[:1] != b'"':
        return None if raw == b"null" else raw.decode()
    return (string_in(raw) if b"\\" in raw else raw[1:-1].decode()) or None


class Node:
    """A value in a record: its text as written, and what stands below it, parsed when somebody asks."""

    __slots__ = ("_elements", "_nodes", "_pieces", "_text", "raw")

    def __init__(self, raw: bytes, pieces: Pieces | None = None) -> None:
        """Keep the JSON text of the value, and of what stands in it where that is known."""
        self.raw = raw
        self._pieces = pieces
        self._nodes: dict[str, Node] | None = None  # those of them that somebody asked for
        self._elements: list[Node] | None = None
        self._text: str | Literal[False] | None = False  # False: nobody has asked yet

    @property
    def pieces(self) -> Pieces:
        """Return the texts that stand in an object (or in the object that a string holds), by key; else nothing."""
        found = self._pieces
        if found is None:
            found = self._pieces = object_in(self.raw) or {}
        return found

    def member(self, key: str) -> Node | None:
        """Return what stands under *key* in such an object, or None."""
        if self._nodes is None:
            self._nodes = {}
        found = self._nodes.get(key)
        if found is None and (raw := self.pieces.get(key)) is not None:
            found = self._nodes[key] = Node(raw)
        return found

    @property
    def members(self) -> dict[str, Node]:
        """Return all that stands in such an object, by key."""
        return {key: node for key in self.pieces if (node := self.member(key)) is not None}

    @property
    def elements(self) -> list[Node]:
        """Return the elements of a list (or of the list that a string holds); else nothing."""
        if self._elements is None:
            self._elements = [Node(value) for value in list_in(self.raw) or ()]
        return self._elements

    def all(self, steps: tuple[Step, ...]) -> list[Node]:
        """Return every value that *steps* lead to; only steps over EACH lead to more than one."""
        node = self
        for place, step in enumerate(steps):
            if step is None:  # EACH
                return [found for element in node.elements for found in element.all(steps[place + 1 :])]
            below = node.below(step)
            if below is None:
                return []
            node = below
        return [node]

    def first(self, steps: tuple[Step, ...]) -> Node | None:
        """Return the first value that *steps* lead to, or None."""
        node = self
        for place, step in enumerate(steps):
            if step is None:  # EACH
                each = (element.first(steps[place + 1 :]) for element in node.elements)
                return next((found for found in each if found is not None), None)
            below = node.below(step)
            if below is None:
                return None
            node = below
        return node

    def below(self, step: str | int) -> Node | None:
        """Return the value under a key or an index, or None."""
        if isinstance(step, str):
            return self.member(step)
        return self.elements[step] if step < len(self.elements) else None

    @property
    def is_null(self) -> bool:
        """Say whether it is null."""
        return self.raw == b"null"

    @property
    def string(self) -> str | None:
        """Return the string that it is; None for any other value."""
        return string_in(self.raw)

    @property
    def text(self) -> str | None:
        """Return it as text: a string's own, any other value as it is written; None for null and ""."""
        if self._text is False:
            self._text = text_in(self.raw)
        return self._text

    @property
    def is_nonempty(self) -> bool:
        """Say whether it is something: not null, false, nought, nor an empty string, list or object.

        Nor is a string that only spells nothing (None, null, nan), as programs write it into tables.
        """
        if self.raw[:1] == b'"':
            return (self.string or "").strip().casefold() not in _SPELL_NOTHING
        if self.raw[:1] in b"nft":
            return self.raw == b"true"
        try:
            return bool(_any.decode(self.raw))
        except (msgspec.MsgspecError, RecursionError):
            return True
