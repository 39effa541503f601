"""One call as a case holds it: as a call that was made, and as upstream's context of its own calls."""

from __future__ import annotations

from typing import Any

from quality_lab.cases.exchange import value_of
from quality_lab.metrics.conversation_calls import ConversationCall
from quality_lab.records import UPSTREAM, Feedback

_FAILED = ("error", "rejected")


def arguments_of(call: ConversationCall) -> Any:
    """Return the arguments; None where they were not captured."""
    if call.arguments_state == "absent":
        return {}
    return None if call.arguments_state == "not_captured" else value_of(call.arguments)


def recorded_call(call: ConversationCall) -> dict[str, Any]:
    """Return the call as it was made; what was not captured is not there."""
    made: dict[str, Any] = {"tool": call.tool_name}
    args = arguments_of(call)
    if args is not None:
        made["args"] = args
    if call.result is not None:
        made["result"] = value_of(call.result)
    if call.outcome in _FAILED:
        made["error"] = True
    elif call.is_error is not None:
        made["error"] = call.is_error
    if call.cycle is not None:
        made["cycle"] = call.cycle
    return made


def upstream_context(call: ConversationCall, feedback: Feedback | None) -> dict[str, Any]:
    """Return upstream's context of one of its own calls; of others there is none that it could hold."""
    if call.key_space != UPSTREAM or call.is_error is None:
        return {}
    context: dict[str, Any] = {}
    if feedback is not None and feedback.key_space == UPSTREAM:
        at = feedback.created_at
        context["feedback"] = {
            "id": whole(feedback.key),
            "createdAt": None if at is None else int(at.timestamp()),
        }
    ids = {"contactId": call.contact_id, "messageId": call.message_id, "outboundQueueId": call.outbound_id}
    places = {"cycle": call.cycle, "toolCallIndex": call.call_index}
    return context | {
        "toolCall": {
            "id": whole(call.key),
            "conversationId": whole(call.conversation_id),
            **{name: whole(value) for name, value in ids.items()},
            "result": value_of(call.result),
            "error": call.is_error,
            **{name: value for name, value in places.items() if value is not None},
            "latencyMs": None if call.latency_ms is None else round(call.latency_ms),
            "createdAt": None if call.created_at is None else int(call.created_at.timestamp()),
        }
    }


def whole(text: str | None) -> int | None:
    """Return one of upstream's ids as the number it is; None for anything else."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and int(text) > 0 else None
