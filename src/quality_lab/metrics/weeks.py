"""How many weeks a question looks at, so that an impact can be told per week."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from quality_lab.metrics.filters import Filters

_WEEK = timedelta(days=7)


def weeks_between(
    filters: Filters, first: Iterable[datetime | None], last: Iterable[datetime | None]
) -> float | None:
    """Return the length of the window in weeks; an open side ends with the first or last of the times given.

    Less than a week counts as one week, so that an hour's calls are never blown up to a week's. None where
    nothing is dated.
    """
    window = filters.window()
    start = window.since or min((moment for moment in first if moment is not None), default=None)
    end = window.until or max((moment for moment in last if moment is not None), default=None)
    if start is None or end is None:
        return None
    return max(1.0, (end - start) / _WEEK)
