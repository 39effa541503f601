"""One call carried out: checked, asked for, run within its time, and told whatever became of it."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from .contract import Tool, ToolContext
from .record import ArgumentsState, CallStatus, ErrorKind, RequestedCall, ToolOutcome
from .running import Raised, TooLate, said, within
from .wire import NotOneJsonValue, one_value, to_json

Fault = tuple[ErrorKind, str]


@dataclass(frozen=True, kw_only=True)
class PendingCall:
    """A call that was checked: it may run with *tool* and *arguments*, or *fault* says why it may not."""

    requested: RequestedCall
    cycle: int
    index_in_cycle: int
    call_index: int
    context: ToolContext = field(repr=False)
    tool: Tool | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    arguments_state: ArgumentsState = "json_string"
    fault: Fault | None = None


Approve = Callable[[PendingCall], bool | Awaitable[bool]]


def approve_all(call: PendingCall) -> bool:
    """Return True for every call: for stand-ins and lessons, where nothing that matters can happen."""
    return True


class Interrupted(Exception):
    """A call was under way when the run was cancelled: what is known of it, and the cancellation itself."""

    def __init__(self, outcome: ToolOutcome, cancellation: asyncio.CancelledError) -> None:
        super().__init__()
        self.outcome = outcome
        self.cancellation = cancellation


def check_call(
    requested: RequestedCall,
    tools: Mapping[str, Tool],
    *,
    cycle: int,
    index_in_cycle: int,
    call_index: int,
    context: ToolContext,
) -> PendingCall:
    """Return the call, its arguments parsed and validated, or with the fault that keeps it from running."""
    tool = tools.get(requested.tool_name)
    arguments: Any = {}
    state: ArgumentsState = "absent"
    fault: Fault | None = None
    if requested.arguments_text.strip():
        try:
            arguments, state = one_value(requested.arguments_text), "json_string"
        except NotOneJsonValue as error:
            state = "invalid_json"
            fault = ("invalid_json", f"the arguments of {requested.tool_name} are no valid JSON: {error}")
    if tool is None:
        fault = ("unknown_tool", f"unknown tool: {requested.tool_name}")
    elif fault is None:
        arguments, fault = _validated(tool, arguments)
    return PendingCall(
        requested=requested,
        cycle=cycle,
        index_in_cycle=index_in_cycle,
        call_index=call_index,
        context=context,
        tool=tool,
        arguments=arguments if isinstance(arguments, dict) else {},
        arguments_state=state,
        fault=fault,
    )


def _validated(tool: Tool, arguments: Any) -> tuple[Any, Fault | None]:
    """Return *arguments* as they were meant, and what is wrong with them."""
    if not isinstance(arguments, dict):
        kind = {list: "a list", str: "a text", type(None): "null"}.get(type(arguments), "a plain value")
        return arguments, ("invalid_arguments", f"the arguments of {tool.name} are {kind}, not an object")
    try:
        arguments = tool.without_nulls(arguments)
        problems = tool.problems(arguments)
    except Exception as error:  # noqa: BLE001 - a model's own validators are part of the tool
        return arguments, ("exception", said(error))
    if problems:
        text = f"the arguments of {tool.name} are not valid: {'; '.join(problems)}"
        return arguments, ("invalid_arguments", text)
    return arguments, None


class _Report:
    """Puts down what became of one call; its time runs from when it was last started."""

    def __init__(self, call: PendingCall, clock: Callable[[], float]) -> None:
        self.call = call
        self.acts = call.tool is not None and call.tool.effect != "read"
        self._clock = clock
        self.start()

    def start(self) -> None:
        self._started_at, self._started = self._clock(), time.perf_counter()

    def outcome(self, status: CallStatus, result_text: str, **more: Any) -> ToolOutcome:
        call, tool = self.call, self.call.tool
        return ToolOutcome(
            call_id=call.requested.call_id,
            tool_name=call.requested.tool_name,
            cycle=call.cycle,
            index_in_cycle=call.index_in_cycle,
            call_index=call.call_index,
            arguments_text=call.requested.arguments_text,
            arguments_state=call.arguments_state,
            status=status,
            result_text=result_text,
            effect=tool.effect if tool else None,
            started_at=self._started_at,
            latency_ms=(time.perf_counter() - self._started) * 1000,
            server=tool.server if tool else None,
            tool_definition=tool.digest if tool else None,
            **more,
        )

    def failed(self, kind: ErrorKind, text: str, *, status: CallStatus = "error", **more: Any) -> ToolOutcome:
        return self.outcome(status, to_json({"error": text}), error_kind=kind, error_text=text, **more)

    def raised(self, error: BaseException, **more: Any) -> ToolOutcome:
        return self.failed("exception", said(error), exception=type(error).__name__, **more)


async def carry_out(call: PendingCall, *, approve: Approve | None, clock: Callable[[], float]) -> ToolOutcome:
    """Return what became of *call*: no fault of a tool gets out of here.

    Raises:
        Interrupted: the run was cancelled meanwhile.
    """
    report = _Report(call, clock)
    began = False
    try:
        kept_back = await _kept_back(call, approve, report)
        if kept_back is not None:
            return kept_back
        report.start()  # neither the gate nor a person's time to think is the tool's
        began = True
        return await _run(cast(Tool, call.tool), call, report)
    except asyncio.CancelledError as cancellation:
        unsure = began and report.acts
        text = "cancelled" + ("; whether it took effect is not known" if unsure else "")
        interrupted = report.failed("cancelled", text, took_effect=None if unsure else False)
        raise Interrupted(interrupted, cancellation) from None


async def _kept_back(call: PendingCall, approve: Approve | None, report: _Report) -> ToolOutcome | None:
    """Return the outcome of a call that may not run, None for one that may."""
    tool = call.tool
    if call.fault is not None or tool is None:
        return report.failed(*(call.fault or ("unknown_tool", f"unknown tool: {call.requested.tool_name}")))
    try:
        denial = tool.gate(call.arguments, call.context) if tool.gate else None
        denial = await denial if inspect.isawaitable(denial) else denial
        if denial is not None:
            return report.outcome("gated", to_json(dict(denial)))
    except Exception as error:  # noqa: BLE001 - a gate is part of the tool, its fault is told like the tool's
        return report.raised(error)
    if not report.acts:
        return None
    if approve is None:
        text = f"{tool.name} needs a person's approval, and nobody is here to give it; it was not run"
        return report.failed("approval_missing", text, status="refused")
    try:
        answer = approve(call)
        allowed = await answer if inspect.isawaitable(answer) else answer
    except Exception as error:  # noqa: BLE001 - nobody could be asked, whatever the reason: that is no yes
        text = f"{tool.name} needs a person's approval, and asking for it failed; it was not run"
        return report.failed("approval_missing", text, status="refused", exception=type(error).__name__)
    if allowed:
        return None
    return report.failed("declined", f"{tool.name} was refused by a person; it was not run", status="refused")


async def _run(tool: Tool, call: PendingCall, report: _Report) -> ToolOutcome:
    unknown = None if report.acts else False
    try:
        result = await within(tool, call.arguments, call.context)
    except TooLate:
        doubt = "; whether it took effect is not known" if report.acts else ""
        text = f"{tool.name} gave no answer within {tool.timeout_s:g} s{doubt}"
        return report.failed("timeout", text, took_effect=unknown)
    except Raised as raised:
        return report.raised(raised.error, took_effect=unknown)
    try:
        return report.outcome("ok", to_json(result), took_effect=report.acts)
    except Exception as error:  # noqa: BLE001 - a result may be any object and raise anything when written
        text = f"{tool.name} ran, but its result cannot be written as JSON: {said(error)}"
        return report.failed("unserialisable", text, took_effect=report.acts)
