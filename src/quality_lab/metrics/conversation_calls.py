"""The calls of one conversation with all that a case is made of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING


@dataclass(frozen=True, kw_only=True, slots=True)
class ConversationCall:
    """A row of the query; arguments and results are JSON text as it came."""

    call_uid: str
    tenant: str
    key_space: str
    key: str
    conversation_id: str
    turn: int | None
    cycle: int | None
    call_index: int | None
    index_in_cycle: int | None
    message_position: int | None
    call_id: str | None
    tool_name: str
    arguments: str | None
    arguments_state: str
    result: str | None
    result_state: str
    is_error: bool | None
    outcome: str
    actor: str
    source: str | None
    tool_definition: str | None
    created_at: datetime | None
    latency_ms: float | None
    in_trace: bool
    contact_id: str | None
    message_id: str | None
    outbound_id: str | None


def conversation_calls(store: Asks, call_uid: str) -> list[ConversationCall]:
    """Return the calls of the conversation in which *call_uid* was made, in the order in which they were made."""
    rows = put(store, ConversationCall, "conversation_calls", EVERYTHING, call=call_uid)
    return sorted(rows, key=_place)


def _place(row: ConversationCall) -> tuple[float, ...]:
    placed = row.message_position is not None
    return (
        row.message_position or 0,
        0.0 if placed or row.created_at is None else row.created_at.timestamp(),
        row.turn or 0,
        row.cycle or 0,
        row.call_index or 0,
        row.index_in_cycle or 0,
    )
