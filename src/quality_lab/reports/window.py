"""The window that a report looks at, and the equal window just before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from quality_lab.metrics.asking import Asks
from quality_lab.metrics.filters import Filters
from quality_lab.metrics.signs.windows import WindowFacts, window_facts
from quality_lab.people import NOBODY, People
from quality_lab.reports.accepted import Accepted

DAYS = 28  # of a report that was not told since when
_WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class ReportWindow:
    """Filters with a window, and what it holds."""

    filters: Filters
    before: Filters | None  # the equal window just before; None where the window has no beginning
    facts: WindowFacts
    facts_before: WindowFacts | None
    accepted: Accepted | None = None  # a run to compare with, in place of the window before
    people: People = NOBODY

    @property
    def reviewers(self) -> int:
        """Return how many people labelled calls of the window: ids that have one name are one."""
        return len(set(map(self.people.name, self.facts.authors or ())))

    @property
    def zone(self) -> ZoneInfo:
        """Return the report's time zone."""
        return self.filters.zone()

    @property
    def weeks(self) -> float:
        """Return the length of the window in weeks, at least one."""
        window = self.filters.window()
        since, until = window.since or self.facts.first_call_at, window.until or self.facts.newest_call_at
        return max(1.0, (until - since) / _WEEK) if since and until else 1.0

    @property
    def hours_since_newest_call(self) -> float | None:
        """Return how old the newest call is at the report's own time."""
        newest = self.facts.newest_call_at
        return None if newest is None else round((self.filters.now() - newest) / timedelta(hours=1), 2)

    def words(self) -> str:
        """Return the window as a person says it, with its last day."""
        window = self.filters.window()
        if window.since is None and window.until is None:
            return "Everything, as no call has a time" if self.facts.calls else "Everything"
        since = None if window.since is None else window.since.astimezone(self.zone)
        last = None
        if window.until is not None:
            last = (window.until - timedelta(microseconds=1)).astimezone(self.zone)
        if since is None:
            return f"Up to {_day(last)}" if last else ""
        if last is None:
            return f"Since {_day(since)}"
        same_year = since.year == last.year
        return f"{_day(since, year=not same_year)} to {_day(last)}"


def report_window(store: Asks, filters: Filters, *, people: People = NOBODY) -> ReportWindow:
    """Return the window of a report: the one asked for, else the 28 days that end with the newest call's.

    Days are whole days of the filters' zone. Where no call has a time, everything is in.
    """
    facts = window_facts(store, filters=filters)
    if filters.since is None and filters.until is None:
        if facts.newest_call_at is None:
            return ReportWindow(filters, None, facts, None, people=people)
        zone = filters.zone()
        last = facts.newest_call_at.astimezone(zone).date()
        filters = replace(
            filters,
            since=datetime.combine(last - timedelta(days=DAYS - 1), time.min, zone),
            until=datetime.combine(last + timedelta(days=1), time.min, zone),
        )
        facts = window_facts(store, filters=filters)
    before = _before(filters, facts)
    facts_before = None if before is None else window_facts(store, filters=before)
    return ReportWindow(filters, before, facts, facts_before, people=people)


def _before(filters: Filters, facts: WindowFacts) -> Filters | None:
    """Return the filters of the window of equal length that ends where this one begins."""
    window = filters.window()
    until = window.until or (facts.newest_call_at and facts.newest_call_at + timedelta(seconds=1))
    if window.since is None or until is None or until <= window.since:
        return None
    zone = filters.zone()
    days = until.astimezone(zone).date() - window.since.astimezone(zone).date()
    start = window.since.astimezone(zone)
    begin = datetime.combine(
        start.date() - days, start.time(), zone
    )  # the same hour, whatever the clocks did
    return replace(filters, since=begin.astimezone(UTC), until=window.since)


def freshness(window: ReportWindow) -> Mapping[str, Any]:
    """Return the figures by which a failed export can be told from a quiet night."""
    facts = window.facts
    asked = window.filters.window()
    return {
        "since": asked.since,
        "until": asked.until,
        "newest_call_at": facts.newest_call_at,
        "hours_since_newest_call": window.hours_since_newest_call,
        "calls_in_window": facts.calls,
        "labels_in_window": facts.labels,
        "undated_calls": facts.undated,
    }


def _day(moment: datetime | None, *, year: bool = True) -> str:
    if moment is None:
        return ""
    return f"{moment.day} {moment:%B %Y}" if year else f"{moment.day} {moment:%B}"
