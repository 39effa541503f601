"""The record of a call that spans told of: what is known from its own span first, then from its messages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from quality_lab.formats.json_pieces import scalar_in, string_in, word
from quality_lab.formats.making import quick
from quality_lab.formats.span_pairing import Call
from quality_lab.formats.spans import Span
from quality_lab.formats.tool_facts import arguments_in, server_in, wrapped_tool
from quality_lab.records import ArgumentsState, ErrorOrigin, ReadNotes, ResultState, ToolCall

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_tool_call = quick(ToolCall)


def moment(nanoseconds: int | None) -> datetime | None:
    """Return the time of a span, to the microsecond; None where it is out of any calendar."""
    if nanoseconds is None:
        return None
    try:
        return _EPOCH + timedelta(microseconds=nanoseconds // 1_000)
    except OverflowError:
        return None


def length_ms(started: int | None, ended: int | None) -> float | None:
    """Return how long a span took, to the microsecond: no two exporters of it know more."""
    return None if started is None or ended is None or ended < started else (ended - started) // 1_000 / 1_000


def call_record(
    call: Call,
    place: tuple[int, int, int, int, int] | None,
    *,
    key_space: str,
    conversation_id: str,
    source: str | None,
    style: str | None,
    model: str | None,
    digest: str | None,
    notes: ReadNotes,
) -> ToolCall:
    """Return the record of *call*; *place* is turn, cycle, index in the turn and the cycle, and message."""
    span = None if call.node is None else call.node.span
    arguments, state = _arguments(call)
    result, result_state, from_answer = _result(call)
    if result is None:
        notes.count(notes.missing, "call without result")
    failed, origin, kind, text = _error(call, span, result if from_answer else None)
    behind, server = wrapped_tool(call.name, arguments)
    asked_by = call.entry.node.span if call.entry is not None else None
    turn = call.entry.turn if call.entry is not None else None
    started = span.started if span is not None else (asked_by.ended if asked_by is not None else None)
    return _tool_call(
        key_space=key_space,
        key=_key(call),
        conversation_id=conversation_id,
        tool_name=call.name,
        turn=None if place is None else place[0],
        cycle=None if place is None else place[1],
        call_index=None if place is None else place[2],
        index_in_cycle=None if place is None else place[3],
        message_position=None if place is None else place[4],
        call_id=call.asked.call_id if call.asked is not None and call.asked.call_id else call.call_id,
        tool_server=(call.facts.server if call.facts is not None else None) or server or server_in(call.name),
        wrapped_tool=behind,
        arguments=arguments,
        arguments_state=state,
        result=result,
        result_state=result_state,
        is_error=failed,
        error_origin=origin,
        error_kind=kind,
        error_text=text,
        actor="model" if call.thread is None else "sub_agent",
        source=source,
        style=style,
        model=(turn.model if turn is not None else None) or (model if call.thread is None else None),
        tool_definition=digest,
        created_at=moment(started),
        latency_ms=None if span is None else length_ms(span.started, span.ended),
    )


def _key(call: Call) -> str:
    if call.node is not None:
        return f"{call.node.span.trace_id}:{call.node.span.span_id}"
    entry, index = call.told_in[0]
    span = entry.node.span
    if entry.turn is not None:
        place = next(at for at, said in enumerate(entry.turn.said) if said is entry.said)
        return f"{span.trace_id}:{span.span_id}#{place}.{index}"
    return f"{span.trace_id}:{span.span_id}#told.{entry.told_at}.{index}"


def _arguments(call: Call) -> tuple[str | None, ArgumentsState]:
    """Return the arguments of the call's own span; where it tells none, those that the model gave."""
    facts = call.facts
    if facts is not None and facts.arguments_state in ("object", "json_string") and facts.arguments != "{}":
        return facts.arguments, facts.arguments_state
    if call.asked is not None and call.asked.arguments is not None:
        return arguments_in(call.asked.arguments, wrapped=False)
    return (None, "not_captured") if facts is None else (facts.arguments, facts.arguments_state)


def _result(call: Call) -> tuple[str | None, ResultState, bool]:
    """Return the result as the call's own span tells it, else as the next prompt does."""
    told = call.answer.result if call.answer is not None else None
    own = call.facts.result if call.facts is not None else None
    if own is not None and not (own in ('"{}"', "{}") and told is not None):
        return own, "present", False
    if told is not None:
        return told.decode(), "present", True
    return None, "not_captured", False


def _error(
    call: Call, span: Span | None, result: str | None
) -> tuple[bool | None, ErrorOrigin | None, str | None, str | None]:
    """Return whether the call failed, how that is known, of what kind the error was and what it said.

    The status "unset" says nothing; an error's type, an exception or the result's own flag does.
    """
    said = call.facts.failed if call.facts is not None else None
    if said is None and call.answer is not None:
        said = call.answer.failed
    if span is None:
        text = (
            string_in(call.answer.result) if said and call.answer is not None and call.answer.result else None
        )
        return said, "flag" if said else None, None, text
    exception = next((event for event in span.events if event.name == "exception"), None)
    stated_kind = word(span.attributes, "error.type", "exception.type")
    thrown = None if exception is None else word(exception.attributes, "exception.message")
    kind = stated_kind or (None if exception is None else word(exception.attributes, "exception.type"))
    text = span.status_text or thrown or word(span.attributes, "exception.message", "error.message")
    failed = True if span.failed or said else (False if span.failed is False or said is False else None)
    if span.failed or said:
        stated = call.facts.result if call.facts is not None and call.facts.result is not None else result
        text = text or (scalar_in(stated.encode()) if stated is not None else None)
        return True, "flag", kind, text
    if stated_kind is not None and failed is None:
        return True, "exception", kind, text
    if exception is not None and failed is None:
        return None, "exception", kind, text
    return failed, None, kind if failed else None, text if failed else None
