"""What the two questions on labels bring home: counts of a label, and the sums of its share's interval."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelSums:
    """A label within a group: see `intervals.Sums` for n to mm."""

    grouped_by: str | None
    label: str
    rows_given: int
    last_at: datetime | None
    unmapped_calls: int
    elsewhere: int  # rows on calls that are not in this lab, where calls were looked at
    n: int
    y: int
    conversations: int
    yy: int
    ym: int
    mm: int
