"""Single calls, with what they were given, what came back and what reviewers say of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from quality_lab.answers import Answer
from quality_lab.errors import UsageError
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.call_count import call_count
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.undated import undated_notes


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelledCall:
    """A row of the query: a call with one of its labels."""

    call_uid: str
    tenant: str
    conversation_id: str
    conversation_uid: str
    turn: int | None
    cycle: int | None
    call_index: int | None
    index_in_cycle: int | None
    message_position: int | None
    tool_name: str
    tool_server: str | None
    wrapped_tool: str | None
    arguments: str | None
    arguments_state: str
    result: str | None
    result_state: str
    outcome: str
    gate_reason: str | None
    is_error: bool | None
    error_kind: str | None
    error_text: str | None
    actor: str
    source: str | None
    style: str | None
    model: str | None
    created_at: datetime | None
    latency_ms: float | None
    file: str | None
    line: int
    feedback_uid: str | None
    label: str | None
    author: str | None
    author_kind: str | None
    note: str | None
    labelled_at: datetime | None
    expected_tool: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Review:
    """A label that stands on a call."""

    label: str | None  # as it came, where it is none of the five
    reviewer: str | None
    author_kind: str
    note: str | None
    at: datetime | None
    expected_tool: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class CallRow:
    """A call. Arguments and result are JSON text whose values are exactly those that came."""

    call_uid: str
    conversation_id: str
    turn: int | None = field(metadata={"help": "0-based"})
    cycle: int | None = field(metadata={"help": "model round within the turn, 0-based"})
    call_index: int | None = field(metadata={"help": "over the whole turn, 0-based"})
    tool_name: str
    arguments: str | None = field(metadata={"unit": "json"})
    result: str | None = field(metadata={"unit": "json"})
    outcome: str
    is_error: bool | None = field(metadata={"help": "the format's own flag; null where it has none"})
    error_text: str | None
    actor: str
    source: str | None
    style: str | None
    created_at: datetime | None
    labels: tuple[str, ...] = field(metadata={"help": "labels that stand on the call, oldest first"})
    file: str | None
    line: int = field(metadata={"help": "1-based"})
    reviews: tuple[Review, ...] = field(
        metadata={"compact": False, "help": "the same labels with who, when and why"}
    )
    gate_reason: str | None = field(metadata={"compact": False})
    error_kind: str | None = field(metadata={"compact": False})
    arguments_state: str = field(metadata={"compact": False})
    result_state: str = field(metadata={"compact": False})
    model: str | None = field(metadata={"compact": False})
    latency_ms: float | None = field(metadata={"compact": False, "unit": "ms"})
    tool_server: str | None = field(metadata={"compact": False})
    wrapped_tool: str | None = field(metadata={"compact": False, "help": "the real tool behind a dispatcher"})
    message_position: int | None = field(
        metadata={"compact": False, "help": "of the message that made the call"}
    )
    conversation_uid: str = field(metadata={"compact": False})
    tenant: str = field(metadata={"compact": False})


def calls(store: Asks, *, filters: Filters = EVERYTHING, limit: int | None = 100) -> Answer[CallRow]:
    """Return the newest *limit* calls (None: all), newest first, those of a turn in their order.

    Label filters pick calls on which such a label stands; "disputed" picks those without a majority. Guard
    rows come only where the actor `guard` was asked for. The window means the time of the call; with
    `time="label"` it picks calls that were labelled then.

    Raises:
        UsageError: *limit* is below 1.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"at least one call can be listed, not {limit}")
    rows = put(store, LabelledCall, "calls", filters, by_labels=filters.picks_by_labels, limit=limit)
    found = [_call(list(several)) for _, several in groupby(rows, key=lambda row: row.call_uid)]
    more = call_count(store, filters=filters) - len(found) if len(found) == limit else 0
    notes = undated_notes(store, filters, time="call")
    return Answer(found, CallRow, title="Calls", notes=notes, more=more)


def _call(rows: list[LabelledCall]) -> CallRow:
    """Return one call from its rows, one for each label."""
    row = rows[0]
    reviews = tuple(
        Review(
            label=one.label,
            reviewer=one.author,
            author_kind=one.author_kind or "HUMAN",
            note=one.note,
            at=one.labelled_at,
            expected_tool=one.expected_tool,
        )
        for one in rows
        if one.feedback_uid is not None
    )
    return CallRow(
        call_uid=row.call_uid,
        conversation_id=row.conversation_id,
        turn=row.turn,
        cycle=row.cycle,
        call_index=row.call_index,
        tool_name=row.tool_name,
        arguments=row.arguments,
        result=row.result,
        outcome=row.outcome,
        is_error=row.is_error,
        error_text=row.error_text,
        actor=row.actor,
        source=row.source,
        style=row.style,
        created_at=row.created_at,
        labels=tuple(review.label for review in reviews if review.label is not None),
        file=row.file,
        line=row.line,
        reviews=reviews,
        gate_reason=row.gate_reason,
        error_kind=row.error_kind,
        arguments_state=row.arguments_state,
        result_state=row.result_state,
        model=row.model,
        latency_ms=row.latency_ms,
        tool_server=row.tool_server,
        wrapped_tool=row.wrapped_tool,
        message_position=row.message_position,
        conversation_uid=row.conversation_uid,
        tenant=row.tenant,
    )
