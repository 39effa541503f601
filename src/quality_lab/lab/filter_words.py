"""The common filters as a person writes them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from quality_lab.metrics.filters import Filters

Words = str | Sequence[str] | None
Moment = datetime | date | str | None


class FilterWords(TypedDict, total=False):
    """Which calls and labels a question is about: one text or several; None is the same as leaving it out.

    `label`, `reviewer` and `author_kind` pick labels and never change a denominator; all others pick calls.
    `since` and `until` (itself left out) are times, dates, ISO 8601 text, or days back as in "7d".
    """

    tool: Words
    source: Words
    label: Words
    outcome: Words
    style: Words
    model: Words
    conversation: Words
    contact: Words
    message: Words
    outbound: Words
    reviewer: Words
    author_kind: Words
    actor: Words
    tenant: Words
    error: bool | None
    since: Moment
    until: Moment
    tz: str  # of dates and times without one
    as_of: datetime | str | None  # what counts as now
    time: Literal["call", "label"] | None  # which of the two since and until bound


def filters_of(words: FilterWords) -> Filters:
    """Return the filters that *words* mean. Raises: UsageError for a name, zone or time that is none."""
    from quality_lab.metrics.filters import Filters

    found = Filters.of(**words)
    found.zone()  # a zone is checked even where no time is
    return found
