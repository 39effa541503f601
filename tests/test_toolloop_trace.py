"""A run as lines: what is written, and that the lab reads it back value for value."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from file_reading import read

from quality_lab.records import ToolDefinition
from quality_lab.toolloop import (
    LoopResult,
    ModelReply,
    RecordedModel,
    ScriptedModel,
    Tool,
    ToolError,
    call,
    chat_line,
    run_loop,
    trace_lines,
)

ASK = [{"role": "system", "content": "You help."}, {"role": "user", "content": "200 USDT, please"}]
BIG = '{"amount":12345678901234567890.123456789,"note":"a\\ud83d ผู้"}'


def no_rate(args: Any, context: Any) -> Any:
    raise ToolError("no rate for THB")


def rate(args: Any, context: Any) -> Any:
    return {"rate": 32.6}


TOOLS = [
    Tool(name=name, description=f"{name}.", parameters={"type": "object"}, execute=execute, effect="read")
    for name, execute in (("quote", rate), ("order", no_rate))
]


def a_run(*replies: Any) -> LoopResult:
    ticks = iter(range(1_781_000_000, 1_782_000_000))
    model = ScriptedModel(*replies)
    return asyncio.run(run_loop(model, ASK, TOOLS, clock=lambda: float(next(ticks))))


@pytest.fixture
def run() -> LoopResult:
    calls = (
        call("quote", BIG, call_id="c1"),
        call("order", '{"amount": ', call_id="c2"),
        call("ghost", call_id="c3"),
    )
    return a_run(
        ModelReply(content="A moment.", calls=calls, model="m-served"),
        [call("order", {"amount": 1}, call_id="c4")],
        ModelReply(content="There is no rate.", model="m-served"),
    )


def written(path: Path, *texts: str) -> Path:
    path.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    return path


def test_trace_lines_have_upstreams_keys_in_upstreams_order(run):
    line = json.loads(trace_lines(run, conversation_id=977, contact_id=650)[1])

    assert " ".join(line) == (
        "id conversationId contactId messageId outboundQueueId source toolName args result error cycle "
        "toolCallIndex latencyMs createdAt"
    )
    assert (line["conversationId"], line["contactId"], line["source"]) == (977, 650, "llm_reply")
    assert line["toolName"] == "order"
    assert (line["args"], line["error"], line["cycle"], line["toolCallIndex"]) == ('{"amount": ', True, 0, 1)


def test_numbers_and_texts_stand_in_the_trace_as_they_went_over_the_wire(run):
    first = trace_lines(run, conversation_id=977)[0]

    assert f'"args":{BIG},"result":{{"rate":32.6}},"error":false' in first


def test_the_ids_are_beyond_upstreams_serials_all_different_and_the_same_every_time(run):
    ids = [json.loads(line)["id"] for line in trace_lines(run, conversation_id=977)]

    assert ids == [json.loads(line)["id"] for line in trace_lines(run, conversation_id=977)]
    assert len(set(ids)) == 4
    assert all(2**31 <= each < 2**53 for each in ids)
    assert not set(ids) & {json.loads(line)["id"] for line in trace_lines(run, conversation_id=978)}


def test_the_lab_reads_the_trace_as_upstreams_and_loses_nothing(run, tmp_path):
    loaded = read(written(tmp_path / "traces.jsonl", *trace_lines(run, conversation_id=977)))

    assert (loaded.format, loaded.broken, dict(loaded.notes.unknown_fields)) == ("quality_lab.traces", [], {})
    assert [each.tool_name for each in loaded.calls] == ["quote", "order", "ghost", "order"]
    assert [each.is_error for each in loaded.calls] == [False, True, True, True]
    assert [each.cycle for each in loaded.calls] == [0, 0, 0, 1]
    assert loaded.calls[0].arguments == BIG
    assert [json.loads(each.result) for each in loaded.calls] == [each.result for each in run.calls]
    assert [each.latency_ms for each in loaded.calls] == [round(each.latency_ms) for each in run.calls]
    assert loaded.calls[0].created_at.timestamp() == int(run.calls[0].started_at)


def test_the_lab_reads_the_chat_log_with_its_messages_definitions_and_times(run, tmp_path):
    loaded = read(written(tmp_path / "chat.jsonl", chat_line(run, conversation_id="conv-7")))
    definitions = {each.name: each for each in loaded.of(ToolDefinition)}

    assert (loaded.format, loaded.broken, dict(loaded.notes.unknown_fields)) == ("openai_chat", [], {})
    assert [each.role for each in loaded.messages] == [
        "system", "user", "assistant", "tool", "tool", "tool", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert (loaded.messages[2].text, loaded.messages[-1].text) == ("A moment.", "There is no rate.")
    assert [each.conversation_id for each in loaded.calls] == ["conv-7"] * 4
    assert [each.call_id for each in loaded.calls] == ["c1", "c2", "c3", "c4"]
    assert [each.arguments_state for each in loaded.calls] == [
        "json_string",
        "invalid_json",
        "json_string",
        "json_string",
    ]
    assert loaded.calls[0].model == "m-served"
    moments = [each.created_at for each in loaded.messages[2:]]
    assert moments == sorted(moments)
    assert None not in moments
    for tool in TOOLS:
        assert json.loads(definitions[tool.name].parameters) == tool.schema
        assert tool.digest.removeprefix("sha256:").startswith(definitions[tool.name].digest)


def test_a_run_that_was_exhausted_ends_with_the_answer_of_a_tool():
    run = a_run(*[call("quote")] * 4)

    messages = json.loads(chat_line(run, conversation_id="c"))["messages"]

    assert [each["role"] for each in messages][-2:] == ["assistant", "tool"]
    assert len(messages) == 2 + 8


def test_a_recording_of_the_chat_log_makes_the_same_calls_and_says_the_same(run):
    messages = json.loads(chat_line(run, conversation_id="c"))["messages"]

    again = asyncio.run(run_loop(RecordedModel.from_messages(messages), ASK, TOOLS))

    assert again.messages == run.messages
    assert again.content == run.content


def test_a_recording_of_trace_lines_makes_the_same_calls(run):
    lines = [json.loads(line) for line in trace_lines(run, conversation_id=977)]

    again = asyncio.run(run_loop(RecordedModel.from_calls(lines, content="over"), ASK, TOOLS))

    assert [(each.tool_name, each.cycle) for each in again.calls] == [
        (each.tool_name, each.cycle) for each in run.calls
    ]
    assert again.content == "over"


def test_calls_of_a_recording_without_cycles_stand_alone():
    model = RecordedModel.from_calls([{"tool": "quote", "args": {}}, {"tool": "quote", "args": {}}])

    again = asyncio.run(run_loop(model, ASK, TOOLS))

    assert [each.cycle for each in again.calls] == [0, 1]
