"""A run of the loop as lines that load back into the lab: upstream's trace list, and OpenAI's chat log."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

from .record import LoopResult, Message, ToolOutcome
from .wire import to_json

_SMALLEST_MADE_ID = 2**31  # upstream's serials are below, and no made id may meet one
_LARGEST_ID = 2**53  # above, JavaScript loses digits


def trace_lines(
    result: LoopResult,
    *,
    conversation_id: int,
    source: str = "llm_reply",
    contact_id: int | None = None,
    message_id: int | None = None,
    outbound_queue_id: int | None = None,
) -> list[str]:
    """Return one line a call, as upstream's trace list has them, and with what it never writes: the latency.

    Arguments and results are the texts that went over the wire, so no value changes. Arguments that are no
    JSON stand as a text. The ids are digests: the same run gives the same lines.
    """
    return [
        _line(
            id=_trace_id(result, call, conversation_id),
            conversationId=conversation_id,
            contactId=contact_id,
            messageId=message_id,
            outboundQueueId=outbound_queue_id,
            source=source,
            toolName=call.tool_name,
            args=_Text(call.arguments_text) if call.arguments_state == "json_string" else _arguments(call),
            result=_Text(call.result_text),
            error=call.is_error,
            cycle=call.cycle,
            toolCallIndex=call.call_index,
            latencyMs=round(call.latency_ms),
            createdAt=int(call.started_at),
        )
        for call in result.calls
    ]


def chat_line(result: LoopResult, *, conversation_id: str, model: str | None = None) -> str:
    """Return the whole conversation, final answer included, as one line of an OpenAI chat log.

    Beside ``messages`` and ``tools`` stand ``id``, ``model`` and ``created_at`` of the run, and
    ``created_at`` of each message that the run added. What a chat log has no words for (errors, latencies)
    is in `trace_lines`.
    """
    last = result.turns[-1].reply.model if result.turns else None
    return _line(
        id=conversation_id,
        model=last or model,
        created_at=_iso(result.started_at),
        messages=_timed(result),
        tools=list(result.definitions),
    )


def _timed(result: LoopResult) -> list[Message]:
    """Return the transcript with the time at which each message that the run added was complete."""
    transcript = result.transcript
    asked = sum(1 for turn in result.turns if turn.reply.calls)
    given = transcript[: len(result.messages) - asked - len(result.calls)]
    turns, calls = iter(result.turns), iter(result.calls)
    timed: list[Message] = list(given)
    for message in transcript[len(given) :]:
        source = next(calls) if message["role"] == "tool" else next(turns)
        timed.append({**message, "created_at": _iso(source.started_at + source.latency_ms / 1000)})
    return timed


class _Text:
    """JSON text that goes into a line as it is."""

    def __init__(self, text: str) -> None:
        self.text = text


def _line(**fields: Any) -> str:
    texts = {key: each.text if isinstance(each, _Text) else to_json(each) for key, each in fields.items()}
    return "{" + ",".join(f'"{key}":{text}' for key, text in texts.items()) + "}"


def _arguments(call: ToolOutcome) -> Any:
    return {} if call.arguments_state == "absent" else call.arguments_text


def _trace_id(result: LoopResult, call: ToolOutcome, conversation_id: int) -> int:
    when = (conversation_id, result.started_at, call.call_index)
    told = (*when, call.tool_name, call.arguments_text, call.result_text)
    digest = hashlib.sha256(to_json(told).encode()).digest()
    return _SMALLEST_MADE_ID + int.from_bytes(digest[:8], "big") % (_LARGEST_ID - _SMALLEST_MADE_ID)


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
