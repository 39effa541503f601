"""Numbers that were met before: eight bytes each, and none where they only ever rise or fall."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class SeenNumbers:
    """A growing set of whole numbers.

    >>> seen = SeenNumbers()
    >>> seen.add(np.array([5, 7, 5])).tolist(), seen.add(np.array([6, 7])).tolist()
    ([True, True, False], [True, False])
    """

    def __init__(self) -> None:
        """Start with none."""
        self._runs: list[NDArray[np.int64]] = []  # each sorted; no number stands in two of them
        self._least = self._greatest = 0

    def add(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Take in *numbers*; return which of them are met here for the first time."""
        fresh = np.ones(len(numbers), np.bool_)
        if not len(numbers):
            return fresh
        steps = np.diff(numbers)
        if (steps > 0).all():
            ordered = numbers
        elif (steps < 0).all():
            ordered = numbers[::-1]
        else:
            ordered, places = np.unique(numbers, return_index=True)
            fresh[:] = False
            fresh[places] = True
        if not self._runs or ordered[0] > self._greatest or ordered[-1] < self._least:
            self._keep(ordered)
            return fresh
        met = np.zeros(len(ordered), np.bool_)
        for run in self._runs:
            at = np.searchsorted(run, ordered)
            at[at == len(run)] = 0
            met |= run[at] == ordered
        if met.any():
            fresh &= ~np.isin(numbers, ordered[met])
        self._keep(ordered[~met])
        return fresh

    def _keep(self, ordered: NDArray[np.int64]) -> None:
        if not len(ordered):
            return
        self._least = int(min(ordered[0], self._least)) if self._runs else int(ordered[0])
        self._greatest = int(max(ordered[-1], self._greatest)) if self._runs else int(ordered[-1])
        self._runs.append(ordered.copy())
        while len(self._runs) > 1 and len(self._runs[-2]) <= 2 * len(self._runs[-1]):
            last, before = self._runs.pop(), self._runs.pop()
            self._runs.append(np.sort(np.concatenate((before, last)), kind="stable"))
