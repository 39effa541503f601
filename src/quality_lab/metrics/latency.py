"""How long tools take."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor

from quality_lab.answers import Answer
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.undated import undated_notes


@dataclass(frozen=True, kw_only=True, slots=True)
class LatencyPlaces:
    """A row of the query."""

    tool_name: str
    calls: int
    p50_below_ms: float
    p50_above_ms: float
    p95_below_ms: float
    p95_above_ms: float
    max_ms: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Latency:
    """A tool with the milliseconds that half, 95 % and all of its calls did not exceed."""

    tool_name: str
    calls: int = field(metadata={"help": "calls of a trace export whose latency is known"})
    p50_ms: float = field(metadata={"unit": "ms", "help": "median"})
    p95_ms: float = field(metadata={"unit": "ms", "help": "95 % of the calls were not slower"})
    max_ms: float = field(metadata={"unit": "ms", "help": "the slowest call"})


def latency(store: Asks, *, filters: Filters = EVERYTHING, top: int | None = None) -> Answer[Latency]:
    """Return tools by their 95 % quantile, slowest first; tools whose latency was never recorded are left
    out.

    Quantiles lie between the two nearest calls in proportion, as in pandas.
    """
    rows = [
        Latency(
            tool_name=row.tool_name,
            calls=row.calls,
            p50_ms=_between(row.p50_below_ms, row.p50_above_ms, 0.5 * (row.calls - 1)),
            p95_ms=_between(row.p95_below_ms, row.p95_above_ms, 0.95 * (row.calls - 1)),
            max_ms=row.max_ms,
        )
        for row in put(store, LatencyPlaces, "latency", filters)
    ]
    rows.sort(key=lambda row: (-row.p95_ms, row.tool_name))
    notes = undated_notes(store, filters, time="call")
    if not rows:
        notes.append("no call that was asked for says how long it took")
    shown = rows if top is None else rows[:top]
    return Answer(shown, Latency, title="Latency", notes=notes, more=len(rows) - len(shown))


def _between(below: float, above: float, place: float) -> float:
    return below + (above - below) * (place - floor(place))
