"""Events of Anthropic's Managed Agents: what the agent did, what came back, and where a person said no.

An event stands alone on its line, in a page of events, or in what a client recorded: the name of a method
and the event. What a client sent comes back in the stream under an id of its own; it is told once. A
person's "deny" is feedback on the call, with the reason that was given; the failed result that echoes it
is no failure of the tool.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

import msgspec

from quality_lab.formats.anthropic_blocks import blocks_in, readable
from quality_lab.formats.chat import Setting
from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object
from quality_lab.formats.exchange import Called, Exchange, Said
from quality_lab.formats.holding import told_at_the_end
from quality_lab.formats.json_pieces import (
    Pieces,
    first,
    integer_in,
    list_in,
    object_in,
    string_in,
    word,
)
from quality_lab.formats.managed_events import events_in, same
from quality_lab.formats.moments import moment_of
from quality_lab.formats.units import RawUnit
from quality_lab.formats.upstream import arguments_of
from quality_lab.formats.validation import Refused, tally
from quality_lab.records import Conversation, Feedback, Record, SetAside

NAME = "managed_agents"
_USES = ("agent.tool_use", "agent.custom_tool_use", "agent.mcp_tool_use")
_RESULTS = ("agent.tool_result", "user.custom_tool_result", "agent.mcp_tool_result", "user.tool_result")
_WORDS = {"user.message": "user", "agent.message": "assistant", "system.message": "system"}
_QUIET = ("session.", "span.", "agent.thinking", "agent.thread", "user.interrupt", "user.define_outcome")
_FAMILIES = ("agent.", "user.", "session.", "span.", "system.")

_any = msgspec.json.Decoder(msgspec.Raw)


@dataclass(slots=True)
class _Session:
    """A session on its way."""

    exchange: Exchange
    id: str
    model: str | None = None
    moments: list[datetime] = field(default_factory=list)
    refusals: list[tuple[int, Called, Pieces]] = field(default_factory=list)
    request: Said | None = None  # the model's message that is being written
    main_thread: str | None = None
    sent: list[tuple[int, Pieces]] = field(default_factory=list)  # by the client, and not come back yet


class _Reader:
    """The sessions of a file, told when it ends: what a call became may stand many events behind it."""

    def __init__(self, reading: Reading) -> None:
        self._reading, self._notes = reading, reading.notes
        self._sessions: dict[str, _Session] = {}
        self._current: str | None = None
        self._seen: set[str] = set()  # ids of events
        self._lines: set[int] = set()  # of events that are told at the end

    def take(self, text: bytes, line: int) -> tuple[Record, ...]:
        """Take in one line; only what is set aside is told at once."""
        _any.decode(text)  # raises where it is not JSON
        found = list(events_in(text, None))
        if not found:
            raise Refused("", "wanted an event with a type")
        method = string_in((list_in(text) or [b""])[0]) or ""
        records: list[Record] = []
        for event, session_id in found:
            if method.endswith(".send") and "id" not in event:
                self._session(session_id).sent.append((line, event))
                self._lines.add(line)
            else:
                records += self._event(event, session_id, line)
        return tuple(records)

    def _event(self, event: Pieces, session_id: str | None, line: int) -> Iterator[Record]:
        kind = word(event, "type") or ""
        if kind == "session" or "environment_id" in event:
            self._lines.add(line)
            session = self._session(word(event, "id"))
            agent = object_in(event.get("agent")) or {}
            session.model = word(object_in(agent.get("model")) or {}, "id") or word(agent, "model")
            return
        event_id = word(event, "id")
        session = self._session(session_id or word(event, "session_id"), event_id)
        if event_id is not None and event_id in self._seen:
            self._notes.count(self._notes.merged, "event written again")
            return
        if event_id is not None:
            self._seen.add(event_id)
        for place, (_, sent) in enumerate(session.sent):
            if all(event.get(name) is not None and same(event[name], sent[name]) for name in sent):
                self._notes.count(self._notes.merged, "event that was sent and came back")
                del session.sent[place]
                break
        moment = moment_of(msgspec.Raw(first(event, "processed_at", "created_at") or b""), "processed_at")
        if moment is not None:
            session.moments.append(moment)
        session.main_thread = session.main_thread or word(event, "session_thread_id")
        if kind in _WORDS:
            self._words(session, event, _WORDS[kind], moment, line)
        elif kind in _USES:
            self._use(session, event, kind, moment, line)
        elif kind in _RESULTS:
            self._result(session, event, moment, line)
        elif kind == "user.tool_confirmation":
            self._confirmation(session, event, line)
        else:
            if kind == "span.model_request_end":
                self._usage(session, event)
            if not kind.startswith(_QUIET):
                tally(self._notes, self._notes.not_understood, kind or "event without a type")
            yield SetAside(kind=kind, reason="it says nothing of a call")
            return
        self._lines.add(line)

    def speaks(self, line: int) -> bool:
        """Say whether more than what is set aside stands on this line."""
        return line in self._lines

    def _session(self, session_id: str | None, event_id: str | None = None) -> _Session:
        """Return the session of an event; one that nothing names goes by its first event."""
        self._current = session_id or self._current or f"session-of-{event_id}"
        name = self._current
        if name not in self._sessions:
            self._sessions[name] = _Session(Exchange(self._notes), name)
        return self._sessions[name]

    def _words(self, session: _Session, event: Pieces, role: str, moment: datetime | None, line: int) -> None:
        blocks = blocks_in(event.get("content"), "content", self._notes)
        if role == "assistant" and session.request is not None and session.request.text is None:
            said = session.request
            said.text = blocks.text
        else:
            said = session.exchange.say(role, blocks.text, line=line)
        said.content, said.message_id, said.created_at = blocks.content, word(event, "id"), moment
        session.request = said if role == "assistant" else None

    def _use(self, session: _Session, event: Pieces, kind: str, moment: datetime | None, line: int) -> None:
        name = string_in(event.get("name"))
        if name is None:
            raise Refused("name", "required field is missing")
        if session.request is None:
            session.request = session.exchange.say("assistant", None, line=line)
            session.request.created_at = moment
        given = arguments_of(msgspec.Raw(event.get("input", b"")))
        call = session.exchange.call(session.request, name, given, call_id=word(event, "id"), line=line)
        call.tool_server, call.created_at = word(event, "mcp_server_name"), moment
        if word(event, "session_thread_id") not in (None, session.main_thread):
            call.actor = "sub_agent"

    def _result(self, session: _Session, event: Pieces, moment: datetime | None, line: int) -> None:
        call_id = word(event, "tool_use_id", "custom_tool_use_id", "mcp_tool_use_id")
        session.request = None
        content = event.get("content")
        text = readable(content)
        said = session.exchange.say("tool", text, line=line)
        said.call_id, said.created_at = call_id, moment
        said.content = content.decode() if content and not content.startswith(b'"') else None
        call = session.exchange.asker(call_id)
        if call is None:
            return
        failed = event.get("is_error") == b"true"
        call.answered(
            None if content is None else content.decode(),
            position=said.position,
            failed=failed and not call.person_refused,
            error_text=text,
        )
        if call.person_refused:  # what comes back only says so
            call.is_error = None
        elif moment and call.created_at:
            call.latency_ms = (moment - call.created_at).total_seconds() * 1000

    def _confirmation(self, session: _Session, event: Pieces, line: int) -> None:
        if word(event, "result") != "deny":
            return
        call_id = word(event, "tool_use_id")
        call = next((one for one in reversed(session.exchange.calls) if one.call_id == call_id), None)
        if call is None:
            self._notes.count(self._notes.missing, "confirmation without call")
            return
        call.person_refused, call.is_error, call.error_origin = True, None, None
        session.refusals.append((line, call, event))

    def _usage(self, session: _Session, event: Pieces) -> None:
        usage = object_in(event.get("model_usage")) or {}
        if session.request is not None:
            session.request.input_tokens = integer_in(usage.get("input_tokens"))
            session.request.output_tokens = integer_in(usage.get("output_tokens"))
        session.request = None

    def _never_came_back(self, session: _Session) -> None:
        """Take in what the client sent and the stream did not bring: the recording may end before it."""
        for line, event in session.sent:
            kind = word(event, "type") or ""
            if kind in _RESULTS:
                self._result(session, event, None, line)
            elif kind == "user.tool_confirmation":
                self._confirmation(session, event, line)
            elif kind in _WORDS:
                self._words(session, event, _WORDS[kind], None, line)
        session.sent = []

    def told(self) -> Iterator[tuple[int, Record]]:
        """Yield all records with their lines."""
        options = self._reading.options
        for session in self._sessions.values():
            self._never_came_back(session)
            session.exchange.finish()
            setting = Setting(
                key_space=NAME,
                conversation_id=session.id,
                source=options.source,
                style=options.style,
                model=session.model,
            )
            lines = [said.line for said in session.exchange.messages] or [1]
            yield (
                lines[0],
                Conversation(
                    key_space=NAME,
                    conversation_id=session.id,
                    source=options.source,
                    style=options.style,
                    model=session.model,
                    started_at=min(session.moments, default=None),
                    ended_at=max(session.moments, default=None),
                ),
            )
            yield from session.exchange.records(setting, key=partial(_key, session.id))
            for line, call, event in session.refusals:
                yield line, _refusal(event, call, setting)


def _key(session_id: str, call: Called) -> str:
    return f"{session_id}#{call.call_id or f'{call.said.position}.{call.index}'}"


def _refusal(event: Pieces, call: Called, setting: Setting) -> Feedback:
    return Feedback(
        key_space=NAME,
        key=word(event, "id") or f"{_key(setting.conversation_id, call)}/deny",
        target_level="call",
        target_key_space=NAME,
        conversation_id=setting.conversation_id,
        call_key=_key(setting.conversation_id, call),
        name="approval",
        score="false",
        author_kind="HUMAN",
        note=string_in(event.get("deny_message")),
        created_at=moment_of(msgspec.Raw(event.get("processed_at", b"")), "processed_at"),
        source=setting.source,
        tool_name=call.tool_name,
    )


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    reader = _Reader(reading)
    units = each_object(raws, reading, reader.take)
    return told_at_the_end(units, speaks=reader.speaks, records=reader.told)


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    events = next((one for key in ("events", "data") if isinstance(one := found.get(key), list)), [found])
    kinds = [str(one.get("type")) for one in events if isinstance(one, dict)]
    return {
        'a "type" such as "agent.mcp_tool_use" or "user.tool_confirmation"': any(
            kind.startswith(_FAMILIES) for kind in kinds
        )
        or ("environment_id" in found and isinstance(found.get("agent"), dict)),
    }


FORMAT = ObjectFormat(
    name=NAME,
    title="Events of Anthropic's Managed Agents",
    recognised_by='Events whose "type" is "agent.…", "user.…" or "session.…", alone, in pages, or as a '
    "client recorded them.",
    key="(session, id of the event that made the call): the service's own ids, the same in every export",
    expectations=_expectations,
    shapes=("type processed_at session_id", "environment_id agent events.type"),
    reader=_read,
)
