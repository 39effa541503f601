"""OpenAI Responses API logs: requests with their responses, responses alone, lists of items.

Requests that keep no state on the server write the history again: a line whose input begins with all that
an earlier line of the file held goes on from there, and only what is new is told. Requests that name a
conversation or the response before them hold what is new alone, and go on where that one ended.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

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
    string_in,
    word,
)
from quality_lab.formats.responses_items import Items
from quality_lab.formats.responses_lines import Line, conversation_of_line, moment_of_line, taken_apart
from quality_lab.formats.units import RawUnit
from quality_lab.formats.validation import Refused, joined, refusal, tally
from quality_lab.records import Conversation, Feedback, Record, SetAside, ToolCall

NAME = "openai_responses"
_SETTLED = ("response.completed", "response.incomplete", "response.failed", "response.done")
_any = msgspec.json.Decoder(msgspec.Raw)
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])


class _Reader:
    """What has to be remembered of a file while it is read."""

    def __init__(self, reading: Reading) -> None:
        self.definitions = Definitions()
        self._reading, self._notes = reading, reading.notes
        self._history = History(reading.notes)
        self._going_on: dict[str, tuple[str, Exchange]] = {}  # by id of a response or a conversation
        self._instructions: dict[str, str] = {}  # of each conversation, as a digest
        self._single = Items(Exchange(reading.notes), 0)  # that stand one by one
        self._lines: set[int] = set()  # on which they stand
        self._unanswered: set[str] = set()  # keys of calls

    def records(self, text: bytes, line: int) -> tuple[Record, ...]:
        _any.decode(text)  # raises where it is not JSON
        if text.lstrip().startswith(b"["):
            found = Line({}, {}, list_in(text), "", "")
        else:
            members = {key: bytes(value) for key, value in _members.decode(text).items()}
            kind = word(members, "type") or ""
            if kind.startswith("response.") and kind not in _SETTLED:
                tally(self._notes, self._notes.not_understood, kind)
                return (
                    SetAside(kind=kind, reason="an event of a stream; the finished response says it all"),
                )
            if ("type" in members or "role" in members) and not kind.startswith("response."):
                self._lines.add(line)
                self._single.line = line
                self._single.take(members, "")
                return ()
            found = taken_apart(members, self._notes)
        return tuple(self._records(found, line))

    def speaks(self, line: int) -> bool:
        """Say whether an item stands alone on this line, and is told at the end."""
        return line in self._lines

    def single_items(self) -> Iterator[tuple[int, Record]]:
        """Yield the conversation that the items are which stand one by one, with the lines of its records."""
        exchange = self._single.exchange
        if exchange.messages:
            digests = exchange.digests()
            name, _ = self._history.place(digests, given_id=None, opening=opening(digests, exchange))
            self._settle(exchange, name)
            nothing = Line({}, {}, None, "", "")
            setting = self._setting(nothing, name, None, None)
            first = exchange.messages[0].line
            yield first, self._conversation(nothing, setting, None, None)
            yield from exchange.records(setting)
            yield from ((first, _refusal(denial, setting)) for denial in self._single.denials)
        if self._unanswered:
            self._notes.count(self._notes.missing, "call without result", len(self._unanswered))

    def _records(self, found: Line, line: int) -> Iterator[Record]:
        moment = moment_of_line(found)
        before = word(found.asked, "previous_response_id") or word(found.answered, "previous_response_id")
        given_id = conversation_of_line(found)
        going_on = self._going_on.get(given_id or before or "")
        exchange = going_on[1] if going_on else Exchange(self._notes)
        since = exchange.position
        items = Items(exchange, line)
        self._take(found, items, exchange)
        said = items.closed()
        if not exchange.position:
            raise Refused(found.below_asked, "wanted items in input or output")
        response_id = word(found.answered, "id") if "output" in found.answered else None
        offer = self._offer(found, moment)
        if going_on is None and given_id is None and before is None:
            alone = response_id if "input" not in found.asked else None
            digests = exchange.digests()
            name = opening(digests, exchange)
            conversation_id, since = self._history.place(digests, given_id=alone, opening=name)
        else:
            conversation_id = going_on[0] if going_on else given_id or before or ""
        if said is not None and "output" in found.answered:
            _lay_beside(said, found.answered, moment)
        self._settle(exchange, conversation_id)
        setting = self._setting(found, conversation_id, moment, offer)
        yield self._conversation(found, setting, moment, offer)
        for _, record in exchange.records(setting, since=since):
            if isinstance(record, ToolCall) and (record.message_position or 0) < since:
                record = retold(record)
            yield record
        yield from (_refusal(denial, setting) for denial in items.denials)
        for known in (given_id, response_id):
            if known is not None:
                self._going_on[known] = (conversation_id, exchange)
        exchange.forget()

    def _settle(self, exchange: Exchange, conversation_id: str) -> None:
        waiting = exchange.finish(counted=False)
        for call in exchange.calls:
            key = call_key(conversation_id, call.said.position, call.index)
            (self._unanswered.add if call in waiting else self._unanswered.discard)(key)

    def _take(self, found: Line, items: Items, exchange: Exchange) -> None:
        if found.items is not None:
            items.read(found.items, below="items")
            return
        instructions = string_in(found.asked.get("instructions"))
        if instructions and not exchange.position:
            exchange.say("system", instructions, line=items.line).varies = True
        text = string_in(found.asked.get("input"))
        if text is not None:
            exchange.say("user", text, line=items.line)
        else:
            items.read(list_in(found.asked.get("input")) or [], below=joined(found.below_asked, "input"))
        output = joined(found.below_answered, "output")
        items.read(list_in(found.answered.get("output")) or [], below=output)

    def _setting(
        self, found: Line, conversation_id: str, moment: datetime | None, offer: Offer | None
    ) -> Setting:
        options = self._reading.options
        instructions = string_in(found.asked.get("instructions"))
        if instructions:
            digest = hashlib.sha256(instructions.encode()).hexdigest()
            if self._instructions.setdefault(conversation_id, digest) != digest:
                self._notes.count(self._notes.not_understood, "instructions that change in a conversation")
        return Setting(
            key_space=NAME,
            conversation_id=conversation_id,
            source=options.source,
            style=options.style,
            model=word(found.answered, "model") or word(found.asked, "model"),
            moment=moment,
            definitions=offer.by_name if offer else {},
        )

    def _offer(self, found: Line, moment: datetime | None) -> Offer | None:
        for part, path in ((found.asked, found.below_asked), (found.answered, found.below_answered)):
            if not is_nothing(part.get("tools")):
                try:
                    return self.definitions.offer(msgspec.Raw(part["tools"]), moment)
                except msgspec.ValidationError as problem:
                    raise Refused(*refusal(problem, below=joined(path, "tools"))) from None
        return None

    @staticmethod
    def _conversation(
        found: Line, setting: Setting, moment: datetime | None, offer: Offer | None
    ) -> Conversation:
        return Conversation(
            key_space=NAME,
            conversation_id=setting.conversation_id,
            source=setting.source,
            style=setting.style,
            model=setting.model,
            started_at=moment,
            ended_at=moment,
            offered=None if offer is None else offer.digests,
        )


def _lay_beside(said: Said, answered: Pieces, moment: datetime | None) -> None:
    """Lay what a response says of its message beside it."""
    usage = object_in(answered.get("usage")) or {}
    said.input_tokens, said.output_tokens = (
        integer_in(usage.get("input_tokens")),
        integer_in(usage.get("output_tokens")),
    )
    said.model, said.created_at = word(answered, "model"), moment
    status = word(answered, "status")
    reason = word(object_in(answered.get("incomplete_details")) or {}, "reason")
    said.finish_reason = reason or (None if status == "completed" else status)


def _refusal(denial: Any, setting: Setting) -> Feedback:
    call = denial.call
    return Feedback(
        key_space=NAME,
        key=f"{setting.conversation_id}/{denial.key}",
        target_level="call",
        target_key_space=NAME,
        conversation_id=setting.conversation_id,
        call_key=call_key(setting.conversation_id, call.said.position, call.index),
        name="approval",
        score="false",
        author_kind="HUMAN",
        note=denial.reason,
        source=setting.source,
        tool_name=call.tool_name,
    )


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    reader = _Reader(reading)
    units = told_at_the_end(
        each_object(raws, reading, reader.records), speaks=reader.speaks, records=reader.single_items
    )
    return reader.definitions.told_at_last(units)


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    asked = next((one for key in ("request", "body") if isinstance(one := found.get(key), dict)), found)
    answered = found["response"] if isinstance(found.get("response"), dict) else found
    answered = answered["body"] if isinstance(answered.get("body"), dict) else answered
    lists = (asked.get("input"), answered.get("output"), found.get("items"), found.get("data"), [found])
    request = isinstance(asked.get("input"), str) and "model" in asked and "messages" not in asked
    return {
        'items of the Responses API in "input", "output", "items" or "data", or a text "input"': request
        or answered.get("object") == "response"
        or any(isinstance(one, list) and any(map(_is_item, one)) for one in lists),
    }


def _is_item(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    kind = item.get("type")
    if kind in ("function_call", "custom_tool_call"):
        return "call_id" in item and "name" in item
    if kind in ("function_call_output", "custom_tool_call_output"):
        return "call_id" in item and "output" in item
    if kind in ("mcp_call", "mcp_approval_request"):
        return "server_label" in item
    content = item.get("content")
    parts = content if isinstance(content, list) else []
    return isinstance(item.get("role"), str) and any(
        isinstance(part, dict) and part.get("type") in ("input_text", "output_text") for part in parts
    )


FORMAT = ObjectFormat(
    name=NAME,
    title="OpenAI Responses API logs",
    recognised_by='Requests and responses of the Responses API ("input", "output"), alone or in pairs, or '
    'its items ("function_call" with "call_id").',
    key="(conversation, position of the message, place in its batch); where neither a conversation nor a "
    "response is named, a digest of how it opened and its occurrence in the file",
    expectations=_expectations,
    shapes=(
        "object output.type output.call_id output.name",
        "input.role input.content model",
        "items.type items.call_id items.name",
    ),
    reader=_read,
)
