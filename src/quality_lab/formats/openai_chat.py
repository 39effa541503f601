"""OpenAI chat logs: a conversation as a list of messages, a request with its response, or either alone.

Logs of requests write the history again with every turn. A conversation that goes on where an earlier line
of the file ended is that conversation: only what is new in it is taken, and the rest is counted as merged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from quality_lab.formats.chat import Setting, Talk, call_key, retold, tool_call
from quality_lab.formats.chat_fields import MESSAGE, elements
from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object
from quality_lab.formats.definitions import Definitions, Offer
from quality_lab.formats.flat import FlatDecoder
from quality_lab.formats.history import History
from quality_lab.formats.openai_fields import ChoiceFields, ConversationFields, UsageFields
from quality_lab.formats.units import RawUnit
from quality_lab.formats.validation import Refused, joined, refusal
from quality_lab.records import Conversation, Message, Record

NAME = "openai_chat"
_NOTHING = (b"", b"null")
_PARTS = ("text", "input_text", "output_text", "refusal", "image_url", "input_audio", "file")

_conversation = FlatDecoder(ConversationFields)
_choice = FlatDecoder(ChoiceFields)
_usage = msgspec.json.Decoder(UsageFields)


class _Reply(NamedTuple):
    """What a response says of its message."""

    position: int
    usage: UsageFields
    finish_reason: str | None


class _Line(NamedTuple):
    """A line taken apart."""

    given_id: str | None
    model: str | None
    talk: Talk
    offer: Offer | None
    moment: datetime | None
    reply: _Reply | None


class _Reader:
    """What has to be remembered of a file while it is read."""

    def __init__(self, reading: Reading) -> None:
        self.definitions = Definitions()
        self._reading, self._notes = reading, reading.notes
        self._history = History(reading.notes)
        self._unanswered: set[str] = set()  # keys of calls

    def records(self, text: bytes, line: int) -> tuple[Record, ...]:
        found = self._line(text)
        digests = found.talk.digests()
        opening = _opening(found, digests)
        conversation_id, since = self._history.place(digests, given_id=found.given_id, opening=opening)
        options = self._reading.options
        setting = Setting(
            key_space=NAME,
            conversation_id=conversation_id,
            source=options.source,
            style=options.style,
            model=found.model,
            moment=found.moment,
            definitions=found.offer.by_name if found.offer else {},
        )
        moments = [moment for moment in (found.moment, *found.talk.moments) if moment is not None]
        conversation = Conversation(
            key_space=NAME,
            conversation_id=conversation_id,
            source=options.source,
            style=options.style,
            model=found.model,
            started_at=min(moments, default=None),
            ended_at=max(moments, default=None),
            offered=None if found.offer is None else found.offer.digests,
        )
        messages = found.talk.message_records(NAME, conversation_id, model=found.model, since=since)
        waiting = found.talk.finish(counted=False)
        for call in found.talk.calls:
            key = call_key(conversation_id, call.position, call.index)
            (self._unanswered.add if call in waiting else self._unanswered.discard)(key)
        new = (call for call in found.talk.calls if max(call.position, call.result_position or -1) >= since)
        return (
            conversation,
            *(_with_reply(message, found) for message in messages),
            *(
                tool_call(call, setting) if call.position >= since else retold(tool_call(call, setting))
                for call in new
            ),
        )

    def missing(self) -> None:
        """Count the calls that no line of the file brought a result for."""
        if self._unanswered:
            self._notes.count(self._notes.missing, "call without result", len(self._unanswered))

    # -- taking a line apart --------------------------------------------------------------------------------

    def _line(self, text: bytes) -> _Line:
        outer = _conversation.decode(text, self._notes)
        asked, below = self._half(outer, outer.request, "request")
        answered, answer_below = self._half(outer, outer.response, "response")
        times = [one.moment(path) for one, path in ((outer, ""), (answered, answer_below), (asked, below))]
        moment = next((time for time in times if time is not None), None)
        talk = Talk(self._notes)
        talk.read(elements(asked.messages, joined(below, "messages")), below=joined(below, "messages"))
        reply = self._answer(answered, talk, answer_below)
        if not talk.messages:
            raise Refused(joined(below, "messages"), "wanted messages, or a response with a choice")
        offer = self._offer(asked, moment or next(filter(None, talk.moments), None), below)
        given_id = outer.given_id() or asked.given_id()
        if given_id is None and bytes(asked.messages) in _NOTHING and answered.id is not None:
            given_id = str(answered.id)  # a response alone has no other name
        return _Line(given_id, outer.model or answered.model or asked.model, talk, offer, moment, reply)

    def _half(self, outer: ConversationFields, raw: msgspec.Raw, name: str) -> tuple[ConversationFields, str]:
        """Return the half of a line that stands under *name*, out of what a batch wraps round it, and its path."""
        half, below = outer, ""
        if bytes(raw).startswith(b"{"):  # text there is the answer once more
            half, below = _conversation.decode(bytes(raw), self._notes, below=name), name
        if bytes(half.body).startswith(b"{"):
            below = joined(below, "body")
            half = _conversation.decode(bytes(half.body), self._notes, below=below)
        return half, below

    def _answer(self, answered: ConversationFields, talk: Talk, below: str) -> _Reply | None:
        """Take in the message of the first choice; others were never part of the conversation."""
        choices = elements(answered.choices, joined(below, "choices"))
        if not choices:
            return None
        if len(choices) > 1:
            self._notes.count(self._notes.not_understood, "choices[1…]", len(choices) - 1)
        path = joined(below, "choices[0]")
        choice = _choice.decode(bytes(choices[0]), self._notes, below=path)
        message = MESSAGE.decode(bytes(choice.message), self._notes, below=f"{path}.message")
        talk.take(message, f"{path}.message")
        try:
            usage = _usage.decode(answered.usage) if bytes(answered.usage) not in _NOTHING else UsageFields()
        except msgspec.ValidationError as problem:
            raise Refused(*refusal(problem, below=joined(below, "usage"))) from None
        return _Reply(len(talk.messages) - 1, usage, choice.finish_reason)

    def _offer(self, asked: ConversationFields, moment: datetime | None, below: str) -> Offer | None:
        for tools, name in ((asked.tools, "tools"), (asked.functions, "functions")):
            if bytes(tools) not in _NOTHING:
                try:
                    return self.definitions.offer(tools, moment)
                except msgspec.ValidationError as problem:
                    raise Refused(*refusal(problem, below=joined(below, name))) from None
        return None


def _with_reply(message: Message, found: _Line) -> Message:
    """Return *message*, with what the response said of it where it is the response's."""
    if found.reply is None or found.reply.position != message.position:
        return message
    return replace(
        message,
        created_at=message.created_at or found.moment,
        input_tokens=found.reply.usage.prompt_tokens,
        output_tokens=found.reply.usage.completion_tokens,
        finish_reason=found.reply.finish_reason,
    )


