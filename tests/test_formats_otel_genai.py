"""OpenTelemetry spans: one call however often it is told, the same out of every wrapping, nothing made up."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from file_reading import Read, json_texts, read, written
from hypothesis import given
from hypothesis import strategies as st
from span_making import (
    START,
    TRACE,
    answers,
    asks,
    chat,
    console,
    jaeger,
    otlp,
    otlp_of_protobuf,
    otlp_span,
    says,
    span,
    tempo,
    tool,
)

from quality_lab.formats.said import messages_in
from quality_lab.outcomes import outcome_of
from quality_lab.records import Conversation, ToolCall, ToolDefinition

USER = says("user", "Where is order 7?")
CALL = ("call_1", "find_order", {"id": 7})
STORY = [  # a parent comes after its children
    chat(1, [USER], [asks(CALL)], parent=9),
    tool(2, "find_order", {"id": 7}, {"status": "sent"}, gen_ai__tool__call__id="call_1", parent=9),
    chat(
        3, [USER, asks(CALL), answers("call_1", {"status": "sent"})], [says("assistant", "Sent.")], parent=9
    ),
    span(9, "invoke_agent shop", gen_ai__operation__name="invoke_agent", gen_ai__conversation__id="c-1"),
]
WRAPPINGS: dict[str, Callable[[Any], Any]] = {
    "otlp": otlp, "protobuf": otlp_of_protobuf, "tempo": tempo, "jaeger": jaeger, "console": console,
    "flat": list, "v2 of tempo": lambda spans: {"trace": otlp(spans)},
    "bare": lambda spans: {"spans": spans}, "lines": lambda spans: [otlp([one]) for one in spans],
    "one resource": lambda spans: otlp(spans)["resourceSpans"],
}  # fmt: skip


def told(tmp_path: Path, *spans: dict[str, Any]) -> Read:
    """Return what is read of flat spans."""
    return read(written(tmp_path, json.dumps(list(spans)).encode(), "spans.json"))


def essence(call: ToolCall) -> tuple[Any, ...]:
    return (call.key, call.conversation_id, call.tool_name, call.arguments, call.result, call.is_error)


# ---- one call, however often it is told ----


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_a_call_that_is_told_four_times_is_one_call_out_of_every_wrapping(
    tmp_path: Path, wrapping: str
) -> None:
    document = WRAPPINGS[wrapping](STORY)

    found = read(written(tmp_path, json.dumps(document).encode(), "export.json"))

    (call,) = found.calls
    assert found.format == "otel_genai"
    assert essence(call) == (
        f"{TRACE}:0000000000000002", "c-1", "find_order", '{"id": 7}', '"{\\"status\\": \\"sent\\"}"', None
    )  # fmt: skip
    assert (call.call_id, call.turn, call.cycle, call.call_index, call.message_position) == (
        "call_1",
        0,
        0,
        0,
        1,
    )
    assert (call.latency_ms, call.model, call.key_space) == (250.0, "gpt-4o", "otel")
    assert call.created_at == datetime(2026, 4, 30, 13, 17, 35, 780274, tzinfo=UTC)
    assert [(one.position, one.role, one.text) for one in found.messages] == [
        (0, "user", "Where is order 7?"), (1, "assistant", None), (2, "tool", '{"status": "sent"}'),
        (3, "assistant", "Sent."),
    ]  # fmt: skip
    assert found.notes.merged == {
        "call in a model's answer and in a span of its own": 1, "message in the history of a prompt": 2
    }  # fmt: skip
    assert (found.broken, found.notes.missing, found.notes.unknown_fields) == ([], {}, {})


def test_the_service_is_the_source_unless_somebody_names_one(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps(otlp(STORY)).encode())

    assert [call.source for call in read(path).calls] == ["shop"]
    assert [call.source for call in read(path, source="night").calls] == ["night"]


def test_deprecated_attributes_tell_the_same_story(tmp_path: Path) -> None:
    prompt = {"gen_ai__prompt__0__role": "user", "gen_ai__prompt__0__content": "Where is order 7?"}
    asked = {
        "tool_calls__0__id": "call_1",
        "tool_calls__0__name": "find_order",
        "tool_calls__0__arguments": '{"id": 7}',
    }
    completion = {
        f"gen_ai__completion__0__{key}": value for key, value in {"role": "assistant", **asked}.items()
    }
    history = {f"gen_ai__prompt__1__{key}": value for key, value in {"role": "assistant", **asked}.items()}
    result = {"role": "tool", "content": "sent", "tool_call_id": "call_1"}
    more = {f"gen_ai__prompt__2__{key}": value for key, value in result.items()}
    said = {"gen_ai__completion__0__role": "assistant", "gen_ai__completion__0__content": "Sent."}
    usage = {"gen_ai__usage__prompt_tokens": 12, "gen_ai__usage__completion_tokens": 3}
    llm = {"llm__request__type": "chat", "gen_ai__response__model": "gpt-4o", **usage}

    found = told(
        tmp_path,
        span(1, "openai.chat", **llm, **prompt, **completion),
        span(2, "find_order.tool", traceloop__span__kind="tool", traceloop__entity__name="find_order",
             traceloop__entity__input='{"inputs": {"id": 7}, "tags": []}', traceloop__entity__output="sent"),
        span(3, "openai.chat", **llm, **prompt, **history, **more, **said),
    )  # fmt: skip

    (call,) = found.calls
    assert (call.key[-1], call.call_id, call.arguments, call.result) == ("2", "call_1", '{"id": 7}', '"sent"')
    assert [(one.role, one.text, one.input_tokens, one.output_tokens) for one in found.messages] == [
        ("user", "Where is order 7?", None, None), ("assistant", None, 12, 3), ("tool", "sent", None, None),
        ("assistant", "Sent.", 12, 3),
    ]  # fmt: skip


def test_adk_tells_requests_in_geminis_words_and_a_batch_once_more(tmp_path: Path) -> None:
    asked = {"function_call": {"id": "a", "name": "find_order", "args": {"id": 7}}}
    result = {"function_response": {"id": "a", "name": "find_order", "response": {"status": "sent"}}}
    contents = [{"role": "user", "parts": [{"text": "Where?"}]}]
    declared = {"name": "find_order", "description": "Finds", "parameters_json_schema": {"type": "object"}}
    config = {"system_instruction": "Be brief.", "tools": [{"function_declarations": [declared]}]}
    first, last = (
        {
            "gcp__vertex__agent__llm_request": json.dumps({"config": config, "contents": told}),
            "gcp__vertex__agent__llm_response": json.dumps({"content": {"role": "model", "parts": parts}}),
            "gcp__vertex__agent__session_id": "s-1",
        }
        for told, parts in (
            (contents, [asked]),
            (
                [*contents, {"role": "model", "parts": [asked]}, {"role": "user", "parts": [result]}],
                [{"text": "Sent."}],
            ),
        )
    )
    run = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": "find_order"}
    given_back = {
        "gcp__vertex__agent__tool_call_args": '{"id": 7}',
        "gcp__vertex__agent__tool_response": '{"status": "sent"}',
    }

    found = told(
        tmp_path,
        span(1, "call_llm", **first),
        span(2, "execute_tool find_order", parent=1, **run, **given_back),
        span(3, "execute_tool (merged)", parent=1, **{**run, "gen_ai__tool__name": "(merged tools)"}),
        span(4, "call_llm", **last),
    )

    (call,) = found.calls
    assert (call.conversation_id, call.call_id, call.arguments) == ("s-1", "a", '{"id": 7}')
    assert [one.role for one in found.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert {one.name: one.parameters for one in found.of(ToolDefinition)} == {
        "find_order": '{"type": "object"}'
    }
    assert call.tool_definition == found.of(Conversation)[0].offered[0]
    assert found.notes.merged["results of a parallel batch, told together"] == 1


def test_messages_in_events_and_in_log_records_count_as_much_as_attributes(tmp_path: Path) -> None:
    bare = span(1, "chat gpt-4o", gen_ai__operation__name="chat")
    details = {"gen_ai.input.messages": [USER], "gen_ai.output.messages": [asks(CALL)]}
    events = [
        {"name": "gen_ai.user.message", "attributes": {"content": "Where is order 7?"}},
        {"name": "gen_ai.choice", "attributes": {"message": json.dumps({
            "role": "assistant",
            "tool_calls": [{"id": "call_1", "type": "function",
                            "function": {"name": "find_order", "arguments": '{"id": 7}'}}],
        })}},
    ]  # fmt: skip
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [
        {"traceId": TRACE, "spanId": "0" * 15 + "1", "eventName": event["name"],
         "body": {"kvlistValue": {"values": [
             {"key": key, "value": {"stringValue": value}} for key, value in event["attributes"].items()
         ]}}}
        for event in events
    ]}]}]}  # fmt: skip

    in_details = told(tmp_path, {**bare, "span_events": [{"event_name": "x", "attributes": details}]})
    in_events = told(tmp_path, {**bare, "events": events})
    in_logs = read(written(tmp_path, [otlp([bare]), logs]))

    for found in (in_details, in_events, in_logs):
        (call,) = found.calls
        assert (call.key, call.tool_name) == (f"{TRACE}:{'0' * 15}1#0.0", "find_order")
        assert json.loads(call.arguments or "") == {"id": 7}
        assert [(one.role, one.text) for one in found.messages] == [
            ("user", "Where is order 7?"), ("assistant", None)
        ]  # fmt: skip


def test_strands_tells_a_tool_s_arguments_and_result_in_events(tmp_path: Path) -> None:
    run = span(2, "execute_tool look", gen_ai__operation__name="execute_tool", gen_ai__tool__name="look",
               gen_ai__tool__call__id="t1", gen_ai__tool__status="error")  # fmt: skip
    run["events"] = [
        {"name": "gen_ai.tool.message", "attributes": {"role": "tool", "content": '{"at": "x"}', "id": "t1"}},
        {"name": "gen_ai.choice", "attributes": {"message": '[{"text": "not there"}]', "id": "t1"}},
    ]

    (call,) = told(tmp_path, run).calls

    assert (call.arguments, call.result) == ('{"at": "x"}', '"[{\\"text\\": \\"not there\\"}]"')
    assert (call.is_error, call.error_origin) == (True, "flag")


def test_an_mcp_span_inside_a_tool_s_span_is_the_same_call(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        span(
            2,
            "tools/call find_order",
            parent=1,
            mcp__method__name="tools/call",
            gen_ai__tool__name="find_order",
            gen_ai__tool__call__result='{"isError": true}',
            mcp__server__name="shop",
        ),
        span(
            1,
            "execute_tool find_order",
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name="find_order",
            gen_ai__tool__call__arguments='{"id": 7}',
        ),
        span(3, "initialize", mcp__method__name="initialize"),
    )

    (call,) = found.calls
    assert (call.key[-1], call.arguments, call.result) == ("1", '{"id": 7}', '"{\\"isError\\": true}"')
    assert (call.tool_server, call.is_error) == ("shop", True)
    assert found.notes.merged == {"span of a call inside another of it": 1}


def test_a_dispatcher_names_the_tool_behind_it_and_its_inner_span_is_no_second_call(tmp_path: Path) -> None:
    arguments = {"server_name": "maps", "tool_name": "find_route", "params": {"to": "Rome"}}

    found = told(
        tmp_path,
        tool(1, "execute-tool", arguments, "ok"),
        tool(2, "find_route", {"to": "Rome"}, "ok", parent=1),
    )

    (call,) = found.calls
    assert (call.tool_name, call.wrapped_tool, call.tool_server) == ("execute-tool", "find_route", "maps")


def test_two_calls_with_one_id_stay_two(tmp_path: Path) -> None:
    first, second = ("call_1", "look", {"n": 1}), ("call_1", "look", {"n": 2})
    talk = [USER, asks(first), answers("call_1", "one"), asks(second), answers("call_1", "two")]

    found = told(
        tmp_path,
        chat(1, talk[:1], [asks(first)]),
        chat(3, talk[:3], [asks(second)]),
        chat(5, talk, [says("assistant", "Done.")]),
    )

    assert [(call.arguments, call.result) for call in found.calls] == [
        ('{"n": 1}', '"one"'), ('{"n": 2}', '"two"')
    ]  # fmt: skip


def test_the_same_call_made_twice_is_two_calls_with_and_without_ids(tmp_path: Path) -> None:
    for name in ("call_1", None):
        again = (None if name is None else "call_2", "look", {})
        call = (name, "look", {})
        found = told(
            tmp_path,
            chat(1, [USER], [asks(call)]),
            tool(2, "look", {}, "one"),
            chat(3, [USER, asks(call), answers(name, "one")], [asks(again)]),
            tool(4, "look", {}, "two"),
        )

        assert [(one.key[-1], one.result, one.call_index) for one in found.calls] == [
            ("2", '"one"', 0),
            ("4", '"two"', 1),
        ]


def test_a_call_is_never_joined_with_one_that_ran_before_it_was_asked_for(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        tool(1, "look", {}, "by a program"),
        chat(2, [USER], [asks((None, "look", {}))]),
        tool(3, "look", {}, "by the model"),
    )

    assert [(call.key[-1], call.message_position) for call in found.calls] == [("1", None), ("3", 1)]


def test_a_call_without_a_span_of_its_own_is_a_call_without_a_result(tmp_path: Path) -> None:
    found = told(tmp_path, chat(1, [USER], [asks(CALL, ("call_2", "look", {}))]), tool(2, "look", {}, "ok"))

    assert [(call.tool_name, call.result_state, outcome_of(call)[0]) for call in found.calls] == [
        ("find_order", "not_captured", "unknown"), ("look", "present", "unknown")
    ]  # fmt: skip
    assert found.notes.missing == {"call without result": 1}


def test_a_call_that_only_a_later_prompt_tells_of_is_kept_with_its_result(tmp_path: Path) -> None:
    (call,) = told(
        tmp_path, chat(3, [USER, asks(CALL), answers("call_1", "sent")], [says("assistant", "Ok")])
    ).calls

    assert (call.key, call.arguments, call.result) == (f"{TRACE}:{3:016x}#told.1.0", '{"id": 7}', '"sent"')


def test_a_span_that_tells_no_arguments_gets_those_that_the_model_gave(tmp_path: Path) -> None:
    run = span(
        2, "execute_tool find_order", gen_ai__operation__name="execute_tool", gen_ai__tool__name="find_order"
    )

    (call,) = told(tmp_path, chat(1, [USER], [asks(CALL)]), run).calls

    assert (call.key[-1], call.call_id, call.arguments, call.arguments_state) == (
        "2",
        "call_1",
        '{"id": 7}',
        "object",
    )


def test_an_answer_in_spans_inside_one_another_is_one_answer_and_its_tokens_count_once(
    tmp_path: Path,
) -> None:
    usage = {"gen_ai__usage__input_tokens": 10, "gen_ai__usage__output_tokens": 2}

    found = told(
        tmp_path,
        chat(1, [USER], [asks(CALL)], **usage),
        chat(2, [USER], [asks(CALL)], parent=1, **usage),
        chat(3, [USER], [asks(CALL)], gen_ai__response__id="r", **usage),
        chat(4, [USER], [asks(CALL)], gen_ai__response__id="r", **usage),
    )

    assert [call.key[17 + 15 :] for call in found.calls] == [f":{2:016x}#0.0", f":{3:016x}#0.0"]
    assert [one.input_tokens for one in found.messages if one.input_tokens] == [10, 10]
    assert found.notes.merged["span of a model's answer inside another of it"] == 2


def test_half_spans_are_joined_and_the_later_end_counts(tmp_path: Path) -> None:
    whole = tool(2, "look", {"a": 1}, "ok")
    begun = {**whole, "end_time": None, "attributes": {"gen_ai.tool.name": "look"}}
    done = {**whole, "name": "", "start_time": None, "status": {"code": "OK"}}

    for halves in ((begun, done), (done, begun)):
        found = told(tmp_path, *halves)
        (call,) = found.calls
        assert (call.arguments, call.result, call.is_error, call.latency_ms) == (
            '{"a": 1}',
            '"ok"',
            False,
            250.0,
        )
        assert found.notes.merged == {"span written more than once": 1}


# ---- ids, times, statuses ----


def test_ids_in_base64_in_hex_and_with_0x_are_the_same_ids(tmp_path: Path) -> None:
    upper = [{**one, "trace_id": one["trace_id"].upper()} for one in STORY]
    uuids = [{**one, "trace_id": "5b8efff7-9803-8103-d269-b633813fc60c"} for one in STORY]

    keys = {
        call.key
        for document in (otlp(STORY), otlp_of_protobuf(STORY), console(STORY), upper, uuids)
        for call in read(written(tmp_path, json.dumps(document).encode())).calls
    }

    assert keys == {f"{TRACE}:0000000000000002"}


def test_a_trace_of_64_bits_is_the_same_with_and_without_the_noughts_before_it(tmp_path: Path) -> None:
    spellings = ("60ba2abb44f13eae", "000000000000000060ba2abb44f13eae", "AAAAAAAAAABguiq7RPE+rg==")

    keys = {told(tmp_path, {**tool(1, "look", {}, "ok"), "trace_id": one}).calls[0].key for one in spellings}

    assert keys == {f"{'0' * 16}60ba2abb44f13eae:{1:016x}"}


def test_a_tool_s_span_that_has_nothing_but_its_name_is_a_call_of_which_nothing_was_captured(
    tmp_path: Path,
) -> None:
    found = told(tmp_path, span(1, "invoke_agent shop"), span(2, "execute_tool look", parent=1))

    (call,) = found.calls
    assert (call.tool_name, call.arguments_state, call.result_state) == (
        "look",
        "not_captured",
        "not_captured",
    )
    assert outcome_of(call)[0] == "unknown"


@pytest.mark.parametrize(
    ("started", "ended"),
    [
        (START, START + 250_000_000),
        (str(START), str(START + 250_000_000)),
        (START // 1_000, START // 1_000 + 250_000),
        (START // 1_000_000, START // 1_000_000 + 250),
        ("2026-04-30T13:17:33.780274+00:00", "2026-04-30T13:17:34.030274Z"),
        ("2026-04-30T15:17:33.780274700+02:00", "2026-04-30T13:17:34.030274700Z"),
        ([START // 10**9, START % 10**9], [START // 10**9 + 1, START % 10**9 - 750_000_000]),
        (1777555053.780274, 1777555054.030274),
    ],
)
def test_times_are_told_by_their_size_and_stay_exact(tmp_path: Path, started: Any, ended: Any) -> None:
    (call,) = told(tmp_path, {**tool(0, "look", {}, "ok"), "start_time": started, "end_time": ended}).calls

    moment = call.created_at
    assert moment is not None
    assert moment.replace(microsecond=0) == datetime(2026, 4, 30, 13, 17, 33, tzinfo=UTC)
    assert moment.microsecond in (780274, 780000)
    assert call.latency_ms == 250.0


def test_a_number_beyond_what_a_double_holds_loses_no_digit(tmp_path: Path) -> None:
    one = {**tool(1, "look", {}, "ok"), "start_time": 1777555053780274999, "end_time": 1777555053780275999}

    (call,) = told(tmp_path, one).calls

    assert call.created_at == datetime(2026, 4, 30, 13, 17, 33, 780274, tzinfo=UTC)
    assert call.latency_ms == 0.001


@pytest.mark.parametrize(
    ("status", "more", "expected"),
    [
        ({"code": "UNSET"}, {}, (None, None, "unknown")),
        ({"code": 0}, {}, (None, None, "unknown")),
        ({}, {}, (None, None, "unknown")),
        (None, {}, (None, None, "unknown")),
        ({"code": "OK"}, {}, (False, None, "ok")),
        ({"code": 1}, {}, (False, None, "ok")),
        ({"code": "STATUS_CODE_ERROR", "message": "gone"}, {}, (True, "flag", "error")),
        ({"status_code": "StatusCode.ERROR"}, {}, (True, "flag", "error")),
        ({"code": 2}, {}, (True, "flag", "error")),
        ({"code": "UNSET"}, {"error__type": "TimeoutError"}, (True, "exception", "error")),
        ({"code": "UNSET"}, {"error": True}, (True, "flag", "error")),
        ({"code": "UNSET"}, {"gen_ai__tool__call__result": '{"isError": false}'}, (False, None, "ok")),
        ({"code": "OK"}, {"gen_ai__tool__call__result": '{"isError": true}'}, (True, "flag", "error")),
    ],
)
def test_a_status_that_is_unset_says_nothing(tmp_path: Path, status: Any, more: Any, expected: Any) -> None:
    (call,) = told(tmp_path, {**tool(1, "look", {}, "ok", **more), "status": status}).calls

    assert (call.is_error, call.error_origin, outcome_of(call)[0]) == expected


def test_an_exception_in_a_span_without_a_status_is_an_error_whose_flag_is_unknown(tmp_path: Path) -> None:
    thrown = {"name": "exception", "attributes": {"exception.type": "KeyError", "exception.message": "'id'"}}

    (call,) = told(tmp_path, {**tool(1, "look", {}, "ok"), "events": [thrown]}).calls

    assert (call.is_error, call.error_origin, call.error_kind, call.error_text) == (
        None,
        "exception",
        "KeyError",
        "'id'",
    )


# ---- conversations, agents, hand-offs ----


def test_a_conversation_is_named_by_the_span_by_those_above_it_or_by_its_trace(tmp_path: Path) -> None:
    other = {**tool(5, "look", {}, "ok"), "trace_id": "f" * 32}

    found = told(
        tmp_path,
        tool(1, "look", {}, "ok", session__id="s-1"),
        tool(3, "look", {}, "ok", parent=2),
        span(2, "GET /chat", session__id="s-2"),
        other,
    )

    assert {call.key.partition(":")[2][-1]: call.conversation_id for call in found.calls} == {
        "1": "s-1", "3": "s-2", "5": "f" * 32
    }  # fmt: skip


def test_traces_of_one_conversation_are_its_turns(tmp_path: Path) -> None:
    first, again = says("user", "Hello"), says("user", "And now?")
    reply = says("assistant", "Hi")
    later = {
        **chat(4, [first, reply, again], [asks(CALL)], gen_ai__conversation__id="c"),
        "trace_id": "e" * 32,
    }

    found = told(tmp_path, later, chat(1, [first], [reply], gen_ai__conversation__id="c"))

    messages = sorted(found.messages, key=lambda one: one.position)
    assert [one.text for one in messages] == ["Hello", "Hi", "And now?", None]
    assert [(call.turn, call.cycle, call.message_position) for call in found.calls] == [(1, 0, 3)]


def test_what_an_agent_below_a_tool_calls_is_the_call_of_a_sub_agent(tmp_path: Path) -> None:
    agent = {"gen_ai__operation__name": "invoke_agent"}
    asked = ("a", "ask_expert", {"q": "?"})
    within = {**span(3, "expert", **agent), "end_time": START + 3_500_000_000}
    around = {**tool(2, "ask_expert", {"q": "?"}, "42"), "end_time": START + 4_000_000_000}

    found = told(
        tmp_path,
        chat(1, [USER], [asks(asked)]),
        around,
        within,
        {**chat(3, [says("user", "?")], [asks(("b", "calculate", {}))], parent=3), "span_id": "a" * 16},
        tool(3, "calculate", {}, "42", parent=3) | {"span_id": "b" * 16},
    )

    assert {call.tool_name: call.actor for call in found.calls} == {
        "ask_expert": "model",
        "calculate": "sub_agent",
    }
    assert [one.text for one in found.messages] == ["Where is order 7?", None]
    assert found.notes.missing == {"message of a sub-agent, told apart from its calls": 2}


def test_two_hand_offs_at_once_are_two_hand_offs_though_one_is_ignored(tmp_path: Path) -> None:
    both = asks(("a", "transfer_to_math", {}), ("b", "transfer_to_research", {}))
    ignored = answers("b", "Multiple handoffs detected, ignoring this one.")

    found = told(
        tmp_path,
        chat(1, [USER], [both]),
        span(2, "agent_handoff", gen_ai__operation__name="agent_handoff", gen_ai__handoff__to_agent="math"),
        chat(3, [USER, both, ignored, answers("a", "{}")], [says("assistant", "42")]),
    )

    assert found.calls == []
    assert found.notes.not_understood == {"hand-off, which is no call of a tool": 3}


def test_a_collector_s_event_bodies_tell_answers_and_results(tmp_path: Path) -> None:
    def cut(number: int, asked: str, answer: Any) -> dict[str, Any]:
        messages = {"input": asked, "output": json.dumps(answer)}
        body = {side: {"messages": [{"content": text, "role": "user"}]} for side, text in messages.items()}
        return {**span(number, "langchain"), "span_events": [{"event_name": "langchain", "body": body}]}

    wanted = {
        "text": "Let me see.",
        "message": {"tool_calls": [{"name": "look", "args": {"id": 7}, "id": "a"}]},
    }
    result = {"name": "look", "type": "tool", "content": "there", "tool_call_id": "a", "status": "success"}

    found = told(
        tmp_path,
        cut(1, "Where?", {"generations": [[wanted]]}),
        cut(2, "{'id': 7}", result),
        cut(3, "Where?", {"generations": [[{"text": "There."}]]}),
        cut(4, "Where?", {"messages": [{"content": "There.", "type": "ai"}]}),
    )

    (call,) = found.calls
    assert (call.key[-1], call.tool_name, call.call_id, call.arguments) == ("2", "look", "a", '{"id": 7}')
    assert json.loads(json.loads(call.result or "")) == result
    assert [(one.role, one.text) for one in found.messages] == [
        ("user", "Where?"),
        ("assistant", "Let me see."),
        ("assistant", "There."),
    ]


def test_hand_offs_are_no_calls_but_are_counted_and_a_tool_of_a_like_name_is_one(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        chat(1, [USER], [asks(("a", "transfer_to_billing_agent", {}), ("b", "transfer_to_human", {}))]),
        span(2, "handoff to Billing Agent", openinference__span__kind="TOOL", input__value="desk"),
        span(3, "execute_tool transfer_to_agent", gen_ai__operation__name="execute_tool",
             gen_ai__tool__name="transfer_to_agent"),
    )  # fmt: skip

    assert [call.tool_name for call in found.calls] == ["transfer_to_human"]
    assert found.notes.not_understood == {"hand-off, which is no call of a tool": 3}


# ---- arguments and results ----


@given(arguments=json_texts(), result=json_texts())
def test_arguments_and_results_come_out_as_they_went_in(
    tmp_path_factory: pytest.TempPathFactory, arguments: str, result: str
) -> None:
    folder = tmp_path_factory.mktemp("exact", numbered=True)
    bare = json.dumps([tool(1, "look", "ARGUMENTS", "RESULT"), tool(2, "look", "TEXT", "TEXT")])
    document = bare.replace('"ARGUMENTS"', arguments).replace('"RESULT"', result)
    document = document.replace('"TEXT"', json.dumps(arguments), 1).replace('"TEXT"', json.dumps(result))

    native, as_text = read(written(folder, document.encode())).calls

    empty = arguments in ("null", '""')
    assert exact(native.arguments) == (None if empty else as_told(arguments))
    assert exact(native.result) == (None if result in ("null", '""') else exact(result))
    assert exact(as_text.arguments) == as_told(arguments)
    assert json.loads(as_text.result or "null") == result


def exact(text: str | None) -> Any:
    """Return the value of a JSON text: numbers as they were written, every key."""
    if text is None:
        return None
    return json.loads(
        text, parse_float=Decimal, parse_int=Decimal, object_pairs_hook=lambda pairs: ("object", pairs)
    )


def as_told(text: str) -> Any:
    """Return the value that arguments are: what a string holds, where that is JSON, as long as it does."""
    value = exact(text)
    for _ in range(9):
        try:
            inner = exact(value) if isinstance(value, str) and value else None
        except ValueError:
            break
        if inner is None:
            break
        value = inner
        if not isinstance(value, str):
            break
    return value


@pytest.mark.parametrize(
    ("given_text", "state", "expected"),
    [
        ('{"id": 7}', "json_string", '{"id": 7}'),
        ('"{\\"id\\": 7}"', "json_string", '{"id": 7}'),
        ("{'id': 7}", "invalid_json", "\"{'id': 7}\""),
        ('["SFO", "BOM"]', "json_string", '["SFO", "BOM"]'),
        ('{"kwargs": {"id": 7}}', "json_string", '{"kwargs": {"id": 7}}'),
    ],
)
def test_arguments_are_read_through_every_string_and_stated_ones_are_never_unwrapped(
    tmp_path: Path, given_text: str, state: str, expected: str
) -> None:
    (call,) = told(tmp_path, tool(1, "look", given_text, "ok")).calls

    assert (call.arguments, call.arguments_state) == (expected, state)


def test_values_that_otlp_types_one_by_one_come_out_whole_and_exact(tmp_path: Path) -> None:
    values = {"id": 9007199254740993, "at": {"x": [1, True, "a", 0.5, []]}, "": "", "none": {}}
    one = tool(1, "look", {}, "ok")
    one["attributes"]["gen_ai.tool.call.arguments"] = values

    (call,) = read(written(tmp_path, json.dumps(otlp([one])).encode())).calls

    assert json.loads(call.arguments or "") == values
    assert call.arguments_state == "object"


def test_monocle_tells_a_call_in_two_spans_and_its_values_in_events(tmp_path: Path) -> None:
    given_events = [
        {"name": "data.input", "attributes": {"input": '["SFO", "BOM"]'}},
        {"name": "data.output", "attributes": {"response": "booked"}},
    ]
    kinds = {1: "agentic.tool.invocation", 2: "agentic.mcp.invocation"}
    inner, outer = (
        {**span(number, "flight", parent=number - 1 or None, span__type=kinds[number], entity__1__name="book_flight"),
         "events": given_events}
        for number in (2, 1)
    )  # fmt: skip

    found = told(tmp_path, inner, outer)

    (call,) = found.calls
    assert (call.key[-1], call.tool_name) == ("1", "book_flight")
    assert (call.arguments, call.result) == ('["SFO", "BOM"]', '"booked"')
    assert found.notes.merged == {"span of a call inside another of it": 1}


def test_definitions_come_from_every_place_that_offers_them(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}}
    places: list[dict[str, Any]] = [
        {"gen_ai__tool__definitions": json.dumps([{"type": "function", "name": "f", "parameters": schema}])},
        {
            "gen_ai__tool__definitions": [
                json.dumps({"type": "function", "function": {"name": "f", "parameters": schema}})
            ]
        },
        {
            "llm__request__functions__0__name": "f",
            "llm__request__functions__0__parameters": json.dumps(schema),
        },
        {"llm__tools__0__tool__json_schema": json.dumps({"name": "f", "input_schema": schema})},
        {"ai__prompt__tools": [json.dumps({"type": "function", "name": "f", "inputSchema": schema})]},
    ]

    digests = {
        call.tool_definition
        for place in places
        for call in told(tmp_path, chat(1, [USER], [asks((None, "f", {}))], **place)).calls
    }

    assert len(digests) == 1
    assert None not in digests


# ---- what is not understood ----


def test_kinds_and_fields_that_nobody_knows_are_counted(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        {**tool(1, "look", {}, "ok"), "colour": "red"},
        span(2, "x", gen_ai__operation__name="dream"),
        span(3, "y", openinference__span__kind="ORACLE"),
    )

    assert found.notes.unknown_fields == {"colour": 1}
    assert found.notes.not_understood == {"gen_ai.operation.name dream": 1, "span kind ORACLE": 1}
    assert len(found.calls) == 1


def test_spans_of_a_web_server_are_set_aside_and_make_no_conversation(tmp_path: Path) -> None:
    found = told(tmp_path, span(1, "GET /", http__method="GET"), span(2, "SELECT", db__system="postgres"))

    assert (found.of(Conversation), found.calls, found.broken) == ([], [], [])
    assert [type(unit.records[0]).__name__ for unit in found.units] == ["SetAside", "SetAside"]


@pytest.mark.parametrize(
    ("broken", "path", "reason"),
    [
        ({"span_id": None}, "span_id", "a span needs it"),
        ({"start_time": "yesterday"}, "start_time", "wanted an ISO 8601 time, got 'yesterday'"),
        ({"start_time": 10**25}, "start_time", "wanted a time, got 10000000000000000000000000"),
        ({"attributes": "none"}, "", "wanted object, got string"),
    ],
)
def test_a_span_that_breaks_its_promise_costs_only_itself(
    tmp_path: Path, broken: Any, path: str, reason: str
) -> None:
    found = told(tmp_path, {**tool(1, "look", {}, "ok"), **broken}, tool(2, "look", {}, "ok"))

    assert found.broken == [(1, path, reason)]
    assert [call.key[-1] for call in found.calls] == ["2"]


def test_one_line_of_a_collector_s_file_that_is_broken_costs_only_itself(tmp_path: Path) -> None:
    bad = otlp([STORY[0]])
    bad["resourceSpans"][0]["scopeSpans"][0]["spans"] = "?"

    found = read(written(tmp_path, [otlp([STORY[1]]), bad, b"oops", otlp([STORY[3]])]))

    assert [(line, path) for line, path, _ in found.broken] == [
        (2, "resourceSpans[0].scopeSpans[0].spans"), (3, "")
    ]  # fmt: skip
    assert len(found.calls) == 1


NAMES = [
    "gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.tool.call.id", "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result", "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.definitions",
    "gen_ai.prompt.0.role", "gen_ai.prompt.0.content", "gen_ai.completion.0.tool_calls.0.name", "llm.tools",
    "gen_ai.usage.input_tokens", "openinference.span.kind", "llm.input_messages.0.message.content", "target",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.name", "input.value", "output.value", "events",
    "gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response", "ai.response.toolCalls", "ai.prompt.tools",
    "traceloop.span.kind", "session.id", "error.type", "model_request_parameters", "gen_ai.system_instructions",
]  # fmt: skip


def telling() -> st.SearchStrategy[str]:
    """JSON texts that look like what an instrumentation writes, and others, as they are and as text."""
    words = st.sampled_from(["chat", "execute_tool", "TOOL", "LLM", "tool.look.start", "look", "a"]).map(
        json.dumps
    )
    shapes = st.sampled_from([
        json.dumps([USER, asks(CALL), answers("call_1", {}), {"role": 5}, None, [], "x"]), '{"parts": 5}',
        '[{"role": "assistant", "tool_calls": [{"function": {"name": "look"}}, 7, {"function": 3}]}]',
        '[{"type": "function", "function": {"name": "look", "parameters": "{broken"}}]', '{"content": {"parts": 1}}',
    ])  # fmt: skip
    plain = words | shapes | json_texts()
    return plain | plain.map(json.dumps)


@given(st.lists(st.dictionaries(st.sampled_from(NAMES), telling(), max_size=8), min_size=1, max_size=4))
def test_whatever_stands_in_attributes_the_file_is_read(
    tmp_path_factory: pytest.TempPathFactory, attributes: list[dict[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("any", numbered=True)
    spans = []
    for number, one in enumerate(attributes, start=1):
        members = ", ".join(f"{json.dumps(name)}: {text}" for name, text in one.items())
        spans.append(json.dumps({**span(number, "step", parent=number - 1 or None), "attributes": "HERE"}))
        spans[-1] = spans[-1].replace('"HERE"', "{" + members + "}")

    found = read(written(folder, f"[{', '.join(spans)}]".encode()), name="otel_genai")

    assert len(found.units) == len(attributes)
    assert found.broken == []
    assert len({call.key for call in found.calls}) == len(found.calls)


def test_spans_whose_parents_run_in_a_circle_end_the_reading_all_the_same(tmp_path: Path) -> None:
    found = told(tmp_path, tool(1, "look", {}, "ok", parent=2), tool(2, "other", {}, "ok", parent=1))

    assert len(found.calls) == 2


def test_deep_shapes_and_long_paths_are_no_way_in() -> None:
    deep = b'{"messages":' * 300 + b"[]" + b"}" * 300

    assert messages_in(deep) == []
    assert messages_in(b"[" * 400 + b"]" * 400) == []


def test_an_evaluation_is_feedback_on_the_call_that_it_stands_in(tmp_path: Path) -> None:
    judged = {"name": "gen_ai.evaluation.result", "attributes": {
        "gen_ai.evaluation.name": "args", "gen_ai.evaluation.score.label": "Bad Args",
        "gen_ai.evaluation.score.value": 0.25, "gen_ai.evaluation.explanation": "no id",
    }}  # fmt: skip

    (score,) = told(tmp_path, {**tool(1, "look", {}, "ok"), "events": [judged]}).labels

    assert (score.target_level, score.call_key, score.label) == ("call", f"{TRACE}:{1:016x}", "bad_args")
    assert (score.name, score.score, score.author_kind, score.note) == ("args", "0.25", "CODE", "no id")


# ---- real files ----

REAL = {  # file → conversations, calls, errors as the index of the files states them; None is "not stated"
    "otel-agentevals/helm.json": (1, 1, None),
    "otel-agentevals/tempo_export_with_batches.json": (1, 1, None),
    "strands-evals/adk_live_spans.json": (1, 1, 0),
    "strands-evals/openai_agents_genai_live_spans.json": (1, 5, 0),
    "strands-evals/otel_genai_convention_spans.json": (1, 2, 1),
}


@pytest.mark.parametrize("name", REAL)
def test_real_files_have_the_stated_counts_and_every_tool_span_is_in_them(shared: Path, name: str) -> None:
    found = read(shared / "traces" / name)

    conversations, calls, errors = REAL[name]
    assert found.format == "otel_genai"
    assert (len(found.of(Conversation)), len(found.calls), found.broken) == (conversations, calls, [])
    if errors is not None:
        assert sum(outcome_of(call)[0] == "error" for call in found.calls) == errors
    spans = list(walk(json.loads((shared / "traces" / name).read_bytes())))
    tools = {identity for identity, operation in spans if operation == "execute_tool"}
    assert {tuple(call.key.split(":")) for call in found.calls} == tools
    assert len(tools) == calls


def walk(value: Any) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield ids and operation of every span, in whatever a file wraps them."""
    if isinstance(value, list):
        for one in value:
            yield from walk(one)
    elif isinstance(value, dict):
        ids = [
            value[key]
            for key in ("traceId", "trace_id", "traceID", "spanId", "span_id", "spanID")
            if key in value
        ]
        attributes = value.get("attributes", value.get("tags"))
        if len(ids) == 2 and attributes is not None:
            if isinstance(attributes, list):
                attributes = {one["key"]: one["value"] for one in attributes}
            operation = attributes.get("gen_ai.operation.name", "")
            yield (
                (ids[0], ids[1]),
                operation.get("stringValue", "") if isinstance(operation, dict) else operation,
            )
        else:
            for one in value.values():
                yield from walk(one)


