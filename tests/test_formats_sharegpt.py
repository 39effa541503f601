"""ShareGPT conversations: calls inside values, results in lists, tags, and rows that say the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from file_reading import json_texts, read, written
from hypothesis import given

from quality_lab.records import Conversation, ToolDefinition


def says(who: str, value: str) -> dict[str, str]:
    """Return a turn."""
    return {"from": who, "value": value}


def row(*turns: Any, **rest: Any) -> dict[str, Any]:
    """Return a row."""
    return {"conversations": list(turns), **rest}


HI = says("human", "How warm?")
CALL = says("function_call", '{"name": "weather", "arguments": {"at": 1.10}}')
TOOLS = json.dumps([{"name": "weather", "description": "Tells", "parameters": {"type": "object"}}])


def test_a_call_is_a_value_and_what_comes_back_is_the_next(tmp_path: Path) -> None:
    talk = row(HI, CALL, says("observation", "21.50"), says("gpt", "21"), system="Be brief", tools=TOOLS)

    found = read(written(tmp_path, [talk]))

    (call,), (tool,) = found.calls, found.of(ToolDefinition)
    assert (found.format, found.broken, found.notes.unknown_fields) == ("sharegpt", [], {})
    assert [(one.role, one.text) for one in found.messages] == [
        ("system", "Be brief"), ("user", "How warm?"), ("assistant", None), ("tool", "21.50"), ("assistant", "21")
    ]  # fmt: skip
    assert (call.tool_name, call.arguments, call.result, call.is_error) == (
        "weather", '{"at": 1.10}', '"21.50"', None
    )  # fmt: skip
    assert (call.tool_definition, call.call_id, call.message_position) == (tool.digest, None, 2)


def test_several_calls_at_once_are_answered_by_the_elements_of_one_list(tmp_path: Path) -> None:
    asked = says("function_call", '[{"name": "a", "arguments": {}}, {"name": "b", "arguments": "{}"}]')
    answers = says("observation", '[{"name": "b", "content": "two"}, {"name": "a", "content": {"n": 1}}]')
    plain = says("observation", '[1, {"n": 2}]')

    named, by_order = (read(written(tmp_path, [row(HI, asked, one)])).calls for one in (answers, plain))

    assert [(c.tool_name, c.result, c.index_in_cycle) for c in named] == [
        ("a", '{"n": 1}', 0),
        ("b", '"two"', 1),
    ]
    assert [(c.tool_name, c.result) for c in by_order] == [("a", "1"), ("b", '{"n": 2}')]


def test_calls_in_tags_and_in_parts_are_calls_too(tmp_path: Path) -> None:
    tag = '<tool_call>\n{"name": "a", "arguments": {}}\n</tool_call>'
    tagged = row(HI, says("gpt", f"I look {tag}"), says("tool", '<tool_response>{"n": 1}</tool_response>'))
    parts = {"messages": [
        {"role": "user", "content": [{"type": "text", "value": "Hi"}]},
        {"role": "assistant", "content": [{"type": "reasoning", "value": "Hm"}, {"type": "text", "value": "I look"},
                                          {"type": "tool_call", "value": '{"name": "a", "arguments": {}}'}]},
        {"role": "tool", "content": [{"type": "text", "value": "7"}]},
    ]}  # fmt: skip

    first, second = read(written(tmp_path, [tagged])), read(written(tmp_path, [parts]))

    assert [(c.tool_name, c.arguments) for c in first.calls] == [("a", "{}")]
    assert first.messages[1].text == "I look"
    assert [(c.tool_name, c.result) for c in second.calls] == [("a", '"7"')]
    assert (second.messages[1].text, json.loads(second.messages[1].content or "")[0]["value"]) == (
        "I look",
        "Hm",
    )


def test_rows_that_say_the_same_stay_two_and_a_call_that_is_no_json_is_kept_as_text(tmp_path: Path) -> None:
    found = read(written(tmp_path, [row(HI, CALL), row(HI, CALL), row(HI, says("function_call", "look()"))]))

    assert len({one.conversation_id for one in found.of(Conversation)}) == 3
    assert len({call.key for call in found.calls}) == 2
    assert found.messages[-1].text == "look()"
    assert found.notes.not_understood == {"call that is no JSON with a name": 1}


@pytest.mark.parametrize(
    ("broken", "path"),
    [
        ({"conversations": {}}, "conversations"), (row(7), "conversations[0]"),
        (row({"value": "x"}), "conversations[0].from"), (row(says("ghost", "boo")), "conversations[0].from"),
        (row(HI, tools="[{"), "tools"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_a_reject_with_its_path(tmp_path: Path, broken: dict[str, Any], path: str) -> None:
    assert [(at, where) for at, where, _ in read(written(tmp_path, [row(HI), broken])).broken] == [(2, path)]


@given(json_texts(), json_texts())
def test_arguments_and_results_come_out_as_they_went_in(
    tmp_path_factory: Any, arguments: str, content: str
) -> None:
    call = says("function_call", f'{{"name": "a", "arguments": {{"x": {arguments}}}}}')

    (made,) = read(
        written(tmp_path_factory.mktemp("any"), [row(HI, call, says("observation", content))])
    ).calls

    assert made.arguments == f'{{"x": {arguments}}}'
    assert json.loads(made.result or "") == content


def test_the_public_rows_hold_more_calls_than_messages_that_make_them(shared: Path) -> None:
    path = shared / "traces" / "sharegpt" / "reason_tool_use_demo_50.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    found = read(path)

    # 53 were counted: the messages that make calls. Some make two or three, which are calls of their own.
    messages = [
        [part for part in one["content"] if part["type"] == "tool_call"]
        for r in rows
        for one in r["messages"]
    ]
    asked = [json.loads(part["value"]) for parts in messages for part in parts]
    assert (found.format, found.broken, len(found.of(Conversation))) == ("sharegpt", [], 50)
    assert sum(map(bool, messages)) == 53
    assert [(c.tool_name, json.loads(c.arguments or "")) for c in found.calls] == [
        (one["name"], one["arguments"]) for one in asked
    ]
    assert len(found.calls) == len(asked) == 68
