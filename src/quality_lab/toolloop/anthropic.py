"""Anthropic's messages and OpenAI's chat, each in the words of the other: pure translation, no request.

What the other side cannot say is dropped: thinking blocks and cache marks on the way to chat, names of
speakers on the way back.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from ..errors import InputError
from .chat import arguments_object
from .models import ModelError
from .record import Message, ModelReply, RequestedCall
from .wire import NotOneJsonValue, one_value, to_json

Block = dict[str, Any]

_USABLE_ID = re.compile(r"[A-Za-z0-9_-]+\Z")
_DATA_URL = re.compile(r"data:([^;,]+);base64,(.*)\Z", re.DOTALL)
_FINISH = {"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "length"}


def to_anthropic(messages: Sequence[Message]) -> tuple[str | None, list[Message]]:
    """Return the system text and the messages, in Anthropic's shape.

    Answers of tools become ``tool_result`` blocks of one user message, ``is_error`` where the answer is
    nothing but an error. Calls are numbered anew where their ids repeat or hold characters that Anthropic
    does not take.

    Raises:
        InputError: a part of a message has no Anthropic form.
    """
    system: list[str] = []
    out: list[Message] = []
    used: set[str] = set()
    open_calls: list[tuple[str, str]] = []  # (id as given, id as sent) of calls that wait for their answer
    for position, message in enumerate(messages):
        role, content = message.get("role"), message.get("content")
        if role in ("system", "developer") and not out:
            system.extend(block["text"] for block in _blocks(content, position))
        elif role == "assistant":
            blocks = _blocks(content, position)
            for call in message.get("tool_calls") or ():
                given = str(call.get("id") or "")
                sent = _fresh(given, used)
                open_calls.append((given, sent))
                function = call["function"]
                arguments = arguments_object(function.get("arguments"))
                blocks.append({"type": "tool_use", "id": sent, "name": function["name"], "input": arguments})
            _append(out, "assistant", blocks)
        elif role == "tool":
            given = str(message.get("tool_call_id") or "")
            answered = next((pair for pair in open_calls if pair[0] == given), (given, _fresh(given, used)))
            if answered in open_calls:
                open_calls.remove(answered)
            text = (
                content
                if isinstance(content, str)
                else "".join(b["text"] for b in _blocks(content, position))
            )
            block: Block = {"type": "tool_result", "tool_use_id": answered[1], "content": text}
            if _is_error(text):
                block["is_error"] = True
            _append(out, "user", [block])
        else:  # a user's message; a system message in the middle can only be told as one
            _append(out, "user", _blocks(content, position))
    return "\n\n".join(system) or None, out


def from_anthropic(system: str | Sequence[Block] | None, messages: Sequence[Message]) -> list[Message]:
    """Return the conversation in OpenAI's shape; a failed ``tool_result`` is told as ``{"error": …}``."""
    out: list[Message] = []
    if system:
        out.append({"role": "system", "content": _plain(system)})
    for message in messages:
        blocks = message["content"]
        blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
        if message["role"] == "assistant":
            out.append(_assistant(blocks))
            continue
        for block in blocks:
            if block.get("type") == "tool_result":
                out.append({"role": "tool", "content": _told(block), "tool_call_id": block["tool_use_id"]})
        if rest := [block for block in blocks if block.get("type") != "tool_result"]:
            out.append(
                {"role": "user", "content": _plain(rest) if _only_text(rest) else [_part(b) for b in rest]}
            )
    return out


