"""What became of tracked proposals: their status, and whether the fault came back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters


@dataclass(frozen=True, kw_only=True, slots=True)
class Tracked:
    """A row of the query on tracked proposals."""

    tenant: str
    fingerprint: str
    key: str
    status: str
    decided_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Recurrence:
    """A row of the query on what happened since."""

    tenant: str
    fingerprint: str
    calls_since: int
    undated_calls: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided:
    """A tracked proposal as it stands."""

    status: str
    decided_at: datetime | None
    calls_since: int  # calls made at or after the decision on which a label of the group stands
    undated_calls: int  # such calls of which nobody knows when they were made


def decided(store: Asks, *, filters: Filters = EVERYTHING) -> dict[tuple[str, str], Decided]:
    """Return tracked proposals by tenant and fingerprint; whose labels count is the filters' word.

    No window bounds it: whether a fault came back does not depend on where one looks.
    """
    tracked = put(store, Tracked, "tracked", EVERYTHING, room=__package__)
    keys = sorted(f"{one.tenant}\x1f{one.key}" for one in tracked if one.decided_at is not None)
    since: dict[tuple[str, str], Recurrence] = {}
    if keys:
        whose = Filters(author_kind=filters.author_kind)
        rows = put(store, Recurrence, "recurrences", whose, room=__package__, keys=keys)
        since = {(row.tenant, row.fingerprint): row for row in rows}
    found = {}
    for one in tracked:
        after = since.get((one.tenant, one.fingerprint))
        found[one.tenant, one.fingerprint] = Decided(
            status=one.status,
            decided_at=one.decided_at,
            calls_since=after.calls_since if after else 0,
            undated_calls=after.undated_calls if after else 0,
        )
    return found
