"""A finding: one plain sentence, the tool it is about, and the numbers that it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from quality_lab.answers.words import percent, percent_range

Kind = Literal["failure", "args_drift", "early_call", "no_tool", "swallowed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """Something that the calls or the labels show beyond noise."""

    kind: Kind
    tool_name: str | None  # None: no tool that exists is to blame
    text: str  # one sentence or two, plain text; it may hold a tool's name as it came
    weight: float  # calls a week that it surely concerns: what findings are ordered by
    evidence: Mapping[str, Any]  # counts, rates with bounds, dates, examples


def rate_words(value: float, low: float, high: float) -> str:
    """Return a rate with its interval.

    >>> rate_words(0.314, 0.22, 0.42)
    '31 % (22 to 42 %)'
    """
    return f"{percent(value)} ({percent_range(low, high)})"


def day_words(day: date) -> str:
    """Return a day as people say it.

    >>> day_words(date(2026, 5, 12))
    '12 May'
    """
    return f"{day.day} {day:%B}"


def local_day(moment: datetime, zone: ZoneInfo) -> int:
    """Return the ordinal of the day that *moment* is on in the report's zone."""
    return moment.astimezone(zone).toordinal()


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun.

    >>> counted(1, "call"), counted(1200, "call")
    ('1 call', '1,200 calls')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
