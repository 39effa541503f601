"""One call carried out: checked, asked for, run within its time, and told whatever became of it."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from .contract import Tool, ToolContext
from .record import CallStatus, ErrorKind, RequestedCall, ToolOutcome
from .threads import in_thread
from .wire import NotOneJsonValue, one_value, to_json

_GRACE_S = 1.0  # given to a cancelled tool to put its things away


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
    arguments_state: Any = "json_string"
    fault: tuple[ErrorKind, str] | None = None


Approve = Callable[[PendingCall], bool | Awaitable[bool]]


def approve_all(call: PendingCall) -> bool:
    """Return True for every call: for stand-ins and lessons, where nothing that matters can happen."""
    return True


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
    state = "absent"
    fault: tuple[ErrorKind, str] | None = None
    if requested.arguments_text.strip():
        try:
            arguments, state = one_value(requested.arguments_text), "json_string"
        except NotOneJsonValue as error:
            state = "invalid_json"
            fault = ("invalid_json", f"the arguments of {requested.tool_name} are no valid JSON: {error}")
    if tool is None:
        fault = ("unknown_tool", f"unknown tool: {requested.tool_name}")
    else:
        arguments = tool.without_nulls(arguments)
    if fault is None and not isinstance(arguments, dict):
        kind = {list: "a list", str: "a text", type(None): "null"}.get(type(arguments), "a plain value")
        fault = ("invalid_arguments", f"the arguments of {requested.tool_name} are {kind}, not an object")
    elif fault is None and tool is not None and (problems := tool.problems(arguments)):
        fault = ("invalid_arguments", f"the arguments of {tool.name} are not valid: {'; '.join(problems)}")
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


async def carry_out(call: PendingCall, *, approve: Approve | None, clock: Callable[[], float]) -> ToolOutcome:
    """Return what became of *call*. No fault of a tool gets out of here; a cancellation does."""
    started_at, started = clock(), time.perf_counter()

    def outcome(status: CallStatus, result: Any, **more: Any) -> ToolOutcome:
        return ToolOutcome(
            call_id=call.requested.call_id,
            tool_name=call.requested.tool_name,
            cycle=call.cycle,
            index_in_cycle=call.index_in_cycle,
            call_index=call.call_index,
            arguments_text=call.requested.arguments_text,
            arguments_state=call.arguments_state,
            status=status,
            result_text=result if isinstance(result, str) else to_json(dict(result)),
            effect=call.tool.effect if call.tool else None,
            started_at=started_at,
            latency_ms=(time.perf_counter() - started) * 1000,
            server=call.tool.server if call.tool else None,
            tool_definition=call.tool.digest if call.tool else None,
            **more,
        )

    def failed(kind: ErrorKind, text: str, *, status: CallStatus = "error", **more: Any) -> ToolOutcome:
        return outcome(status, {"error": text}, error_kind=kind, error_text=text, **more)

    if call.fault is not None:
        return failed(*call.fault)
    tool = cast(Tool, call.tool)  # a call without a fault has a tool
    acts = tool.effect != "read"
    try:
        denial = tool.gate(call.arguments, call.context) if tool.gate else None
        denial = await denial if inspect.isawaitable(denial) else denial
        if denial is not None:
            return outcome("gated", denial)
    except Exception as error:  # noqa: BLE001 - a gate is part of the tool, its fault is told like the tool's
        return failed("exception", _said(error), exception=type(error).__name__)
    if acts and approve is None:
        text = f"{tool.name} needs a person's approval, and nobody is here to give it; it was not run"
        return failed("approval_missing", text, status="refused")
    if acts and approve is not None:
        try:
            answer = approve(call)
            allowed = await answer if inspect.isawaitable(answer) else answer
        except Exception as error:  # noqa: BLE001 - nobody could be asked, whatever the reason: that is no yes
            text = f"{tool.name} needs a person's approval, and asking for it failed; it was not run"
            return failed("approval_missing", text, status="refused", exception=type(error).__name__)
        if not allowed:
            return failed(
                "declined", f"{tool.name} was refused by a person; it was not run", status="refused"
            )
    unsure: dict[str, Any] = {"took_effect": None if acts else False}
    try:
        result = await _within(tool, call.arguments, call.context)
    except _TooLate:
        doubt = "; whether it took effect is not known" if acts else ""
        return failed("timeout", f"{tool.name} gave no answer within {tool.timeout_s:g} s{doubt}", **unsure)
    except _Raised as raised:
        return failed("exception", _said(raised.error), exception=type(raised.error).__name__, **unsure)
    try:
        return outcome("ok", to_json(result), took_effect=acts)
    except Exception as error:  # noqa: BLE001 - a result may be any object and raise anything when written
        text = f"{tool.name} ran, but its result cannot be written as JSON: {_said(error)}"
        return failed("unserialisable", text, took_effect=acts)


def cancelled(call: PendingCall, *, started_at: float) -> ToolOutcome:
    """Return the outcome of a call that the loop's own cancellation interrupted."""
    acts = call.tool is not None and call.tool.effect != "read"
    text = "cancelled" + ("; whether it took effect is not known" if acts else "")
    return ToolOutcome(
        call_id=call.requested.call_id,
        tool_name=call.requested.tool_name,
        cycle=call.cycle,
        index_in_cycle=call.index_in_cycle,
        call_index=call.call_index,
        arguments_text=call.requested.arguments_text,
        arguments_state=call.arguments_state,
        status="error",
        result_text=json.dumps({"error": text}),
        error_kind="cancelled",
        error_text=text,
        effect=call.tool.effect if call.tool else None,
        took_effect=None if acts else False,
        started_at=started_at,
        server=call.tool.server if call.tool else None,
        tool_definition=call.tool.digest if call.tool else None,
    )