def _opening(found: _Line, digests: list[str]) -> str:
    """Return a digest of how the conversation opened: its definitions, and all up to the agent's first word.

    The agent's word belongs to it, since many people open with "Hello" and are not one person.
    """
    messages = found.talk.messages
    first = next((at for at, message in enumerate(messages, start=1) if message.role == "assistant"), -1)
    offered = ".".join(sorted(found.offer.digests)) if found.offer else ""
    return hashlib.sha256(f"{digests[first]} {offered}".encode()).hexdigest()[:16]


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    reader = _Reader(reading)
    yield from reader.definitions.told_at_last(each_object(raws, reading, reader.records))
    reader.missing()


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    messages, choices = _half_of(found, "request").get("messages"), _half_of(found, "response").get("choices")
    said = messages if isinstance(messages, list) else []
    answers = choices if isinstance(choices, list) else []
    roles = all(isinstance(one, dict) and isinstance(one.get("role"), str) for one in said)
    return {
        'a list "messages", or "choices" with messages': bool(said)
        or any(isinstance(one, dict) and isinstance(one.get("message"), dict) for one in answers),
        'messages with "role", as OpenAI writes them': roles and not any(map(_is_foreign, said)),
    }


def _half_of(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    half = found[name] if isinstance(found.get(name), dict) else found
    return half["body"] if isinstance(half.get("body"), dict) else half


def _is_foreign(message: Mapping[str, Any]) -> bool:
    """Say whether a message is of another maker, whose calls stand inside its content."""
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and part.get("type", "text") not in _PARTS for part in parts)


FORMAT = ObjectFormat(
    name=NAME,
    title="OpenAI chat logs",
    recognised_by='Objects with a list "messages" of objects with "role" (alone, or under "request" beside '
    '"response"), or a response with "choices".',
    key="(id of the conversation, position of the message, place in its batch); without an id, a digest of "
    "how the conversation opened and of the tools offered, and its occurrence in the file",
    expectations=_expectations,
    shapes=(
        "messages.role messages.content messages.tool_calls",
        "choices.message.role choices.message.content choices.finish_reason",
    ),
    reader=_read,
)