def test_the_helm_file_tells_its_call_four_times_among_96_spans(shared: Path) -> None:
    text = (shared / "traces/otel-agentevals/helm.json").read_text()

    found = read(shared / "traces/otel-agentevals/helm.json")

    (call,) = found.calls
    assert text.count(f'"{call.call_id}"') + text.count(f'\\"{call.call_id}\\"') >= 4
    assert len(list(walk(json.loads(text)))) == 96
    assert (call.is_error, call.latency_ms) == (False, 57.091)
    assert [one.role for one in found.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert len(found.of(Conversation)[0].offered) == 9


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("otel_genai_client_span_tool_calls", {"location": "Paris"}, "rainy, 57°F"),
        ("otel_genai_deprecated_client_span_tool_calls", {"location": "Paris"}, "rainy, 57°F"),
        ("otel_genai_tool_execution_span", {"city": "New York"}, None),
    ],
)
def test_spans_of_which_only_the_attributes_were_kept_are_read(
    shared: Path, name: str, arguments: Any, result: str | None
) -> None:
    (call,) = read(shared / f"traces/openinference/{name}.json").calls

    assert (call.tool_name, call.call_id, json.loads(call.arguments or "")) == (
        "get_weather",
        "1234",
        arguments,
    )
    assert result is None or json.loads(call.result or "") == result


def test_fifty_thousand_spans_of_one_document_are_each_read_once(tmp_path: Path) -> None:
    noise = [otlp_span(span(number, "GET /", http__method="GET")) for number in range(1_000, 51_000)]
    document = otlp(STORY)
    document["resourceSpans"][0]["scopeSpans"][0]["spans"] += noise

    found = read(written(tmp_path, json.dumps(document).encode()))

    assert (len(found.calls), len(found.units)) == (1, 1)
