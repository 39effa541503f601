"""Spans of a run, in the words of OpenTelemetry's GenAI conventions."""

from __future__ import annotations

import asyncio
import builtins
from typing import Any

import pytest

from quality_lab.errors import UsageError
from quality_lab.toolloop import (
    ModelError,
    ModelReply,
    OpenTelemetryHook,
    ScriptedModel,
    Tool,
    ToolError,
    call,
    run_loop,
)

pytest.importorskip("opentelemetry.sdk", reason="the extra otel is not installed")

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode


def no_rate(args: Any, context: Any) -> None:
    raise ToolError("no rate for secret-client")


TOOLS = [
    Tool(name="quote", description="Quotes.", execute=lambda a, c: {"thb": "secret-amount"}, effect="read"),
    Tool(name="order", description="Orders.", execute=no_rate, effect="read"),
]


def spans_of(*replies: Any, **settings: Any) -> list[ReadableSpan]:
    """Return the spans of a run, in the order in which they began."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    hook = OpenTelemetryHook(model="m-1", tracer=provider.get_tracer("test"), **settings)
    try:
        asyncio.run(run_loop(ScriptedModel(*replies), [], TOOLS, hooks=[hook]))
    except ModelError:
        assert any(isinstance(reply, ModelError) for reply in replies)
    return sorted(exporter.get_finished_spans(), key=lambda span: span.start_time or 0)


FIRST = ModelReply(
    calls=(call("quote", {"client": "secret-client"}, call_id="c1"), call("order", call_id="c2")),
    finish_reason="tool_calls",
    model="m-served",
    response_id="r-1",
    input_tokens=11,
    output_tokens=3,
    attempts=2,
)
LAST = ModelReply(content="secret-answer", finish_reason="stop", input_tokens=20, output_tokens=4)


def test_a_run_is_a_span_with_its_rounds_and_calls_below_it():
    spans = spans_of(FIRST, LAST, conversation="conv-7", agent="desk")
    (run,) = [span for span in spans if span.parent is None]

    assert sorted(span.name for span in spans) == [
        "chat m-1", "chat m-1", "execute_tool order", "execute_tool quote", "invoke_agent desk",
    ]  # fmt: skip
    assert run.name == "invoke_agent desk"
    assert {span.parent.span_id for span in spans if span.parent} == {run.context.span_id}
    assert {span.attributes["gen_ai.conversation.id"] for span in spans} == {"conv-7"}
    slack = 1_000_000  # nanoseconds: two clocks are at work
    for span in spans:
        assert run.start_time - slack <= span.start_time <= span.end_time <= run.end_time + slack


def test_a_round_says_its_model_its_reason_and_its_tokens():
    chat = next(span for span in spans_of(FIRST, LAST) if span.name == "chat m-1")

    assert dict(chat.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m-1",
        "gen_ai.response.model": "m-served",
        "gen_ai.response.id": "r-1",
        "gen_ai.response.finish_reasons": ("tool_calls",),
        "gen_ai.usage.input_tokens": 11,
        "gen_ai.usage.output_tokens": 3,
        "quality_lab.cycle": 0,
        "quality_lab.attempts": 2,
    }


def test_a_call_says_its_tool_its_id_and_what_went_wrong():
    spans = {span.name: span for span in spans_of(FIRST, LAST)}
    good, bad = spans["execute_tool quote"], spans["execute_tool order"]

    assert (good.attributes["gen_ai.tool.name"], good.attributes["gen_ai.tool.call.id"]) == ("quote", "c1")
    assert (good.status.status_code, good.attributes["quality_lab.status"]) == (StatusCode.UNSET, "ok")
    assert (bad.status.status_code, bad.attributes["error.type"]) == (StatusCode.ERROR, "ToolError")


def test_what_was_said_is_written_only_where_it_was_asked_for():
    silent = [span.to_json() for span in spans_of(FIRST, LAST)]
    open_ = {span.name: span for span in spans_of(FIRST, LAST, content=True)}

    assert "secret" not in "".join(silent)
    assert (
        open_["execute_tool quote"].attributes["gen_ai.tool.call.arguments"] == '{"client":"secret-client"}'
    )
    assert open_["execute_tool quote"].attributes["gen_ai.tool.call.result"] == '{"thb":"secret-amount"}'


def test_a_run_that_failed_says_so():
    spans = spans_of(FIRST, ModelError("gone", kind="connection"))
    (run,) = [span for span in spans if span.parent is None]

    assert (run.status.status_code, run.attributes["error.type"]) == (StatusCode.ERROR, "ModelError")
    assert len(spans) == 4


def test_without_the_extra_one_is_told_how_to_get_it(monkeypatch):
    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("opentelemetry"):
            raise ImportError(name)
        return original(name, *rest, **more)

    original = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(UsageError, match=r"pip install 'quality-lab\[otel\]'"):
        OpenTelemetryHook(model="m-1")
