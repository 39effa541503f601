"""Anthropic message logs: blocks as calls and results, is_error absent is none, history written again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from file_reading import json_texts, read, written
from hypothesis import given

from quality_lab.records import Conversation, ToolDefinition
from quality_lab.store import Store

ASKED = {"role": "user", "content": "Is it warm?"}
SAYS = {"role": "assistant", "content": [{"type": "text", "text": "Yes"}]}
EMPTY = {"type": "tool_result", "tool_use_id": "c"}
TOOL = {"name": "weather", "description": "Tells", "input_schema": {"type": "object"}}


def use(call_id: str = "toolu_1", name: str = "weather", **given_input: Any) -> dict[str, Any]:
    """Return a block that calls a tool."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": given_input}


def result(call_id: str = "toolu_1", content: Any = "21.50", **rest: Any) -> dict[str, Any]:
    """Return a block that holds a result."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **rest}


def asks(*blocks: Any) -> dict[str, Any]:
    """Return a message of the model."""
    return {"role": "assistant", "content": [{"type": "text", "text": "I look"}, *blocks]}


def answers(*blocks: Any) -> dict[str, Any]:
    """Return a message of the user's side that holds results."""
    return {"role": "user", "content": list(blocks)}


def response(message: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the response that holds a message."""
    usage = {"input_tokens": 10 * number, "output_tokens": number, "cache_read_input_tokens": 900}
    return {**message, "id": f"msg_{number}", "type": "message", "model": "claude-x",
            "stop_reason": "end_turn", "usage": usage}  # fmt: skip


def test_calls_and_results_are_told_from_the_blocks_of_both_sides(tmp_path: Path) -> None:
    thought = {"type": "thinking", "thinking": "Hm", "signature": "s"}
    row = {
        "model": "claude-x", "max_tokens": 9, "system": "Be brief", "tools": [TOOL],
        "messages": [
            ASKED,
            {"role": "assistant", "content": [thought, {"type": "text", "text": "I look"}, use(city="Nice")]},
            answers(result()), SAYS, ASKED,
        ],
    }  # fmt: skip

    found = read(written(tmp_path, [row]))

    (call,), (tool,) = found.calls, found.of(ToolDefinition)
    assert (found.format, found.broken, found.notes.unknown_fields) == ("anthropic_messages", [], {})
    assert [(one.role, one.text, one.call_id) for one in found.messages] == [
        ("system", "Be brief", None), ("user", "Is it warm?", None), ("assistant", "I look", None),
        ("tool", "21.50", "toolu_1"), ("assistant", "Yes", None), ("user", "Is it warm?", None),
    ]  # fmt: skip
    assert json.loads(found.messages[2].content or "")[0] == thought
    assert (call.key.partition("#")[2], call.call_id, call.turn, call.cycle) == ("2.0", "toolu_1", 0, 0)
    assert (json.loads(call.arguments or ""), call.arguments_state) == ({"city": "Nice"}, "object")
    assert (call.result, call.is_error, call.model) == ('"21.50"', False, "claude-x")
    assert (tool.name, json.loads(tool.parameters or "")) == ("weather", {"type": "object"})
    assert call.tool_definition == tool.digest


def test_an_error_is_its_flag_and_a_result_that_never_came_is_neither(tmp_path: Path) -> None:
    row = {"messages": [
        ASKED, asks(use("a"), use("b"), use("c")),
        answers(result("b", [{"type": "text", "text": "no"}], is_error=True), EMPTY),
        SAYS, answers(result("z")),
    ]}  # fmt: skip

    found = read(written(tmp_path, [row]))

    lost, failed, empty = found.calls
    assert (failed.is_error, failed.error_origin, failed.error_text) == (True, "flag", "no")
    assert json.loads(failed.result or "") == [{"type": "text", "text": "no"}]
    assert (lost.is_error, lost.result_state) == (None, "absent")
    assert (empty.is_error, empty.result, empty.result_state) == (False, None, "absent")
    assert found.notes.missing == {"result without call": 1, "call without result": 1}


def test_tools_of_the_provider_answer_in_the_same_message(tmp_path: Path) -> None:
    search = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "sea"}}
    error = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    sea = {"type": "mcp_tool_use", "id": "m", "name": "tide", "server_name": "sea", "input": {}}
    blocks = [
        search, {"type": "web_search_tool_result", "tool_use_id": "s", "content": error},
        sea, {"type": "mcp_tool_result", "tool_use_id": "m", "is_error": False, "content": "high"},
    ]  # fmt: skip

    found = read(written(tmp_path, [response({"role": "assistant", "content": blocks}, 1)]))

    assert [(c.tool_name, c.tool_server, c.is_error) for c in found.calls] == [
        ("web_search", None, True), ("tide", "sea", False)
    ]  # fmt: skip
    assert [call.key for call in found.calls] == ["msg_1#0.0", "msg_1#0.1"]


def test_history_written_again_is_one_conversation_and_a_late_result_contradicts_nothing(
    tmp_path: Path,
) -> None:
    first, second = asks(use(city="Nice")), SAYS
    pairs = [
        {"request": {"messages": [ASKED], "system": "A"}, "response": response(first, 1)},
        {
            "request": {"messages": [ASKED, first, answers(result())], "system": "B"},
            "response": response(second, 2),
        },
    ]
    path = written(tmp_path, pairs)

    found = read(path)
    store = Store(tmp_path)
    store.load([path])

    assert len({talk.conversation_id for talk in found.of(Conversation)}) == 1
    assert [one.position for one in found.messages] == [0, 1, 2, 3, 4]
    assert [(one.input_tokens, one.output_tokens) for one in found.messages if one.role == "assistant"] == [
        (10, 1), (20, 2)
    ]  # fmt: skip
    assert found.notes.merged == {"history written again": 3}
    assert found.notes.missing == {}
    assert store.totals()["tool_calls"] == 1
    assert store.rejects() == []


@pytest.mark.parametrize("shape", ["list", "lines", "list a line"])
def test_messages_alone_are_a_conversation(tmp_path: Path, shape: str) -> None:
    messages = [ASKED, asks(use()), answers(result()), SAYS]
    content: Any = {
        "list": json.dumps(messages, indent=1).encode(),
        "lines": messages,
        "list a line": b"%b\n%b\n" % (json.dumps(messages).encode(), json.dumps(messages).encode()),
    }[shape]

    found = read(written(tmp_path, content))

    assert (found.format, found.broken) == ("anthropic_messages", [])
    assert [one.role for one in found.messages][:4] == ["user", "assistant", "tool", "assistant"]
    assert {call.result for call in found.calls if call.result_state == "present"} == {'"21.50"'}
    assert len({call.key for call in found.calls}) == (2 if shape == "list a line" else 1)


def test_messages_of_two_files_are_two_conversations(tmp_path: Path) -> None:
    one, other = (
        read(written(tmp_path, [ASKED, asks(use(city=city)), answers(result())])).calls[0].key
        for city in ("Nice", "Rome")
    )

    assert one.partition("#")[2] == other.partition("#")[2] == "1.0"
    assert one != other


def test_results_of_a_batch_are_responses(tmp_path: Path) -> None:
    message = response({"role": "assistant", "content": [use()]}, 3)

    found = read(written(tmp_path, [{"custom_id": "x", "result": {"type": "succeeded", "message": message}}]))

    assert (found.format, [call.key for call in found.calls]) == ("anthropic_messages", ["msg_3#0.0"])


def test_chats_of_another_maker_are_not_taken_for_anthropic_s(tmp_path: Path) -> None:
    assert read(written(tmp_path, [{"messages": [ASKED]}])).format == "openai_chat"
    assert read(written(tmp_path, [{"messages": [ASKED, asks(use())]}])).format == "anthropic_messages"


@pytest.mark.parametrize(
    ("row", "path", "reason"),
    [
        ({"messages": [ASKED, 7]}, "messages[1]", "wanted an object"),
        (
            {"messages": [{"role": "user", "content": 7}]},
            "messages[0].content",
            "wanted text or a list of blocks",
        ),
        ({"messages": [{"content": "x"}]}, "messages[0].role", "required field is missing"),
        (
            {"messages": [asks({"type": "tool_use"})]},
            "messages[0].content[0].name",
            "required field is missing",
        ),
        ({"messages": []}, "messages", "wanted messages, or a response with content"),
        ({"a": 1}, "messages", "wanted messages, or a response with content"),
    ],
)
def test_what_is_wrong_is_a_reject_with_its_path(
    tmp_path: Path, row: dict[str, Any], path: str, reason: str
) -> None:
    good = {"messages": [ASKED, asks(use())]}

    assert read(written(tmp_path, [good, row])).broken == [(2, path, reason)]


@given(json_texts(), json_texts())
def test_arguments_and_results_come_out_as_they_went_in(
    tmp_path_factory: Any, arguments: str, content: str
) -> None:
    row = {"messages": [ASKED, asks({**use(), "input": {"x": "ARGS"}}), answers(result(content="RESULT"))]}
    text = json.dumps(row).replace('"ARGS"', arguments).replace('"RESULT"', content)

    (call,) = read(written(tmp_path_factory.mktemp("any"), text.encode())).calls

    assert (call.arguments, call.result) == (f'{{"x": {arguments}}}', content)


@pytest.mark.parametrize("digits", ["9" * 5000, "9223372036854775808", "1e400"])
def test_a_count_of_tokens_that_no_one_can_mean_costs_neither_the_line_nor_the_load(
    tmp_path: Path, digits: str
) -> None:
    line = json.dumps(response(asks(use()), 1)).replace('"input_tokens": 10,', f'"input_tokens": {digits},')
    path = tmp_path / "log.jsonl"
    path.write_text(line + "\n", "utf-8")

    loaded = Store(tmp_path / "home").load([path])
    (message,) = [one for one in read(path).messages if one.role == "assistant"]

    assert digits in line
    assert (loaded.files[0].loaded, loaded.files[0].rejected) == (1, 0)
    assert (message.input_tokens, message.output_tokens) == (None, 1)
