"""Expected calls laid beside made ones: which fit, which might, and how far the others are off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from quality_lab.matching.assignment import bits, cheapest
from quality_lab.matching.calls import MadeCall
from quality_lab.matching.json_values import ABSENT, Path, token_of, value_at
from quality_lab.matching.rules import Entry
from quality_lab.matching.values import Leaf

_MOST_IN_A_BYTE = 255


class Fit(NamedTuple):
    """The calls that fit an entry, as a mask over their positions."""

    surely: int
    perhaps: int  # those too of which too little was captured to say


class Board:
    """The made calls, looked at place by place: a value is read once, however many entries ask for it."""

    def __init__(self, calls: Sequence[MadeCall]) -> None:
        self.calls = calls
        self.every = (1 << len(calls)) - 1
        self._of_tool: dict[str, int] = {}
        self._captured = 0
        self._succeeded = 0
        self._perhaps_succeeded = 0
        for at, call in enumerate(calls):
            self._of_tool[call.tool] = self._of_tool.get(call.tool, 0) | 1 << at
            self._captured |= (call.args is not ABSENT) << at
            succeeded = call.succeeded
            self._succeeded |= (succeeded is True) << at
            self._perhaps_succeeded |= (succeeded is not False) << at
        self._values: dict[Path, list[Any]] = {}
        self._tokens: dict[Path, dict[str, int]] = {}
        self._asked: dict[tuple[Path, str | int], tuple[int, int]] = {}  # where a leaf was asked, and held

    def of_tool(self, entry: Entry) -> int:
        """Return the calls of the tool that *entry* names."""
        if not entry.glob:
            return self._of_tool.get(entry.tool, 0)
        return sum(mask for tool, mask in self._of_tool.items() if entry.names(tool))

    def fit(self, entry: Entry) -> Fit:
        """Return the calls that fit *entry*."""
        surely = perhaps = self.of_tool(entry)
        if entry.must_succeed:
            surely &= self._succeeded
            perhaps &= self._perhaps_succeeded
        if entry.leaves is not None:
            fitting = self._captured
            for leaf in entry.leaves:
                if not perhaps & fitting:
                    break
                fitting &= self._holding(leaf, perhaps & fitting)
            surely &= fitting
            perhaps &= fitting | ~self._captured
        return Fit(surely, perhaps)

    def failing(self, entry: Entry, at: int) -> list[Leaf]:
        """Return the leaves of *entry* that the call *at* that position fails, none below another."""
        if entry.leaves is None or not self._captured >> at & 1:
            return []
        failing = [leaf for leaf in entry.leaves if not self._holding(leaf, 1 << at) >> at & 1]
        broken = [leaf.path for leaf in failing if leaf.rule in ("object", "array")]
        return [
            leaf
            for leaf in failing
            if not any(len(path) < len(leaf.path) and leaf.path[: len(path)] == path for path in broken)
        ]

    def value(self, at: int, path: Path) -> Any:
        """Return what the call *at* that position has at *path*."""
        return value_at(self.calls[at].args, path)

    def nearest(self, entries: Sequence[Entry], fits: Sequence[int], among: int) -> list[int]:
        """Return for each entry the call of its tool that stands for it, -1 where none is left.

        As many fitting pairs as there can be, then as few failing places as there can be.
        """
        paired = [-1] * len(entries)
        for tool in dict.fromkeys(entry.tool for entry in entries):
            rows = [row for row, entry in enumerate(entries) if entry.tool == tool]
            columns = list(bits(self._of_tool.get(tool, 0) & among))
            if not columns:
                continue
            if len(rows) == len(columns) == 1:
                paired[rows[0]] = columns[0]
                continue
            counts = [self._failing_counts(entries[row], columns) for row in rows]
            unfit = 1 + len(rows) * (1 + max(map(max, counts)))
            unpaired = [unfit * (len(rows) + 1)] * (len(rows) - len(columns))
            costs = []
            for row, counted in zip(rows, counts, strict=True):
                fit = fits[row]
                cost = [unfit + count for count in counted]
                if fit:
                    cost = [
                        0 if fit >> column & 1 else each for column, each in zip(columns, cost, strict=True)
                    ]
                costs.append(cost + unpaired)
            for row, place in zip(rows, cheapest(costs), strict=True):
                paired[row] = columns[place] if place < len(columns) else -1
        return paired

    def _failing_counts(self, entry: Entry, columns: Sequence[int]) -> list[int]:
        masks = [self._succeeded] if entry.must_succeed else []
        among = sum(1 << column for column in columns)
        masks += [self._holding(leaf, among) for leaf in entry.leaves or ()]
        if len(masks) > _MOST_IN_A_BYTE:
            return [sum(not mask >> column & 1 for mask in masks) for column in columns]
        width = len(
            self.calls
        )  # one byte a call: adding the masks so spread out counts for all calls at once
        holding = sum(_spread(mask, width) for mask in masks).to_bytes(width, "big")
        return [len(masks) - holding[width - 1 - column] for column in columns]

    def _holding(self, leaf: Leaf, among: int) -> int:
        """Return the calls *among* which *leaf* holds; those without captured arguments are not there."""
        if leaf.token is not None:
            return self._tokens_at(leaf.path).get(leaf.token, 0)
        key = (leaf.path, leaf.key or id(leaf))
        asked, holding = self._asked.get(key, (0, 0))
        new = among & self._captured & ~asked
        if new:
            values, test = self._values_at(leaf.path), leaf.holds
            for at in bits(new):
                if test(values[at]):
                    holding |= 1 << at
            self._asked[key] = (asked | new, holding)
        return holding

    def _values_at(self, path: Path) -> list[Any]:
        if path not in self._values:
            self._values[path] = [value_at(call.args, path) for call in self.calls]
        return self._values[path]

    def _tokens_at(self, path: Path) -> dict[str, int]:
        if path not in self._tokens:
            tokens: dict[str, int] = {}
            for at, value in enumerate(self._values_at(path)):
                if value is not ABSENT:
                    token = token_of(value)
                    tokens[token] = tokens.get(token, 0) | 1 << at
            self._tokens[path] = tokens
        return self._tokens[path]


def _spread(mask: int, width: int) -> int:
    """Return a number of *width* bytes, each of them one bit of *mask*."""
    digits = int.from_bytes(f"{mask:0{width}b}".encode(), "big")
    return digits - int.from_bytes(b"0" * width, "big")
