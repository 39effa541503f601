"""OpenAI chat logs: conversations, requests, responses; ids, times, tools offered, history written again."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from file_reading import json_texts, read, written
from hypothesis import given
from hypothesis import strategies as st

from quality_lab.records import Conversation, ToolDefinition
from quality_lab.store import Store

USER = {"role": "user", "content": "Could somebody clean the apartment?"}
SAYS = {"role": "assistant", "content": "At nine or at one."}
TOOL = {
    "type": "function",
    "function": {
        "name": "get_options",
        "description": "Cleaning",
        "parameters": {"type": "object", "properties": {}},
    },
}


NO_TIME = "wanted a time: ISO 8601 text or a number since 1970"


def asks(*calls: tuple[str | None, str, Any], **rest: Any) -> dict[str, Any]:
    """Return an assistant's message that makes these calls: id, name, arguments."""
    made = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": made, **rest}


def answers(call_id: str | None, content: Any, **rest: Any) -> dict[str, Any]:
    """Return a tool's message."""
    return {"role": "tool", "tool_call_id": call_id, "content": content, **rest}


ASKS = asks(("call_1", "get_options", '{"hours": 2}'))
ANSWERS = answers("call_1", '{"slots": []}')


def test_a_conversation_with_ids_times_and_tools_is_read_with_all_it_says(tmp_path: Path) -> None:
    row = {
        "id": "chat-0001",
        "created_at": "2026-05-04T03:40:02Z",
        "model": "example-model-1",
        "widget": "2.3.1",
        "messages": [
            {**USER, "created_at": "2026-05-04T03:42:07Z"},
            {**ASKS, "created_at": "2026-05-04T05:42:08+02:00"},
            {**ANSWERS, "created_at": 1777866129},
            {**SAYS, "created_at": 1777866131.5},
        ],
        "tools": [TOOL],
    }

    found = read(written(tmp_path, [row]), source="web", style="calm")

    (talk,), (call,), (tool,) = found.of(Conversation), found.calls, found.of(ToolDefinition)
    assert found.format == "openai_chat"
    assert (talk.key_space, talk.conversation_id, talk.model) == (
        "openai_chat",
        "chat-0001",
        "example-model-1",
    )
    assert (talk.source, talk.style, talk.offered) == ("web", "calm", (tool.digest,))
    assert talk.started_at == datetime(2026, 5, 4, 3, 40, 2, tzinfo=UTC)
    assert talk.ended_at == datetime(2026, 5, 4, 3, 42, 11, 500_000, tzinfo=UTC)
    assert (call.key, call.call_id, call.tool_name) == ("chat-0001#1.0", "call_1", "get_options")
    assert (call.arguments, call.arguments_state) == ('{"hours": 2}', "json_string")
    assert (call.result, call.result_state, call.is_error) == ('"{\\"slots\\": []}"', "present", None)
    assert (call.source, call.style, call.model) == ("web", "calm", "example-model-1")
    assert call.created_at == datetime(2026, 5, 4, 3, 42, 8, tzinfo=UTC)
    assert (call.tool_definition, call.turn, call.cycle, call.call_index) == (tool.digest, 0, 0, 0)
    assert (tool.name, tool.description) == ("get_options", "Cleaning")
    assert json.loads(tool.parameters or "") == {"type": "object", "properties": {}}
    assert tool.seen_at == datetime(2026, 5, 4, 3, 40, 2, tzinfo=UTC)
    assert [(one.role, one.text, one.call_id) for one in found.messages] == [
        ("user", USER["content"], None),
        ("assistant", None, None),
        ("tool", '{"slots": []}', "call_1"),
        ("assistant", SAYS["content"], None),
    ]
    assert found.messages[2].created_at == datetime(2026, 5, 4, 3, 42, 9, tzinfo=UTC)
    assert found.notes.unknown_fields == {"widget": 1}


@pytest.mark.parametrize(
    ("raw", "arguments", "state"),
    [
        ('"{\\"a\\": 1.10}"', '{"a": 1.10}', "json_string"),
        ('{"a": 1.10}', '{"a": 1.10}', "object"),
        ('""', '""', "absent"),
        ('"{\\"a\\": "', '"{\\"a\\": "', "invalid_json"),
        ("null", "null", "absent"),
    ],
)
def test_arguments_are_read_one_level(tmp_path: Path, raw: str, arguments: str, state: str) -> None:
    text = json.dumps({"messages": [USER, asks(("a", "get", "ARGS"))]}).replace('"ARGS"', raw)

    (call,) = read(written(tmp_path, text.encode())).calls

    assert (call.arguments, call.arguments_state) == (arguments, state)


