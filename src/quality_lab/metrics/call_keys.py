"""By which ids the formats know calls."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING


@dataclass(frozen=True, kw_only=True, slots=True)
class CallKey:
    """A row of the query."""

    call_uid: str
    tenant: str
    key_space: str
    key: str


def call_keys(store: Asks, calls: Collection[str]) -> dict[str, CallKey]:
    """Return tenant and id of those of the *calls* (whole uids, with dashes) that are here, by uid."""
    rows = put(store, CallKey, "call_keys", EVERYTHING, calls=sorted(calls))
    return {row.call_uid: row for row in rows}
