"""Records as rows: which table a record lies in, under which key, and with which columns."""

from __future__ import annotations

from collections.abc import Callable

from quality_lab.outcomes import is_empty, outcome_of
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
from quality_lab.store.row_values import Row, clean, utc
from quality_lab.store.row_values import uid as uid


def row_of(record: Record, place: Place) -> tuple[str, Row]:
    """Return the table of *record* and its row, values in the order of the table's columns and the unit last."""
    table, row = _MAKERS[type(record)](record, place)
    if table != "tool_definitions":  # a definition is the same wherever it was offered, and has no origin
        row["source_id"], row["line"] = place.source_id, place.line
    row["unit"] = place.unit
    return table, row


def _conversation(record: Conversation, place: Place) -> tuple[str, Row]:
    return "conversations", {
        "conversation_uid": uid(place.tenant, record.key_space, record.conversation_id),
        "tenant": place.tenant,
        "key_space": record.key_space,
        "conversation_id": clean(record.conversation_id),
        "source": clean(record.source),
        "model": clean(record.model),
        "style": clean(record.style),
        "started_at": utc(record.started_at),
        "ended_at": utc(record.ended_at),
        "offered": None if record.offered is None else list(record.offered),
    }


def _message(record: Message, place: Place) -> tuple[str, Row]:
    return "messages", {
        "conversation_uid": uid(place.tenant, record.key_space, record.conversation_id),
        "position": record.position,
        "role": clean(record.role),
        "text": clean(record.text),
        "content": record.content,
        "message_id": clean(record.message_id),
        "call_id": clean(record.call_id),
        "name": clean(record.name),
        "model": clean(record.model),
        "created_at": utc(record.created_at),
        "latency_ms": record.latency_ms,
        "input_tokens": record.input_tokens,
        "output_tokens": record.output_tokens,
        "cost_usd": record.cost_usd,
        "finish_reason": clean(record.finish_reason),
    }


def _tool_call(record: ToolCall, place: Place) -> tuple[str, Row]:
    outcome, gate_reason = outcome_of(record, overrides=place.overrides)
    return "tool_calls", {
        "call_uid": uid(place.tenant, record.key_space, record.key),
        "tenant": place.tenant,
        "key_space": record.key_space,
        "key": clean(record.key),
        "conversation_uid": uid(place.tenant, record.key_space, record.conversation_id),
        "conversation_id": clean(record.conversation_id),
        "turn": record.turn,
        "cycle": record.cycle,
        "call_index": record.call_index,
        "index_in_cycle": record.index_in_cycle,
        "message_position": record.message_position,
        "call_id": clean(record.call_id),
        "tool_name": clean(record.tool_name),
        "tool_server": clean(record.tool_server),
        "wrapped_tool": clean(record.wrapped_tool),
        "arguments": record.arguments,
        "arguments_state": record.arguments_state,
        "result": record.result,
        "result_state": record.result_state,
        "empty_result": record.result_state == "present" and is_empty(record.result),
        "is_error": record.is_error,
        "error_origin": record.error_origin,
        "error_kind": clean(record.error_kind),
        "error_text": clean(record.error_text),
        "outcome": outcome,
        "gate_reason": clean(gate_reason),
        "actor": record.actor,
        "source": clean(record.source),
        "style": clean(record.style),
        "model": clean(record.model),
        "tool_definition": record.tool_definition,
        "created_at": utc(record.created_at),
        "latency_ms": record.latency_ms,
        "in_trace": record.seen_in == "trace",
        "in_feedback": record.seen_in == "feedback",
        "in_case": record.seen_in == "case",
        "contact_id": record.contact_id,
        "message_id": record.message_id,
        "outbound_id": record.outbound_id,
    }


def _definition(record: ToolDefinition, place: Place) -> tuple[str, Row]:
    return "tool_definitions", {
        "digest": record.digest,
        "name": clean(record.name),
        "description": clean(record.description),
        "parameters": record.parameters,
        "effect": record.effect,
        "server": clean(record.server),
        "first_at": utc(record.seen_at),
        "last_at": utc(record.seen_at),
    }


def _feedback(record: Feedback, place: Place) -> tuple[str, Row]:
    target, tenant = record.target_key_space, clean(record.tenant) or place.tenant
    call = None if record.call_key is None else uid(tenant, target, record.call_key)
    talk = None if record.conversation_id is None else uid(tenant, target, record.conversation_id)
    if target == BY_UID:  # the label names the call's surrogate key, not the ids that it was made from
        call, talk = record.call_key, None
    return "feedback", {
        "feedback_uid": uid(tenant, record.key_space, record.key),
        "tenant": tenant,
        "key_space": record.key_space,
        "key": clean(record.key),
        "target_level": record.target_level,
        "call_uid": call,
        "conversation_uid": talk,
        "turn": record.turn,
        "name": clean(record.name),
        "label": record.label,
        "label_raw": clean(record.label_raw),
        "score": record.score,
        "author_kind": record.author_kind,
        "author": clean(record.author),
        "note": clean(record.note),
        "created_at": utc(record.created_at),
        "guide_version": clean(record.guide_version),
        "expected_tool": clean(record.expected_tool),
        "expected_arguments": record.expected_arguments,
        "adjudication": record.adjudication,
        "source": clean(record.source),
        "tool_name": clean(record.tool_name),
    }


def _case(record: RegressionCase, place: Place) -> tuple[str, Row]:
    tenant = clean(record.tenant) or place.tenant
    return "regression_cases", {
        "case_uid": uid(tenant, record.key),
        "tenant": tenant,
        "key": record.key,
        "record": record.record,
        "tool_name": clean(record.tool_name),
        "label": clean(record.label),
        "title": clean(record.title),
        "status": clean(record.status),
        "proposal_id": record.proposal_id,
        "call_uid": record.call_uid
        or (None if record.call_key is None else uid(tenant, "quality_lab", record.call_key)),
        "journal_line": record.journal_line,
        "created_at": utc(record.created_at),
        "updated_at": utc(record.updated_at),
    }


def _proposal(record: TrackedProposal, place: Place) -> tuple[str, Row]:
    return "proposals", {
        "proposal_uid": uid(place.tenant, record.key),
        "tenant": place.tenant,
        "key": clean(record.key),
        "record": record.record,
        "fingerprint": clean(record.fingerprint),
        "tool_name": clean(record.tool_name),
        "source": clean(record.source),
        "label": clean(record.label),
        "status": clean(record.status),
        "created_at": utc(record.created_at),
        "updated_at": utc(record.updated_at),
        "decided_at": utc(record.decided_at),
    }


# `type(record)` decides which maker gets it, so each maker may name the one class that it takes.
_MAKERS: dict[type, Callable[..., tuple[str, Row]]] = {
    Conversation: _conversation,
    Message: _message,
    ToolCall: _tool_call,
    ToolDefinition: _definition,
    Feedback: _feedback,
    RegressionCase: _case,
    TrackedProposal: _proposal,
    Decision: decision_row,
    Queue: queue_row,
    QueuedCall: queued_call_row,
    Retraction: retraction_row,
}
