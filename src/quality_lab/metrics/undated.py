"""What stands outside every window because nobody knows when it was."""

from __future__ import annotations

from dataclasses import dataclass

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters, Timed


@dataclass(frozen=True, kw_only=True, slots=True)
class Undated:
    """How many calls and labels have no time, among those that the other filters pick."""

    calls: int
    labels: int


def undated(store: Asks, *, filters: Filters = EVERYTHING) -> Undated:
    """Return the counts of undated calls and labels that the filters would pick if there were no window."""
    open_ended = filters.parameters() | {"picks_calls": filters.picks_calls}
    return put(store, Undated, "undated", filters, **open_ended)[0]


def undated_notes(store: Asks, filters: Filters, *, time: Timed) -> list[str]:
    """Return a sentence on what stands outside the window, or none where there is no window or nothing
    outside.

    *time* is the question's own reading of the window.
    """
    if not filters.window().bounded:
        return []
    found = undated(store, filters=filters)
    if (filters.time or time) == "label":
        return _note(found.labels, "label")
    return _note(found.calls, "call")


def _note(count: int, noun: str) -> list[str]:
    if not count:
        return []
    some = f"1 {noun} has" if count == 1 else f"{count} {noun}s have"
    return [f"undated: {some} no time and stand{'s' if count == 1 else ''} outside this window"]