class _TooLate(Exception):
    pass


class _Raised(Exception):
    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an exception that cannot even say what it is
        return type(error).__name__


async def _within(tool: Tool, arguments: dict[str, Any], context: ToolContext) -> Any:
    """Return the tool's result; raises _Raised with whatever it raised, _TooLate when its time is over."""
    deadline = None if tool.timeout_s is None else time.monotonic() + tool.timeout_s
    if tool.inline or inspect.iscoroutinefunction(tool.execute):
        try:
            result = tool.execute(arguments, context)
        except (Exception, SystemExit, asyncio.CancelledError) as error:  # noqa: BLE001 - where a tool runs
            raise _Raised(error) from None
    else:
        result = await _in_thread(tool, arguments, context, deadline)
    return await _awaited(result, deadline) if inspect.isawaitable(result) else result


async def _in_thread(
    tool: Tool, arguments: dict[str, Any], context: ToolContext, deadline: float | None
) -> Any:
    """Return a synchronous tool's result. Leaving its thread behind starves nobody."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    variables = contextvars.copy_context()

    def run() -> None:
        try:
            came: tuple[Any, BaseException | None] = (variables.run(tool.execute, arguments, context), None)
        except BaseException as error:  # noqa: BLE001 - whatever ends this thread, the loop has to hear of it
            came = (None, error)
        try:
            loop.call_soon_threadsafe(_settle, ended, came)
        except RuntimeError:  # left behind, and the loop is closed by now
            return

    in_thread(run)
    try:
        async with asyncio.timeout(None if deadline is None else deadline - time.monotonic()):
            result, error = await ended
    except TimeoutError:
        raise _TooLate from None
    if error is not None:
        raise _Raised(error)
    return result


def _settle(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)


async def _awaited(result: Awaitable[Any], deadline: float | None) -> Any:
    """Return what an asynchronous tool gives. One that does not end when it is cancelled is left behind."""

    async def guarded() -> tuple[Any, BaseException | None]:
        try:
            return await result, None
        except (Exception, SystemExit) as error:  # noqa: BLE001 - where a tool runs; both are its own fault
            return None, error

    task = asyncio.create_task(guarded())
    left_s = None if deadline is None else max(0.0, deadline - time.monotonic())
    try:
        done, _ = await asyncio.wait({task}, timeout=left_s)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task}, timeout=_GRACE_S)
        raise
    if not done:
        task.cancel()
        await asyncio.wait({task}, timeout=_GRACE_S)
        raise _TooLate
    if task.cancelled():
        raise _Raised(asyncio.CancelledError("the tool cancelled itself"))
    value, error = task.result()
    if error is not None:
        raise _Raised(error)
    return value
