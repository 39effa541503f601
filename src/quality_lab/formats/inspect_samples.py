"""One sample of an Inspect AI log, made into records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import msgspec

from quality_lab.formats.chat import Setting, call_key
from quality_lab.formats.contract import Reading
from quality_lab.formats.exchange import Called, Exchange, Said, call_record
from quality_lab.formats.json_pieces import (
    Pieces,
    integer_in,
    is_nothing,
    list_in,
    number_in,
    object_in,
    string_in,
    word,
)
from quality_lab.formats.moments import moment_of
from quality_lab.formats.responses_items import content_of
from quality_lab.formats.upstream import arguments_of
from quality_lab.formats.validation import Refused, tally
from quality_lab.records import AuthorKind, Conversation, Feedback, Record

_ATTACHED = re.compile(rb'"attachment://([0-9a-f]{8,64})"')
_KNOWN = frozenset(
    ("id", "epoch", "input", "choices", "target", "files", "setup", "sandbox", "messages", "output", "scores",
     "score", "metadata", "store", "events", "transcript", "timelines", "model_usage", "role_usage", "uuid",
     "total_time", "working_time", "error", "error_retries", "attachments", "message_pool", "call_pool",
     "events_data", "started_at", "completed_at", "limit", "invalidation")
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """What all samples of a log share."""

    id: str = "run"
    model: str | None = None
    created: bytes = b""  # JSON text


@dataclass(slots=True)
class _Events:
    """What the events of a sample say of its calls."""

    tools: dict[str, list[Pieces]] = field(default_factory=dict)  # by id of the call, in order
    usage: dict[str, Pieces] = field(default_factory=dict)  # by id of the model's message
    denials: dict[str, Pieces] = field(default_factory=dict)  # by id of the call: a person's no


def sample_records(sample: Pieces, run: Run, reading: Reading, line: int, name: str) -> Iterator[Record]:
    """Yield the records of a sample.

    Raises:
        Refused: it is none.
    """
    notes = reading.notes
    sample_id = word(sample, "id")
    if sample_id is None:
        raise Refused("id", "required field is missing")
    for key in sample:
        if key not in _KNOWN:
            tally(notes, notes.unknown_fields, key)
    attachments = object_in(sample.get("attachments")) or {}
    exchange = Exchange(notes)
    for place, one in enumerate(list_in(_whole(sample.get("messages", b""), attachments)) or ()):
        message = object_in(one)
        if message is None:
            raise Refused(f"messages[{place}]", "wanted an object")
        _take(exchange, message, f"messages[{place}]", line)
    exchange.finish()
    events = _events(sample.get("events"))
    conversation_id = f"{run.id}/{sample_id}/{word(sample, 'epoch') or 1}"
    setting = Setting(
        key_space=name,
        conversation_id=conversation_id,
        source=reading.options.source,
        style=reading.options.style,
        model=run.model,
        moment=moment_of(msgspec.Raw(run.created), "eval.created"),
    )
    _lay_beside(exchange, events)
    refused = [
        (call, events.denials[call.call_id]) for call in exchange.calls if call.call_id in events.denials
    ]
    for call, _ in refused:
        call.person_refused, call.is_error, call.error_origin = True, None, None
    moments = [call.created_at for call in exchange.calls if call.created_at is not None]
    yield Conversation(
        key_space=name,
        conversation_id=conversation_id,
        source=setting.source,
        style=setting.style,
        model=run.model,
        started_at=moment_of(msgspec.Raw(sample.get("started_at", b"")), "started_at")
        or min(moments, default=setting.moment),
        ended_at=moment_of(msgspec.Raw(sample.get("completed_at", b"")), "completed_at")
        or max(moments, default=None),
    )
    for _, record in exchange.records(setting):
        yield record
    yield from _forgotten(exchange, events, setting, attachments, line)
    for call, event in refused:
        key = call_key(conversation_id, call.said.position, call.index)
        yield _refusal(key, call, event, setting)
    yield from _scores(sample, setting, attachments)


def _whole(raw: bytes, attachments: Pieces) -> bytes:
    """Return JSON text with each text that was kept apart in its place."""
    if b"attachment://" not in raw:
        return raw
    return _ATTACHED.sub(lambda found: attachments.get(found[1].decode(), found[0]), raw)


def _take(exchange: Exchange, message: Pieces, path: str, line: int) -> None:
    role = string_in(message.get("role"))
    if role is None:
        raise Refused(f"{path}.role", "required field is missing")
    text, content = content_of(message.get("content"))
    said = exchange.say(role, text, line=line)
    said.content, said.message_id, said.model = content, word(message, "id"), word(message, "model")
    if role == "tool":
        said.call_id, said.name = word(message, "tool_call_id"), string_in(message.get("function"))
        _answer(exchange, said, message)
        return
    for place, one in enumerate(list_in(message.get("tool_calls")) or ()):
        call = object_in(one) or {}
        held = object_in(call.get("function")) or {}
        name = string_in(call.get("function")) or string_in(held.get("name"))
        if name is None:
            raise Refused(f"{path}.tool_calls[{place}].function", "required field is missing")
        given = arguments_of(msgspec.Raw(call.get("arguments", held.get("arguments", b""))))
        made = exchange.call(said, name, given, call_id=word(call, "id"))
        made.error_text = string_in(call.get("parse_error"))


def _answer(exchange: Exchange, said: Said, message: Pieces) -> None:
    call = exchange.asker(said.call_id, tool_name=said.name)
    if call is None:
        return
    content, error = message.get("content"), object_in(message.get("error"))
    call.answered(
        None if content is None else content.decode(),
        position=said.position,
        failed=error is not None,
        origin="exception",
        error_text=None if error is None else string_in(error.get("message")),
    )
    if error is not None:
        call.error_kind = word(error, "type")
        if call.error_kind == "output_limit":
            call.result_state = "truncated"


def _events(raw: bytes | None) -> _Events:
    """Return what the events say; those within a tool's event are events too."""
    found = _Events()
    waiting = [list_in(raw) or []]
    while waiting:
        for one in waiting.pop():
            event = object_in(one) or {}
            kind = word(event, "event")
            if kind == "tool":
                found.tools.setdefault(word(event, "id") or "", []).append(event)
                inner = list_in(event.get("events"))
                if inner:
                    waiting.append(inner)
            elif kind == "model":
                output = object_in(event.get("output")) or {}
                choice = object_in(next(iter(list_in(output.get("choices")) or ()), None)) or {}
                message_id = word(object_in(choice.get("message")) or {}, "id")
                if message_id is not None:
                    found.usage[message_id] = object_in(output.get("usage")) or {}
            elif (
                kind == "approval"
                and word(event, "approver") == "human"
                and word(event, "decision") == "reject"
            ):
                call_id = word(object_in(event.get("call")) or {}, "id")
                if call_id is not None:
                    found.denials[call_id] = event
    return found


