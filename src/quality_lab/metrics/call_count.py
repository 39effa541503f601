"""How many calls a listing without a limit would hold."""

from __future__ import annotations

from dataclasses import dataclass

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters


@dataclass(frozen=True, kw_only=True, slots=True)
class CallCount:
    """The one row of the query."""

    calls: int


def call_count(store: Asks, *, filters: Filters = EVERYTHING) -> int:
    """Return how many calls the filters pick, label filters included."""
    return put(store, CallCount, "call_count", filters, by_labels=filters.picks_by_labels)[0].calls
