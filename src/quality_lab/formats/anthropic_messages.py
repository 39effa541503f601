"""Anthropic Messages API logs: requests with their responses, conversations, responses or messages alone.

Calls stand as blocks inside the model's messages, results as blocks inside the user's; each result is told
as a message of its own, in the role "tool". A result whose `is_error` is not there is none. Requests write
the history again; what an earlier line of the file held is told once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from quality_lab.formats.anthropic_blocks import blocks_in, take
from quality_lab.formats.chat import Setting, call_key, retold
from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object
from quality_lab.formats.definitions import Definitions, Offer
from quality_lab.formats.exchange import Exchange, Said, opening
from quality_lab.formats.history import History
from quality_lab.formats.holding import told_at_the_end
from quality_lab.formats.json_pieces import (
    Pieces,
    integer_in,
    is_nothing,
    list_in,
    object_in,
    word,
)
from quality_lab.formats.moments import moment_of
from quality_lab.formats.units import RawUnit
from quality_lab.formats.validation import Refused, joined, refusal, tally
from quality_lab.records import Conversation, Record, ToolCall

NAME = "anthropic_messages"
_KNOWN = frozenset(
    """
    id type role model messages system tools tool_choice max_tokens metadata stop_sequences stream temperature
    top_k top_p thinking container mcp_servers service_tier context_management content stop_reason
    stop_sequence usage request response body created_at timestamp conversation_id session_id custom_id params
    result betas cache_control output_config
    """.split()  # noqa: SIM905 - a list of forty quoted words is harder to read
)
_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use")

_any = msgspec.json.Decoder(msgspec.Raw)
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])


class _Reader:
    """What has to be remembered of a file while it is read."""

    def __init__(self, reading: Reading) -> None:
        self.definitions = Definitions()
        self._reading, self._notes = reading, reading.notes
        self._history = History(reading.notes)
        self._single = Exchange(reading.notes)  # of messages that stand one by one
        self._lines: set[int] = set()  # on which they stand
        self._unanswered: set[str] = set()  # keys of calls

    def records(self, text: bytes, line: int) -> tuple[Record, ...]:
        _any.decode(text)  # raises where it is not JSON
        if text.lstrip().startswith(b"["):
            return tuple(self._records({"messages": text}, {}, "", "", line))
        members = {key: bytes(value) for key, value in _members.decode(text).items()}
        asked, below = _part(members, ("request", "params"))
        answered, answer_below = _part(members, ("response", "result"))
        for part, path in ((members, ""), (asked, below), (answered, answer_below)):
            for key in part if part is members or path else ():
                if key not in _KNOWN:
                    tally(self._notes, self._notes.unknown_fields, joined(path, key))
        if "messages" not in asked and answered is members:
            if "role" in members and word(members, "type") != "message":
                self._lines.add(line)
                take(self._single, members, "", line)
                return ()
            if "content" not in members:
                raise Refused("messages", "wanted messages, or a response with content")
            asked = {}
        return tuple(self._records(asked, answered, below, answer_below, line))

    def missing(self) -> None:
        """Count the calls that no line of the file brought a result for."""
        if self._unanswered:
            self._notes.count(self._notes.missing, "call without result", len(self._unanswered))

    def speaks(self, line: int) -> bool:
        """Say whether a message stands alone on this line, and is told at the end."""
        return line in self._lines

    def single_messages(self) -> Iterator[tuple[int, Record]]:
        """Yield the conversation that the messages are which stand one by one, with the lines of its records."""
        exchange = self._single
        if exchange.messages:
            digests = exchange.digests()
            name, _ = self._history.place(digests, given_id=None, opening=opening(digests, exchange))
            setting = self._setting(name, {}, {}, None, None)
            yield from self._told(exchange, setting, 0)
        self.missing()

    def _records(
        self, asked: Pieces, answered: Pieces, below: str, answer_below: str, line: int
    ) -> Iterator[Record]:
        exchange = Exchange(self._notes)
        system = asked.get("system")
        if not is_nothing(system):
            text = blocks_in(system, joined(below, "system"), self._notes).text
            exchange.say("system", text, line=line).varies = True
        where = joined(below, "messages")
        for place, one in enumerate(list_in(asked.get("messages")) or ()):
            message = object_in(one)
            if message is None:
                raise Refused(f"{where}[{place}]", "wanted an object")
            take(exchange, message, f"{where}[{place}]", line)
        moment = _moment(asked, answered, below, answer_below)
        if "content" in answered and "messages" not in answered:
            said = take(exchange, answered, answer_below, line)
            if said is not None:
                _lay_beside(said, answered, moment)
        if not exchange.position:
            raise Refused(where, "wanted messages, or a response with content")
        offer = self._offer(asked, moment, below)
        given_id = word(asked, "conversation_id", "session_id") or word(
            answered, "conversation_id", "session_id"
        )
        if given_id is None and "messages" not in asked:
            given_id = word(answered, "id")
        digests = exchange.digests()
        name = opening(digests, exchange)
        conversation_id, since = self._history.place(digests, given_id=given_id, opening=name)
        setting = self._setting(conversation_id, asked, answered, moment, offer)
        yield from (record for _, record in self._told(exchange, setting, since, offer))

    def _told(
        self, exchange: Exchange, setting: Setting, since: int, offer: Offer | None = None
    ) -> Iterator[tuple[int, Record]]:
        waiting = exchange.finish(counted=False)
        for call in exchange.calls:
            key = call_key(setting.conversation_id, call.said.position, call.index)
            (self._unanswered.add if call in waiting else self._unanswered.discard)(key)
        conversation = Conversation(
            key_space=NAME,
            conversation_id=setting.conversation_id,
            source=setting.source,
            style=setting.style,
            model=setting.model,
            started_at=setting.moment,
            ended_at=setting.moment,
            offered=None if offer is None else offer.digests,
        )
        yield exchange.messages[0].line, conversation
        for line, record in exchange.records(setting, since=since):
            if isinstance(record, ToolCall) and (record.message_position or 0) < since:
                record = retold(record)
            yield line, record

    def _setting(
        self,
        conversation_id: str,
        asked: Pieces,
        answered: Pieces,
        moment: datetime | None,
        offer: Offer | None,
    ) -> Setting:
        options = self._reading.options
        return Setting(
            key_space=NAME,
            conversation_id=conversation_id,
            source=options.source,
            style=options.style,
            model=word(answered, "model") or word(asked, "model"),
            moment=moment,
            definitions=offer.by_name if offer else {},
        )

    def _offer(self, asked: Pieces, moment: datetime | None, below: str) -> Offer | None:
        if is_nothing(asked.get("tools")):
            return None
        try:
            return self.definitions.offer(msgspec.Raw(asked["tools"]), moment)
        except msgspec.ValidationError as problem:
            raise Refused(*refusal(problem, below=joined(below, "tools"))) from None


def _part(members: Pieces, names: tuple[str, ...]) -> tuple[Pieces, str]:
    """Return the half of a line that stands under one of *names*, and its path; the line itself otherwise."""
    for name in names:
        inner = object_in(members.get(name))
        if inner is not None:
            for deeper in ("body", "message"):
                held = object_in(inner.get(deeper))
                if held is not None:
                    return held, f"{name}.{deeper}"
            return inner, name
    return members, ""


def _moment(asked: Pieces, answered: Pieces, below: str, answer_below: str) -> datetime | None:
    for part, path in ((answered, answer_below), (asked, below)):
        for name in ("created_at", "timestamp"):
            moment = moment_of(msgspec.Raw(part.get(name, b"")), joined(path, name))
            if moment is not None:
                return moment
    return None


def _lay_beside(said: Said, answered: Pieces, moment: datetime | None) -> None:
    """Lay what a response says of its message beside it."""
    usage = object_in(answered.get("usage")) or {}
    said.input_tokens, said.output_tokens = (
        integer_in(usage.get("input_tokens")),
        integer_in(usage.get("output_tokens")),
    )
    said.created_at, said.finish_reason = said.created_at or moment, word(answered, "stop_reason")


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    reader = _Reader(reading)
    units = told_at_the_end(
        each_object(raws, reading, reader.records), speaks=reader.speaks, records=reader.single_messages
    )
    return reader.definitions.told_at_last(units)


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    asked = next((one for key in ("request", "params") if isinstance(one := found.get(key), dict)), found)
    asked = asked["body"] if isinstance(asked.get("body"), dict) else asked
    answered = next((one for key in ("response", "result") if isinstance(one := found.get(key), dict)), found)
    inner = next((one for key in ("body", "message") if isinstance(one := answered.get(key), dict)), None)
    answered = inner if inner is not None and answered is not found else answered
    messages = asked.get("messages")
    said = [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []
    response = answered.get("type") == "message" and answered.get("role") == "assistant"
    model = asked.get("model")
    maker = isinstance(model, str) and "claude" in model and "max_tokens" in asked
    own = any(map(_has_blocks, [*said, found])) or (
        bool(said) and (maker or ("system" in asked and "max_tokens" in asked))
    )
    return {
        'messages with blocks such as "tool_use", or a response of type "message"': own
        or (response and isinstance(answered.get("content"), list) and not _is_openai(answered)),
        '"role" beside "content"': all("role" in one for one in said) and (bool(said) or "role" in answered),
    }


def _has_blocks(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and part.get("type") in _BLOCKS for part in parts)


def _is_openai(message: Mapping[str, Any]) -> bool:
    return any(isinstance(part, dict) and "_text" in str(part.get("type")) for part in message["content"])


FORMAT = ObjectFormat(
    name=NAME,
    title="Anthropic Messages API logs",
    recognised_by='Messages whose content holds blocks such as "tool_use" and "tool_result", alone, in '
    'requests or beside their response of type "message".',
    key="(id of the conversation, position of the message, place in its batch); without an id, a digest of "
    "how the conversation opened, and its occurrence in the file",
    expectations=_expectations,
    shapes=(
        "messages.role messages.content.type max_tokens system",
        "role content.type stop_reason usage.input_tokens",
    ),
    reader=_read,
)
