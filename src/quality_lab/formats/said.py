"""What was said to a model and by it, out of whatever shape an instrumentation wrote it in.

OpenTelemetry's messages with parts, OpenAI's chat and responses, Anthropic's and Bedrock's blocks, Gemini's
contents, LangChain's and Vercel's objects: all become the same few nouns. Arguments and results stay the JSON
text they were. A shape that nobody knows gives nothing, and is for the caller to count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from quality_lab.formats.json_pieces import (
    Pieces,
    expanded,
    first,
    is_nothing,
    list_in,
    object_in,
    string_in,
    tree_of,
    unquoted,
    word,
)
from quality_lab.formats.said_parts import (
    Answered,
    Asked,
    Parts,
    Said,
    call_in,
    calls_written_as_text,
    holds_answers,
    take_content,
    vercel_call,
)

_ROLES = {"human": "user", "ai": "assistant", "model": "assistant", "developer": "system", "function": "tool"}
_TYPES = {  # of LangChain's messages → the role
    "human": "user", "ai": "assistant", "system": "system", "tool": "tool", "HumanMessage": "user",
    "AIMessage": "assistant", "AIMessageChunk": "assistant", "SystemMessage": "system", "ToolMessage": "tool",
}  # fmt: skip
_DEEPEST = 6
_LONG = 1 << 16  # bytes; what is longer is not remembered
_LISTS = (
    "messages",
    "choices",
    "candidates",
    "generations",
    "output",
    "items",
    "input",
    "prompt",
    "contents",
)


def messages_in(text: bytes | None, *, role: str | None = None, depth: int = 0) -> list[Said]:
    """Return the messages that JSON *text* holds, in order; *role* is of those that name none."""
    if is_nothing(text) or depth > _DEEPEST:
        return []
    listed = list_in(text)
    if listed is not None:
        found = (
            _in_element(one, role, depth + 1)
            if len(one) < _LONG
            else messages_in(one, role=role, depth=depth + 1)
            for one in listed
        )
        return [message for messages in found for message in messages]
    members = object_in(text)
    return [] if members is None else list(_of_object(members, role, depth))


@lru_cache(maxsize=2048)
def _in_element(text: bytes, role: str | None, depth: int) -> tuple[Said, ...]:
    """Return the messages of an element; a history is the same text in prompt after prompt."""
    return tuple(messages_in(text, role=role, depth=depth))


def message_attributes(attributes: Pieces, prefix: str, *, role: str | None = None) -> list[Said]:
    """Return the messages below *prefix*, one attribute for each of their fields, or all in one list."""
    whole = messages_in(attributes.get(prefix), role=role) if prefix in attributes else []
    if whole:
        return whole
    below = prefix + "."
    fields = [(name[len(below) :], value) for name, value in attributes.items() if name.startswith(below)]
    numbered = [(name, value) for name, value in fields if name[:1].isdigit()]
    return messages_in(tree_of(numbered), role=role) if numbered else []


def _of_object(members: Pieces, role: str | None, depth: int) -> Iterator[Said]:
    members = expanded(members)
    kind = word(members, "type")
    if "role" not in members and kind in ("function_call", "custom_tool_call"):
        asked = Asked(
            word(members, "call_id", "id"), word(members, "name") or "", first(members, "arguments", "input")
        )
        yield Said("assistant", asked=(asked,))
    elif "role" not in members and kind in ("function_call_output", "custom_tool_call_output"):
        yield Said("tool", answered=(Answered(word(members, "call_id"), None, members.get("output")),))
    elif "toolName" in members and "toolCallId" in members:
        yield Said("assistant", asked=(vercel_call(members),))
    elif "kwargs" in members and "role" not in members and "content" not in members:
        yield from messages_in(members["kwargs"], role=role, depth=depth + 1)
    elif "message" in members and "role" not in members:
        yield from _of_choice(members, role, depth)
    elif _is_message(members):
        if not offers_a_tool(members.get("content")):  # LangChain lists the tools among the messages
            yield _message(members, role)
    elif object_in(members.get("content")) is not None:  # Gemini's response
        yield from _of_choice({**members, "message": members["content"]}, role or "assistant", depth)
    else:
        yield from _of_wrapper(members, role, depth)


def _is_message(members: Pieces) -> bool:
    if "role" in members or "parts" in members:
        return True
    return word(members, "type") in _TYPES and "content" in members


def offers_a_tool(content: bytes | None) -> bool:
    """Say whether the content of a message is the definition of a tool."""
    if content is None or content[:1] != b"{":
        return False
    members = object_in(content) or {}
    return word(members, "type") == "function" and "parameters" in (object_in(members.get("function")) or {})


def _of_choice(members: Pieces, role: str | None, depth: int) -> Iterator[Said]:
    finish = word(members, "finish_reason", "finishReason", "stop_reason")
    inner = members["message"]
    found = messages_in(inner, role=role or "assistant", depth=depth + 1)
    if not found and string_in(inner):
        found = [Said(role or "assistant", string_in(inner))]
    beside = string_in(members.get("text"))  # LangChain writes the words of a generation beside its message
    for message in found:
        yield replace(message, text=message.text or beside, finish_reason=message.finish_reason or finish)


def _of_wrapper(members: Pieces, role: str | None, depth: int) -> Iterator[Said]:
    """Yield the messages of a request or a response around them; of several choices only the first."""
    config = object_in(members.get("config")) or {}
    system = first(members, "system", "system_instruction", "systemInstruction", "instructions")
    system = system or first(config, "system_instruction", "systemInstruction")
    for name in _LISTS:
        if name not in members:
            continue
        listed = list_in(members[name])
        if name in ("choices", "candidates", "generations") and listed:
            answers = messages_in(listed[0], role=role or "assistant", depth=depth + 1)
            yield from answers
            return
        found = messages_in(members[name], role=role, depth=depth + 1)
        plain = string_in(members[name])
        if not found and plain and name in ("input", "prompt"):
            found = [Said("user", plain)]
        if found:
            said = None if system is None or role is not None else _plain(system)
            if said and found[0].role != "system":
                yield Said("system", said)
            yield from found
            return
    if (
        "tool_calls" in members
        or "toolCalls" in members
        or ("text" in members and (role is not None or "finish_reason" in members))
    ):
        yield _message(members, role or "assistant")


def _plain(text: bytes) -> str | None:
    """Return the words of a text, of parts, or of an object with parts."""
    if unquoted(text)[:1] in (b"{", b"["):
        parts = Parts()
        members = object_in(text)
        take_content(parts, members["parts"] if members and "parts" in members else text)
        return "\n".join(parts.texts) or string_in(text)
    return string_in(text)


def _message(members: Pieces, role: str | None) -> Said:
    given = word(members, "role") or _TYPES.get(word(members, "type") or "") or role or "user"
    given = _ROLES.get(given, given)
    parts = Parts()
    content = first(members, "parts", "content", "contents", "text", "refusal")
    as_calls = calls_written_as_text(content)
    if as_calls:  # Koog writes a model's calls into the text of a message, under whatever role
        return Said("assistant", asked=as_calls, finish_reason=word(members, "finish_reason"))
    is_answer = given == "tool" and (content is None or "parts" not in members)
    if is_answer and not holds_answers(content):
        call_id = word(members, "tool_call_id", "toolCallId", "call_id", "id")
        failed = {"error": True, "success": False}.get(word(members, "status") or "")
        answer = Answered(call_id, word(members, "name"), members.get("content", content), failed)
        return Said("tool", None if content is None else _plain(content), None, (), (answer,))
    if content is not None:
        take_content(parts, content)
    for name in ("tool_calls", "toolCalls"):
        for call in list_in(members.get(name)) or ():
            parts.asked.extend(call_in(call))
    extra = object_in(members.get("additional_kwargs")) or {}
    if not parts.asked:
        for call in list_in(extra.get("tool_calls")) or ():
            parts.asked.extend(call_in(call))
    if not is_nothing(members.get("function_call")):
        parts.asked.extend(call_in(members["function_call"]))
    said = parts.said("assistant" if parts.asked and given == "user" else given)
    if said.answered and not said.text and given == "user":
        said = replace(said, role="tool")
    whole = content if parts.others and content is not None else None
    return replace(
        said, content=whole, finish_reason=word(members, "finish_reason"), name=word(members, "name")
    )
