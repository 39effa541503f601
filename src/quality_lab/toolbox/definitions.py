"""Definitions of tools from files: OpenAI functions, Anthropic tools, MCP `tools/list`, registries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from quality_lab.errors import InputError
from quality_lab.toolbox.problem import Problem
from quality_lab.toolloop.contract import Effect, Tool, ToolContext, ToolError

_SCHEMA_KEYS = ("parameters", "inputSchema", "input_schema")
_FORMS = (
    "OpenAI functions, Anthropic tools, MCP tools/list, a registry's list, or [[tool]] of an HTTP catalogue"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """One tool as a file defines it; nothing has been checked yet."""

    name: str
    description: str
    schema: Any
    effect: Effect
    server: str | None
    problems: tuple[Problem, ...] = ()  # what the file says wrongly about the definition itself


def parse_definitions(document: object, *, where: str) -> list[Definition]:
    """Return the definitions in a parsed JSON document, in their order.

    Raises:
        InputError: there is none; a single entry that is none is kept with its problem.
    """
    found, some = [], False
    for place, (server, raw) in enumerate(_entries(document, None), 1):
        definition = _definition(raw, server)
        some = some or definition is not None
        found.append(definition if definition is not None else _no_definition(place, server))
    if not some:
        raise InputError(f"{where} holds no definitions of tools ({_FORMS})")
    return found


def no_implementation(args: dict[str, Any], context: ToolContext) -> Any:
    """Tell the model that the tool is defined and nothing stands behind it."""
    raise ToolError("this tool is only defined here; nothing carries it out")


def is_definition_only(tool: Tool) -> bool:
    """Return whether nothing stands behind *tool*: it can be offered and checked, not run."""
    return tool.execute is no_implementation


def effect_from_hints(annotations: object) -> Effect:
    """Return the effect that MCP's hints state; what is not stated may be anything.

    >>> effect_from_hints({"readOnlyHint": True}), effect_from_hints({"destructiveHint": False})
    ('read', 'write')
    >>> effect_from_hints({"readOnlyHint": False}), effect_from_hints(None)
    ('irreversible', 'irreversible')
    """
    hints = annotations if isinstance(annotations, Mapping) else {}
    if hints.get("readOnlyHint") is True:
        return "read"
    return "write" if hints.get("destructiveHint") is False else "irreversible"


def _entries(document: object, server: str | None) -> Iterator[tuple[str | None, Any]]:
    """Yield every entry with the server it stands under, through lists, envelopes and lists of servers."""
    if isinstance(document, list):
        for each in document:
            yield from _entries(each, server)
    elif isinstance(document, Mapping):
        inner = document.get("tools", document.get("functions"))
        result = document.get("result")
        if isinstance(result, Mapping) and "tools" in result:  # a whole JSON-RPC answer
            yield from _entries(result, server)
        elif isinstance(inner, list):
            yield from _entries(inner, server)
        elif isinstance(inner, Mapping):  # tools by server
            for name, each in inner.items():
                yield from _entries(each, str(name))
        else:
            yield server, document
    else:
        yield server, document


def _no_definition(place: int, server: str | None) -> Definition:
    problem = Problem(rule="definition", message=f"entry {place} is no definition of a tool ({_FORMS})")
    return Definition(
        name=f"entry_{place}",
        description="",
        schema=None,
        effect="irreversible",
        server=server,
        problems=(problem,),
    )


def _definition(raw: object, server: str | None) -> Definition | None:
    body = raw.get("function", raw) if isinstance(raw, Mapping) else None
    if not isinstance(raw, Mapping) or not isinstance(body, Mapping) or not isinstance(body.get("name"), str):
        return None
    if not any(key in body for key in (*_SCHEMA_KEYS, "description", "arguments", "annotations")):
        return None
    problems: list[Problem] = []
    schema = next((body[key] for key in _SCHEMA_KEYS if body.get(key) is not None), None)
    if schema is None and isinstance(body.get("arguments"), list):
        schema = _schema_of_arguments(body["arguments"], problems)
    description = body.get("description")
    return Definition(
        name=body["name"],
        description=description if isinstance(description, str) else "",
        schema=schema if schema is not None else {"type": "object", "properties": {}},
        effect=effect_from_hints(raw.get("annotations", body.get("annotations"))),
        server=server,
        problems=tuple(problems),
    )


def _schema_of_arguments(listed: Iterable[Any], problems: list[Problem]) -> dict[str, Any]:
    """Return the schema of a registry's list of arguments (`name`, `type`, `desc`, `items`, `optional`)."""
    properties: dict[str, Any] = {}
    required = []
    for place, argument in enumerate(listed, 1):
        name = argument.get("name") if isinstance(argument, Mapping) else None
        if not isinstance(name, str):
            problems.append(Problem(rule="arguments", message=f"argument {place} has no name"))
            continue
        shape = {"type": argument.get("type", "string")}
        if isinstance(argument.get("items"), Mapping):
            shape["items"] = argument["items"]
        if isinstance(argument.get("desc"), str):
            shape["description"] = argument["desc"]
        properties[name] = shape
        if argument.get("optional") is not True:
            required.append(name)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema
