"""What remains of a run of the loop: every round, every call with what became of it, the conversation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from .contract import Effect

Message = dict[str, Any]  # in OpenAI's chat shape
ArgumentsState = Literal["json_string", "invalid_json", "absent"]
CallStatus = Literal["ok", "gated", "refused", "error"]
ErrorKind = Literal[
    "unknown_tool",
    "invalid_json",
    "invalid_arguments",
    "approval_missing",
    "declined",
    "exception",
    "timeout",
    "unserialisable",
    "cancelled",
]


@dataclass(frozen=True, kw_only=True)
class RequestedCall:
    """A call as the model asked for it: nothing in it has been checked yet."""

    call_id: str
    tool_name: str
    arguments_text: str  # as it came; "" where the model gave none


@dataclass(frozen=True, kw_only=True)
class ModelReply:
    """One answer of a model: text, calls, or both."""

    content: str | None = None
    calls: tuple[RequestedCall, ...] = ()
    finish_reason: str | None = None
    refusal: str | None = None
    model: str | None = None  # as the server names it
    response_id: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    attempts: int = 1


@dataclass(frozen=True, kw_only=True)
class ModelTurn:
    """One round of the loop: the model's reply, when it was asked for, and how long it took."""

    cycle: int  # 0-based
    reply: ModelReply
    started_at: float  # seconds since 1970, UTC
    latency_ms: float


@dataclass(frozen=True, kw_only=True)
class ToolOutcome:
    """One call and what became of it."""

    call_id: str
    tool_name: str  # as the model wrote it
    cycle: int  # 0-based
    index_in_cycle: int
    call_index: int  # over the whole run
    arguments_text: str  # as it came
    arguments_state: ArgumentsState
    status: CallStatus
    result_text: str  # JSON text, exactly what the model was told
    error_kind: ErrorKind | None = None
    error_text: str | None = None
    exception: str | None = None  # name of the exception's class, where a tool raised
    effect: Effect | None = None  # None: nobody knows the tool
    took_effect: bool | None = False  # None: unknown (timed out, raised, cancelled); reads take none
    started_at: float = 0.0  # seconds since 1970, UTC
    latency_ms: float = 0.0
    server: str | None = None
    tool_definition: str | None = None  # digest

    @property
    def is_error(self) -> bool:
        """Whether the call failed or was refused; a gate's "not now" is no error."""
        return self.status in ("error", "refused")

    @cached_property
    def arguments(self) -> Any:
        """The arguments as a JSON value: ``{}`` where there were none, None where they are no JSON."""
        if self.arguments_state == "absent":
            return {}
        return json.loads(self.arguments_text) if self.arguments_state == "json_string" else None

    @cached_property
    def result(self) -> Any:
        """What the model was told, as a JSON value."""
        return json.loads(self.result_text)


@dataclass(kw_only=True)
class LoopResult:
    """A run of the loop; while it runs it fills, and after a failure it holds everything up to there."""

    content: str | None = None  # the final text; None where the cycles ran out or the model gave none
    exhausted: bool = False  # the cycles ran out while the model still wanted tools
    messages: list[Message] = field(default_factory=list)  # what the model was shown and asked for, in order
    turns: list[ModelTurn] = field(default_factory=list)
    calls: list[ToolOutcome] = field(default_factory=list)
    definitions: Sequence[dict[str, Any]] = ()  # what was offered
    started_at: float = 0.0  # seconds since 1970, UTC
    latency_ms: float = 0.0

    @property
    def transcript(self) -> list[Message]:
        """The messages and the final answer: what the next turn starts from."""
        if (
            self.exhausted
            or not self.turns
            or (self.content is None and self.turns[-1].reply.refusal is None)
        ):
            return list(self.messages)
        return [*self.messages, {"role": "assistant", "content": self.content}]

    @property
    def finish_reason(self) -> str | None:
        """Why the model stopped in the last round, in its server's words."""
        return self.turns[-1].reply.finish_reason if self.turns else None

    @property
    def input_tokens(self) -> int | None:
        """Tokens read over all rounds; None where a round did not say."""
        return _sum([turn.reply.input_tokens for turn in self.turns])

    @property
    def output_tokens(self) -> int | None:
        """Tokens written over all rounds; None where a round did not say."""
        return _sum([turn.reply.output_tokens for turn in self.turns])


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None
