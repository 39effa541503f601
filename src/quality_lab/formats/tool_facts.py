"""What a span says of a call of a tool: its name, what it was given and what came back.

An instrumentation that has no attribute for arguments writes whatever its function was given; what that
wraps round them is taken off here, and the arguments keep the text they had.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec

from quality_lab.formats.exact import is_json
from quality_lab.formats.json_pieces import (
    Pieces,
    first,
    is_nothing,
    list_in,
    object_in,
    sound,
    string_in,
    word,
)
from quality_lab.formats.said import messages_in
from quality_lab.formats.spans import Event, Span
from quality_lab.formats.upstream import arguments_of
from quality_lab.records import ArgumentsState

_NAMES = (
    "gen_ai.tool.name", "tool.name", "tool_call.function.name", "ai.toolCall.name", "mcp.tool.name",
    "traceloop.entity.name", "entity.1.name",
)  # fmt: skip
_IDS = ("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id", "tool.call.id", "tool_call_id")
_STATED = (  # attributes that hold arguments and nothing round them
    "gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args", "ai.toolCall.args", "tool_arguments",
    "tool_call.function.arguments", "gen_ai.tool.arguments", "mcp.tool.arguments", "mcp.request.arguments",
)  # fmt: skip
_GIVEN = ("input.value", "traceloop.entity.input", "input", "gen_ai.prompt", "langfuse.observation.input")
_RESULTS = (
    "gen_ai.tool.call.result", "gcp.vertex.agent.tool_response", "tool_response", "ai.toolCall.result",
    "gen_ai.tool.result", "mcp.tool.result", "output.value", "traceloop.entity.output", "output",
    "gen_ai.completion", "langfuse.observation.output",
)  # fmt: skip
_SERVERS = ("mcp.server.name", "gen_ai.tool.server", "mcp.server", "tool.server", "gen_ai.mcp.server.name")
_PREFIX = re.compile(r"(?:execute_tool|running tool:?|tools/call|tool call:?|call_tool) +(?=\S)")
_MCP = re.compile(r"mcp__(.+?)__.+")
_WRAPPED_CALL = frozenset(("args", "kwargs", "sanitize_inputs_outputs"))
_WRAPPED_RUN = frozenset(("inputs", "input_str", "tags", "metadata", "kwargs", "name"))
_DISPATCHERS = {  # a dispatcher's name, folded → the arguments that may name what it runs
    "executetool": ("tool_name", "toolName", "name"),
    "calltool": ("tool_name", "toolName", "name"),
    "usemcptool": ("tool_name", "toolName"),
    "mcpcalltool": ("tool_name", "toolName", "name"),
    "runtool": ("tool_name", "toolName", "name"),
    "route": ("tool_name", "tool", "name"),
    "skill": ("skill", "command"),
    "task": ("subagent_type",),
    "agent": ("subagent_type",),
}


@dataclass(slots=True)
class ToolFacts:
    """A call as its own span tells it; the text of arguments and result is JSON."""

    name: str
    call_id: str | None = None
    server: str | None = None
    arguments: str | None = None
    arguments_state: ArgumentsState = "not_captured"
    result: str | None = None
    failed: bool | None = None  # as the result itself says
    description: str | None = None


def tool_facts(span: Span) -> ToolFacts:
    """Return what *span*, which runs a tool, says of the call."""
    attributes = span.attributes
    given, answered = _in_events(span.events)
    stated = first(attributes, *_STATED) or given
    raw = stated or first(attributes, *_GIVEN)
    if raw is None and not is_nothing(attributes.get("tool.parameters")):
        raw = attributes["tool.parameters"] if not _is_schema(attributes["tool.parameters"]) else None
    result = first(attributes, *_RESULTS) or answered
    arguments, state = arguments_in(raw, wrapped=stated is None)
    name = tool_name(span)
    facts = ToolFacts(name, word(attributes, *_IDS), word(attributes, *_SERVERS), arguments, state)
    facts.server = facts.server or server_in(name)
    facts.description = word(attributes, "gen_ai.tool.description", "tool.description")
    if result is not None:
        facts.result = result.decode()
        facts.failed, call_id = _of_result(result)
        facts.call_id = facts.call_id or call_id
    ending = word(attributes, "gen_ai.tool.status", "tool.status", "gen_ai.tool.call.status")
    facts.failed = {"error": True, "success": False}.get((ending or "").lower(), facts.failed)
    return facts


def tool_name(span: Span) -> str:
    """Return the name of the tool that *span* runs."""
    name = word(span.attributes, *_NAMES)
    if name is None:
        name = _PREFIX.sub("", span.name, count=1)
        if "traceloop.span.kind" in span.attributes:
            name = name.removesuffix(".tool")
    return name or "(unnamed)"


def server_in(name: str) -> str | None:
    """Return the MCP server that stands in a name such as `mcp__weather__get_weather`."""
    found = _MCP.fullmatch(name)
    return None if found is None else found[1]


def arguments_in(raw: bytes | None, *, wrapped: bool) -> tuple[str | None, ArgumentsState]:
    """Return the text of arguments and their state: unpacked from strings, and from what is *wrapped* round.

    >>> arguments_in(b'"{\\\\"args\\\\": [], \\\\"kwargs\\\\": {\\\\"rate\\\\": 1.10}}"', wrapped=True)
    ('{"rate": 1.10}', 'json_string')
    """
    text, state = arguments_of(msgspec.Raw(raw or b""))
    while state == "json_string" and text is not None and text.startswith('"'):  # written twice as a string
        inner = string_in(sound(text.encode()))
        if inner is None or inner.lstrip()[:1] not in ("{", "[", '"') or not is_json(inner.encode()):
            break
        text = inner
    if wrapped and text is not None and state in ("object", "json_string"):
        text = _unwrapped(text)
    return text, state


def _unwrapped(text: str) -> str:
    members = object_in(sound(text.strip().encode()))
    if not members:
        return text
    names = members.keys()
    if "kwargs" in names and names <= _WRAPPED_CALL:
        args, kwargs = list_in(members.get("args")) or [], object_in(members["kwargs"])
        if kwargs is not None and (not args or not kwargs):
            return (members["args"] if args else members["kwargs"]).decode()
    elif "inputs" in names and names <= _WRAPPED_RUN and object_in(members["inputs"]) is not None:
        return _plain(members["inputs"])
    elif names == {"input"} and object_in(members["input"]) is not None:
        return _plain(members["input"])
    return text


def _plain(raw: bytes) -> str:
    return arguments_of(msgspec.Raw(raw))[0] or raw.decode()


def wrapped_tool(name: str, arguments: str | None) -> tuple[str | None, str | None]:
    """Return the tool that the dispatcher *name* is told to run, and its server, as its arguments say."""
    keys = _DISPATCHERS.get(re.sub(r"[\s_-]+", "", name).casefold())
    members = object_in(sound(arguments.encode())) if keys and arguments else None
    if not keys or members is None:
        return None, None
    inner = next((found for key in keys if (found := string_in(members.get(key)))), None)
    return inner, word(members, "server_name", "serverName", "server") if inner else None


def _in_events(events: list[Event]) -> tuple[bytes | None, bytes | None]:
    """Return arguments and result that stand in the events of a tool's span."""
    given: bytes | None = None
    result: bytes | None = None
    for event in events:
        if event.name == "gen_ai.tool.message":
            given = given or first(event.attributes, "content", "body")
        elif event.name == "gen_ai.choice":
            result = result or first(event.attributes, "message", "content", "body")
        elif event.name in ("data.input", "data.output"):
            value = first(event.attributes, "input", "response", "data")
            given, result = (
                (value or given, result) if event.name == "data.input" else (given, value or result)
            )
        for message in messages_in(event.attributes.get("gen_ai.input.messages")):
            for asked in message.asked:
                given = given or asked.arguments
        for message in messages_in(event.attributes.get("gen_ai.output.messages")):
            for answered in message.answered:
                result = result or answered.result
    return given, result


def _of_result(result: bytes) -> tuple[bool | None, str | None]:
    """Return what a result says of its failing, as MCP's and LangChain's do, and of its call's id."""
    if b"isError" not in result and b"tool_call_id" not in result:
        return None, None
    members: Pieces = object_in(result) or {}
    if members.get("isError") in (b"true", b"false"):
        return members["isError"] == b"true", None
    call_id = word(members, "tool_call_id")
    ending = word(members, "status") if call_id else None
    return {"error": True, "success": False}.get(ending or ""), call_id


def _is_schema(raw: bytes) -> bool:
    """Say whether a tool's "parameters" are what it takes and not what it was given."""
    members = object_in(raw) or {}
    if "properties" in members or word(members, "type") == "object":
        return True
    return bool(members) and all("type" in (object_in(one) or {}) for one in members.values())
