"""What the newest reviewed queue says of all calls, for the part of the report on labels."""

from __future__ import annotations

from quality_lab.answers.words import percent, percent_range
from quality_lab.metrics.filters import Filters
from quality_lab.metrics.queue_lines import QueueLine, queue_lines
from quality_lab.metrics.weighted_rates import WeightedTool, queue_to_weigh, weighted_failing_tools
from quality_lab.reports.blocks import Html, join, paragraph, table
from quality_lab.sampling import REVIEWED
from quality_lab.store import Store

_SAME = ("tool", "source", "outcome", "style", "model", "actor", "tenant", "error")
_NEWEST = 5  # queues that are looked at
_STRATA = {
    "error": "failed",
    "rare": "seldom called tools",
    "rest": "all others",
    REVIEWED: "labelled before the draw",
}


def weighted_figures(store: Store, filters: Filters) -> dict[str, float | None]:
    """Return the judged failure rate of all calls with its bounds for summary.json; null where `weighted` is."""
    found = _found(store, filters)
    if found is None:
        return dict.fromkeys(("weighted_failure_rate", "weighted_low", "weighted_high"))
    _, every = found
    return {
        "weighted_failure_rate": every.weighted_rate,
        "weighted_low": every.weighted_low,
        "weighted_high": every.weighted_high,
    }


def weighted(store: Store, filters: Filters) -> Html | None:
    """Return the judged failure rate of all calls of a queue beside that of the reviewed ones, stratum by stratum.

    None where no queue of these *filters*, drawn from calls of their window, is reviewed in each stratum.
    """
    found = _found(store, filters)
    if found is None:
        return None
    queue, every = found
    bounds = percent_range(every.weighted_low or 0.0, every.weighted_high or 1.0)
    at = queue.drawn_at and queue.drawn_at.astimezone(filters.zone())
    when = f" of {at.day} {at:%B %Y}" if at else ""
    words = (
        f"The queue{when} was drawn from {every.calls:,} calls. Of all of them {percent(every.weighted_rate or 0.0)} "
        f"({bounds}) would be judged wrong_tool or bad_args. Among the {every.reviewed:,} that are reviewed it "
        f"is {percent(every.raw_rate or 0.0)}, where each counts alike, however likely it was to be drawn."
    )
    rows = [
        [
            _STRATA.get(one.stratum, one.stratum),
            f"{one.calls:,}",
            "all" if one.stratum == REVIEWED else f"{one.reviewed:,} of {one.drawn:,} drawn",
            f"{one.hits:,}",
        ]
        for one in every.strata
    ]
    missing = (
        paragraph(
            f"{every.not_reviewed:,} drawn calls are not reviewed; the reviewed ones of their row stand for them.",
            class_="quiet",
        )
        if every.not_reviewed
        else None
    )
    headings = ["Calls", "In all", "Reviewed", "Judged wrong"]
    caption = "What the rate of all calls rests on"
    return join([paragraph(words), table(headings, rows, numeric=range(1, 4), caption=caption), missing])


def _found(store: Store, filters: Filters) -> tuple[QueueLine, WeightedTool] | None:
    """Return the newest such queue and its rate of all tools, where it has one."""
    queues = [line for line in queue_lines(store) if _fits(line, filters)][:_NEWEST]
    if not queues:
        return None
    queue = queue_to_weigh(store, queues=queues)
    (every,) = weighted_failing_tools(store, queues=[queue], top=0)
    return None if every.weighted_rate is None else (queue, every)


def _fits(line: QueueLine, filters: Filters) -> bool:
    """Say whether a queue was drawn from calls that these filters pick, at least in part."""
    drawn = line.asked()
    if any(getattr(drawn, name) != getattr(filters, name) for name in _SAME):
        return False
    mine, asked = line.window(), filters.window()
    begins_in_time = mine.since is None or asked.until is None or mine.since < asked.until
    return begins_in_time and (asked.since is None or mine.until is None or asked.since < mine.until)
