"""A hook that tells OpenTelemetry of a run, by its GenAI conventions. Needs the extra ``otel``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .calling import PendingCall
from .loop import LoopHook
from .record import LoopResult, Message, ModelTurn, ToolOutcome

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

_NANO = 1_000_000_000


class OpenTelemetryHook(LoopHook):
    """Makes a span of the run, one below it of each round with the model, and one of each call of a tool.

    One hook serves one run at a time. Arguments, results and words of errors are written only with *content*
    True: they may hold what nobody else should read.
    """

    def __init__(
        self,
        *,
        model: str,
        agent: str = "quality-lab",
        conversation: str | None = None,
        provider: str = "openai",
        tracer: Tracer | None = None,
        content: bool = False,
    ) -> None:
        self.model = model
        self.agent = agent
        self.conversation = conversation
        self.provider = provider
        self.content = content
        self._tracer = tracer or _tracer()
        self._run: Span | None = None
        self._calls: dict[int, Span] = {}

    def on_start(self, result: LoopResult) -> None:
        """Open the span of the run."""
        from opentelemetry.trace import SpanKind

        self._run = self._tracer.start_span(
            f"invoke_agent {self.agent}",
            kind=SpanKind.INTERNAL,
            start_time=_nanoseconds(result.started_at),
            attributes={
                **self._shared("invoke_agent"),
                "gen_ai.agent.name": self.agent,
                "gen_ai.request.model": self.model,
            },
        )

    def on_message(self, message: Message, turn: ModelTurn | None) -> None:
        """Write the span of a round with the model."""
        if turn is None:
            return
        from opentelemetry.trace import SpanKind

        reply = turn.reply
        attributes: dict[str, Any] = {
            **self._shared("chat"),
            "gen_ai.request.model": self.model,
            "gen_ai.response.model": reply.model,
            "gen_ai.response.id": reply.response_id,
            "gen_ai.response.finish_reasons": [reply.finish_reason] if reply.finish_reason else None,
            "gen_ai.usage.input_tokens": reply.input_tokens,
            "gen_ai.usage.output_tokens": reply.output_tokens,
            "quality_lab.cycle": turn.cycle,
            "quality_lab.attempts": reply.attempts,
        }
        span = self._tracer.start_span(
            f"chat {self.model}",
            context=self._below(),
            kind=SpanKind.CLIENT,
            start_time=_nanoseconds(turn.started_at),
            attributes=_said(attributes),
        )
        span.end(_nanoseconds(turn.started_at + turn.latency_ms / 1000))

    def on_call(self, call: PendingCall) -> None:
        """Open the span of a call."""
        from opentelemetry.trace import SpanKind

        attributes: dict[str, Any] = {
            **self._shared("execute_tool"),
            "gen_ai.tool.name": call.requested.tool_name,
            "gen_ai.tool.call.id": call.requested.call_id,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.description": call.tool.description if call.tool else None,
            "gen_ai.tool.call.arguments": call.requested.arguments_text if self.content else None,
            "quality_lab.cycle": call.cycle,
            "quality_lab.effect": call.tool.effect if call.tool else None,
        }
        self._calls[call.call_index] = self._tracer.start_span(
            f"execute_tool {call.requested.tool_name}",
            context=self._below(),
            kind=SpanKind.INTERNAL,
            attributes=_said(attributes),
        )

    def on_result(self, outcome: ToolOutcome) -> None:
        """Close the span of a call, with its error where it had one."""
        from opentelemetry.trace import StatusCode

        span = self._calls.pop(outcome.call_index)
        span.set_attribute("quality_lab.status", outcome.status)
        if self.content:
            span.set_attribute("gen_ai.tool.call.result", outcome.result_text)
        if outcome.error_kind is not None:
            span.set_attribute("error.type", outcome.exception or outcome.error_kind)
            span.set_status(StatusCode.ERROR, outcome.error_text if self.content else outcome.error_kind)
        span.end()

    def on_end(self, result: LoopResult, error: BaseException | None) -> None:
        """Close the span of the run, and those of calls that never came to an end."""
        from opentelemetry.trace import StatusCode

        for span in self._calls.values():
            span.end()
        self._calls.clear()
        if self._run is None:
            return
        totals = {
            "gen_ai.usage.input_tokens": result.input_tokens,
            "gen_ai.usage.output_tokens": result.output_tokens,
            "quality_lab.exhausted": result.exhausted,
        }
        self._run.set_attributes(_said(totals))
        if error is not None:
            self._run.set_attribute("error.type", type(error).__name__)
            self._run.set_status(StatusCode.ERROR, str(error) if self.content else type(error).__name__)
        self._run.end()
        self._run = None

    def _shared(self, operation: str) -> dict[str, Any]:
        shared = {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": self.provider,
            "gen_ai.conversation.id": self.conversation,
        }
        return _said(shared)

    def _below(self) -> Any:
        from opentelemetry.trace import set_span_in_context

        return set_span_in_context(self._run) if self._run is not None else None


def _tracer() -> Tracer:
    try:
        from opentelemetry import trace
    except ImportError as error:
        raise UsageError("OpenTelemetry is not installed: pip install 'quality-lab[otel]'") from error
    return trace.get_tracer("quality_lab.toolloop")


def _said(attributes: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in attributes.items() if value is not None}


def _nanoseconds(seconds: float) -> int:
    return int(seconds * _NANO)