def _lay_beside(exchange: Exchange, events: _Events) -> None:
    """Lay the times of the tools' events beside the calls, and use them up; and the model's usage."""
    for call in exchange.calls:
        told = events.tools.get(call.call_id or "")
        if told:
            _times(call, told.pop(0))
            exchange.notes.count(exchange.notes.merged, "event of a call")
    for said in exchange.messages:
        usage = events.usage.get(said.message_id or "")
        if usage:
            said.input_tokens = integer_in(usage.get("input_tokens"))
            said.output_tokens = integer_in(usage.get("output_tokens"))


def _times(call: Called, event: Pieces) -> None:
    call.created_at = moment_of(msgspec.Raw(event.get("timestamp", b"")), "events[].timestamp")
    ended = moment_of(msgspec.Raw(event.get("completed", b"")), "events[].completed")
    worked_s = number_in(event.get("working_time"))
    if worked_s is not None:
        call.latency_ms = worked_s * 1000
    elif ended is not None and call.created_at is not None:
        call.latency_ms = (ended - call.created_at).total_seconds() * 1000


def _forgotten(
    exchange: Exchange, events: _Events, setting: Setting, attachments: Pieces, line: int
) -> Iterator[Record]:
    """Yield the calls that stand in events alone."""
    elsewhere = Exchange(exchange.notes)
    said = elsewhere.say("assistant", None, line=line)
    for call_id, told in events.tools.items():
        for place, event in enumerate(told):
            name = string_in(event.get("function"))
            if name is None:
                continue
            given = arguments_of(msgspec.Raw(_whole(event.get("arguments", b""), attachments)))
            call = elsewhere.call(said, name, given, call_id=call_id or None)
            call.actor = "sub_agent"
            result, error = event.get("result"), object_in(event.get("error"))
            if not is_nothing(result) or error is not None:
                call.answered(
                    None if result is None else _whole(result, attachments).decode(),
                    position=0,
                    failed=error is not None,
                    origin="exception",
                    error_text=None if error is None else string_in(error.get("message")),
                )
                call.error_kind = None if error is None else word(error, "type")
            _times(call, event)
            record = call_record(call, setting, f"{setting.conversation_id}#event.{call_id}.{place}")
            yield replace(
                record, turn=None, cycle=None, call_index=None, index_in_cycle=None, message_position=None
            )


def _refusal(key: str, call: Called, event: Pieces, setting: Setting) -> Feedback:
    return Feedback(
        key_space=setting.key_space,
        key=f"{key}/refusal",
        target_level="call",
        target_key_space=setting.key_space,
        conversation_id=setting.conversation_id,
        call_key=key,
        name="approval",
        score="false",
        author_kind="HUMAN",
        note=string_in(event.get("explanation")),
        created_at=moment_of(msgspec.Raw(event.get("timestamp", b"")), "events[].timestamp"),
        source=setting.source,
        tool_name=call.tool_name,
    )


def _scores(sample: Pieces, setting: Setting, attachments: Pieces) -> Iterator[Feedback]:
    """Yield the scores of a sample; they are about the sample, not about its calls."""
    for name, raw in (object_in(_whole(sample.get("scores", b""), attachments)) or {}).items():
        score = object_in(raw)
        if score is None or is_nothing(score.get("value")):
            continue
        graded = name.startswith("model_graded") or "grading" in (object_in(score.get("metadata")) or {})
        kind: AuthorKind = "LLM" if graded else "CODE"
        yield Feedback(
            key_space=setting.key_space,
            key=f"{setting.conversation_id}/{name}",
            target_level="conversation",
            target_key_space=setting.key_space,
            conversation_id=setting.conversation_id,
            name=name,
            score=score["value"].decode(),
            author_kind=kind,
            author=name,
            note=string_in(score.get("explanation")),
            source=setting.source,
        )
