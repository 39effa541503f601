"""Conversations in the shape of OpenAI's chat messages: their messages, and each call with its own result.

A call's id is not trusted further than its own batch: files repeat ids, even within one conversation. A
result belongs to the calls of the assistant message before it: the one with its id, else the first that has
none yet. Only a result whose id is not among those looks further back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import msgspec

from quality_lab.formats.chat_fields import (
    CALL,
    CUSTOM,
    FUNCTION,
    MESSAGE,
    MessageFields,
    content_of,
    elements,
    text_of,
)
from quality_lab.formats.making import quick
from quality_lab.formats.moments import moment_of
from quality_lab.formats.upstream import arguments_of
from quality_lab.formats.validation import Refused
from quality_lab.records import ArgumentsState, Message, ReadNotes, ResultState, ToolCall

_ABSENT = msgspec.Raw()
_message = quick(Message)
_tool_call = quick(ToolCall)
_ANSWERS = ("tool", "function")  # roles


@dataclass(slots=True, kw_only=True)
class Made:
    """A call on its way: where it was made, and what came back."""

    position: int  # of its message
    index: int  # in the batch
    turn: int
    cycle: int
    call_index: int
    call_id: str | None
    tool_name: str
    arguments: str | None
    arguments_state: ArgumentsState
    created_at: datetime | None
    model: str | None
    result: str | None = None
    result_state: ResultState = "not_captured"
    result_position: int | None = None


@dataclass(slots=True)
class Talk:
    """The messages of one conversation, read in order, and the calls made in it."""

    notes: ReadNotes
    messages: list[MessageFields] = field(default_factory=list)
    moments: list[datetime | None] = field(default_factory=list)
    calls: list[Made] = field(default_factory=list)
    _turn: int = 0
    _cycle: int = -1
    _call_index: int = 0
    _answered: bool = False  # the agent has spoken or acted in this turn
    _batch: list[Made] = field(default_factory=list)
    _waiting: dict[str, list[Made]] = field(default_factory=dict)  # by id, the latest last

    def read(self, texts: Sequence[msgspec.Raw], *, below: str) -> None:
        """Take in messages, of which the first stands at `below[0]` in its line.

        Raises:
            Refused: one of them is not a message.
        """
        for place, text in enumerate(texts):
            path = f"{below}[{place}]"
            self.take(MESSAGE.decode(bytes(text), self.notes, below=path), path)

    def take(self, message: MessageFields, path: str) -> None:
        """Take in one message."""
        moment = moment_of(message.created_at, f"{path}.created_at")
        if message.role == "user" and self._answered:
            self._turn, self._cycle, self._call_index, self._answered = self._turn + 1, -1, 0, False
        asked = list(self._asked(message, path))
        if asked or message.role == "assistant":
            self._answered, self._cycle, self._batch = True, self._cycle + 1, []
            for index, (call_id, name, arguments) in enumerate(asked):
                self._make(message, moment, index, call_id, name, arguments)
        elif message.role in _ANSWERS:
            self._answered = True
            self._give(message)
        self.messages.append(message)
        self.moments.append(moment)

    def finish(self, *, counted: bool = True) -> list[Made]:
        """Return the calls that no result came for, settled: the log ends with them, or goes on without.

        They are *counted* as missing, unless results may still come with a later line.
        """
        spoken = [place for place, message in enumerate(self.messages) if message.role not in _ANSWERS]
        waiting = [call for call in self.calls if call.result_position is None]
        for call in waiting:
            call.result_state = "not_captured" if call.position == spoken[-1] else "absent"
        if counted and waiting:
            self.notes.count(self.notes.missing, "call without result", len(waiting))
        return waiting

    def _asked(self, message: MessageFields, path: str) -> Iterator[tuple[str | None, str, msgspec.Raw]]:
        """Yield id, name and arguments of each call that *message* makes."""
        for place, text in enumerate(elements(message.tool_calls, f"{path}.tool_calls")):
            where = f"{path}.tool_calls[{place}]"
            call = CALL.decode(bytes(text), self.notes, below=where)
            if bytes(call.custom) not in (b"", b"null"):
                custom = CUSTOM.decode(bytes(call.custom), self.notes, below=f"{where}.custom")
                yield call.id, custom.name, custom.input
            elif bytes(call.function) in (b"", b"null"):
                raise Refused(f"{where}.function", "required field is missing")
            else:
                function = FUNCTION.decode(bytes(call.function), self.notes, below=f"{where}.function")
                yield call.id, function.name, function.arguments
        if bytes(message.function_call) not in (b"", b"null"):
            function = FUNCTION.decode(
                bytes(message.function_call), self.notes, below=f"{path}.function_call"
            )
            yield None, function.name, function.arguments

    def _make(
        self,
        message: MessageFields,
        moment: datetime | None,
        index: int,
        call_id: str | None,
        name: str,
        raw: msgspec.Raw,
    ) -> None:
        arguments, state = arguments_of(raw)
        made = Made(
            position=len(self.messages),
            index=index,
            turn=self._turn,
            cycle=self._cycle,
            call_index=self._call_index,
            call_id=call_id,
            tool_name=name,
            arguments=arguments,
            arguments_state=state,
            created_at=moment,
            model=message.model,
        )
        self._call_index += 1
        self._batch.append(made)
        if call_id is not None:
            self._waiting.setdefault(call_id, []).append(made)
        self.calls.append(made)

    def _give(self, message: MessageFields) -> None:
        """Give the result in *message* to its call."""
        call = self._asker(message)
        if call is None:
            self.notes.count(self.notes.missing, "result without call")
            return
        text = str(message.content, "utf-8")
        call.result, call.result_state = (text, "present") if text else (None, "absent")
        call.result_position = len(self.messages)

    def _asker(self, message: MessageFields) -> Made | None:
        open_here = [call for call in self._batch if call.result_position is None]
        wanted = message.tool_call_id
        if wanted is None:
            named = [call for call in open_here if message.name in (None, call.tool_name)]
            return next(iter(named), None)
        for call in open_here:
            if call.call_id == wanted:
                return call
        waiting = self._waiting.get(wanted, [])
        while waiting:
            call = waiting.pop()
            if call.result_position is None:
                return call
        unnamed = [call for call in open_here if call.call_id is None]
        return next(iter(unnamed), None)

    def message_records(
        self, key_space: str, conversation_id: str, *, model: str | None = None, since: int = 0
    ) -> Iterator[Message]:
        """Yield the messages from position *since* on; *model* is the one that wrote what names no other."""
        for position in range(since, len(self.messages)):
            message = self.messages[position]
            yield _message(
                key_space=key_space,
                conversation_id=conversation_id,
                position=position,
                role=message.role,
                text=text_of(message),
                content=content_of(message),
                message_id=message.id,
                call_id=message.tool_call_id,
                name=message.name,
                model=message.model or (model if message.role == "assistant" else None),
                created_at=self.moments[position],
            )

    def digests(self) -> list[str]:
        """Return a digest of all that was said, called and answered up to each message; first, of nothing."""
        running = hashlib.sha256()
        digests = [running.hexdigest()[:16]]
        calls = iter(self.calls)
        call = next(calls, None)
        for position, message in enumerate(self.messages):
            said = [message.role, text_of(message), content_of(message), message.tool_call_id]
            while call is not None and call.position == position:
                said += call.tool_name, call.arguments
                call = next(calls, None)
            running.update(msgspec.json.encode(said))
            digests.append(running.hexdigest()[:16])
        return digests


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """What all calls of a conversation share."""

    key_space: str
    conversation_id: str
    source: str | None
    style: str | None
    model: str | None = None  # of messages that name no other
    moment: datetime | None = None  # of messages that name no other
    definitions: Mapping[str, str] = field(default_factory=dict)  # name of a tool that was offered → digest


def tool_call(
    made: Made, setting: Setting, *, error_text: str | None = None, can_say: bool = False
) -> ToolCall:
    """Return the record of a call. Where the format *can say* whether it failed, *error_text* says so."""
    failed = error_text is not None
    return _tool_call(
        key_space=setting.key_space,
        key=call_key(setting.conversation_id, made.position, made.index),
        conversation_id=setting.conversation_id,
        tool_name=made.tool_name,
        turn=made.turn,
        cycle=made.cycle,
        call_index=made.call_index,
        index_in_cycle=made.index,
        message_position=made.position,
        call_id=made.call_id,
        arguments=made.arguments,
        arguments_state=made.arguments_state,
        result=made.result,
        result_state=made.result_state,
        is_error=False if can_say and not failed and made.result is not None else None,
        error_origin="text" if failed else None,
        error_text=error_text,
        source=setting.source,
        style=setting.style,
        model=made.model or setting.model,
        tool_definition=setting.definitions.get(made.tool_name),
        created_at=made.created_at or setting.moment,
    )


def retold(call: ToolCall) -> ToolCall:
    """Return a call that was told before and now has its result, without what only its own line knows."""
    return replace(call, created_at=None, model=None, tool_definition=None)


def call_key(conversation_id: str, position: int, index: int) -> str:
    """Return the key of a call: its conversation, the position of its message, its place in the batch."""
    return f"{conversation_id}#{position}.{index}"
