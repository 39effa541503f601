"""Where a single call stands."""

from __future__ import annotations

from dataclasses import dataclass

from quality_lab.errors import UsageError
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import Filters


@dataclass(frozen=True, kw_only=True, slots=True)
class CallPlace:
    """The one row of the query."""

    call_uid: str
    conversation_uid: str
    tool_name: str
    tenant: str


def call_place(store: Asks, call_uid: str) -> CallPlace | None:
    """Return the conversation of the call whose uid is, or begins with, *call_uid*; None where there is none.

    Raises:
        UsageError: several calls' uids begin so.
    """
    rows = put(store, CallPlace, "call_place", Filters(), call=call_uid) if call_uid else []
    if len(rows) > 1:
        raise UsageError(f"several calls have a uid that begins with {call_uid!r}; write more of it")
    return rows[0] if rows else None
