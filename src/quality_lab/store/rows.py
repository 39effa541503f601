"""Records as rows: which table a record lies in, under which key, and with which columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from quality_lab.outcomes import is_empty
from quality_lab.records import (
    BY_UID,
    Conversation,
    Decision,
    Feedback,
    Message,
    Queue,
    QueuedCall,
    Record,
    RegressionCase,
    Retraction,
    ToolCall,
    ToolDefinition,
    TrackedProposal,
)
from quality_lab.store.journal_rows import decision_row, queue_row, queued_call_row, retraction_row
from quality_lab.store.row_values import Place as Place
from quality_lab.store.row_values import clean, utc
from quality_lab.store.row_values import uid as uid

_conversation_uid = lru_cache(maxsize=4096)(uid)  # the calls of a conversation come together


def row_of(record: Record, place: Place, *, line: int, unit: int) -> tuple[str, tuple[object, ...]]:
    """Return the table of *record* and its row, values in the order of the table's columns and the *unit* last.

    Texts stand as they came and times in UTC: `batches.append` makes them fit.
    """
    table, make = _MAKERS[type(record)]
    if table == "tool_definitions":  # a definition is the same wherever it was offered, and has no origin
        return table, (*make(record, place), unit)
    return table, (*make(record, place), place.source_id, line, unit)


def kib_of(record: Record) -> int:
    """Return how many KiB the long texts of *record* have."""
    names = _LONG_TEXTS.get(type(record))
    return 0 if names is None else sum(len(getattr(record, name) or "") for name in names) >> 10


def _conversation(record: Conversation, place: Place) -> Iterable[object]:
    return {
        "conversation_uid": uid(place.tenant, record.key_space, record.conversation_id),
        "tenant": place.tenant,
        "key_space": record.key_space,
        "conversation_id": record.conversation_id,
        "source": record.source,
        "model": record.model,
        "style": record.style,
        "started_at": utc(record.started_at),
        "ended_at": utc(record.ended_at),
        "offered": None if record.offered is None else list(record.offered),
    }.values()


def _message(record: Message, place: Place) -> Iterable[object]:
    return (
        _conversation_uid(place.tenant, record.key_space, record.conversation_id),
        record.position,
        record.role,
        record.text,
        record.content,
        record.message_id,
        record.call_id,
        record.name,
        record.model,
        utc(record.created_at),
        record.latency_ms,
        record.input_tokens,
        record.output_tokens,
        record.cost_usd,
        record.finish_reason,
    )


def _tool_call(record: ToolCall, place: Place) -> Iterable[object]:
    tenant, key_space, seen_in = place.tenant, record.key_space, record.seen_in
    outcome, gate_reason = place.outcomes.of(record)
    return (
        uid(tenant, key_space, record.key),
        tenant,
        key_space,
        record.key,
        _conversation_uid(tenant, key_space, record.conversation_id),
        record.conversation_id,
        record.turn,
        record.cycle,
        record.call_index,
        record.index_in_cycle,
        record.message_position,
        record.call_id,
        record.tool_name,
        record.tool_server,
        record.wrapped_tool,
        record.arguments,
        record.arguments_state,
        record.result,
        record.result_state,
        record.result_state == "present" and is_empty(record.result),  # empty_result
        record.is_error,
        record.error_origin,
        record.error_kind,
        record.error_text,
        outcome,
        gate_reason,
        record.actor,
        record.source,
        record.style,
        record.model,
        record.tool_definition,
        utc(record.created_at),
        record.latency_ms,
        seen_in == "trace",  # in_trace
        seen_in == "feedback",  # in_feedback
        seen_in == "case",  # in_case
        record.contact_id,
        record.message_id,
        record.outbound_id,
    )


def _definition(record: ToolDefinition, place: Place) -> Iterable[object]:
    return {
        "digest": record.digest,
        "name": record.name,
        "description": record.description,
        "parameters": record.parameters,
        "effect": record.effect,
        "server": record.server,
        "first_at": utc(record.seen_at),
        "last_at": utc(record.seen_at),
    }.values()


def _feedback(record: Feedback, place: Place) -> Iterable[object]:
    target, tenant = record.target_key_space, clean(record.tenant) or place.tenant
    call = None if record.call_key is None else uid(tenant, target, record.call_key)
    talk = None if record.conversation_id is None else uid(tenant, target, record.conversation_id)
    if target == BY_UID:  # the label names the call's surrogate key, not the ids that it was made from
        call, talk = record.call_key, None
    return {
        "feedback_uid": uid(tenant, record.key_space, record.key),
        "tenant": tenant,
        "key_space": record.key_space,
        "key": record.key,
        "target_level": record.target_level,
        "call_uid": call,
        "conversation_uid": talk,
        "turn": record.turn,
        "name": record.name,
        "label": record.label,
        "label_raw": record.label_raw,
        "score": record.score,
        "author_kind": record.author_kind,
        "author": record.author,
        "note": record.note,
        "created_at": utc(record.created_at),
        "guide_version": record.guide_version,
        "expected_tool": record.expected_tool,
        "expected_arguments": record.expected_arguments,
        "adjudication": record.adjudication,
        "in_sight": record.in_sight,
        "source": record.source,
        "tool_name": record.tool_name,
    }.values()


def _case(record: RegressionCase, place: Place) -> Iterable[object]:
    tenant = clean(record.tenant) or place.tenant
    return {
        "case_uid": uid(tenant, record.key),
        "tenant": tenant,
        "key": record.key,
        "record": record.record,
        "tool_name": record.tool_name,
        "label": record.label,
        "title": record.title,
        "status": record.status,
        "proposal_id": record.proposal_id,
        "call_uid": record.call_uid
        or (None if record.call_key is None else uid(tenant, "quality_lab", record.call_key)),
        "journal_line": record.journal_line,
        "created_at": utc(record.created_at),
        "updated_at": utc(record.updated_at),
    }.values()


def _proposal(record: TrackedProposal, place: Place) -> Iterable[object]:
    return {
        "proposal_uid": uid(place.tenant, record.key),
        "tenant": place.tenant,
        "key": record.key,
        "record": record.record,
        "fingerprint": record.fingerprint,
        "tool_name": record.tool_name,
        "source": record.source,
        "label": record.label,
        "status": record.status,
        "created_at": utc(record.created_at),
        "updated_at": utc(record.updated_at),
        "decided_at": utc(record.decided_at),
    }.values()


_LONG_TEXTS: dict[type, tuple[str, ...]] = {
    ToolCall: ("arguments", "result"),
    Message: ("text", "content"),
    RegressionCase: ("record",),
    TrackedProposal: ("record",),
}
# `type(record)` decides which maker gets it, so each maker may name the one class that it takes.
_MAKERS: dict[type, tuple[str, Callable[..., Iterable[object]]]] = {
    Conversation: ("conversations", _conversation),
    Message: ("messages", _message),
    ToolCall: ("tool_calls", _tool_call),
    ToolDefinition: ("tool_definitions", _definition),
    Feedback: ("feedback", _feedback),
    RegressionCase: ("regression_cases", _case),
    TrackedProposal: ("proposals", _proposal),
    Decision: ("decisions", decision_row),
    Queue: ("queues", queue_row),
    QueuedCall: ("queue_calls", queued_call_row),
    Retraction: ("retractions", retraction_row),
}