@given(json_texts(), json_texts(), st.booleans())
def test_arguments_and_results_come_out_as_they_went_in(
    tmp_path_factory: pytest.TempPathFactory, arguments: str, result: str, as_text: bool
) -> None:
    text = json.dumps({"messages": [USER, asks(("a", "get", "ARGS")), answers("a", "RESULT")]})
    given_arguments = json.dumps(arguments) if as_text or arguments.startswith('"') else arguments
    text = text.replace('"ARGS"', given_arguments).replace('"RESULT"', result)

    (call,) = read(written(tmp_path_factory.mktemp("any"), text.encode())).calls

    assert (call.arguments, call.result) == (arguments, result)


def test_legacy_function_calls_have_no_id_and_their_results_come_by_name(tmp_path: Path) -> None:
    legacy = {"role": "assistant", "function_call": {"name": "get", "arguments": '{"symbol": "X"}'}}
    row = {"messages": [USER, legacy, {"role": "function", "name": "get", "content": "7"}, legacy]}

    answered, last = read(written(tmp_path, [row])).calls

    assert (answered.call_id, answered.tool_name, answered.arguments) == (None, "get", '{"symbol": "X"}')
    assert (answered.result, answered.result_state) == ('"7"', "present")
    assert (last.result, last.result_state) == (None, "not_captured")


def test_functions_and_flat_tools_and_tools_as_text_are_one_definition(tmp_path: Path) -> None:
    function = TOOL["function"]
    spellings: list[dict[str, Any]] = [
        {"tools": [TOOL]},
        {"functions": [function]},
        {"tools": [{"type": "function", **function}]},
        {"tools": json.dumps([TOOL])},
        {"tools": [{**TOOL, "function": {**function, "strict": True}}]},
    ]

    found = read(written(tmp_path, [{"messages": [USER], **spelling} for spelling in spellings]))

    assert len(found.of(ToolDefinition)) == 1
    assert {talk.offered for talk in found.of(Conversation)} == {(found.of(ToolDefinition)[0].digest,)}


def test_no_tools_offered_is_not_the_same_as_not_captured(tmp_path: Path) -> None:
    none, unknown = read(written(tmp_path, [{"messages": [USER], "tools": []}, {"messages": [USER]}])).of(
        Conversation
    )

    assert (none.offered, unknown.offered) == ((), None)


def test_a_definition_is_told_with_the_first_and_the_last_time_it_was_seen(tmp_path: Path) -> None:
    rows = [
        {"id": str(day), "created_at": f"2026-05-{day:02d}", "messages": [USER], "tools": [TOOL]}
        for day in (12, 3, 20, 15)
    ]

    found = read(written(tmp_path, [*rows, b"broken"]))

    assert sorted(tool.seen_at for tool in found.of(ToolDefinition)) == [
        datetime(2026, 5, 3, tzinfo=UTC),
        datetime(2026, 5, 20, tzinfo=UTC),
    ]
    assert [unit.line for unit in found.units] == [1, 2, 3, 4, 5]
    assert found.units[-1].records == ()


def test_a_conversation_without_an_id_has_the_same_one_in_every_export(tmp_path: Path) -> None:
    rows = [
        {"messages": [USER, SAYS]},
        {"messages": [USER, {**SAYS, "content": "No."}]},
        {"messages": [USER, SAYS]},
    ]

    found = [talk.conversation_id for talk in read(written(tmp_path, rows)).of(Conversation)]
    again = [talk.conversation_id for talk in read(written(tmp_path, rows[::-1])).of(Conversation)]
    spread = json.dumps(rows, indent=2).encode()

    assert len(set(found)) == 3
    assert set(found) == set(again)
    assert [talk.conversation_id for talk in read(written(tmp_path, spread)).of(Conversation)] == found


