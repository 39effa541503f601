"""Which tools fail most: by what their calls came to, and by what reviewers say of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from quality_lab.answers import Answer
from quality_lab.errors import UsageError
from quality_lab.metrics.asking import Asks, put, together
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.labelled_tools import labelled_tools
from quality_lab.metrics.rates import rate_of
from quality_lab.metrics.undated import undated_notes
from quality_lab.metrics.untraced import no_trace_notes, untraced
from quality_lab.metrics.weeks import weeks_between

RankBy = Literal["rate", "labels", "impact"]
RANKS: tuple[RankBy, ...] = ("rate", "labels", "impact")


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolSums:
    """A row of the query; the sums are those of `intervals.Sums`."""

    tool_name: str
    seen: int
    calls: int
    dated: int
    errors: int
    soft_errors: int
    gated: int
    rejected: int
    unknown: int
    empty_results: int
    first_at: datetime | None
    last_at: datetime | None
    conversations: int
    error_n: int
    error_y: int
    error_conversations: int
    error_yy: int
    error_ym: int
    error_mm: int
    reviewed: int
    good_reply: int
    wrong_tool: int
    missing_tool: int
    bad_args: int
    other: int
    disputed: int
    judged_n: int
    judged_y: int
    judged_conversations: int
    judged_yy: int
    judged_ym: int
    judged_mm: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FailingTool:
    """A tool, what its calls came to and what reviewers say of them. Counts of calls are null without a trace
    export.
    """

    tool_name: str
    calls: int | None = field(metadata={"help": "calls seen in a trace export"})
    conversations: int | None = field(metadata={"help": "conversations of these calls"})
    errors: int | None = field(metadata={"help": "calls that failed"})
    soft_errors: int | None = field(metadata={"help": "calls whose result says no"})
    gated: int | None = field(metadata={"help": "calls that the application put off: not a failure"})
    rejected: int | None = field(metadata={"help": "calls that a person refused; outside the rate"})
    unknown: int | None = field(metadata={"help": "calls of which nobody can say; outside the rate"})
    empty_results: int | None = field(metadata={"help": 'results that hold nothing: null, "", [], {}'})
    error_rate: float | None = field(
        metadata={"unit": "share", "help": "(errors + soft_errors) / (calls - unknown - rejected)"}
    )
    error_low: float | None = field(metadata={"unit": "share", "help": "lower 95 % bound"})
    error_high: float | None = field(metadata={"unit": "share", "help": "upper 95 % bound"})
    reviewed: int = field(metadata={"help": "calls that a reviewer labelled"})
    coverage: float | None = field(metadata={"unit": "share", "help": "reviewed calls of the calls"})
    good_reply: int = field(metadata={"help": "calls judged so"})
    wrong_tool: int = field(metadata={"help": "calls judged so"})
    missing_tool: int = field(metadata={"help": "calls judged so; not this tool's failure"})
    bad_args: int = field(metadata={"help": "calls judged so"})
    other: int = field(metadata={"help": "calls judged so"})
    disputed: int = field(metadata={"help": "calls on which no label has a majority"})
    judged_failure_rate: float | None = field(
        metadata={
            "unit": "share",
            "help": "calls judged wrong_tool or bad_args / reviewed calls",
            "interval": ("judged_low", "judged_high"),
        }
    )
    judged_low: float | None = field(metadata={"unit": "share", "help": "lower 95 % bound"})
    judged_high: float | None = field(metadata={"unit": "share", "help": "upper 95 % bound"})
    rank_by: str | None = field(metadata={"help": "what its place rests on: error, judged, labels or impact"})
    last_at: datetime | None = field(metadata={"help": "its newest call"})
    flags: tuple[str, ...] = field(metadata={"help": "why a rate is missing or rough"})
    calls_per_week: float | None = field(
        metadata={"compact": False, "help": "over the window, at least one week"}
    )
    impact: float | None = field(
        metadata={"compact": False, "help": "lower bound of its worse rate x calls per week"}
    )
    label_rows: int | None = field(
        metadata={"compact": False, "help": "labels as upstream counts them; with by='labels' only"}
    )


def failing_tools(
    store: Asks, *, filters: Filters = EVERYTHING, by: RankBy = "rate", top: int | None = 25
) -> Answer[FailingTool]:
    """Return the *top* tools, worst first (None: all of them).

    by "rate": the larger of the two lower bounds, ties by calls, then name. by "impact": that bound times the
    calls per week. by "labels": upstream's ranking, most labelled first, praise included. Rates are 0 to 1
    with their 95 % interval, null where nothing is known; guard rows and the user's own calls stand outside.

    Raises:
        UsageError: *by* is no ranking, or the window is to mean the time of labels.
    """
    if by not in RANKS:
        raise UsageError(f"tools are ranked by {', '.join(RANKS)}, not by {by!r}")
    if filters.time == "label":
        raise UsageError(
            "calls are counted by the time of the call; the time of the label is for labels and proposals"
        )
    with together(store):
        return _asked(store, filters, by, top)


def _asked(store: Asks, filters: Filters, by: RankBy, top: int | None) -> Answer[FailingTool]:
    sums = put(store, ToolSums, "failing_tools", filters, joins_calls=True)
    weeks = weeks_between(filters, [row.first_at for row in sums], [row.last_at for row in sums])
    bare = any(row.seen > row.calls for row in sums)
    outside = untraced(store, filters=filters) if bare else []
    known = {row.tool_name for row in sums if row.calls}
    without = {row.tool_name for row in outside} - known
    rows = [_tool(row, weeks=weeks, without_trace=row.tool_name in without) for row in sums]
    if by == "labels":
        ranked = _by_labels(store, rows, filters)
    elif by == "impact":
        ranked = sorted((replace(row, rank_by="impact") for row in rows), key=_by_impact)
    else:
        ranked = sorted(rows, key=_by_rate)
    notes = undated_notes(store, filters, time="call")
    notes += no_trace_notes(outside)
    shown = ranked if top is None else ranked[:top]
    return Answer(shown, FailingTool, title="Failing tools", notes=notes, more=len(ranked) - len(shown))


def worse_bound(tool: FailingTool) -> float | None:
    """Return the larger of the two lower bounds; None where there is neither."""
    return max((bound for bound in (tool.error_low, tool.judged_low) if bound is not None), default=None)


def _tool(row: ToolSums, *, weeks: float | None, without_trace: bool) -> FailingTool:
    error, judged = rate_of(row, "error"), rate_of(row, "judged")
    traced = not without_trace
    flags = [
        name
        for name, holds in (
            ("no_trace_export", without_trace),
            ("outcomes_unknown", traced and row.calls > 0 and error is None),
            ("outcomes_mostly_unknown", error is not None and row.unknown > row.error_n),
            ("few_conversations", error is not None and error.few),
            ("few_conversations_judged", judged is not None and judged.few),
            ("labels_outside_trace", traced and row.reviewed > row.judged_n),
        )
        if holds
    ]
    per_week = row.dated / weeks if traced and weeks and row.dated else None
    bounds = [("error", error.low if error else None), ("judged", judged.low if judged else None)]
    known = [(name, bound) for name, bound in bounds if bound is not None]
    rank_by, worse = max(known, key=lambda pair: pair[1], default=(None, None))
    return FailingTool(
        tool_name=row.tool_name,
        calls=row.calls if traced else None,
        conversations=row.conversations if traced else None,
        errors=row.errors if traced else None,
        soft_errors=row.soft_errors if traced else None,
        gated=row.gated if traced else None,
        rejected=row.rejected if traced else None,
        unknown=row.unknown if traced else None,
        empty_results=row.empty_results if traced else None,
        error_rate=error.value if error else None,
        error_low=error.low if error else None,
        error_high=error.high if error else None,
        reviewed=row.reviewed,
        coverage=row.judged_n / row.calls if row.calls else None,
        good_reply=row.good_reply,
        wrong_tool=row.wrong_tool,
        missing_tool=row.missing_tool,
        bad_args=row.bad_args,
        other=row.other,
        disputed=row.disputed,
        judged_failure_rate=judged.value if judged else None,
        judged_low=judged.low if judged else None,
        judged_high=judged.high if judged else None,
        rank_by=rank_by,
        last_at=row.last_at,
        flags=tuple(flags),
        calls_per_week=per_week,
        impact=worse * per_week if worse is not None and per_week is not None else None,
        label_rows=None,
    )


def _by_rate(tool: FailingTool) -> tuple[bool, float, int, str]:
    bound = worse_bound(tool)
    return (bound is None, -(bound or 0.0), -(tool.calls or 0), tool.tool_name)


def _by_impact(tool: FailingTool) -> tuple[bool, float, int, str]:
    return (tool.impact is None, -(tool.impact or 0.0), -(tool.calls or 0), tool.tool_name)


def _by_labels(store: Asks, rows: Sequence[FailingTool], filters: Filters) -> list[FailingTool]:
    """Return the labelled tools in upstream's order; a guard's pseudo-tool stands among them, without any
    rate.
    """
    known = {row.tool_name: row for row in rows}
    ranked = []
    for labelled in labelled_tools(store, filters=filters):
        row = known.get(labelled.tool_name) or _unrated(labelled.tool_name)
        ranked.append(replace(row, rank_by="labels", label_rows=labelled.label_rows))
    return ranked


def _unrated(tool_name: str) -> FailingTool:
    """Return the row of a name that is labelled but whose rows are no calls of the agent's."""
    return FailingTool(
        tool_name=tool_name,
        calls=None,
        conversations=None,
        errors=None,
        soft_errors=None,
        gated=None,
        rejected=None,
        unknown=None,
        empty_results=None,
        error_rate=None,
        error_low=None,
        error_high=None,
        reviewed=0,
        coverage=None,
        good_reply=0,
        wrong_tool=0,
        missing_tool=0,
        bad_args=0,
        other=0,
        disputed=0,
        judged_failure_rate=None,
        judged_low=None,
        judged_high=None,
        rank_by=None,
        last_at=None,
        flags=("no_calls",),
        calls_per_week=None,
        impact=None,
        label_rows=None,
    )
