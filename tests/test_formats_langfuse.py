"""Langfuse: traces with observations and scores, rows of either; every way of writing an input."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from file_reading import Read, json_texts, read, written
from hypothesis import given
from test_formats_otel_genai import as_told, exact

from quality_lab.outcomes import outcome_of
from quality_lab.records import Conversation, ToolDefinition


def observation(number: int, kind: str, name: str = "step", **more: Any) -> dict[str, Any]:
    """Return an observation as the interface of Langfuse gives it; it takes a quarter of a second."""
    return {
        "id": f"o-{number}", "traceId": "t-1", "projectId": "p", "parentObservationId": None, "type": kind,
        "environment": "default", "name": name, "level": "DEFAULT", "statusMessage": None, "latency": 250,
        "startTime": f"2026-05-01T08:00:{number:02}.000Z", "endTime": f"2026-05-01T08:00:{number:02}.250Z",
        "input": None, "output": None, "metadata": None, "model": None, "usageDetails": {}, "costDetails": {},
        **more,
    }  # fmt: skip


def trace(*observations: dict[str, Any], scores: Any = (), **more: Any) -> dict[str, Any]:
    """Return a trace with its details, as the interface exports it."""
    about = {
        "id": "t-1",
        "projectId": "p",
        "name": "shop",
        "timestamp": "2026-05-01T08:00:00.000Z",
        "sessionId": None,
        "input": None,
        "output": None,
        "scores": list(scores),
        **more,
    }
    return {"trace": about, "observations": list(observations)}


def score(**more: Any) -> dict[str, Any]:
    return {
        "id": "s-1",
        "traceId": "t-1",
        "observationId": None,
        "name": "quality",
        "value": 0.5,
        "stringValue": None,
        "dataType": "NUMERIC",
        "source": "EVAL",
        "comment": None,
        "timestamp": "2026-05-02T08:00:00.000Z",
        **more,
    }


def told(tmp_path: Path, document: Any) -> Read:
    return read(written(tmp_path, json.dumps(document).encode(), "export.json"))


ASKED = [
    {
        "role": "assistant",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"id": 7}'}}
        ],
    }
]
GENERATION = observation(
    1,
    "GENERATION",
    model="gpt-5",
    input=[{"role": "user", "content": "Where?"}],
    output=ASKED,
    usageDetails={"input": 5, "output": 2},
    costDetails={"total": 0.25},
)
TOOL = observation(2, "TOOL", "look", input={"id": 7}, output={"at": "home"})


def test_a_trace_is_a_conversation_with_its_messages_and_calls(tmp_path: Path) -> None:
    found = told(tmp_path, trace(TOOL, GENERATION, sessionId="chat-9"))

    (call,), (conversation,) = found.calls, found.of(Conversation)
    assert found.format == "langfuse"
    assert (conversation.conversation_id, conversation.model) == ("chat-9", "gpt-5")
    assert (call.key_space, call.key, call.conversation_id) == ("langfuse", "t-1:o-2", "chat-9")
    assert (call.tool_name, call.call_id, call.arguments, call.result) == (
        "look",
        "a",
        '{"id": 7}',
        '{"at": "home"}',
    )
    assert (call.turn, call.cycle, call.call_index, call.message_position) == (0, 0, 0, 1)
    assert [
        (one.position, one.role, one.input_tokens, one.output_tokens, one.cost_usd) for one in found.messages
    ] == [(0, "user", None, None, None), (1, "assistant", 5, 2, 0.25)]
    assert (found.notes.unknown_fields, found.broken) == ({}, [])


def test_a_trace_laid_flat_and_rows_of_observations_tell_the_same(tmp_path: Path) -> None:
    whole = trace(GENERATION, TOOL)
    flat = {**whole["trace"], "observations": whole["observations"]}
    rows = [GENERATION, TOOL]

    calls = [told(tmp_path, document).calls for document in (whole, flat, rows)]
    calls.append(read(written(tmp_path, rows)).calls)

    assert [len(one) for one in calls] == [1, 1, 1, 1]
    assert all(one == calls[0] for one in calls)


def test_traces_observations_and_scores_in_lists_of_their_own_tell_the_same(tmp_path: Path) -> None:
    one, other = ({**trace()["trace"], "id": name, "sessionId": f"chat-{name}"} for name in ("t-1", "t-2"))
    apart = {
        "traces": [one, other],
        "observations": [GENERATION, TOOL],
        "scores": [score(observationId="o-2")],
    }

    found = told(tmp_path, apart)

    assert found.format == "langfuse"
    assert [(call.key, call.conversation_id) for call in found.calls] == [("t-1:o-2", "chat-t-1")]
    assert {one.conversation_id for one in found.of(Conversation)} == {"chat-t-1", "chat-t-2"}
    assert [(one.call_key, one.conversation_id) for one in found.labels] == [("t-1:o-2", "chat-t-1")]


def test_tools_that_langchain_lists_among_the_messages_are_definitions(tmp_path: Path) -> None:
    offered = {
        "role": "tool",
        "content": {"type": "function", "function": {"name": "look", "parameters": {}}},
    }
    said = {"content": "Hello", "type": "AIMessageChunk", "tool_calls": [], "additional_kwargs": {}}
    one = observation(1, "GENERATION", input=[{"role": "user", "content": "Hi"}, offered], output=said)

    found = told(tmp_path, trace(one))

    assert [(one.role, one.text) for one in found.messages] == [("user", "Hi"), ("assistant", "Hello")]
    assert {tool.name for tool in found.of(ToolDefinition)} == {"look"}


def test_the_length_is_taken_from_the_times_and_not_from_a_latency_of_either_unit(tmp_path: Path) -> None:
    for latency in (0.25, 250, None):
        assert told(tmp_path, trace({**TOOL, "latency": latency})).calls[0].latency_ms == 250.0


def test_an_input_may_be_an_object_text_or_text_within_text_and_may_be_wrapped(tmp_path: Path) -> None:
    writings = [{"id": 7}, '{"id": 7}', json.dumps('{"id": 7}'), {"input": {"id": 7}}, '{"input": {"id": 7}}']

    calls = told(
        tmp_path, trace(*(observation(at, "TOOL", "look", input=one) for at, one in enumerate(writings)))
    ).calls

    assert [call.arguments for call in calls] == ['{"id": 7}'] * 5


@given(arguments=json_texts(), result=json_texts())
def test_arguments_and_results_come_out_as_they_went_in(
    tmp_path_factory: pytest.TempPathFactory, arguments: str, result: str
) -> None:
    folder = tmp_path_factory.mktemp("exact", numbered=True)
    document = json.dumps(trace({**TOOL, "input": "ARGUMENTS", "output": "RESULT"}))
    text = document.replace('"ARGUMENTS"', arguments).replace('"RESULT"', result)

    (call,) = read(written(folder, text.encode())).calls

    assert exact(call.arguments) == (None if arguments in ("null", '""') else as_told(arguments))
    assert exact(call.result) == (None if result in ("null", '""') else exact(result))


@pytest.mark.parametrize("name", ["execute_tool look", "running tool: look", "look"])
def test_a_name_is_the_tool_s_without_what_frameworks_put_before_it(tmp_path: Path, name: str) -> None:
    assert told(tmp_path, trace({**TOOL, "name": name})).calls[0].tool_name == "look"


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("DEFAULT", (None, "unknown")),
        ("DEBUG", (None, "unknown")),
        ("WARNING", (None, "unknown")),
        ("ERROR", (True, "error")),
    ],
)
def test_only_the_level_error_is_an_error_and_the_default_says_nothing(
    tmp_path: Path, level: str, expected: Any
) -> None:
    (call,) = told(tmp_path, trace({**TOOL, "level": level, "statusMessage": "not found"})).calls

    assert (call.is_error, outcome_of(call)[0]) == expected
    assert call.error_text == ("not found" if level == "ERROR" else None)


def test_a_span_of_an_old_sdk_is_a_call_by_its_attributes_or_by_the_name_that_was_asked_for(
    tmp_path: Path,
) -> None:
    attributes = {"attributes": {"openinference.span.kind": "TOOL", "tool.name": "look"}}

    by_attributes = told(tmp_path, trace({**TOOL, "type": "SPAN", "metadata": attributes}))
    as_text = told(tmp_path, trace({**TOOL, "type": "SPAN", "metadata": json.dumps(attributes)}))
    by_name = told(tmp_path, trace(GENERATION, {**TOOL, "type": "SPAN", "name": "tool.look"}))
    by_nothing = told(tmp_path, trace({**TOOL, "type": "SPAN"}))

    assert [call.key for found in (by_attributes, as_text, by_name) for call in found.calls] == [
        "t-1:o-2"
    ] * 3
    assert by_nothing.calls == []


def test_an_observation_that_tells_neither_gets_arguments_and_result_from_the_messages(
    tmp_path: Path,
) -> None:
    empty = {**TOOL, "input": "{}", "output": "{}"}
    history = [*GENERATION["input"], *ASKED, {"role": "tool", "tool_call_id": "a", "content": "home"}]
    last = observation(3, "GENERATION", input=history, output={"role": "assistant", "content": "At home."})

    found = told(tmp_path, trace(GENERATION, empty, last))

    (call,) = found.calls
    assert (call.arguments, call.result) == ('{"id": 7}', '"home"')
    assert [one.role for one in found.messages] == ["user", "assistant", "tool", "assistant"]


def test_calls_in_a_column_of_their_own_count_where_the_output_tells_none(tmp_path: Path) -> None:
    column = {
        "toolCalls": ['{"id":"a","arguments":"{\\"id\\":7}","type":"tool_use"}'],
        "toolCallNames": ["look"],
    }
    silent = {**GENERATION, "output": "I look.", **column}

    for output in (silent, {**GENERATION, **column}):
        (call,) = told(tmp_path, trace(output, TOOL)).calls
        assert (call.key, call.call_id, call.message_position) == ("t-1:o-2", "a", 1)


def test_responses_api_items_are_messages_calls_and_results(tmp_path: Path) -> None:
    asked = {"type": "function_call", "call_id": "a", "name": "look", "arguments": '{"id": 7}'}
    answer = {"type": "function_call_output", "call_id": "a", "output": "home"}
    spoken = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "At home."}],
    }
    first = {"instructions": "Be brief.", "object": "response", "output": [asked]}
    last = {"instructions": "Be brief.", "object": "response", "output": [spoken]}
    question = {"role": "user", "content": "Where?"}

    found = told(
        tmp_path,
        trace(
            observation(1, "GENERATION", input=[question], output=first),
            TOOL,
            observation(3, "GENERATION", input=[question, asked, answer], output=last),
        ),
    )

    (call,) = found.calls
    assert (call.key, call.call_id, call.cycle) == ("t-1:o-2", "a", 0)
    assert [(one.role, one.text) for one in found.messages] == [
        ("user", "Where?"),
        ("assistant", None),
        ("tool", "home"),
        ("assistant", "At home."),
    ]


def test_the_trace_s_own_list_of_observations_is_not_read_a_second_time(tmp_path: Path) -> None:
    twice = trace(GENERATION, TOOL, observations=[{"id": "o-2", "traceId": "t-1", "type": "TOOL"}])

    assert len(told(tmp_path, twice).calls) == 1


def test_definitions_come_from_the_column_and_from_the_metadata(tmp_path: Path) -> None:
    schema = {"type": "object"}
    column = {
        **GENERATION,
        "toolDefinitions": {"look": json.dumps({"description": "Looks", "parameters": schema})},
    }
    beside = {
        **GENERATION,
        "metadata": {"tools": [{"type": "function", "function": {"name": "look", "parameters": schema}}]},
    }

    for one in (column, beside):
        found = told(tmp_path, trace(one, TOOL))
        assert {(tool.name, tool.parameters) for tool in found.of(ToolDefinition)} == {
            ("look", '{"type": "object"}')
        }
        assert found.calls[0].tool_definition == found.of(ToolDefinition)[0].digest


# ---- scores ----


@pytest.mark.parametrize(("source", "kind"), [("ANNOTATION", "HUMAN"), ("EVAL", "LLM"), ("API", "CODE")])
def test_a_score_s_source_is_its_author_s_kind(tmp_path: Path, source: str, kind: str) -> None:
    (one,) = told(tmp_path, trace(TOOL, scores=[score(source=source, authorUserId="ann")])).labels

    assert (one.author_kind, one.author, one.key_space, one.key) == (kind, "ann", "langfuse", "s-1")
    assert one.created_at == datetime(2026, 5, 2, 8, tzinfo=UTC)


def test_a_score_is_about_the_call_its_observation_is_and_else_about_the_conversation(tmp_path: Path) -> None:
    scores = [
        score(id=name, observationId=target) for name, target in (("a", None), ("b", "o-2"), ("c", "o-1"))
    ]

    found = told(tmp_path, trace(GENERATION, TOOL, scores=scores, sessionId="chat-9"))

    assert [(one.key, one.target_level, one.call_key, one.tool_name) for one in found.labels] == [
        ("a", "conversation", None, None), ("b", "call", "t-1:o-2", "look"), ("c", "conversation", None, None)
    ]  # fmt: skip
    assert {one.conversation_id for one in found.labels} == {"chat-9"}


def test_words_are_labels_where_they_spell_one_and_numbers_and_booleans_are_scores(tmp_path: Path) -> None:
    found = told(tmp_path, trace(TOOL, scores=[
        score(id="a", dataType="CATEGORICAL", value=1, stringValue="Wrong Tool"),
        score(id="b", dataType="CATEGORICAL", value=0, stringValue="meh", comment="why"),
        score(id="c", dataType="BOOLEAN", value=1, stringValue="True"),
        score(id="d", value=0.1),
    ]))  # fmt: skip

    assert [(one.key, one.label, one.label_raw, one.score, one.note) for one in found.labels] == [
        ("a", "wrong_tool", "Wrong Tool", "1", None),
        ("b", None, "meh", "0", "why"),
        ("c", None, None, "1", None),
        ("d", None, None, "0.1", None),
    ]
    assert found.notes.unmapped_labels == {"meh": 1}


def test_two_scores_that_disagree_are_both_kept(tmp_path: Path) -> None:
    found = told(tmp_path, trace(TOOL, scores=[score(id="a", value=0), score(id="b", value=1)]))

    assert [(one.key, one.score) for one in found.labels] == [("a", "0"), ("b", "1")]


def test_rows_of_scores_alone_name_calls_that_are_not_here(tmp_path: Path) -> None:
    (one,) = read(written(tmp_path, [score(observationId="o-2")])).labels

    assert (one.target_level, one.target_key_space, one.call_key) == ("call", "langfuse", "t-1:o-2")


def test_a_correction_is_a_person_s_text(tmp_path: Path) -> None:
    correction = score(name="output", dataType="CORRECTION", source="ANNOTATION", longStringValue="At work.")

    (one,) = told(tmp_path, trace(TOOL, corrections=[correction])).labels

    assert (one.name, one.score, one.label, one.author_kind) == ("output", '"At work."', None, "HUMAN")


# ---- what is broken or unknown ----


def test_types_sources_and_fields_that_nobody_knows_are_counted(tmp_path: Path) -> None:
    found = told(
        tmp_path, trace(TOOL, {**GENERATION, "type": "DREAM", "mood": 1}, scores=[score(source="ORACLE")])
    )

    assert found.notes.not_understood == {"observation type DREAM": 1, "source ORACLE of a score": 1}
    assert found.notes.unknown_fields == {"observations[].mood": 1}


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (trace({**TOOL, "id": None}), "observations[0].id"),
        (trace({**TOOL, "startTime": "noon"}), "observations[0].startTime"),
        ({"trace": {"timestamp": "2026-05-01T08:00:00Z"}, "observations": []}, "trace.id"),
        ({**TOOL, "traceId": None}, "traceId"),
        ({"id": 1}, "type"),
    ],
)
def test_a_trace_that_breaks_its_promise_costs_only_itself(tmp_path: Path, document: Any, path: str) -> None:
    found = read(written(tmp_path, [trace(TOOL), document, trace({**TOOL, "id": "o-5"})]))

    assert [(line, where) for line, where, _ in found.broken] == [(2, path)]
    assert len(found.calls) == 2


def test_a_trace_without_observations_is_a_conversation_all_the_same(tmp_path: Path) -> None:
    (one,) = told(tmp_path, trace(sessionId="chat-9")).of(Conversation)

    assert (one.conversation_id, one.started_at) == ("chat-9", datetime(2026, 5, 1, 8, tzinfo=UTC))


# ---- real files ----

REAL = {  # file → conversations, calls and errors as the index states them, and calls that stand in it
    "google-adk-2025-08-28": (1, 1, 0, 1),
    "microsoft-agent-2025-12-17": (1, 1, 0, 1),
    "vercel-aisdk-2025-11-17": (1, 1, 0, 1),
    "crewai-2025-07-11": (1, 0, 0, 0),
    "pydantic-ai-2025-06-06": (1, 0, 0, 0),
    # The index counts observations of the type TOOL. Here a model asked for a tool besides, or the SDK had no
    # such type yet and the call is a SPAN; `evidence` finds each in the file without the reader's help.
    "pydantic-ai-tools-2025-12-04": (1, 3, 0, 4),
    "agno-2025-06-11": (1, 0, 0, 1),
    "koog-2025-08-26": (1, 0, 0, 2),
    "langgraph-python-2025-08-22": (1, 0, 0, 1),
    "beeai-2025-08-01": (1, 0, 0, 1),
}


def evidence(document: Any) -> set[str]:
    """Return what stands for each call: the id by which a model asked for it, or the step it began with."""
    found: set[str] = set()
    for one in document["observations"]:
        if one["name"].startswith("tool.") and one["name"].split("-")[0].endswith(".start"):
            found.add(one["name"])  # BeeAI's model asks in words
        if one["type"] == "GENERATION":
            found |= {str(call) for call in ids(one["output"])}
    return found


def ids(value: Any) -> Iterator[str]:
    """Yield the ids of all calls in an output, however deep and however often written as text."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        value = json.loads(value)
    if isinstance(value, list):
        for one in value:
            yield from ids(one)
    elif isinstance(value, dict):
        if (
            isinstance(value.get("function"), dict)
            or value.get("type") == "tool_call"
            or "toolCallId" in value
        ):
            yield value.get("id") or value["toolCallId"]
        elif "function_call" in value and value["function_call"]:
            yield value["function_call"]["name"]
        else:
            for one in value.values():
                yield from ids(one)


