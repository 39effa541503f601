"""Responses API logs: pairs, responses, items; calls paired by call_id, history resent, denials."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from file_reading import json_texts, read, written
from hypothesis import given

from quality_lab.records import Conversation, ToolDefinition
from quality_lab.store import Store

ASKED = {"role": "user", "content": "Is it warm?"}
CALL = {
    "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather",
    "arguments": '{"city": "Nice"}', "status": "completed",
}  # fmt: skip
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "21.50"}
SAYS = {
    "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
    "content": [{"type": "output_text", "text": "Yes, 21", "annotations": []}],
}  # fmt: skip
TOOL = {"type": "function", "name": "weather", "description": "Tells", "parameters": {"type": "object"}}


def response(*output: dict[str, Any], number: int = 1, **rest: Any) -> dict[str, Any]:
    """Return a response with this output."""
    usage = {"input_tokens": 10 * number, "output_tokens": number}
    return {
        "id": f"resp_{number}", "object": "response", "created_at": 1777866129 + number, "model": "m-2026",
        "status": "completed", "output": list(output), "usage": usage, **rest,
    }  # fmt: skip


def request(*given_input: Any, **rest: Any) -> dict[str, Any]:
    """Return a request with this input."""
    return {"model": "m", "input": list(given_input), **rest}


def test_history_resent_is_one_conversation_and_each_call_one_call_with_its_result(tmp_path: Path) -> None:
    pairs = [
        {
            "request": request(ASKED, tools=[TOOL], instructions="Be brief"),
            "response": response(CALL, tools=[TOOL]),
        },
        {
            "request": request(ASKED, CALL, OUTPUT, tools=[TOOL], instructions="Be very brief"),
            "response": response(SAYS, number=2, tools=[TOOL]),
        },
    ]
    path = written(tmp_path, pairs)

    found = read(path)
    store = Store(tmp_path)
    store.load([path])

    assert (found.format, found.broken) == ("openai_responses", [])
    assert len({talk.conversation_id for talk in found.of(Conversation)}) == 1
    assert [(one.position, one.role, one.text) for one in found.messages] == [
        (0, "system", "Be brief"), (1, "user", "Is it warm?"), (2, "assistant", None),
        (3, "tool", "21.50"), (4, "assistant", "Yes, 21"),
    ]  # fmt: skip
    assert [(one.input_tokens, one.output_tokens) for one in found.messages if one.role == "assistant"] == [
        (10, 1), (20, 2)
    ]  # fmt: skip
    assert {call.key for call in found.calls} == {f"{found.calls[0].conversation_id}#2.0"}
    assert (found.calls[0].call_id, found.calls[0].model) == ("call_1", "m-2026")
    assert found.calls[0].created_at == datetime(2026, 5, 4, 3, 42, 10, tzinfo=UTC)
    assert found.calls[0].tool_definition == found.of(ToolDefinition)[0].digest
    assert found.notes.merged == {"history written again": 3}
    assert found.notes.missing == {}
    assert found.notes.not_understood == {"instructions that change in a conversation": 1}
    assert store.totals()["tool_calls"] == 1
    assert store.rejects() == []


def test_parallel_calls_are_paired_by_call_id_and_never_by_the_item_s_id(tmp_path: Path) -> None:
    other = {**CALL, "call_id": "call_2", "name": "wind"}
    late = {**OUTPUT, "call_id": "call_2", "output": "calm"}

    found = read(written(tmp_path, [request(ASKED, CALL, other, late, OUTPUT, SAYS)]))

    assert [(call.tool_name, call.result, call.index_in_cycle) for call in found.calls] == [
        ("weather", '"21.50"', 0), ("wind", '"calm"', 1)
    ]  # fmt: skip
    assert {call.is_error for call in found.calls} == {None}


def test_a_request_that_names_the_response_before_it_goes_on_there(tmp_path: Path) -> None:
    rows = [
        {"request": request(ASKED), "response": response(CALL)},
        {
            "request": request(OUTPUT, previous_response_id="resp_1"),
            "response": response(SAYS, number=2, previous_response_id="resp_1"),
        },
    ]

    found = read(written(tmp_path, rows))

    assert len({talk.conversation_id for talk in found.of(Conversation)}) == 1
    assert [one.position for one in found.messages] == [0, 1, 2, 3]
    assert [(call.key.partition("#")[2], call.result) for call in found.calls] == [
        ("1.0", None), ("1.0", '"21.50"')
    ]  # fmt: skip
    assert found.notes.missing == {}


def test_a_response_that_names_its_conversation_is_in_it(tmp_path: Path) -> None:
    found = read(written(tmp_path, [response(CALL, conversation={"id": "conv_9"})]))

    assert [call.key for call in found.calls] == ["conv_9#0.0"]
    assert found.calls[0].result_state == "not_captured"
    assert found.notes.missing == {"call without result": 1}


@pytest.mark.parametrize("shape", ["list", "turned round", "line", "lines", "page"])
def test_items_alone_are_a_conversation_however_they_are_listed(tmp_path: Path, shape: str) -> None:
    items = [ASKED, CALL, OUTPUT, SAYS]
    content: Any = {
        "list": json.dumps(items, indent=1).encode(),
        "turned round": [{"object": "list", "data": items[::-1], "has_more": False}],
        "line": b"%b\n%b\n" % ((json.dumps(items).encode(),) * 2),
        "lines": items,
        "page": [{"object": "list", "data": items}],
    }[shape]

    found = read(written(tmp_path, content))

    assert (found.format, found.broken) == ("openai_responses", [])
    assert [(one.position, one.role) for one in found.messages][:4] == [
        (0, "user"), (1, "assistant"), (2, "tool"), (3, "assistant")
    ]  # fmt: skip
    assert [call.result for call in found.calls][-1] == '"21.50"'


def test_items_of_two_files_are_two_conversations_and_parallel_calls_one_batch(tmp_path: Path) -> None:
    other = {**CALL, "call_id": "call_2", "name": "wind"}

    nice = read(written(tmp_path, [ASKED, CALL, other, OUTPUT])).calls
    rome = read(written(tmp_path, [ASKED, {**CALL, "arguments": "{}"}, OUTPUT])).calls

    assert [(call.key.partition("#")[2], call.result) for call in nice] == [("1.0", '"21.50"'), ("1.1", None)]
    assert nice[0].conversation_id != rome[0].conversation_id


def test_a_person_s_no_to_an_approval_is_a_refusal_and_feedback_with_the_reason(tmp_path: Path) -> None:
    asks = {
        "type": "mcp_approval_request", "id": "mcpr_1", "server_label": "bank", "name": "pay",
        "arguments": "{}",
    }  # fmt: skip
    denies = {
        "type": "mcp_approval_response", "id": "mcpa_1", "approval_request_id": "mcpr_1", "approve": False,
        "reason": "Too dear",
    }  # fmt: skip

    found = read(written(tmp_path, [request(ASKED, asks, denies, SAYS)]))

    (call,), (no,) = found.calls, found.labels
    assert (call.tool_name, call.tool_server, call.person_refused, call.is_error) == (
        "pay", "bank", True, None
    )  # fmt: skip
    assert (no.author_kind, no.note, no.call_key, no.target_level) == ("HUMAN", "Too dear", call.key, "call")
    assert (no.label, no.name, no.score) == (None, "approval", "false")


def test_tools_of_the_provider_have_their_results_beside_them(tmp_path: Path) -> None:
    mcp = {
        "type": "mcp_call", "id": "mcp_1", "server_label": "sea", "name": "tide", "arguments": '{"at": 1}',
        "output": "high",
    }  # fmt: skip
    failed = {**mcp, "id": "mcp_2", "output": None, "error": "no such port"}
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "sea"}}

    found = read(written(tmp_path, [response(mcp, failed, search, SAYS, {"type": "hologram"})]))

    assert [(c.tool_name, c.tool_server, c.result, c.is_error, c.error_text) for c in found.calls] == [
        ("tide", "sea", '"high"', False, None),
        ("tide", "sea", '"no such port"', True, "no such port"),
        ("web_search", None, None, False, None),
    ]
    assert found.notes.not_understood == {"hologram": 1}


def test_a_hand_off_is_told_apart_by_the_agent_behind_it(tmp_path: Path) -> None:
    found = read(
        written(tmp_path, [response({**CALL, "name": "transfer_to_billing_agent", "arguments": "{}"})])
    )

    assert [(call.tool_name, call.wrapped_tool) for call in found.calls] == [
        ("transfer_to_billing_agent", "billing_agent")
    ]


def test_events_of_a_stream_are_set_aside_and_the_finished_response_is_read(tmp_path: Path) -> None:
    rows = [
        {"type": "response.output_text.delta", "delta": "Ye", "sequence_number": 1},
        {"type": "response.completed", "sequence_number": 2, "response": response(SAYS)},
    ]

    found = read(written(tmp_path, rows))

    assert [one.text for one in found.messages] == ["Yes, 21"]
    assert found.notes.not_understood == {"response.output_text.delta": 1}


@pytest.mark.parametrize(
    ("row", "path", "reason"),
    [
        (request(ASKED, {"type": "function_call"}), "input[1].name", "required field is missing"),
        (request(ASKED, 7), "input[1]", "wanted an object"),
        (request(), "", "wanted items in input or output"),
        ({**response(SAYS), "created_at": True}, "created_at", None),
        ({**request(ASKED), "tools": {}}, "tools", "wanted array or null, got object"),
        ({"a": 1}, "", 'wanted "input", "output" or items'),
    ],
)
def test_what_is_wrong_is_a_reject_with_its_path(
    tmp_path: Path, row: dict[str, Any], path: str, reason: str | None
) -> None:
    found = read(written(tmp_path, [request(ASKED, CALL), row]))

    assert [(line, where) for line, where, _ in found.broken] == [(2, path)]
    assert reason in (None, found.broken[0][2])


@given(json_texts(), json_texts())
def test_arguments_and_results_come_out_as_they_went_in(
    tmp_path_factory: Any, arguments: str, result: str
) -> None:
    row = request(ASKED, {**CALL, "arguments": arguments}, {**OUTPUT, "output": "RESULT"})
    text = json.dumps(row).replace('"RESULT"', result)

    (call,) = read(written(tmp_path_factory.mktemp("any"), text.encode())).calls

    assert (call.arguments, call.result) == (arguments, result)


def test_the_public_log_holds_two_conversations_and_the_five_calls_counted_in_it(shared: Path) -> None:
    path = shared / "traces" / "openai-agents-sdk" / "test_recipe_agents_hierarchy.responses-api.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    found = read(path)

    # Seven requests were counted as seven traces. Yet of each line but the first and the fifth the input is
    # the input of the line before and then its output: two conversations, whose history was sent again.
    def told(items: list[dict[str, Any]]) -> list[Any]:
        return [one.get("call_id") or one.get("content") for one in items]

    begins = [0] + [
        at
        for at in range(1, len(rows))
        if told(rows[at]["request"]["input"])[: len(rows[at - 1]["request"]["input"]) + 1]
        != told(rows[at - 1]["request"]["input"] + rows[at - 1]["response"]["output"][:1])
    ]
    listed = [one for row in rows for one in row["response"]["output"] if one["type"] == "function_call"]
    outputs = {
        one["call_id"]: one["output"]
        for row in rows
        for one in row["request"]["input"]
        if one.get("type") == "function_call_output"
    }
    last = {call.key: call for call in found.calls}
    assert (found.format, found.broken, found.notes.unknown_fields) == ("openai_responses", [], {})
    assert begins == [0, 4]
    assert len({talk.conversation_id for talk in found.of(Conversation)}) == len(begins)
    assert [call.call_id for call in last.values()] == [one["call_id"] for one in listed]
    assert len(last) == len(listed) == 5
    assert [json.loads(call.result or "") for call in last.values()] == [
        outputs[one["call_id"]] for one in listed
    ]
    assert [call.arguments for call in last.values()] == [one["arguments"] for one in listed]
    assert [call.wrapped_tool for call in last.values()] == ["recipe_editor_agent", None, None, None, None]
    assert found.notes.missing == {}


def test_public_requests_responses_and_pages_are_read(shared: Path) -> None:
    folder = shared / "traces" / "openai-conformance"

    found = {
        name: read(folder / f"{name}.json")
        for name in (
            "Conversations_list_items_response",
            "Conversations_tool_call_first_message_response",
            "Responses_tool_call_request",
            "Responses_tool_call_response",
        )
    }

    assert {one.format for one in found.values()} == {"openai_responses"}
    assert [len(one.messages) for one in found.values()] == [6, 1, 1, 1]
    assert [[call.call_id for call in one.calls] for one in found.values()] == [
        [], ["call_JkL1tD7aDRNihCxDJSWQ5nKH"], [], ["call_fibB55owSv9m6qr3TJJMnCEW"]
    ]  # fmt: skip
    assert all(one.notes.unknown_fields == {} and one.broken == [] for one in found.values())
