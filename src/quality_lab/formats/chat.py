"""Conversations in the shape of OpenAI's chat messages: their messages, and each call with its own result.

A call's id is not trusted further than its own batch: files repeat ids, even within one conversation. A
result belongs to the calls of the assistant message before it: the one with its id, else the first that has
none yet. Only a result whose id is not among those looks further back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from quality_lab.formats.flat import FlatDecoder
from quality_lab.formats.moments import moment_of
from quality_lab.formats.upstream import arguments_of
from quality_lab.formats.validation import Refused, refusal
from quality_lab.records import ArgumentsState, Message, ReadNotes, ResultState, ToolCall

_ABSENT = msgspec.Raw()


class MessageFields(msgspec.Struct, kw_only=True, gc=False):
    """A message as it is written; its answer's usage and reason may be laid beside it by a reader."""

    role: str
    content: msgspec.Raw = _ABSENT
    refusal: str | None = None
    name: str | None = None
    tool_calls: msgspec.Raw = _ABSENT
    function_call: msgspec.Raw = _ABSENT
    tool_call_id: str | None = None
    id: str | None = None
    model: str | None = None
    created_at: msgspec.Raw = _ABSENT


class _CallFields(msgspec.Struct, kw_only=True, gc=False):
    id: str | None = None
    type: str | None = None
    index: int | None = None
    function: msgspec.Raw = _ABSENT
    custom: msgspec.Raw = _ABSENT


class _FunctionFields(msgspec.Struct, kw_only=True, gc=False):
    name: str
    arguments: msgspec.Raw = _ABSENT


class _CustomFields(msgspec.Struct, kw_only=True, gc=False):
    name: str
    input: msgspec.Raw = _ABSENT


class _Part(msgspec.Struct):
    text: str | None = None


_message = FlatDecoder(MessageFields)
_call = FlatDecoder(_CallFields)
_function = FlatDecoder(_FunctionFields)
_custom = FlatDecoder(_CustomFields)


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

    def read(self, texts: Sequence[msgspec.Raw], *, below: str) -> None:
        """Take in messages, of which the first stands at `below[0]` in its line.

        Raises:
            Refused: one of them is not a message.
        """
        for place, text in enumerate(texts):
            path = f"{below}[{place}]"
            self.take(_message.decode(bytes(text), self.notes, below=path), path)

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
        elif message.role in ("tool", "function"):
            self._answered = True
            self._give(message)
        self.messages.append(message)
        self.moments.append(moment)

    def finish(self) -> None:
        """Settle the calls that no result came for: the log ends with them, or it goes on without."""
        for call in self.calls:
            if call.result_position is None:
                ends_here = all(after.role == "tool" for after in self.messages[call.position + 1 :])
                call.result_state = "not_captured" if ends_here else "absent"
                self.notes.count(self.notes.missing, "call without result")

    def _asked(self, message: MessageFields, path: str) -> Iterator[tuple[str | None, str, msgspec.Raw]]:
        """Yield id, name and arguments of each call that *message* makes."""
        for place, text in enumerate(elements(message.tool_calls, f"{path}.tool_calls")):
            where = f"{path}.tool_calls[{place}]"
            call = _call.decode(bytes(text), self.notes, below=where)
            if bytes(call.custom) not in (b"", b"null"):
                custom = _custom.decode(bytes(call.custom), self.notes, below=f"{where}.custom")
                yield call.id, custom.name, custom.input
            elif bytes(call.function) in (b"", b"null"):
                raise Refused(f"{where}.function", "required field is missing")
            else:
                function = _function.decode(bytes(call.function), self.notes, below=f"{where}.function")
                yield call.id, function.name, function.arguments
        if bytes(message.function_call) not in (b"", b"null"):
            function = _function.decode(
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
        for call in reversed(self.calls):
            if call.call_id == wanted and call.result_position is None:
                return call
        unnamed = [call for call in open_here if call.call_id is None]
        return next(iter(unnamed), None)

    def message_records(self, key_space: str, conversation_id: str, *, since: int = 0) -> Iterator[Message]:
        """Yield the messages from position *since* on."""
        for position in range(since, len(self.messages)):
            message = self.messages[position]
            yield Message(
                key_space=key_space,
                conversation_id=conversation_id,
                position=position,
                role=message.role,
                text=text_of(message),
                content=_content_of(message),
                message_id=message.id,
                call_id=message.tool_call_id,
                name=message.name,
                model=message.model,
                created_at=self.moments[position],
            )

    def digest(self, upto: int) -> bytes:
        """Return a digest of the first *upto* messages: what was said, called and answered."""
        digest = hashlib.sha256()
        calls = iter(self.calls)
        call = next(calls, None)
        for position, message in enumerate(self.messages[:upto]):
            said = [message.role, text_of(message), _content_of(message), message.tool_call_id]
            while call is not None and call.position == position:
                said += call.tool_name, call.arguments
                call = next(calls, None)
            digest.update(msgspec.json.encode(said))
        return digest.digest()


def elements(raw: msgspec.Raw, path: str) -> list[msgspec.Raw]:
    """Return the elements of the list at *path*; none where it is null or not there.

    Raises:
        Refused: something else stands there.
    """
    if not bytes(raw):
        return []
    try:
        return msgspec.json.decode(raw, type=list[msgspec.Raw] | None) or []
    except msgspec.ValidationError as problem:
        raise Refused(*refusal(problem, below=path)) from None


def tool_call(made: Made, *, key_space: str, conversation_id: str) -> ToolCall:
    """Return the record of a call, as far as every chat format knows it."""
    return ToolCall(
        key_space=key_space,
        key=call_key(conversation_id, made.position, made.index),
        conversation_id=conversation_id,
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
        model=made.model,
        created_at=made.created_at,
    )


def call_key(conversation_id: str, position: int, index: int) -> str:
    """Return the key of a call: its conversation, the position of its message, its place in the batch."""
    return f"{conversation_id}#{position}.{index}"


def text_of(message: MessageFields) -> str | None:
    """Return what a person would read of *message*: its text, the text of its parts, or its refusal."""
    content = bytes(message.content)
    if content.startswith(b'"'):
        return msgspec.json.decode(content, type=str)
    if content.startswith(b"["):
        try:
            parts = msgspec.json.decode(content, type=list[_Part | str])
        except msgspec.ValidationError:
            return None
        texts = [part if isinstance(part, str) else part.text for part in parts]
        return "\n".join(text for text in texts if text is not None) or None
    return message.refusal


def _content_of(message: MessageFields) -> str | None:
    """Return content that is more than its text."""
    content = bytes(message.content)
    return None if not content or content == b"null" or content.startswith(b'"') else content.decode()
