"""What became of tracked proposals: their status, and whether the fault came back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided:
    """A tracked proposal as it stands."""

    tenant: str
    fingerprint: str
    status: str
    decided_at: datetime | None
    calls_since: int  # calls made at or after the decision on which a label of the group stands
    undated_calls: int  # such calls of which nobody knows when they were made


def decided(store: Asks, *, filters: Filters = EVERYTHING) -> list[Decided]:
    """Return every tracked proposal with what happened since its decision; whose labels count is the filters'
    word.

    No window bounds it: whether a fault came back does not depend on where one looks.
    """
    whose = Filters(author_kind=filters.author_kind)
    return put(store, Decided, "decided", whose, room=__package__)
