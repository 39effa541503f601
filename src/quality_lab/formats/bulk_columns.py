"""Columns out of what a parser made of many objects, and how long each value is as the shortest JSON."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from quality_lab.formats.columns import Choices, Numbers, Texts, starts_of, texts
from quality_lab.formats.splitting import MAX_DEPTH

_NULL = 4  # characters
_POWERS = 10 ** np.arange(1, 19, dtype=np.int64)
_NEEDS_ESCAPE = re.compile(r'[\x00-\x1f"\\]')
_MOST_WORDS = 20_000
_FEW_WORDS = 256


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
        lengths = np.array(self._lengths, np.int64)[chosen]
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


def whole_or_null(values: list[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
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


def real_or_null(
    values: list[Any],
) -> tuple[Numbers[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return numbers or None as a column, their lengths as JSON, and which of them have one. Raises: Absent.

    How a fraction was written cannot be told from its value.
    """
    sound = np.ones(len(values), np.bool_)
    if float in set(map(type, values)):
        sound = np.array([type(value) is not float for value in values], np.bool_)
        values = [0 if type(value) is float else value for value in values]
    numbers, known = whole_or_null(values)
    return Numbers(numbers.astype(np.float64), known), np.where(known, digits(numbers), _NULL), sound


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
    if _NEEDS_ESCAPE.search(joined):
        written = np.fromiter(map(len, map(msgspec.json.encode, values)), np.int64, len(values))
    else:
        written = column.lengths + 2
    if known is not None:
        written = np.where(known, written, _NULL)
    return column._replace(known=known), written


def json_texts(values: list[Any]) -> Texts:
    """Return JSON texts, each with a buffer of its bytes, as a column. Raises: Absent."""
    try:
        joined = b"".join(values)
    except TypeError:
        raise Absent from None
    lengths = [len(memoryview(value)) for value in values]
    return Texts(joined, np.fromiter(lengths, np.int64, len(values)), parts=values)


def is_shallow_and_no_text(raw: Texts) -> NDArray[np.bool_]:
    """Return which JSON values are no text, and not nested so deep that somebody should look."""
    starts = starts_of(raw)
    fits: NDArray[np.bool_] = np.frombuffer(raw.utf8, np.uint8)[starts] != ord('"')
    for place in np.flatnonzero(raw.lengths > 2 * MAX_DEPTH).tolist():
        start = int(starts[place])
        end = start + int(raw.lengths[place])
        if raw.utf8.count(b"[", start, end) + raw.utf8.count(b"{", start, end) > MAX_DEPTH:
            fits[place] = False
    return fits
