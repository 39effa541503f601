"""Lists of tools in all their spellings: one definition each, its effect as MCP's hints say, and no call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from file_reading import Read, json_texts, read, written
from hypothesis import given

from quality_lab.errors import UnrecognisedFormat
from quality_lab.json_text import same_value
from quality_lab.records import Conversation, ToolDefinition

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {"name": "weather", "description": "Tells it"}
SPELLINGS: dict[str, Any] = {
    "MCP": {"tools": [{**WEATHER, "inputSchema": SCHEMA}]},
    "MCP's answer": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{**WEATHER, "inputSchema": SCHEMA}]}},
    "bare list": [{**WEATHER, "inputSchema": SCHEMA}],
    "OpenAI": {"tools": [{"type": "function", "function": {**WEATHER, "parameters": SCHEMA}}]},
    "flat": [{"type": "function", **WEATHER, "parameters": SCHEMA, "strict": True}],
    "legacy": {"functions": [{**WEATHER, "parameters": SCHEMA}]},
    "Anthropic": {"tools": [{**WEATHER, "input_schema": SCHEMA}]},
}


def tools(found: Read) -> list[ToolDefinition]:
    """Return the definitions that were read."""
    return found.of(ToolDefinition)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_one_tool_is_one_definition_in_every_spelling(tmp_path: Path, spelling: str) -> None:
    found = read(written(tmp_path, json.dumps(SPELLINGS[spelling], indent=1).encode()))

    (tool,) = tools(found)
    assert (found.format, found.calls, found.of(Conversation), found.broken) == ("tool_lists", [], [], [])
    assert (tool.name, tool.description, json.loads(tool.parameters or "")) == ("weather", "Tells it", SCHEMA)
    assert tool.digest == tools(read(written(tmp_path, [SPELLINGS["MCP"]])))[0].digest
    assert (tool.effect, tool.server) == (None, None)


@pytest.mark.parametrize(
    ("hints", "effect"),
    [
        ({"readOnlyHint": True}, "read"),
        ({"readOnlyHint": True, "destructiveHint": True}, "read"),
        ({"readOnlyHint": False, "destructiveHint": False}, "write"),
        ({"destructiveHint": True}, "irreversible"),
        ({"readOnlyHint": False}, None),
        ({"title": "Weather"}, None),
        (None, None),
    ],
)
def test_what_a_tool_does_to_the_world_is_what_its_hints_say(
    tmp_path: Path, hints: dict[str, Any] | None, effect: str | None
) -> None:
    (tool,) = tools(
        read(written(tmp_path, [{"tools": [{**WEATHER, "inputSchema": SCHEMA, "annotations": hints}]}]))
    )

    assert tool.effect == effect


def test_an_old_registry_s_arguments_become_the_schema_that_they_say(tmp_path: Path) -> None:
    city, unit = (
        {"name": "city", "type": "string", "desc": "Where"},
        {"name": "unit", "type": "string", "optional": True},
    )

    plain, stated, none = tools(
        read(
            written(
                tmp_path,
                [
                    {**WEATHER, "arguments": [city]},
                    {**WEATHER, "arguments": [city, unit]},
                    {**WEATHER, "annotations": {"readOnlyHint": True}},
                ],
            )
        )
    )

    where = {"type": "string", "description": "Where"}
    assert json.loads(plain.parameters or "") == {"type": "object", "properties": {"city": where}}
    assert json.loads(stated.parameters or "") == {
        "type": "object", "properties": {"city": where, "unit": {"type": "string"}}, "required": ["city"]
    }  # fmt: skip
    assert (none.parameters, none.effect) == (None, "read")


def test_tools_of_many_servers_know_whose_they_are(tmp_path: Path) -> None:
    tool = {**WEATHER, "inputSchema": SCHEMA}
    servers = [
        {
            "id": 1,
            "name": "Sky",
            "description": "Heaven",
            "config": {"mcpServers": {"sky": {}}},
            "tools": {"sky": {"tools": [tool]}},
        },
        {"name": "Sea", "tools": [{**tool, "description": "Tides"}]},
    ]

    found = read(written(tmp_path, json.dumps(servers).encode()))

    assert [(one.description, one.server) for one in tools(found)] == [("Tells it", "sky"), ("Tides", "Sea")]
    assert (found.format, found.broken) == ("tool_lists", [])


def test_what_is_no_tool_costs_only_itself_and_is_counted(tmp_path: Path) -> None:
    row = {"tools": [{"type": "web_search"}, 7, {**WEATHER, "inputSchema": SCHEMA, "_meta": {}}]}

    found = read(written(tmp_path, [SPELLINGS["MCP"], row, {"tools": [{"type": "web_search"}]}]))

    assert len(tools(found)) == 2
    assert found.notes.not_understood == {"tool of type web_search": 2, "tools[]": 1}
    assert found.notes.unknown_fields == {"tools[]._meta": 1}
    assert found.broken == [(3, "", "wanted a tool with a name, or a list of tools")]


def test_a_request_that_offers_tools_is_no_list_of_tools(tmp_path: Path) -> None:
    request = {"messages": [{"role": "user", "content": "Hi"}], **SPELLINGS["OpenAI"]}

    assert read(written(tmp_path, [request])).format == "openai_chat"
    with pytest.raises(UnrecognisedFormat):
        read(written(tmp_path, [{"name": "x", "version": 1, "description": "a package"}]))


@given(json_texts())
def test_a_schema_comes_out_as_it_went_in(tmp_path_factory: Any, schema: str) -> None:
    text = json.dumps({"tools": [{**WEATHER, "inputSchema": {"x": "SCHEMA"}}]}).replace('"SCHEMA"', schema)

    (tool,) = tools(read(written(tmp_path_factory.mktemp("any"), text.encode())))

    assert tool.parameters == f'{{"x": {schema}}}'


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("docker-buildkite.tools", 24),
        ("docker-sqlite-mcp-server.tools", 25),
        ("github-mcp-server.toolsnaps-joined", 117),
    ],
)
def test_public_lists_hold_what_was_counted_in_them(shared: Path, name: str, count: int) -> None:
    path = shared / "traces" / "mcp-tools" / f"{name}.json"
    value = json.loads(path.read_text(encoding="utf-8"))
    listed = value["tools"] if isinstance(value, dict) else value

    found = read(path)

    effects = {True: "read", False: None, None: None}
    assert (found.format, found.broken, found.calls) == ("tool_lists", [], [])
    assert len(tools(found)) == len(listed) == count
    for tool, given_tool in zip(tools(found), listed, strict=True):
        hints = given_tool.get("annotations") or {}
        assert (tool.name, tool.description) == (given_tool["name"], given_tool["description"])
        if "destructiveHint" not in hints:
            assert tool.effect == effects[hints.get("readOnlyHint")]
        if "inputSchema" in given_tool:
            assert same_value(tool.parameters or "", json.dumps(given_tool["inputSchema"]))
        else:
            properties = json.loads(tool.parameters or "{}").get("properties", {})
            assert list(properties) == [one["name"] for one in given_tool.get("arguments", [])]
