"""Columns out of what a parser made of many objects, and how long each value is as the shortest JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from quality_lab.formats.columns import Choices, Numbers, Texts, starts_of, texts
from quality_lab.formats.raw_fields import NEEDS_ESCAPE
from quality_lab.formats.splitting import MAX_DEPTH

SomeColumn = TypeVar("SomeColumn")

_NULL = 4  # characters
_POWERS = 10 ** np.arange(1, 19, dtype=np.int64)
_LEAST_USUAL, _MOST_USUAL = 0.01, 1e15  # of fractions
_MOST_WORDS = 20_000
_FEW_WORDS = 256
_DEEP = 2 * MAX_DEPTH  # bytes that so many brackets take


class Absent(Exception):
    """Some object lacks a field that may be absent."""


class Words(dict[str, int]):
    """Texts that stand in a file many times, numbered as they come; all beyond the first thousands are -1."""

    def __init__(self) -> None:
        """Start with none."""
        self._lengths: list[int] = []

    def __missing__(self, word: str) -> int:
        if len(self) >= _MOST_WORDS:
            return -1
        self._lengths.append(len(msgspec.json.encode(word)))
        self[word] = number = len(self)
        return number

    def column(self, values: list[str]) -> tuple[Choices, NDArray[np.int64], NDArray[np.bool_]]:
        """Return *values* as a column, their lengths as JSON, and which of them have a number."""
        chosen = np.fromiter(map(self.__getitem__, values), np.int32, len(values))
        lengths = np.array([*self._lengths, 0], np.int64)[
            chosen
        ]  # 0, which none has: of those without a number
        words = tuple(self)
        sound = chosen >= 0
        if len(words) > _FEW_WORDS:
            used, places = np.unique(chosen, return_inverse=True)
            words = tuple(words[place] for place in used.tolist())
            chosen = places.astype(np.int32)
        return Choices(words, chosen), lengths, sound


def digits(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many characters each number takes."""
    return np.searchsorted(_POWERS, np.abs(values), side="right") + 1 + (values < 0)


def whole_or_null(values: list[Any]) -> tuple[Numbers[np.int64], NDArray[np.int64]]:
    """Return whole numbers or None as a column, and their lengths as JSON. Raises: Absent."""
    numbers, known = _whole(values)
    return Numbers(numbers, known), np.where(known, digits(numbers), _NULL)


def real_or_null(values: list[Any]) -> tuple[Numbers[np.float64], NDArray[np.int64]]:
    """Return numbers or None as a column, and their lengths as the shortest JSON. Raises: Absent.

    Nothing is shorter than a fraction of usual size in full; of one that is small, huge, or whole with a zero at its
    end an exponent may be, so that it is given no length, which none has.
    """
    if float not in set(map(type, values)):
        whole, known = _whole(values)
        return Numbers(whole.astype(np.float64), known), np.where(known, digits(whole), _NULL)
    try:
        numbers = np.fromiter([0 if value is None else value for value in values], np.float64, len(values))
    except TypeError:
        raise Absent from None
    known = np.fromiter([value is not None for value in values], np.bool_, len(values))
    fractions = np.fromiter([type(value) is float for value in values], np.bool_, len(values))
    written = np.fromiter(map(len, map(msgspec.json.encode, values)), np.int64, len(values))
    size = np.abs(numbers)
    usual = (size >= _LEAST_USUAL) & (size < _MOST_USUAL) & (numbers % 10 != 0)
    return Numbers(numbers, known), np.where(fractions & ~usual, 0, written)


def text_or_null(values: list[Any]) -> tuple[Texts, NDArray[np.int64]]:
    """Return texts or None as a column, and their lengths as JSON. Raises: Absent."""
    known = None
    if None in values:
        known = np.fromiter([value is not None for value in values], np.bool_, len(values))
        values = ["" if value is None else value for value in values]
    try:
        joined = "".join(values)
    except TypeError:
        raise Absent from None
    column = texts(values)
    if NEEDS_ESCAPE.search(joined):
        written = np.fromiter(map(len, map(msgspec.json.encode, values)), np.int64, len(values))
    else:
        written = column.lengths + 2
    if known is not None:
        written = np.where(known, written, _NULL)
    return column._replace(known=known), written


def or_absent(
    make: Callable[[list[Any]], tuple[SomeColumn, NDArray[np.int64]]], values: list[Any], *, key: int
) -> tuple[SomeColumn, NDArray[np.int64]]:
    """Return what *make* does, with what is not there as null; its length makes up for a *key* of that length."""
    try:
        return make(values)
    except Absent:
        there = np.fromiter([value is not UNSET for value in values], np.bool_, len(values))
        column, written = make([None if value is UNSET else value for value in values])
        return column, np.where(there, written, -key)


def raw_lengths(values: list[Any], *, key: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the lengths of JSON values, and which are not nested so deep that somebody should look.

    The length of one that is not there makes up for its *key*.
    """
    lengths = [-key if value is UNSET else len(memoryview(value)) for value in values]
    shallow = np.ones(len(values), np.bool_)
    if max(lengths, default=0) >= _DEEP:
        shallow[:] = [
            length < _DEEP or _is_shallow(bytes(value)) for length, value in zip(lengths, values, strict=True)
        ]
    written = np.fromiter(lengths, np.int64, len(values))
    there = [value for value in values if value is not UNSET]
    return _in_one_line(b"".join(there), values, written), shallow


def _in_one_line(joined: bytes, values: list[Any], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the *lengths* of JSON texts, 0 for those with an end of line inside; *joined* are all of them."""
    if b"\n" not in joined:
        return lengths
    broken = [value is not UNSET and b"\n" in bytes(value) for value in values]
    return np.where(np.array(broken, np.bool_), 0, lengths)


def _whole(values: list[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return whole numbers or None as numbers, and which are known. Raises: Absent."""
    count = len(values)
    nulls = values.count(None)
    if nulls == count:
        return np.zeros(count, np.int64), np.zeros(count, np.bool_)
    known = np.ones(count, np.bool_)
    if nulls:
        known = np.fromiter([value is not None for value in values], np.bool_, len(values))
        values = [0 if value is None else value for value in values]
    try:
        return np.fromiter(values, np.int64, count), known
    except TypeError:
        raise Absent from None


def json_texts(values: list[Any]) -> tuple[Texts, NDArray[np.int64]]:
    """Return JSON texts, each with a buffer of its bytes, as a column, and their lengths; None is null.

    One that goes on in the next line is given the length 0, which none has. Raises: Absent.
    """
    try:
        joined = b"".join(values)
    except TypeError:
        if None not in values:
            raise Absent from None
        return json_texts([b"null" if value is None else value for value in values])
    lengths = np.fromiter([len(memoryview(value)) for value in values], np.int64, len(values))
    return Texts(joined, lengths, parts=values), _in_one_line(joined, values, lengths)


def is_shallow_and_no_text(raw: Texts) -> NDArray[np.bool_]:
    """Return which JSON values are no text, and not nested so deep that somebody should look."""
    starts = starts_of(raw)
    fits: NDArray[np.bool_] = np.frombuffer(raw.utf8, np.uint8)[starts] != ord('"')
    for place in np.flatnonzero(raw.lengths >= _DEEP).tolist():
        start = int(starts[place])
        fits[place] &= _is_shallow(raw.utf8, start, start + int(raw.lengths[place]))
    return fits


def _is_shallow(text: bytes, start: int = 0, end: int | None = None) -> bool:
    """Say whether too few brackets open for a value of an object that is nested too deeply."""
    return text.count(b"[", start, end) + text.count(b"{", start, end) < MAX_DEPTH
