"""A conversation told step by step: what was said, what was called, what came back, whoever's format it is.

A reader says each message in the order in which it stands, and the calls that it makes; turns, rounds and
places are counted here, and each result finds its call. An id is trusted no further than it must be: the
open calls of the latest batch come first, then the latest open call with that id.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from quality_lab.formats.chat import Setting, call_key
from quality_lab.formats.making import quick
from quality_lab.formats.tool_facts import server_in, wrapped_tool
from quality_lab.records import (
    Actor,
    ArgumentsState,
    ErrorOrigin,
    Message,
    ReadNotes,
    Record,
    ResultState,
    ToolCall,
)

_message = quick(Message)
_tool_call = quick(ToolCall)


@dataclass(slots=True, kw_only=True)
class Said:
    """A message on its way; whoever reads on may still add to it."""

    line: int
    position: int
    turn: int
    cycle: int
    role: str
    text: str | None
    content: str | None = None
    message_id: str | None = None
    call_id: str | None = None
    name: str | None = None
    model: str | None = None
    created_at: datetime | None = None
    latency_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    finish_reason: str | None = None
    made: int = 0  # calls
    varies: bool = False  # from request to request, as instructions do: its text is no part of a digest


@dataclass(slots=True, kw_only=True)
class Called:
    """A call on its way: who made it where, and what came back."""

    line: int
    said: Said
    index: int  # in its batch
    call_index: int
    call_id: str | None
    tool_name: str
    arguments: str | None
    arguments_state: ArgumentsState
    actor: Actor = "model"
    tool_server: str | None = None
    wrapped_tool: str | None = None
    created_at: datetime | None = None
    result: str | None = None
    result_state: ResultState = "not_captured"
    is_error: bool | None = None
    error_origin: ErrorOrigin | None = None
    error_kind: str | None = None
    error_text: str | None = None
    person_refused: bool = False
    latency_ms: float | None = None
    answer_position: int | None = None

    def answered(
        self,
        result: str | None,
        *,
        position: int,
        failed: bool | None = None,
        origin: ErrorOrigin = "flag",
        error_text: str | None = None,
    ) -> None:
        """Take in the result, JSON text as it came; *failed* is None where the format cannot say."""
        self.result, self.result_state = result, "absent" if result is None else "present"
        self.answer_position, self.is_error = position, failed
        if failed:
            self.error_origin, self.error_text = origin, error_text


@dataclass(slots=True)
class Exchange:
    """The messages and calls of one conversation that have not been told yet, and the counts that go on."""

    notes: ReadNotes
    messages: list[Said] = field(default_factory=list)
    calls: list[Called] = field(default_factory=list)
    position: int = 0  # of the next message
    beside: Exchange | None = None  # whose positions and turns it shares: a sub-agent's talk within it
    turn: int = 0
    cycle: int = -1
    call_index: int = 0
    _spoken: bool = False  # the agent has, in this turn
    _batch: list[Called] = field(default_factory=list)
    _waiting: dict[str, list[Called]] = field(default_factory=dict)  # by id, the latest last
    _known: set[str] = field(default_factory=set)  # ids of all calls

    def say(self, role: str, text: str | None, *, line: int, person: bool | None = None) -> Said:
        """Return the next message; *person*: one speaks who may open a turn (as role "user" does)."""
        if person if person is not None else role == "user":
            if self._spoken:
                self.turn, self.cycle, self.call_index, self._spoken = self.turn + 1, -1, 0, False
        elif role in ("assistant", "model"):
            self.cycle, self._spoken = self.cycle + 1, True
        main = self.beside or self
        said = Said(line=line, position=main.position, turn=main.turn, cycle=self.cycle, role=role, text=text)
        main.position += 1
        self.messages.append(said)
        return said

    def call(
        self,
        said: Said,
        tool_name: str,
        given: tuple[str | None, ArgumentsState],
        *,
        call_id: str | None,
        line: int | None = None,
    ) -> Called:
        """Return a call that the message *said* makes, with the arguments *given* and their state."""
        call = Called(
            line=said.line if line is None else line,
            said=said,
            index=said.made,
            call_index=self.call_index,
            call_id=call_id,
            tool_name=tool_name,
            arguments=given[0],
            arguments_state=given[1],
            created_at=said.created_at,
        )
        if not self._batch or self._batch[-1].said is not said:
            self._batch = []
        said.made += 1
        self.call_index += 1
        self._batch.append(call)
        if call_id is not None:
            self._known.add(call_id)
            self._waiting.setdefault(call_id, []).append(call)
        self.calls.append(call)
        return call

    def asker(self, call_id: str | None, *, tool_name: str | None = None) -> Called | None:
        """Return the call that a result belongs to; one that nobody asked for, or again, is counted."""
        here = [call for call in self._batch if call.answer_position is None]
        if call_id is None:
            for call in here:
                if tool_name in (None, call.tool_name):
                    return call
        else:
            waiting = self._waiting.get(call_id, [])
            for call in (*(call for call in here if call.call_id == call_id), *reversed(waiting)):
                if call.answer_position is None:
                    waiting.remove(call)
                    return call
            for call in here:
                if call.call_id is None and tool_name in (None, call.tool_name):
                    return call
            if call_id in self._known:
                self.notes.count(self.notes.merged, "result written again")
                return None
        self.notes.count(self.notes.missing, "result without call")
        return None

    def knows(self, call_id: str) -> bool:
        """Say whether a call with this id was made."""
        return call_id in self._known

    def finish(self, *, counted: bool = True) -> list[Called]:
        """Return the calls that no result came for, settled: the log ends with them, or goes on without.

        They are *counted* as missing, unless results may still come with a later line.
        """
        spoken = [said.position for said in self.messages if said.role not in ("tool", "function")]
        waiting = [call for call in self.calls if call.answer_position is None and call.result is None]
        for call in waiting:
            if call.result_state != "pending" and not call.person_refused:
                last = not spoken or call.said.position == spoken[-1]
                call.result_state = "not_captured" if last else "absent"
        if counted and waiting:
            self.notes.count(self.notes.missing, "call without result", len(waiting))
        return waiting

    def digests(self) -> list[str]:
        """Return a digest of all that was said, called and answered up to each message; first, of nothing."""
        running = hashlib.sha256()
        digests = [running.hexdigest()[:16]]
        calls = iter(self.calls)
        call = next(calls, None)
        for said in self.messages:
            parts = [said.role, None if said.varies else said.text, said.call_id]
            while call is not None and call.said is said:
                parts += call.tool_name, call.arguments
                call = next(calls, None)
            running.update(msgspec.json.encode(parts))
            digests.append(running.hexdigest()[:16])
        return digests

    def records(
        self, setting: Setting, *, since: int = 0, key: Callable[[Called], str] | None = None
    ) -> Iterator[tuple[int, Record]]:
        """Yield the messages from position *since* on, the calls made or answered there, and their lines."""
        for said in self.messages:
            if said.position >= since:
                yield said.line, message_record(said, setting)
        for call in self.calls:
            if max(call.said.position, call.answer_position or -1) >= since:
                made = key(call) if key else call_key(setting.conversation_id, call.said.position, call.index)
                yield call.line, call_record(call, setting, made)

    def forget(self) -> None:
        """Let go of what was told; only calls that still wait for their results are kept."""
        self.messages = []
        self.calls = [call for call in self.calls if call.answer_position is None and call.result is None]


def opening(digests: list[str], exchange: Exchange) -> str:
    """Return the digest of all up to the model's first word: many people open with the same one."""
    return digests[next((at for at, said in enumerate(exchange.messages, 1) if said.role == "assistant"), -1)]


