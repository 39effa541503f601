"""A tool run within its time, with whatever it raises caught."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import time
from collections.abc import Awaitable
from typing import Any

from .contract import Tool, ToolContext
from .threads import in_thread

GRACE_S = 1.0  # given to a cancelled tool to put its things away


class TooLate(Exception):
    """The tool's time is over."""


class Raised(Exception):
    """The tool raised *error*."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


def said(error: BaseException) -> str:
    """Return the words of *error*, or its name where it has none to give."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an exception that cannot even say what it is
        return type(error).__name__


async def within(tool: Tool, arguments: dict[str, Any], context: ToolContext) -> Any:
    """Return the tool's result; raises Raised with whatever it raised, TooLate when its time is over."""
    deadline = None if tool.timeout_s is None else time.monotonic() + tool.timeout_s
    if tool.inline or inspect.iscoroutinefunction(tool.execute):
        try:
            result = tool.execute(arguments, context)
        except (Exception, SystemExit, asyncio.CancelledError) as error:  # noqa: BLE001 - where a tool runs
            raise Raised(error) from None
    else:
        result = await _threaded(tool, arguments, context, deadline)
    return await _awaited(result, deadline) if inspect.isawaitable(result) else result


async def _threaded(
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
        raise TooLate from None
    if error is not None:
        raise Raised(error)
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
        await asyncio.wait({task}, timeout=GRACE_S)
        raise
    if not done:
        task.cancel()
        await asyncio.wait({task}, timeout=GRACE_S)
        raise TooLate
    if task.cancelled():
        raise Raised(asyncio.CancelledError("the tool cancelled itself"))
    value, error = task.result()
    if error is not None:
        raise Raised(error)
    return value