def test_history_written_again_with_every_request_is_one_conversation(tmp_path: Path) -> None:
    def pair(messages: list[dict[str, Any]], answer: dict[str, Any], number: int) -> dict[str, Any]:
        usage = {"prompt_tokens": 10 * number, "completion_tokens": number, "total_tokens": 11 * number}
        choice = {"index": 0, "message": answer, "finish_reason": "stop"}
        response = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1777866129 + number}
        return {
            "request": {"model": "m", "messages": messages, "tools": [TOOL], "temperature": 0},
            "response": {**response, "model": "m-2026", "choices": [choice], "usage": usage},
        }

    thanks = {"role": "user", "content": "Thanks"}
    first, second, third = [USER], [USER, ASKS, ANSWERS], [USER, ASKS, ANSWERS, SAYS, thanks]
    bye = {"role": "assistant", "content": "Bye"}

    found = read(written(tmp_path, [pair(first, ASKS, 1), pair(second, SAYS, 2), pair(third, bye, 3)]))

    assert len({talk.conversation_id for talk in found.of(Conversation)}) == 1
    assert [(one.position, one.role) for one in found.messages] == [
        (0, "user"), (1, "assistant"), (2, "tool"), (3, "assistant"), (4, "user"), (5, "assistant")
    ]  # fmt: skip
    assert [(call.key[-4:], call.result_state) for call in found.calls] == [
        ("#1.0", "not_captured"),
        ("#1.0", "present"),
    ]
    assert found.calls[0].created_at == datetime(2026, 5, 4, 3, 42, 10, tzinfo=UTC)
    assert [(one.input_tokens, one.output_tokens, one.finish_reason) for one in found.messages] == [
        (None, None, None), (10, 1, "stop"), (None, None, None),
        (20, 2, "stop"), (None, None, None), (30, 3, "stop"),
    ]  # fmt: skip
    assert found.messages[1].model == "m-2026"
    assert found.notes.merged == {"history written again": 2 + 4}
    assert found.notes.unknown_fields == {}


def test_equal_conversations_of_one_file_stay_two(tmp_path: Path) -> None:
    found = read(written(tmp_path, [{"messages": [USER, ASKS]}] * 2))

    assert len({call.key for call in found.calls}) == 2
    assert found.notes.merged == {}


def test_a_response_alone_is_a_conversation_under_its_own_id(tmp_path: Path) -> None:
    response = {
        "id": "chatcmpl-9",
        "object": "chat.completion",
        "created": 1730371250,
        "choices": [{"message": ASKS}],
    }

    found = read(written(tmp_path, [response]))

    assert [(call.key, call.result_state) for call in found.calls] == [("chatcmpl-9#0.0", "not_captured")]


@pytest.mark.parametrize("tokens", [2**63, -1])
def test_tokens_that_no_table_can_hold_cost_only_their_line(tmp_path: Path, tokens: int) -> None:
    response = {"id": "chatcmpl-9", "object": "chat.completion", "choices": [{"message": ASKS}]}
    usages = [{"prompt_tokens": tokens, "completion_tokens": 1}, {"prompt_tokens": 2**63 - 1}]
    rows = [{**response, "id": f"chatcmpl-{at}", "usage": usage} for at, usage in enumerate(usages)]

    (loaded,) = Store(tmp_path / "home").load([written(tmp_path, rows)]).files

    assert (loaded.status, loaded.loaded, loaded.rejected) == ("loaded", 1, 1)


