"""How calls, errors and judged failures moved from day to day or week to week."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Literal

from quality_lab.answers import Answer
from quality_lab.errors import UsageError
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.rates import rate_of
from quality_lab.metrics.undated import undated_notes
from quality_lab.metrics.untraced import no_trace_notes, untraced

Every = Literal["day", "week"]
MOST_PERIODS = 4000


@dataclass(frozen=True, kw_only=True, slots=True)
class PeriodSums:
    """A row of the query; the sums are those of `intervals.Sums`."""

    period: date
    seen: int
    calls: int
    conversations: int
    errors: int
    soft_errors: int
    gated: int
    rejected: int
    unknown: int
    empty_results: int
    reviewed: int
    error_n: int
    error_y: int
    error_conversations: int
    error_yy: int
    error_ym: int
    error_mm: int
    judged_n: int
    judged_y: int
    judged_conversations: int
    judged_yy: int
    judged_ym: int
    judged_mm: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Period:
    """A day, or the week from a Monday, in the zone asked for. A period without a call stands there with
    zeros; without a trace export, counts of calls are null.
    """

    period: date = field(metadata={"help": "its first day"})
    calls: int | None = field(metadata={"help": "calls seen in a trace export"})
    conversations: int | None
    errors: int | None = field(metadata={"help": "calls that failed"})
    soft_errors: int | None = field(metadata={"help": "calls whose result says no"})
    gated: int | None = field(metadata={"help": "calls that the application put off"})
    rejected: int | None = field(metadata={"help": "calls that a person refused"})
    unknown: int | None = field(metadata={"help": "calls of which nobody can say"})
    empty_results: int | None = field(metadata={"help": "results that hold nothing"})
    error_rate: float | None = field(
        metadata={"unit": "share", "help": "(errors + soft_errors) / (calls - unknown - rejected)"}
    )
    low: float | None = field(metadata={"unit": "share", "help": "lower 95 % bound"})
    high: float | None = field(metadata={"unit": "share", "help": "upper 95 % bound"})
    reviewed: int = field(metadata={"help": "calls with a label"})
    judged_failures: int = field(metadata={"help": "calls judged wrong_tool or bad_args"})
    judged_failure_rate: float | None = field(
        metadata={"unit": "share", "help": "of the reviewed calls", "interval": ("judged_low", "judged_high")}
    )
    judged_low: float | None = field(metadata={"unit": "share", "help": "lower 95 % bound"})
    judged_high: float | None = field(metadata={"unit": "share", "help": "upper 95 % bound"})
    flags: tuple[str, ...] = field(metadata={"help": "why a rate is rough"})


def trend(store: Asks, *, filters: Filters = EVERYTHING, every: Every = "day") -> Answer[Period]:
    """Return one row a period in order of time, those without a call included, so that a gap shows as a gap.

    Rows run from the first to the last period with a call, stretched to the window where one is given. Weeks
    start on Monday; days are those of the filters' zone. The time is that of the call.

    Raises:
        UsageError: *every* is neither day nor week, or the window is to mean the time of labels.
    """
    if every not in ("day", "week"):
        raise UsageError(f"a trend goes by day or week, not by {every!r}")
    if filters.time == "label":
        raise UsageError("a trend counts calls by the time of the call, so --time label has no meaning here")
    filters.zone()
    sums = {row.period: row for row in put(store, PeriodSums, "trend", filters, every=every)}
    notes = undated_notes(store, filters, time="call")
    if any(row.seen > row.calls for row in sums.values()):
        notes += no_trace_notes(untraced(store, filters=filters))
    periods = list(_periods(sorted(sums), filters, every))
    if len(periods) > MOST_PERIODS:
        notes.append(
            f"gaps: over {MOST_PERIODS} periods lie between first and last, so empty ones are left out"
        )
        periods = sorted(sums)
    traced = not sums or any(row.calls for row in sums.values())
    rows = [_period(day, sums.get(day), traced=traced) for day in periods]
    return Answer(rows, Period, title=f"Trend by {every}", notes=notes)


def _periods(known: list[date], filters: Filters, every: Every) -> Iterator[date]:
    """Yield the first day of every period from the first to the last one that matters."""
    if not known:
        return
    window, zone = filters.window(), filters.zone()
    step = timedelta(days=7 if every == "week" else 1)
    first, last = known[0], known[-1]
    if window.since is not None:
        first = min(first, _first_day(window.since.astimezone(zone).date(), every))
    if window.until is not None:
        last = max(
            last, _first_day((window.until - timedelta(microseconds=1)).astimezone(zone).date(), every)
        )
    for number in range(min((last - first) // step, MOST_PERIODS) + 1):
        yield first + number * step


def _first_day(day: date, every: Every) -> date:
    return day - timedelta(days=day.weekday()) if every == "week" else day


def _period(day: date, row: PeriodSums | None, *, traced: bool) -> Period:
    if row is None:
        row = PeriodSums(
            period=day, **{name: 0 for name in PeriodSums.__dataclass_fields__ if name != "period"}
        )
    error = rate_of(row, "error")
    judged = rate_of(row, "judged")
    flags = [
        name
        for name, holds in (
            ("outcomes_unknown", row.calls > 0 and error is None),
            ("few_conversations", error is not None and error.few),
            ("few_conversations_judged", judged is not None and judged.few),
        )
        if holds
    ]
    return Period(
        period=day,
        calls=row.calls if traced else None,
        conversations=row.conversations if traced else None,
        errors=row.errors if traced else None,
        soft_errors=row.soft_errors if traced else None,
        gated=row.gated if traced else None,
        rejected=row.rejected if traced else None,
        unknown=row.unknown if traced else None,
        empty_results=row.empty_results if traced else None,
        error_rate=error.value if error else None,
        low=error.low if error else None,
        high=error.high if error else None,
        reviewed=row.reviewed,
        judged_failures=row.judged_y,
        judged_failure_rate=judged.value if judged else None,
        judged_low=judged.low if judged else None,
        judged_high=judged.high if judged else None,
        flags=tuple(flags),
    )
