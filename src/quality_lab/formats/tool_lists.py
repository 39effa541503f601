"""Tools as servers and requests list them, without any call: MCP's `tools/list`, OpenAI's and Anthropic's.

MCP's hints say what a tool does to the world: `readOnlyHint` is a read, `destructiveHint` false a write,
`destructiveHint` true cannot be undone; what is not stated stays unstated. An old registry's
`arguments: [{name, type, desc}]` is written as the JSON Schema that it says, no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from quality_lab import json_text
from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object
from quality_lab.formats.definitions import definition_digest
from quality_lab.formats.json_pieces import Pieces, first, list_in, object_in, string_in, word
from quality_lab.formats.units import RawUnit
from quality_lab.formats.validation import Refused, joined, tally, without_indexes
from quality_lab.records import Effect, ReadNotes, Record, ToolDefinition

NAME = "tool_lists"
_SCHEMAS = ("inputSchema", "input_schema", "parameters")
_OF_A_TOOL = frozenset(
    (*_SCHEMAS, "name", "title", "description", "annotations", "arguments", "type", "function", "strict")
)
_LISTS = ("tools", "functions", "result")
_TALK = ("messages", "input", "output", "choices", "conversations", "events", "role", "content")

_object = msgspec.json.Decoder(dict[str, msgspec.Raw])


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    def records(text: bytes, line: int) -> tuple[Record, ...]:
        members = {key: bytes(value) for key, value in _object.decode(text).items()}
        found = tuple(_definitions(members, "", None, reading.notes))
        if not found:
            raise Refused("", "wanted a tool with a name, or a list of tools")
        return found

    return each_object(raws, reading, records)


def _definitions(
    members: Pieces, path: str, server: str | None, notes: ReadNotes
) -> Iterator[ToolDefinition]:
    """Yield the tool that an object is, or those of all lists in it; *server* is whose they are."""
    inner = [name for name in _LISTS if name in members and members[name][:1] in (b"{", b"[", b'"')]
    if not inner:
        yield from _tool(members, path, server, notes)
        return
    named = word(members, "server", "server_name", "name") or server
    for name in inner:
        below = joined(path, name)
        listed = list_in(members[name])
        if listed is not None:
            for place, one in enumerate(listed):
                tool = object_in(one)
                if tool is None:
                    tally(notes, notes.not_understood, without_indexes(f"{below}[{place}]"))
                else:
                    yield from _definitions(tool, f"{below}[{place}]", named, notes)
            continue
        held = object_in(members[name]) or {}
        if any(one in held for one in _LISTS):  # an answer of JSON-RPC
            yield from _definitions(held, below, named, notes)
            continue
        for key, value in held.items():  # server → its tools
            tools = object_in(value)
            if tools is None:
                tally(notes, notes.not_understood, f"{below}.*")
            else:
                yield from _definitions({"name": msgspec.json.encode(key)} | tools, f"{below}.*", key, notes)


def _tool(members: Pieces, path: str, server: str | None, notes: ReadNotes) -> Iterator[ToolDefinition]:
    function = object_in(members.get("function")) or members
    name = string_in(function.get("name"))
    if name is None:  # a tool of the provider's own, or none
        tally(notes, notes.not_understood, f"tool of type {word(members, 'type') or 'unknown'}")
        return
    for key in function:
        if key not in _OF_A_TOOL:
            tally(notes, notes.unknown_fields, joined(without_indexes(path), key))
    description = string_in(function.get("description"))
    schema = first(function, *_SCHEMAS)
    parameters = _schema_of(function.get("arguments")) if schema is None else schema.decode()
    yield ToolDefinition(
        digest=definition_digest(name, description, parameters),
        name=name,
        description=description,
        parameters=parameters,
        effect=effect_of(object_in(function.get("annotations"))),
        server=server or word(members, "server", "server_name"),
    )


def effect_of(hints: Pieces | None) -> Effect | None:
    """Return what MCP's annotations say that a tool does to the world; None where they do not."""
    if hints is None:
        return None
    if hints.get("readOnlyHint") == b"true":
        return "read"
    return {b"false": "write", b"true": "irreversible"}.get(hints.get("destructiveHint", b""))  # type: ignore[return-value]  # mypy widens the values of a dict to str


def _schema_of(arguments: bytes | None) -> str | None:
    """Return the JSON Schema that an old registry's list of arguments says; None where there is none."""
    listed = list_in(arguments)
    if listed is None:
        return None
    properties: dict[str, Any] = {}
    required: list[str] = []
    optional_is_stated = False
    for one in listed:
        argument = object_in(one) or {}
        name = word(argument, "name")
        if name is None:
            continue
        said = {"type": word(argument, "type"), "description": word(argument, "desc", "description")}
        properties[name] = {key: value for key, value in said.items() if value is not None}
        optional_is_stated = optional_is_stated or "optional" in argument
        if argument.get("optional") != b"true":
            required.append(name)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return json_text.compact(schema | {"required": required} if optional_is_stated else schema)


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    return {
        'a tool ("name" with "inputSchema", "parameters" or "arguments"), or a list "tools" or "functions" '
        "of such": _is_tool(found) or any(_lists_tools(found.get(name)) for name in _LISTS),
        "no messages beside them": not any(name in found for name in _TALK),
    }


def _lists_tools(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, dict) and _is_tool(one) for one in value[:5])
    if not isinstance(value, dict):
        return False
    inner = value.values() if not any(name in value for name in _LISTS) else [value]
    return any(isinstance(one, dict) and any(_lists_tools(one.get(name)) for name in _LISTS) for one in inner)


def _is_tool(found: Mapping[str, Any]) -> bool:
    function = found["function"] if isinstance(found.get("function"), dict) else found
    if not isinstance(function.get("name"), str):
        return False
    if any(isinstance(function.get(name), dict) for name in _SCHEMAS):
        return True
    arguments = function.get("arguments")
    if isinstance(arguments, list):
        return all(isinstance(one, dict) and "name" in one for one in arguments)
    return (
        found.get("type") == "function"
        and function is not found
        or (set(found) <= _OF_A_TOOL and isinstance(found.get("description"), str) and arguments is None)
    )


FORMAT = ObjectFormat(
    name=NAME,
    title="Lists of tools (MCP tools/list, OpenAI and Anthropic definitions)",
    recognised_by='Tools with "name" and "inputSchema", "parameters" or "arguments", alone or in a list '
    '"tools" or "functions", and no messages.',
    key="the digest of a tool's name, description and schema: the same tool is the same wherever it stands",
    expectations=_expectations,
    shapes=(
        "tools.name tools.description tools.inputSchema",
        "tools.function.name tools.function.description tools.function.parameters",
        "name parameters.type parameters.properties",
    ),
    reader=_read,
)