def test_requests_and_responses_of_a_batch_are_read(tmp_path: Path) -> None:
    asked = {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": [USER]}}
    body = {"id": "chatcmpl-9", "created": 1730371250, "choices": [{"message": ASKS}]}
    answered = {
        "id": "batch_req_1", "custom_id": "1", "error": None,
        "response": {"status_code": 200, "request_id": "r", "body": body},
    }  # fmt: skip

    requests, responses = read(written(tmp_path, [asked])), read(written(tmp_path, [answered]))

    assert [(one.role, one.text) for one in requests.messages] == [("user", USER["content"])]
    assert [call.key for call in responses.calls] == ["batch_req_1#0.0"]
    assert (requests.notes.unknown_fields, responses.notes.unknown_fields) == ({}, {})


def test_results_that_nobody_asked_for_are_counted(tmp_path: Path) -> None:
    found = read(
        written(tmp_path, [{"messages": [USER, answers("lost", "1"), SAYS, ASKS, answers("other", "2")]}])
    )

    assert found.notes.missing == {"result without call": 2, "call without result": 1}
    assert len(found.messages) == 5


def test_a_late_result_finds_its_call_by_id(tmp_path: Path) -> None:
    row = {
        "messages": [USER, ASKS, SAYS, asks(("b", "x", "{}")), answers("call_1", "late"), answers("b", "own")]
    }

    assert [call.result for call in read(written(tmp_path, [row])).calls] == ['"late"', '"own"']


def test_content_in_parts_is_kept_as_it_came_and_read_as_text(tmp_path: Path) -> None:
    parts = [
        {"type": "text", "text": "Look"},
        {"type": "image_url", "image_url": {"url": "x"}},
        {"type": "text", "text": "here"},
    ]
    refusal = {"role": "assistant", "content": None, "refusal": "I cannot."}

    spoken, refused = read(
        written(tmp_path, [{"messages": [{"role": "user", "content": parts}, refusal]}])
    ).messages

    assert (spoken.text, json.loads(spoken.content or "")) == ("Look\nhere", parts)
    assert (refused.text, refused.content) == ("I cannot.", None)


@pytest.mark.parametrize(
    ("messages", "rest", "path", "reason"),
    [
        ([{"role": "user"}, {"role": 5}], {}, "messages[1].role", "wanted string, got integer"),
        ([asks(("a", "x", "{}")), 7], {}, "messages[1]", "wanted object, got integer"),
        ([{**SAYS, "tool_calls": {}}], {}, "messages[0].tool_calls", "wanted array or null, got object"),
        (
            [{**USER, "created_at": "noon"}],
            {},
            "messages[0].created_at",
            "wanted an ISO 8601 time, got 'noon'",
        ),
        ([{**USER, "created_at": True}], {}, "messages[0].created_at", NO_TIME),
        ([USER], {"created_at": 10**30}, "created_at", f"wanted a time, got {10**30}"),
        (
            [USER],
            {"created_at": -62135596801},
            "created_at",
            "wanted a time, got -62135596801",
        ),  # in the year 0
        ([USER], {"tools": {}}, "tools", "wanted array or null, got object"),
        (
            [USER],
            {"tools": [{"function": {"name": 1}}]},
            "tools[0].function.name",
            "wanted string, got integer",
        ),
        ([], {}, "messages", "wanted messages, or a response with a choice"),
    ],
)
def test_what_is_wrong_is_a_reject_with_its_path(
    tmp_path: Path, messages: list[Any], rest: dict[str, Any], path: str, reason: str
) -> None:
    good, row = {"messages": [USER]}, {"messages": messages, **rest}

    assert read(written(tmp_path, [good, row])).broken == [(2, path, reason)]
    assert read(written(tmp_path, [good, {"request": row}])).broken == [(2, f"request.{path}", reason)]


@pytest.mark.parametrize("unit", [1, 10**3, 10**6, 10**9])
def test_the_unit_of_a_time_is_told_by_its_size(tmp_path: Path, unit: int) -> None:
    found = read(written(tmp_path, [{"messages": [USER], "created_at": 1777866129 * unit}]))

    assert found.of(Conversation)[0].started_at == datetime(2026, 5, 4, 3, 42, 9, tzinfo=UTC)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "talks", "calls"), [("test-hallucination", 10, 5), ("train-token-reduction", 100, 100)]
)
def test_public_fine_tuning_rows_are_read_as_counted(shared: Path, name: str, talks: int, calls: int) -> None:
    path = shared / "traces" / "openai-chat" / f"stock-{name}.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    found = read(path)

    asked = [
        message["function_call"] for row in rows for message in row["messages"] if "function_call" in message
    ]
    assert (found.format, found.broken, found.notes.unknown_fields) == ("openai_chat", [], {})
    assert len({talk.conversation_id for talk in found.of(Conversation)}) == talks
    assert len({call.key for call in found.calls}) == len(asked) == calls
    assert [(call.tool_name, call.arguments) for call in found.calls] == [
        (one["name"], one["arguments"]) for one in asked
    ]
    assert {call.result_state for call in found.calls} == {"not_captured"}
    assert all(call.tool_definition for call in found.calls)


@pytest.mark.shared
def test_public_requests_and_responses_are_read(shared: Path) -> None:
    calls = []
    for path in sorted((shared / "traces" / "openai-conformance").glob("ChatCompletions_*.json")):
        found = read(path)
        assert (found.format, found.broken, found.notes.unknown_fields) == ("openai_chat", [], {})
        calls += [(call.call_id, call.tool_name, json.loads(call.arguments or "")) for call in found.calls]

    assert calls == [
        ("call_abc123xyz", "get_weather", {"location": "San Francisco, CA", "unit": "fahrenheit"}),
        ("call_abc123", "get_weather", {"location": "San Francisco, CA", "unit": "fahrenheit"}),
    ]


def test_the_demo_s_chats_are_all_read_but_the_broken_one(repository: Path) -> None:
    path = repository / "data" / "demo" / "exports" / "web-chat.jsonl"

    found = read(path)

    assert len(found.of(Conversation)) == 60
    assert len(found.rejects) == 1
    assert found.notes.unknown_fields == {"widget": 60}


def test_a_result_that_comes_with_the_next_request_is_its_call_s_and_nothing_contradicts(
    tmp_path: Path,
) -> None:
    def pair(messages: list[dict[str, Any]], answer: dict[str, Any], second: int) -> dict[str, Any]:
        return {
            "request": {"messages": messages},
            "response": {
                "created": 1777866129 + second,
                "model": f"m-{second}",
                "choices": [{"message": answer}],
            },
        }

    path = written(tmp_path, [pair([USER], ASKS, 1), pair([USER, ASKS, ANSWERS], SAYS, 2)])
    store = Store(tmp_path)
    store.load([path])

    assert read(path).notes.missing == {}
    assert store.totals()["tool_calls"] == 1
    assert store.rejects() == []