@pytest.mark.parametrize("name", REAL)
def test_real_files_have_the_calls_that_stand_in_them(shared: Path, name: str) -> None:
    path = shared / f"traces/langfuse/worker/{name}.trace.json"
    conversations, stated, errors, standing = REAL[name]
    document = json.loads(path.read_bytes())

    found = read(path)

    tools = {one["id"] for one in document["observations"] if one["type"] == "TOOL"}
    assert found.format == "langfuse"
    assert (len(tools), len(evidence(document))) == (stated, standing)
    assert (len(found.of(Conversation)), len(found.calls), found.broken) == (conversations, standing, [])
    assert {call.key.partition(":")[2] for call in found.calls} >= tools
    assert sum(outcome_of(call)[0] == "error" for call in found.calls) == errors
    assert {one.key for one in found.labels} >= {one["id"] for one in document["trace"]["scores"]}


def test_real_calls_have_their_arguments_and_results(shared: Path) -> None:
    def of(name: str) -> list[tuple[str, Any, bool]]:
        calls = read(shared / f"traces/langfuse/worker/{name}.trace.json").calls
        return sorted(
            (call.tool_name, json.loads(call.arguments or ""), call.result is not None) for call in calls
        )

    assert of("agno-2025-06-11") == [("duckduckgo_search", {"query": "currently trending on Twitter"}, True)]
    assert of("koog-2025-08-26") == [("ByeTool", {"name": "Bob"}, True), ("HelloTool", {"name": "Bob"}, True)]
    assert of("langgraph-python-2025-08-22") == [("Web-Search", {"query": "example"}, True)]
    assert of("beeai-2025-08-01") == [
        ("wikipedia", {"query": "Tourism in Barcelona", "full_text": False}, True)
    ]
    assert of("google-adk-2025-08-28") == [("say_hello", {}, True)]
    assert of("vercel-aisdk-2025-11-17") == [("getWeather", {"location": "San Francisco"}, True)]
