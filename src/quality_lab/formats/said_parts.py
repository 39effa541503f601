"""The parts of a message: its words, the calls it makes, the results it brings, as each maker spells them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from quality_lab.formats.json_pieces import (
    Pieces,
    expanded,
    first,
    list_in,
    object_in,
    scalar_in,
    string_in,
    word,
)

_TEXT_PARTS = (None, "text", "input_text", "output_text", "refusal")


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that a message makes."""

    call_id: str | None
    name: str
    arguments: bytes | None  # JSON text as it was written


@dataclass(frozen=True, slots=True)
class Answered:
    """A result that a message brings back."""

    call_id: str | None
    name: str | None
    result: bytes | None  # JSON text as it was written
    failed: bool | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """One message. (Compared by what it is and not by what it says, so that what is known of it is kept.)"""

    role: str
    text: str | None = None
    content: bytes | None = None  # JSON text, where it is more than that text
    asked: tuple[Asked, ...] = ()
    answered: tuple[Answered, ...] = ()
    finish_reason: str | None = None
    name: str | None = None


@dataclass(slots=True)
class Parts:
    """What was taken in of a message's content so far."""

    texts: list[str] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    answered: list[Answered] = field(default_factory=list)
    others: bool = False

    def said(self, role: str) -> Said:
        """Return the message that they make."""
        return Said(role, "\n".join(self.texts) or None, None, tuple(self.asked), tuple(self.answered))


def holds_answers(content: bytes | None) -> bool:
    """Say whether the content of a tool's message is a list of results, each with its call."""
    for one in (list_in(content) or ())[:1]:
        members = object_in(one) or {}
        return bool(
            members.keys()
            & {"toolCallId", "toolResult", "tool_use_id", "function_response", "functionResponse"}
        )
    return False


def take_content(parts: Parts, content: bytes) -> None:
    """Take in the content of a message: a text, or parts of any maker."""
    listed = list_in(content)
    if listed is None:
        members = object_in(content)
        plain = scalar_in(content)
        if members is not None and content[:1] == b"{":
            listed = [content]
        elif plain is not None:
            parts.texts.append(plain)
            return
        else:
            return
    elif content[:1] == b'"':  # a text that happens to be a list is still a text
        parts.texts.append(string_in(content) or "")
        return
    for one in listed:
        members = object_in(one) if one[:1] == b"{" else None
        if members is None:
            parts.texts.append(string_in(one) or "")
        else:
            _take_part(parts, members)


def _take_part(parts: Parts, members: Pieces) -> None:
    members = object_in(members.get("message_content")) or members
    kind = word(members, "type")
    if (
        kind in ("tool_call", "tool_use", "server_tool_use", "tool-call")
        or "toolCallId" in members
        and (kind != "tool-result" and "result" not in members and "output" not in members)
    ):
        parts.asked.append(vercel_call(members))
    elif kind in ("tool_call_response", "tool_result", "tool-result") or "toolCallId" in members:
        call_id = word(members, "id", "tool_use_id", "toolCallId", "call_id")
        result = first(members, "response", "result", "content", "output")
        failed = {"true": True, "false": False}.get(word(members, "is_error", "isError") or "")
        parts.answered.append(Answered(call_id, word(members, "name", "toolName"), result, failed))
    elif (call := object_in(first(members, "function_call", "functionCall", "toolUse"))) is not None:
        name, arguments = word(call, "name") or "", first(call, "args", "arguments", "input")
        parts.asked.append(Asked(word(call, "id", "toolUseId"), name, arguments))
    elif (
        answer := object_in(first(members, "function_response", "functionResponse", "toolResult"))
    ) is not None:
        failed = {"error": True, "success": False}.get(word(answer, "status") or "")
        result = first(answer, "response", "content")
        parts.answered.append(Answered(word(answer, "id", "toolUseId"), word(answer, "name"), result, failed))
    elif kind in _TEXT_PARTS and string_in(first(members, "text", "content", "refusal")) is not None:
        parts.texts.append(string_in(first(members, "text", "content", "refusal")) or "")
    else:
        parts.others = True


def vercel_call(members: Pieces) -> Asked:
    call_id = word(members, "id", "toolCallId", "tool_call_id", "call_id")
    name = word(members, "name", "toolName", "tool_name") or ""
    return Asked(call_id, name, first(members, "arguments", "args", "input"))


def call_in(text: bytes) -> Iterator[Asked]:
    """Yield a call as chat messages write it; a list of them where the text holds one."""
    members = expanded(object_in(text) or {})
    members = object_in(members.get("tool_call")) or members
    function = object_in(first(members, "function", "custom")) or members
    name = word(function, "name", "toolName", "function_name") or word(members, "name", "toolName")
    if name:
        call_id = word(members, "id", "toolCallId", "tool_call_id")
        yield Asked(call_id, name, first(function, "arguments", "args", "input"))


def calls_written_as_text(content: bytes | None) -> tuple[Asked, ...]:
    if content is None or content[:1] != b'"' or b"function" not in content:
        return ()
    listed = [object_in(one) for one in list_in(content) or ()]
    if not listed or any(one is None or object_in(one.get("function")) is None for one in listed):
        return ()
    calls = (call for one in list_in(content) or () for call in call_in(one))
    return tuple(calls)
