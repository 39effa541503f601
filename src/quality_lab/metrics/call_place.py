"""Where a single call stands."""

from __future__ import annotations

from dataclasses import dataclass

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import Filters


@dataclass(frozen=True, kw_only=True, slots=True)
class CallPlace:
    """The one row of the query."""

    call_uid: str
    conversation_uid: str
    tool_name: str


def call_place(store: Asks, call_uid: str) -> CallPlace | None:
    """Return the conversation of the call with this uid; None where there is no such call."""
    rows = put(store, CallPlace, "call_place", Filters(), call=call_uid)
    return rows[0] if rows else None
