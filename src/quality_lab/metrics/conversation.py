"""A whole conversation: its messages, calls and labels in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from quality_lab.answers import Answer
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters

_EVER = datetime.min.replace(tzinfo=UTC)
_LAST = 2**62


@dataclass(frozen=True, kw_only=True, slots=True)
class Happened:
    """A row of the query."""

    conversation_uid: str
    position: int | None
    happened_at: datetime | None
    turn: int
    call_index: int
    level: int
    kind: Literal["message", "call", "label"]
    who: str | None
    text: str | None
    call_uid: str | None
    tool_name: str | None
    arguments: str | None
    result: str | None
    outcome: str | None
    gate_reason: str | None
    error_text: str | None
    label: str | None
    target: str | None
    created_at: datetime | None
    file: str | None
    line: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ConversationStep:
    """One thing that happened: a message, a call, or a label."""

    kind: str = field(metadata={"help": "message, call or label"})
    who: str | None = field(metadata={"help": "the role that spoke, the actor that called, the reviewer"})
    text: str | None = field(metadata={"help": "what was said, or the reviewer's note"})
    tool_name: str | None
    arguments: str | None = field(metadata={"unit": "json"})
    result: str | None = field(
        metadata={"unit": "json", "help": "of a call; the score of a label that is one"}
    )
    outcome: str | None
    label: str | None
    created_at: datetime | None
    position: int | None = field(metadata={"help": "of the message, 0-based"})
    call_uid: str | None = field(metadata={"compact": False})
    target: str | None = field(metadata={"compact": False, "help": "of a label: call, turn or conversation"})
    gate_reason: str | None = field(metadata={"compact": False})
    error_text: str | None = field(metadata={"compact": False})
    conversation_uid: str = field(metadata={"compact": False})
    file: str | None = field(metadata={"compact": False})
    line: int = field(metadata={"compact": False})


def conversation(
    store: Asks, conversation_id: str, *, filters: Filters = EVERYTHING
) -> Answer[ConversationStep]:
    """Return what happened in the conversation with this id (as given, or its uid), in order; no rows if
    unknown.

    A call follows the message that made it, a label the call that it is about; labels on a turn or on the
    whole come last. Where ids repeat, as between tenants, one conversation follows the other. Of the filters
    only the tenant counts.
    """
    rows = put(store, Happened, "conversation", filters, conversation=conversation_id)
    steps = [
        ConversationStep(**{name: getattr(row, name) for name in ConversationStep.__dataclass_fields__})
        for row in sorted(rows, key=_place)
    ]
    several = len({row.conversation_uid for row in rows})
    notes = [f"several: {several} conversations have this id; they follow each other"] if several > 1 else []
    return Answer(steps, ConversationStep, title=f"Conversation {conversation_id}", notes=notes)


def _place(row: Happened) -> tuple[Any, ...]:
    """Return what a step is ordered by: its message where known, else its time and its place in the turn."""
    whole = row.level == 3  # a label on a turn or on the whole conversation
    position = _LAST + whole if row.position is None else row.position
    loose = row.position is None
    return (
        row.conversation_uid,
        position,
        (row.happened_at or _EVER) if loose else _EVER,
        row.turn if loose else 0,
        row.call_index,
        row.level,
        row.created_at or _EVER,
        row.file or "",
        row.line,
    )
