"""Where reviewers have looked, and where they have not."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from quality_lab.answers import Answer
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.undated import undated_notes
from quality_lab.metrics.untraced import no_trace_notes, untraced


@dataclass(frozen=True, kw_only=True, slots=True)
class CoverageSums:
    """A row of the query."""

    tool_name: str
    seen: int
    calls: int
    reviewed: int
    reviewed_in_trace: int
    failures: int
    failures_reviewed: int
    last_label_at: datetime | None
    reviewers: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Coverage:
    """A tool and how much of it was reviewed; calls are null without a trace export."""

    tool_name: str
    calls: int | None = field(metadata={"help": "calls seen in a trace export"})
    reviewed: int = field(metadata={"help": "calls with a label"})
    coverage: float | None = field(metadata={"unit": "share", "help": "reviewed calls of the calls"})
    reviewers: int = field(metadata={"help": "people who labelled them"})
    reason: str | None = field(metadata={"help": "why there is no coverage"})
    failures: int | None = field(metadata={"help": "calls that failed, or whose result says no"})
    failures_reviewed: int | None = field(metadata={"help": "of these, with a label"})
    last_label_at: datetime | None = field(metadata={"help": "newest label"})


def coverage(store: Asks, *, filters: Filters = EVERYTHING, top: int | None = None) -> Answer[Coverage]:
    """Return every tool by calls without a label, most first: there nobody has looked.

    coverage is a share from 0 to 1 of calls seen in a trace export; reason says `no_trace_export` where there
    are none of its tenants and sources.
    """
    sums = put(store, CoverageSums, "coverage", filters)
    outside = untraced(store, filters=filters) if any(row.seen > row.calls for row in sums) else []
    without = {row.tool_name for row in outside} - {row.tool_name for row in sums if row.calls}
    ordered = sorted(sums, key=lambda row: (row.reviewed_in_trace - row.calls, row.tool_name))
    rows = [_coverage(row, without_trace=row.tool_name in without) for row in ordered]
    notes = undated_notes(store, filters, time="call") + no_trace_notes(outside)
    shown = rows if top is None else rows[:top]
    return Answer(shown, Coverage, title="Coverage", notes=notes, more=len(rows) - len(shown))


def _coverage(row: CoverageSums, *, without_trace: bool) -> Coverage:
    reason = "no_trace_export" if without_trace else "not_in_trace_export" if not row.calls else None
    return Coverage(
        tool_name=row.tool_name,
        calls=None if without_trace else row.calls,
        reviewed=row.reviewed,
        coverage=row.reviewed_in_trace / row.calls if row.calls else None,
        reviewers=row.reviewers,
        reason=reason,
        failures=None if without_trace else row.failures,
        failures_reviewed=None if without_trace else row.failures_reviewed,
        last_label_at=row.last_label_at,
    )