def anthropic_definitions(definitions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return OpenAI function definitions as Anthropic tools."""
    functions = [definition["function"] for definition in definitions]
    return [
        {
            "name": function["name"],
            "description": function.get("description", ""),
            "input_schema": function.get("parameters", {"type": "object", "properties": {}}),
        }
        for function in functions
    ]


def anthropic_reply(answer: Mapping[str, Any], *, attempts: int = 1) -> ModelReply:
    """Return the reply that an Anthropic message holds.

    Raises:
        ValueError: it holds none.
    """
    blocks = answer.get("content")
    if not isinstance(blocks, list):
        error = answer.get("error")
        raise ValueError(f"an answer without content: {error if error else sorted(answer)}")
    usage = answer.get("usage") or {}
    fresh = usage.get("input_tokens")
    cached = sum(usage.get(key) or 0 for key in ("cache_read_input_tokens", "cache_creation_input_tokens"))
    said = _assistant(blocks)
    return ModelReply(
        content=said["content"],
        calls=tuple(
            RequestedCall(
                call_id=call["id"],
                tool_name=call["function"]["name"],
                arguments_text=call["function"]["arguments"],
            )
            for call in said.get("tool_calls", ())
        ),
        finish_reason=_FINISH.get(answer.get("stop_reason") or "", answer.get("stop_reason")),
        model=answer.get("model"),
        response_id=answer.get("id"),
        input_tokens=fresh + cached if fresh is not None else None,
        output_tokens=usage.get("output_tokens"),
        attempts=attempts,
    )


class AnthropicStyle:
    """A model that is asked in Anthropic's words; *send* carries the request and gives back the message."""

    def __init__(
        self,
        name: str,
        *,
        send: Callable[[dict[str, Any]], Awaitable[Mapping[str, Any]]],
        max_tokens: int = 1024,
    ) -> None:
        self.name = name
        self.max_tokens = max_tokens
        self._send = send

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        options: Mapping[str, Any] = {},
    ) -> ModelReply:
        """Return the model's answer.

        Raises:
            ModelError: what came back is no answer.
        """
        system, translated = to_anthropic(messages)
        body: dict[str, Any] = {
            "model": self.name,
            "max_tokens": self.max_tokens,
            **options,
            "messages": translated,
        }
        if system:
            body["system"] = system
        if tools:
            body["tools"] = anthropic_definitions(tools)
        answer = await self._send(body)
        try:
            return anthropic_reply(answer)
        except ValueError as error:
            raise ModelError(f"{self.name} gave {error}", kind="malformed") from None


def _append(out: list[Message], role: str, blocks: list[Block]) -> None:
    """Add *blocks*, to the last message where it has the same role: Anthropic's turns alternate."""
    if out and out[-1]["role"] == role:
        out[-1]["content"].extend(blocks)
    elif blocks:
        out.append({"role": role, "content": blocks})


def _blocks(content: Any, position: int) -> list[Block]:
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [_block(part, position) for part in content]


def _block(part: Mapping[str, Any], position: int) -> Block:
    kind = part.get("type")
    if kind == "text":
        return {"type": "text", "text": part["text"]}
    if kind == "image_url":
        url = part["image_url"]["url"]
        inline = _DATA_URL.match(url)
        if inline:
            return {"type": "image", "source": {"type": "base64", "media_type": inline[1], "data": inline[2]}}
        return {"type": "image", "source": {"type": "url", "url": url}}
    raise InputError(f"message {position} has a part of type {kind!r}; Anthropic takes text and images")


def _part(block: Block) -> dict[str, Any]:
    if block.get("type") == "text":
        return {"type": "text", "text": block["text"]}
    source = block.get("source")
    if block.get("type") != "image" or not isinstance(source, dict):
        raise InputError(f"a block of type {block.get('type')!r} has no form in OpenAI's chat")
    url = source["url"] if source["type"] == "url" else f"data:{source['media_type']};base64,{source['data']}"
    return {"type": "image_url", "image_url": {"url": url}}


def _assistant(blocks: Sequence[Block]) -> Message:
    texts = [block["text"] for block in blocks if block.get("type") == "text"]
    calls = [
        {
            "id": block["id"],
            "type": "function",
            "function": {"name": block["name"], "arguments": to_json(block.get("input", {}))},
        }
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    message: Message = {"role": "assistant", "content": "".join(texts) if texts else None}
    return {**message, "tool_calls": calls} if calls else message


def _told(block: Block) -> str:
    text = _plain(block.get("content") or "")
    return to_json({"error": text}) if block.get("is_error") and not _is_error(text) else text


def _plain(content: str | Sequence[Block]) -> str:
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content if block.get("type") == "text")


def _only_text(blocks: Sequence[Block]) -> bool:
    return all(block.get("type") == "text" for block in blocks)


def _is_error(text: str) -> bool:
    """Return whether *text* is how the loop tells a failure: an object with a text under ``error`` alone."""
    if not text.startswith('{"error":'):
        return False
    try:
        value = one_value(text)
    except NotOneJsonValue:
        return False
    return isinstance(value, dict) and len(value) == 1 and isinstance(value["error"], str)


def _fresh(given: str, used: set[str]) -> str:
    """Return *given* where it can be sent and was not sent yet, else an id of its own."""
    fresh = given if _USABLE_ID.match(given) and given not in used else f"call_{len(used)}"
    while fresh in used:
        fresh += "_"
    used.add(fresh)
    return fresh
