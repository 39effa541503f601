"""How far reviewers agree, in a sentence."""

from __future__ import annotations

from dataclasses import replace

from quality_lab.answers.words import number
from quality_lab.metrics.agreement import ALL, agreement
from quality_lab.metrics.asking import Asks
from quality_lab.metrics.filters import Filters
from quality_lab.people import NOBODY, People

_WHY = {
    "no_variation": "As all of these labels are one and the same, agreement beyond chance cannot be told.",
    "unnamed_reviewers": "As these labels name no reviewer, Cohen's kappa cannot be told.",
}


def agreed_words(store: Asks, *, filters: Filters, people: People = NOBODY) -> str | None:
    """Return how far the reviewers of the same calls agree, in sentences; None where no call has two.

    The calls are those that were made in the window of *filters*. Ids of one name among *people* are one person.
    """
    filters = replace(filters, time="call")
    row = next(row for row in agreement(store, filters=filters, people=people) if row.label == ALL)
    if not row.calls:
        return None
    calls = "the one call" if row.calls == 1 else f"the {row.calls:,} calls"
    words = f"Of {calls} that several people labelled, they said the same of {row.agreed:,}."
    told = [
        f"{_bounded(value, low, high)} by {name}"
        for name, value, low, high in (
            ("Cohen's kappa", row.kappa, row.kappa_low, row.kappa_high),
            ("Krippendorff's alpha", row.alpha, row.alpha_low, row.alpha_high),
        )
        if value is not None
    ]
    if told:
        words += (
            f" Agreement beyond chance is {' and '.join(told)}: 1 would be full agreement, 0 that of chance."
        )
    return f"{words} {_WHY[row.reason]}" if row.reason in _WHY else words


def _bounded(value: float, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return number(round(value, 2))
    return f"{number(round(value, 2))} ({number(round(low, 2))} to {number(round(high, 2))})"
