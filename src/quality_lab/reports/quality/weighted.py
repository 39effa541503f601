"""What the newest reviewed queue says of all calls, for the part of the report on labels."""

from __future__ import annotations

import json

from quality_lab.answers.words import percent, percent_range
from quality_lab.metrics.filters import Filters
from quality_lab.metrics.queue_lines import QueueLine, queue_lines
from quality_lab.metrics.weighted_rates import weighted_failing_tools
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


def weighted(store: Store, filters: Filters) -> Html | None:
    """Return the judged failure rate of all calls of a queue beside that of the reviewed ones, stratum by stratum.

    None where no queue of these *filters*, drawn from calls of their window, is reviewed in each stratum.
    """
    queues = [line for line in queue_lines(store) if _fits(line, filters)][:_NEWEST]
    if not queues:
        return None
    answer = weighted_failing_tools(store, queues=queues, top=0)
    (every,) = answer
    if every.weighted_rate is None or every.raw_rate is None:
        return None
    bounds = percent_range(every.weighted_low or 0.0, every.weighted_high or 1.0)
    words = (
        f"Of all {every.calls:,} calls that this queue was drawn from, {percent(every.weighted_rate)} ({bounds}) "
        f"would be judged wrong_tool or bad_args. Among the {every.reviewed:,} that were reviewed it is "
        f"{percent(every.raw_rate)}: what a queue prefers weighs too much there."
    )
    rows = [
        [
            _STRATA.get(one.stratum, one.stratum),
            f"{one.calls:,}",
            f"{one.reviewed:,} of {one.drawn:,}",
            f"{one.hits:,}",
        ]
        for one in every.strata
    ]
    headings = ["Calls", "In all", "Reviewed of drawn", "Judged wrong"]
    return join(
        [
            paragraph(words),
            table(headings, rows, numeric=range(1, 4), caption="What the weighted rate rests on"),
            *(paragraph(note, class_="quiet") for note in answer.notes),
        ]
    )


def _fits(line: QueueLine, filters: Filters) -> bool:
    """Say whether a queue was drawn from calls that these filters pick, at least in part."""
    drawn = Filters.of(**json.loads(line.filters))
    if any(getattr(drawn, name) != getattr(filters, name) for name in _SAME):
        return False
    mine, asked = drawn.window(), filters.window()
    ends = [one for one in (mine.until, line.drawn_at) if one is not None]
    begins_in_time = mine.since is None or asked.until is None or mine.since < asked.until
    return begins_in_time and (asked.since is None or not ends or asked.since < min(ends))
