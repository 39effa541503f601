"""ShareGPT conversations, as training data has them: who spoke, and a value that is text.

A call is a value of its own (`function_call`, or a part or a tag `tool_call`) that holds JSON with a name and
arguments, and no id; what comes back (`observation`) follows it. Several calls at once are answered in one
list, an element for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from quality_lab.formats.chat import Setting
from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object
from quality_lab.formats.definitions import Definitions
from quality_lab.formats.exact import restored
from quality_lab.formats.exchange import Exchange, Said
from quality_lab.formats.flat import FlatDecoder
from quality_lab.formats.history import History
from quality_lab.formats.json_pieces import Pieces, list_in, object_in, sound, string_in, word
from quality_lab.formats.units import RawUnit
from quality_lab.formats.upstream import arguments_of
from quality_lab.formats.validation import Refused, refusal, tally
from quality_lab.records import Conversation, Record

NAME = "sharegpt"
_ABSENT = msgspec.Raw()
_ROLES = {
    "human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "model": "assistant",
    "chatgpt": "assistant", "bing": "assistant", "bard": "assistant", "function_call": "assistant",
    "tool_call": "assistant", "observation": "tool", "tool": "tool", "function_response": "tool",
    "function": "tool", "ipython": "tool", "system": "system",
}  # fmt: skip
_CALLS = ("function_call", "tool_call")
_TAG = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_ANSWER_TAG = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)


class _Row(msgspec.Struct, kw_only=True, gc=False):
    id: str | int | None = None
    conversations: msgspec.Raw = _ABSENT
    messages: msgspec.Raw = _ABSENT
    tools: msgspec.Raw = _ABSENT
    system: str | None = None
    images: msgspec.Raw = _ABSENT
    chosen: msgspec.Raw = _ABSENT
    rejected: msgspec.Raw = _ABSENT
    model: str | None = None
    source: msgspec.Raw = _ABSENT
    category: msgspec.Raw = _ABSENT
    subcategory: msgspec.Raw = _ABSENT
    task: msgspec.Raw = _ABSENT


_row = FlatDecoder(_Row)


class _Reader:
    """What has to be remembered of a file while it is read."""

    def __init__(self, reading: Reading) -> None:
        self.definitions = Definitions()
        self._reading, self._history = reading, History(reading.notes)

    def records(self, text: bytes, line: int) -> tuple[Record, ...]:
        """Return the records of one conversation."""
        row = _row.decode(text, self._reading.notes)
        name = "conversations" if bytes(row.conversations) else "messages"
        listed = list_in(bytes(row.conversations) or bytes(row.messages))
        if listed is None:
            raise Refused(name, "wanted an array")
        exchange = Exchange(self._reading.notes)
        if row.system:
            exchange.say("system", row.system, line=line)
        for place, one in enumerate(listed):
            turn = object_in(one)
            if turn is None:
                raise Refused(f"{name}[{place}]", "wanted an object")
            _take(exchange, turn, f"{name}[{place}]", line)
        exchange.finish()
        offer = None
        if bytes(row.tools) not in (b"", b"null", b'""'):
            try:
                offer = self.definitions.offer(row.tools, None)
            except msgspec.MsgspecError as problem:
                raise Refused(*refusal(problem, below="tools")) from None
        digests = exchange.digests()
        given_id = None if row.id is None else str(row.id)
        conversation_id, since = self._history.place(digests, given_id=given_id, opening=digests[-1])
        options = self._reading.options
        setting = Setting(
            key_space=NAME,
            conversation_id=conversation_id,
            source=options.source,
            style=options.style,
            model=row.model,
            definitions=offer.by_name if offer else {},
        )
        return (
            Conversation(
                key_space=NAME,
                conversation_id=conversation_id,
                source=options.source,
                style=options.style,
                model=row.model,
                offered=None if offer is None else offer.digests,
            ),
            *(restored(record) for _, record in exchange.records(setting, since=since)),
        )


def _take(exchange: Exchange, turn: Pieces, path: str, line: int) -> None:
    named = word(turn, "from", "role")
    role = _ROLES.get((named or "").lower())
    if role is None:
        reason = f"wanted one who speaks, got {named[:40]}" if named else "required field is missing"
        raise Refused(f"{path}.from", reason)
    value = turn.get("value", turn.get("content", b""))
    parts = [object_in(one) or {} for one in list_in(value) or ()] if value.startswith(b"[") else []
    texts = [string_in(part.get("value")) or "" for part in parts if word(part, "type") == "text"]
    text = "\n".join(texts) or None if parts else string_in(value)
    asked = [string_in(part.get("value")) or "" for part in parts if word(part, "type") in _CALLS]
    if named in _CALLS and text is not None:
        asked, text = [text], None
    elif role == "assistant" and text is not None and "<tool_call>" in text:
        asked, text = _TAG.findall(text), _TAG.sub("", text).strip() or None
    if role == "tool":
        _answer(exchange, text, value, line)
        return
    said = exchange.say(role, text, line=line)
    more = any(word(part, "type") not in ("text", *_CALLS) for part in parts)
    said.content = value.decode() if more else None
    for one in asked:
        _ask(exchange, said, one)


def _ask(exchange: Exchange, said: Said, text: str) -> None:
    """Take in what a value says is called: one call, or a list of them."""
    plain = sound(text.strip().encode())
    for one in list_in(plain) or [plain]:
        call = object_in(one) or {}
        call = object_in(call.get("function")) or call
        name = string_in(call.get("name"))
        if name is None:
            tally(exchange.notes, exchange.notes.not_understood, "call that is no JSON with a name")
            said.text = text if said.text is None else f"{said.text}\n{text}"
            continue
        raw = call.get("arguments", call.get("parameters", b""))
        exchange.call(said, name, arguments_of(msgspec.Raw(raw)), call_id=word(call, "id"))


def _answer(exchange: Exchange, text: str | None, value: bytes, line: int) -> None:
    """Take in what came back: a text for the one call that waits, or a list with an element for each."""
    said = exchange.say("tool", text, line=line)
    open_calls = [call for call in exchange.calls if call.answer_position is None]
    tagged = _ANSWER_TAG.findall(text or "")
    each = [sound(one.encode()) for one in tagged] if tagged else list_in(sound((text or "").encode())) or []
    if len(open_calls) > 1 and len(each) == len(open_calls):
        for one in each:
            held = object_in(one) or {}
            call = exchange.asker(None, tool_name=string_in(held.get("name"))) or exchange.asker(None)
            if call is not None:
                result = held["content"] if "content" in held and "name" in held else one
                call.answered(_json(result), position=said.position)
        return
    call = exchange.asker(None)
    if call is not None:
        parted = value.startswith(b"[") and text is not None
        whole = msgspec.json.encode(text).decode() if parted else value.decode()
        call.answered(whole, position=said.position)


def _json(text: bytes) -> str:
    """Return *text* where it is JSON, else as a JSON string."""
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except msgspec.DecodeError:
        return msgspec.json.encode(text.decode()).decode()
    return text.decode()


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    reader = _Reader(reading)
    return reader.definitions.told_at_last(each_object(raws, reading, reader.records))


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    listed = found.get("conversations")
    turns = listed if isinstance(listed, list) else []
    messages = found.get("messages")
    parted = messages if isinstance(messages, list) else []
    return {
        'a list "conversations" of "from" and "value", or "messages" whose parts have a "value"': (
            bool(turns) and all(isinstance(one, dict) and "from" in one and "value" in one for one in turns)
        )
        or any(map(_has_values, parted)),
    }


def _has_values(message: Any) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    parts = content if isinstance(content, list) else []
    return bool(parts) and all(isinstance(part, dict) and {"type", "value"} <= part.keys() for part in parts)


FORMAT = ObjectFormat(
    name=NAME,
    title="ShareGPT conversations",
    recognised_by='Objects with a list "conversations" of "from" and "value", or "messages" whose parts have '
    'a "value".',
    key="(id of the row, position of the message, place in its batch); without an id, a digest of all that was "
    "said, and its occurrence in the file",
    expectations=_expectations,
    shapes=("conversations.from conversations.value", "messages.role messages.content.value"),
    reader=_read,
)
