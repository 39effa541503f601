"""Values of many lines at once, one column a field, as a table takes them in without another look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", np.int64, np.float64)


class Numbers(NamedTuple, Generic[Number]):
    """Whole numbers, or fractions."""

    values: NDArray[Number]
    known: NDArray[np.bool_] | None = None  # None: every one is


class Texts(NamedTuple):
    """Texts, as UTF-8 one after the other."""

    utf8: bytes
    lengths: NDArray[np.int64]  # in bytes; 0 where it is not known
    known: NDArray[np.bool_] | None = None
    parts: Sequence[Any] = ()  # the texts each, as bytes or what has their buffer, where somebody will ask


class Flags(NamedTuple):
    """True or false."""

    values: NDArray[np.bool_]
    known: NDArray[np.bool_] | None = None


class Choices(NamedTuple):
    """Texts that stand there many times: one of the *words* each."""

    words: tuple[str, ...]
    chosen: NDArray[np.int8] | NDArray[np.int32]  # index into the words; negative where it is not known


Column = Numbers[np.int64] | Numbers[np.float64] | Texts | Flags | Choices


class Batch(NamedTuple):
    """Calls of many lines, under the names of `ToolCall`'s fields, and the labels that came with them.

    What is the same for all stands in `same`; a field in neither has the record's default. Times are whole
    seconds since 1970.
    """

    lines: NDArray[np.int64]  # 1-based
    calls: dict[str, Column]
    same: dict[str, str]
    feedback: dict[str, Column] | None = None  # under the names of `Feedback`'s fields

    def arguments_states(self) -> dict[str, int]:
        """Return how many calls there are of each state of arguments that stands here."""
        states = self.calls["arguments_state"]
        assert isinstance(states, Choices)  # what every batch has there
        counts = np.bincount(states.chosen, minlength=len(states.words)).tolist()
        return {word: count for word, count in zip(states.words, counts, strict=True) if count}


def texts(values: Sequence[str]) -> Texts:
    """Return *values* as a column."""
    joined = "".join(values)
    if joined.isascii():
        return Texts(joined.encode(), np.fromiter(map(len, values), np.int64, len(values)))
    encoded = [value.encode() for value in values]
    return Texts(b"".join(encoded), np.fromiter(map(len, encoded), np.int64, len(encoded)))


def starts_of(column: Texts) -> NDArray[np.int64]:
    """Return where in its bytes each text begins."""
    return np.cumsum(column.lengths) - column.lengths
