"""The regression cases of a lab."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredCase:
    """A row of the query."""

    key: str
    tenant: str
    record: str  # JSON text
    tool_name: str
    label: str
    title: str
    status: str
    proposal_id: str | None
    call_uid: str | None
    created_at: datetime | None
    updated_at: datetime | None


def regression_cases(
    store: Asks, *, statuses: Sequence[str] = (), keys: Sequence[str] = ()
) -> list[StoredCase]:
    """Return the cases with one of *statuses* and one of *keys* (empty: any), the one changed last first."""
    return put(store, StoredCase, "regression_cases", EVERYTHING, statuses=list(statuses), keys=list(keys))
