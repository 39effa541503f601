"""Runs of lines through a parser that knows no lines, and the single lines that it does not take."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import astuple
from numpy.typing import NDArray

_END, _OPENS, _CLOSES = map(ord, "\n{}")
_BLANK, _TAB = map(ord, " \t")
_AT_BYTE = re.compile(r"\(byte (\d+)\)$")  # as the parser says where
_AT_OBJECT = re.compile(r" - at `\$\[(\d+)\]")
_BLANKS_AROUND = 64  # bytes that are looked at before and behind the end of a line
_LOOKED_FOR = 8  # refused lines of a run that are looked for where the parser says


class Line(NamedTuple):
    """A line that goes the exact way."""

    text: bytes


class Run(NamedTuple):
    """Lines that stand one after the other in a file, and what the parser made of them."""

    text: bytes
    columns: list[tuple[Any, ...]]  # a field each

    @property
    def size(self) -> int:
        """How many objects there are: as many as lines, if they fit."""
        return len(self.columns[0])

    def fitting(self, lengths: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """Return which objects of these *lengths* are all that stands in their line, but for blanks around values.

        None where lines and objects are not one to one. No object is shorter than its length. What there is beside
        them is more than the blanks that stand in none of their values, unless it is these blanks.
        """
        text = np.frombuffer(self.text, np.uint8)
        more = len(text) - int(lengths.sum()) - (self.size - 1)
        if not more and (text[np.cumsum(lengths + 1)[:-1] - 1] == _END).all():
            return np.ones(self.size, np.bool_)
        ends = np.flatnonzero(text == _END)
        if len(ends) != self.size - 1 or not self._parts_objects(text, ends):
            return None
        if more == _blanks(self.text) - sum(map(_blanks_within, self.columns)):
            return np.ones(self.size, np.bool_)
        more_of_each = np.diff(ends, prepend=-1, append=len(text)) - 1 - lengths
        fits: NDArray[np.bool_] = more_of_each == 0
        lines = self.text.split(b"\n")
        rows = list(zip(*self.columns, strict=True))
        for at in np.flatnonzero(more_of_each > 0).tolist():
            fits[at] = more_of_each[at] == _blanks(lines[at]) - _blanks_within(rows[at])
        return fits

    def _parts_objects(self, text: NDArray[np.uint8], ends: NDArray[np.int64]) -> bool:
        """Say whether at each of the *ends* of lines one object has come to its end and the next begins."""
        if self.text.startswith(b"\n") or self.text.endswith(b"\n"):
            return False
        doubtful = (text[ends - 1] != _CLOSES) | (text[ends + 1] != _OPENS)
        for end in ends[doubtful].tolist():
            before = self.text[max(0, end - _BLANKS_AROUND) : end].rstrip(b" \t")
            behind = self.text[end + 1 : end + 1 + _BLANKS_AROUND].lstrip(b" \t")
            if not (before.endswith(b"}") and behind.startswith(b"{")):
                return False
        return True

    def split(self) -> list[Line]:
        """Return the lines."""
        return [Line(line) for line in self.text.split(b"\n")]


def parsed(
    text: bytes, decoder: msgspec.json.Decoder[Any], *, looked_for: int = _LOOKED_FOR
) -> Iterator[Run | Line]:
    """Yield *text* in runs of lines that the parser takes, and single lines that it does not take.

    Where it says which line it refuses, what stands before and after is taken at once; halves are tried
    where it does not, or once so many were *looked_for*.
    """
    refused = None
    try:
        items = decoder.decode_lines(text)
    except (msgspec.MsgspecError, RecursionError) as problem:
        items = []
        if looked_for:
            refused = _start_of_refused(text, str(problem))
    if items:
        yield Run(text, list(zip(*map(astuple, items), strict=True)))
    elif b"\n" not in text:
        yield Line(text)
    elif refused is None:
        yield from halved(text, decoder)
    else:
        end = text.find(b"\n", refused) % (len(text) + 1)
        if refused:
            yield from parsed(text[: refused - 1], decoder, looked_for=0)
        yield from parsed(text[refused:end], decoder)
        if end < len(text):
            yield from parsed(text[end + 1 :], decoder, looked_for=looked_for - 1)


def halved(text: bytes, decoder: msgspec.json.Decoder[Any]) -> Iterator[Run | Line]:
    """Yield what `parsed` does, for each half of more than one line."""
    middle = text.find(b"\n", len(text) // 2)
    if middle < 0:
        middle = text.rfind(b"\n")
    yield from parsed(text[:middle], decoder, looked_for=0)
    yield from parsed(text[middle + 1 :], decoder, looked_for=0)


def _blanks(text: bytes) -> int:
    some = np.frombuffer(text, np.uint8)
    return int(np.count_nonzero(some == _BLANK)) + int(np.count_nonzero(some == _TAB))


def _blanks_within(values: tuple[Any, ...]) -> int:
    """Return how many blanks stand in *values* as they were written; JSON has no tabs within texts."""
    texts = "".join([value for value in values if isinstance(value, str)])
    return texts.count(" ") + _blanks(b"".join([value for value in values if isinstance(value, msgspec.Raw)]))


def _start_of_refused(text: bytes, problem: str) -> int | None:
    """Return where the line begins that the parser refused, by what it says; None where it does not say.

    Where objects and lines are not one to one it is another line, which does no harm: all of them are parsed
    again.
    """
    if found := _AT_BYTE.search(problem):
        return text.rfind(b"\n", 0, int(found[1])) + 1
    if found := _AT_OBJECT.search(problem):
        ends = np.flatnonzero(np.frombuffer(text, np.uint8) == _END)
        place = min(int(found[1]), len(ends))
        return int(ends[place - 1]) + 1 if place else 0
    return None