def message_record(said: Said, setting: Setting) -> Message:
    """Return the record of a message."""
    return _message(
        key_space=setting.key_space,
        conversation_id=setting.conversation_id,
        position=said.position,
        role=said.role,
        text=said.text,
        content=said.content,
        message_id=said.message_id,
        call_id=said.call_id,
        name=said.name,
        model=said.model or (setting.model if said.role in ("assistant", "model") else None),
        created_at=said.created_at,
        latency_ms=said.latency_ms,
        input_tokens=said.input_tokens,
        output_tokens=said.output_tokens,
        cost_usd=said.cost_usd,
        finish_reason=said.finish_reason,
    )


def call_record(call: Called, setting: Setting, key: str) -> ToolCall:
    """Return the record of a call under its *key*; what a dispatcher runs is read from its arguments."""
    wrapped, server = call.wrapped_tool, call.tool_server
    if wrapped is None:
        wrapped, inner_server = wrapped_tool(call.tool_name, call.arguments)
        server = server or inner_server
    return _tool_call(
        key_space=setting.key_space,
        key=key,
        conversation_id=setting.conversation_id,
        tool_name=call.tool_name,
        turn=call.said.turn,
        cycle=None if call.actor == "user" else call.said.cycle,
        call_index=call.call_index,
        index_in_cycle=call.index,
        message_position=call.said.position,
        call_id=call.call_id,
        tool_server=server or server_in(call.tool_name),
        wrapped_tool=wrapped,
        arguments=call.arguments,
        arguments_state=call.arguments_state,
        result=call.result,
        result_state=call.result_state,
        is_error=call.is_error,
        error_origin=call.error_origin,
        error_kind=call.error_kind,
        error_text=call.error_text,
        person_refused=call.person_refused,
        actor=call.actor,
        source=setting.source,
        style=setting.style,
        model=None if call.actor == "user" else call.said.model or setting.model,
        tool_definition=setting.definitions.get(call.tool_name),
        created_at=call.created_at or call.said.created_at or setting.moment,
        latency_ms=call.latency_ms,
    )
