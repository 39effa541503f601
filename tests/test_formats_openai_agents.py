"""Agents SDK traces: function spans are calls, hand-offs are none, children come before their parents."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from file_reading import json_texts, read, written
from hypothesis import given

from quality_lab.records import Conversation

TRACE = {"object": "trace", "id": "trace_1", "workflow_name": "Flow", "group_id": None, "metadata": None}


def span(number: int, parent: int | None, data: dict[str, Any], **rest: Any) -> dict[str, Any]:
    """Return a span of half a second."""
    return {
        "object": "trace.span", "id": f"span_{number}", "trace_id": "trace_1",
        "parent_id": None if parent is None else f"span_{parent}",
        "started_at": f"2026-05-04T10:00:0{number}.250000+00:00",
        "ended_at": f"2026-05-04T10:00:0{number}.750000+00:00",
        "span_data": data, "error": None, **rest,
    }  # fmt: skip


def function(name: str = "look", **rest: Any) -> dict[str, Any]:
    """Return the data of a function span."""
    return {
        "type": "function",
        "name": name,
        "input": '{"a": 1.10}',
        "output": "x=1",
        "mcp_data": None,
        **rest,
    }


AGENT = {"type": "agent", "name": "Ann", "handoffs": [], "tools": [], "output_type": "str"}


def test_a_function_span_is_a_call_with_its_times_and_its_output_as_text(tmp_path: Path) -> None:
    found = read(written(tmp_path, [TRACE, span(1, None, function(mcp_data={"server": "sea"}))]))

    (call,) = found.calls
    assert (found.format, found.broken) == ("openai_agents", [])
    assert (call.key, call.conversation_id, call.call_id) == ("trace_1/span_1", "trace_1", None)
    assert (call.arguments, call.arguments_state) == ('{"a": 1.10}', "json_string")
    assert (call.result, call.result_state, call.is_error) == ('"x=1"', "present", False)
    assert (call.created_at, call.latency_ms) == (datetime(2026, 5, 4, 10, 0, 1, 250_000, tzinfo=UTC), 500.0)
    assert (call.tool_server, call.actor) == ("sea", "model")
    assert {one.conversation_id for one in found.of(Conversation)} == {"trace_1"}


def test_an_error_is_an_exception_with_its_text_and_a_span_that_never_ended_is_unknown(
    tmp_path: Path,
) -> None:
    error = {"message": "Error running tool", "data": {"tool_name": "look", "error": "no such card"}}
    failed = span(1, None, function(output=None), error=error)
    open_one = span(2, None, function(output=None), ended_at=None)

    found = read(written(tmp_path, [failed, open_one]))

    first, second = found.calls
    assert (first.is_error, first.error_origin, first.error_text) == (
        True, "exception", "Error running tool: no such card"
    )  # fmt: skip
    assert (second.is_error, second.result, second.result_state) == (None, None, "not_captured")
    assert found.notes.missing == {"call without result": 2}


def test_calls_of_an_agent_that_was_called_as_a_tool_are_a_sub_agent_s_though_children_come_first(
    tmp_path: Path,
) -> None:
    spans = [
        span(4, 3, function("deep")),
        span(3, 2, AGENT),
        span(2, 1, function("ask_ann")),
        span(1, None, AGENT),
    ]

    found = read(written(tmp_path, [*spans, TRACE]))

    assert [(call.tool_name, call.actor) for call in found.calls] == [
        ("deep", "sub_agent"), ("ask_ann", "model")
    ]  # fmt: skip


def test_hand_offs_are_no_calls_and_are_counted(tmp_path: Path) -> None:
    handoff = {"type": "handoff", "from_agent": "Ann", "to_agent": "Bob"}
    guardrail = {"type": "guardrail", "name": "polite", "triggered": False}

    found = read(
        written(tmp_path, [span(1, None, handoff), span(2, None, guardrail), span(3, None, function())])
    )

    assert [call.tool_name for call in found.calls] == ["look"]
    assert found.notes.not_understood == {
        "hand-off, which is no call of a tool": 1, "span of type guardrail": 1
    }  # fmt: skip


def test_a_span_that_is_written_at_its_start_and_at_its_end_is_one_call(tmp_path: Path) -> None:
    begun = span(1, None, function(output=None), ended_at=None)

    found = read(written(tmp_path, [begun, span(1, None, function())]))

    assert [call.result for call in found.calls] == ['"x=1"']
    assert found.notes.merged == {"span written again": 1}


def test_a_batch_as_it_is_sent_is_read_as_its_lines_would_be(tmp_path: Path) -> None:
    lines = [span(2, 1, function()), span(1, None, AGENT), TRACE]

    batch, single = read(written(tmp_path, [{"data": lines}])), read(written(tmp_path, lines))

    assert batch.format == "openai_agents"
    assert batch.calls == single.calls


@pytest.mark.parametrize(
    ("change", "path"),
    [({"id": None}, "id"), ({"span_data": 7}, "object"), ({"started_at": "noon"}, "started_at"),
     ({"span_data": {"type": "function"}}, "span_data.name"), ({"trace_id": 1}, "trace_id")],
)  # fmt: skip
def test_what_is_wrong_is_a_reject_with_its_path(tmp_path: Path, change: dict[str, Any], path: str) -> None:
    good = span(1, None, function())

    found = read(written(tmp_path, [good, {**good, **change}]))

    assert [(line, where) for line, where, _ in found.broken] == [(2, path)]
    assert len(found.calls) == 1


@given(json_texts(), json_texts())
def test_arguments_and_results_come_out_as_they_went_in(
    tmp_path_factory: Any, arguments: str, result: str
) -> None:
    row = span(1, None, function(input=arguments, output="RESULT"))
    text = json.dumps(row).replace('"RESULT"', result)

    (call,) = read(written(tmp_path_factory.mktemp("any"), text.encode())).calls

    assert call.arguments == arguments
    assert call.result == (None if result == "null" else result)


@pytest.mark.parametrize(
    ("name", "traces", "calls"),
    [("test_music_composer_handoff_hierarchy", 1, 1), ("test_recipe_agents_hierarchy", 2, 3)],
)
def test_public_traces_hold_what_was_counted_in_them(
    shared: Path, name: str, traces: int, calls: int
) -> None:
    path = shared / "traces" / "openai-agents-sdk" / f"{name}.ingest.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    found = read(path)

    functions = [row for row in rows if row.get("span_data", {}).get("type") == "function"]
    assert (found.format, found.broken, found.notes.unknown_fields) == ("openai_agents", [], {})
    assert len({one.conversation_id for one in found.of(Conversation)}) == traces
    assert len({call.key for call in found.calls}) == len(functions) == calls
    assert [(call.tool_name, call.arguments, json.loads(call.result or "")) for call in found.calls] == [
        (row["span_data"]["name"], row["span_data"]["input"], row["span_data"]["output"]) for row in functions
    ]
    assert sum(bool(call.is_error) for call in found.calls) == 0
    assert found.notes.not_understood == {
        "hand-off, which is no call of a tool": sum(
            row.get("span_data", {}).get("type") == "handoff" for row in rows
        )
    }
