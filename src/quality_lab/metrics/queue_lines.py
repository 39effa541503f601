"""The queues that were drawn, as the journal tells them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from quality_lab.errors import UnknownName, UsageError
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters, Window
from quality_lab.metrics.queue_frame import FrameCell
from quality_lab.sampling import Strategy


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueLine:
    """A queue, and how far its review has come."""

    key: str
    drawn_at: datetime | None
    author: str | None
    strategy: Strategy
    seed: int
    size: int  # calls asked for
    overlap: float
    reviewers: tuple[str, ...]
    filters: str  # JSON text
    strata: str  # JSON text
    frame: str  # JSON text
    here: int  # drawn calls whose line is here: fewer than size where some were forgotten
    reviewed: int  # of them, with a label

    @property
    def drawn(self) -> int:
        """Return how many calls were drawn: fewer than asked for where no more were eligible."""
        return sum(drawn for _, drawn in self.drawn_of().values())

    def cells(self) -> list[FrameCell]:
        """Return what it was drawn from, by stratum and tool."""
        return [
            FrameCell(tool_name=cell["tool_name"], stratum=cell["stratum"], calls=cell["calls"])
            for cell in json.loads(self.frame)
        ]

    def asked(self) -> Filters:
        """Return the filters that it was drawn with."""
        return Filters.of(**json.loads(self.filters))

    def window(self) -> Window:
        """Return when its calls were made: before the draw at the latest."""
        window = self.asked().window()
        ends = [one for one in (window.until, self.drawn_at) if one is not None]
        return replace(window, until=min(ends, default=None))

    def drawn_of(self) -> Mapping[str, tuple[int, int]]:
        """Return for each stratum how many calls it had and how many were drawn."""
        return {one["stratum"]: (one["calls"], one["drawn"]) for one in json.loads(self.strata)}


def queue_lines(store: Asks) -> list[QueueLine]:
    """Return the queues that nobody took back, the newest first."""
    return put(store, QueueLine, "queue_lines", EVERYTHING)


def queue_called(store: Asks, key: str) -> QueueLine:
    """Return the queue whose id is, or begins with, *key*.

    Raises: UnknownName where there is none, UsageError where several begin so.
    """
    found = [line for line in queue_lines(store) if key and line.key.startswith(key)]
    if not found:
        raise UnknownName(f"wanted the id of a queue in this lab, came {key!r}; `queue list` lists them")
    if len(found) > 1:
        raise UsageError(f"several queues have an id that begins with {key!r}; write more of it")
    return found[0]


def disjoint(one: QueueLine, other: QueueLine) -> bool:
    """Say whether no call can have been in both frames: other tools, sources or tenants, or other times."""
    mine, theirs = one.asked(), other.asked()
    for name in ("tool", "source", "style", "model", "actor", "tenant", "outcome"):
        first, second = set(getattr(mine, name)), set(getattr(theirs, name))
        if first and second and not first & second:
            return True
    return _before(one.window(), other.window()) or _before(other.window(), one.window())


def _before(one: Window, other: Window) -> bool:
    return one.until is not None and other.since is not None and one.until <= other.since
