"""A conversation in the shape in which models are asked: OpenAI's chat messages, up to what is to be answered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from quality_lab.json_text import JsonTextError, compact, parse
from quality_lab.metrics.conversation_calls import ConversationCall
from quality_lab.metrics.conversation_messages import SaidMessage
from quality_lab.metrics.offered_definitions import OfferedDefinition

NOT_KEPT = "[the result was not kept]"  # a call has to be answered, and nothing is to be made up
_ROLES = {"human": "user", "ai": "assistant", "model": "assistant"}
_ANSWERS = ("tool", "function")
_PARTS = frozenset({"text", "image_url", "input_audio", "file"})  # of a message that is more than its text


def messages_before(
    turn: Sequence[ConversationCall], calls: Iterable[ConversationCall], messages: Sequence[SaidMessage]
) -> list[dict[str, Any]] | None:
    """Return the messages up to and including what the agent answered in *turn*; None where they are not here.

    Earlier *calls* stand where they were made, each with its result. An id that repeats gets a number, so
    that every result belongs to one call.
    """
    places = [call.message_position for call in turn]
    if not messages or not places or None in places:
        return None
    first = min(place for place in places if place is not None)
    asked = [
        said.position for said in messages if _role(said) == "user" and said.position < first and said.text
    ]
    if not asked:
        return None
    made: dict[int, list[ConversationCall]] = defaultdict(list)
    for call in calls:
        if call.message_position is not None and call.message_position <= asked[-1] and call.actor != "user":
            made[call.message_position].append(call)
    said_at = {said.position: said for said in messages if said.position <= asked[-1]}
    told: list[dict[str, Any]] = []
    ids: set[str] = set()
    for position in sorted(said_at.keys() | made.keys()):
        told += _told(said_at.get(position), made.get(position, []), position, ids)
    return told


def definitions_offered(definitions: Iterable[OfferedDefinition]) -> list[dict[str, Any]] | None:
    """Return the definitions in OpenAI's shape; None where none was captured."""
    offered = [{"type": "function", "function": _function(one)} for one in definitions]
    return offered or None


def value_of(json_text: str | None) -> Any:
    """Return the value of JSON text from the store, numbers as they were written; None for none."""
    if json_text is None:
        return None
    try:
        return parse(json_text)
    except JsonTextError:
        return json_text


def _role(said: SaidMessage) -> str:
    return _ROLES.get(said.role, said.role)


def _told(
    said: SaidMessage | None, made: list[ConversationCall], position: int, ids: set[str]
) -> list[dict[str, Any]]:
    role = "assistant" if said is None or made else _role(said)
    content = None if said is None else _content(said, role)
    if role in _ANSWERS or (content is None and not made):
        return []  # a result stands with its call, and an empty message says nothing
    message: dict[str, Any] = {"role": role, "content": content}
    if not made:
        return [message]
    answers = []
    message["tool_calls"] = []
    for index, call in enumerate(made):
        call_id = _new_id(call.call_id or f"call_{position}_{index}", ids)
        function = {"name": call.tool_name, "arguments": _arguments_text(call)}
        message["tool_calls"].append({"id": call_id, "type": "function", "function": function})
        answers.append({"role": "tool", "tool_call_id": call_id, "content": _answer(call)})
    return [message, *answers]


def _content(said: SaidMessage, role: str) -> Any:
    parts = value_of(said.content) if role == "user" else None
    if isinstance(parts, list) and all(
        isinstance(part, dict) and part.get("type") in _PARTS for part in parts
    ):
        return parts
    return said.text


def _new_id(given: str, ids: set[str]) -> str:
    call_id, number = given, 1
    while call_id in ids:
        number += 1
        call_id = f"{given}-{number}"
    ids.add(call_id)
    return call_id


def _arguments_text(call: ConversationCall) -> str:
    if call.arguments is None or call.arguments_state == "absent":
        return "{}"
    value = value_of(call.arguments)
    return value if isinstance(value, str) and call.arguments_state == "invalid_json" else compact(value)


def _answer(call: ConversationCall) -> str:
    if call.result is None:
        return NOT_KEPT
    value = value_of(call.result)
    return value if isinstance(value, str) else compact(value)


def _function(one: OfferedDefinition) -> dict[str, Any]:
    function: dict[str, Any] = {"name": one.name}
    if one.description is not None:
        function["description"] = one.description
    if one.parameters is not None:
        function["parameters"] = value_of(one.parameters)
    return function
