"""The loop: a model is asked, the tools it calls are run and told of, until it has an answer."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .calling import Approve, Interrupted, PendingCall, carry_out, check_call
from .contract import Tool, ToolContext
from .models import Model, ModelError
from .record import LoopResult, Message, ModelTurn, RequestedCall, ToolOutcome

DEFAULT_MAX_CYCLES = 4


class LoopHook:
    """Told of what happens, in the order in which it happens; override what you need, plain or ``async``.

    What a hook raises ends the run: a bill that was not written must not go unnoticed. A hook is told of
    every call that began, also of one that a cancellation interrupted.
    """

    def on_start(self, result: LoopResult) -> None | Awaitable[None]:
        """The run begins; *result* is still empty and fills as the run goes on."""

    def on_message(self, message: Message, turn: ModelTurn | None) -> None | Awaitable[None]:
        """A message was added: the model's, with the round it came from, or a tool's answer (*turn* None)."""

    def on_call(self, call: PendingCall) -> None | Awaitable[None]:
        """A call is about to be carried out, or to be answered with its fault."""

    def on_result(self, outcome: ToolOutcome) -> None | Awaitable[None]:
        """A call came to its end."""

    def on_end(self, result: LoopResult, error: BaseException | None) -> None | Awaitable[None]:
        """The run is over; *error* is what ended it where it did not end by itself."""


async def run_loop(
    model: Model,
    messages: Sequence[Message],
    tools: Sequence[Tool] = (),
    *,
    context: ToolContext | None = None,
    max_cycles: int = DEFAULT_MAX_CYCLES,
    approve: Approve | None = None,
    options: Mapping[str, Any] | None = None,
    hooks: Sequence[LoopHook] = (),
    clock: Callable[[], float] = time.time,
) -> LoopResult:
    """Return what *model* answers to *messages*, and everything that happened on the way.

    Tools that the *context* has no permission for are not offered; of two with one name the first counts. A
    tool that writes or cannot be undone runs only where *approve* returns True for the call; without it, it
    is refused. In one round reads run together, then the others one by one in call order; answers stand in
    call order. *options* go to the model as they are. *messages* is left as it was.

    Raises:
        ModelError: the model gave no answer; its *result* holds the run up to there.
    """
    run = _Run(
        model=model,
        tools=tools,
        context=context or ToolContext(),
        approve=approve,
        options=dict(options or {}),
        hooks=hooks,
        clock=clock,
    )
    return await run.to_the_end(messages, max_cycles=max_cycles)


class _Run:
    """One run: what it was given, and the result it fills."""

    def __init__(
        self,
        *,
        model: Model,
        tools: Sequence[Tool],
        context: ToolContext,
        approve: Approve | None,
        options: dict[str, Any],
        hooks: Sequence[LoopHook],
        clock: Callable[[], float],
    ) -> None:
        self.model = model
        self.context = context
        self.approve = approve
        self.options = options
        self.hooks = hooks
        self.clock = clock
        offered = [tool for tool in tools if tool.permits(context)]
        self.tools = {tool.name: tool for tool in reversed(offered)}
        self.result = LoopResult(definitions=[tool.openai_definition(limits=False) for tool in offered])

    async def to_the_end(self, messages: Sequence[Message], *, max_cycles: int) -> LoopResult:
        result, begun = self.result, time.perf_counter()
        result.started_at = self.clock()
        result.messages = list(messages)
        ended_by: BaseException | None = None
        try:
            await self._tell("on_start", result)
            await self._rounds(max_cycles if result.definitions else min(max_cycles, 1))
        except ModelError as error:
            error.result = result
            ended_by = error
            raise
        except BaseException as error:
            ended_by = error
            raise
        finally:
            result.latency_ms = (time.perf_counter() - begun) * 1000
            await self._tell("on_end", result, ended_by)
        return result

    async def _rounds(self, max_cycles: int) -> None:
        for cycle in range(max_cycles):
            turn = await self._ask(cycle)
            if not turn.reply.calls:
                self.result.content = turn.reply.content
                await self._tell("on_message", {"role": "assistant", "content": turn.reply.content}, turn)
                return
            await self._answer(turn)
        if self.result.definitions or max_cycles <= 0:
            self.result.exhausted = True
        else:  # a plain completion that asked for tools nobody offered: its text is all there is
            self.result.content = self.result.turns[-1].reply.content

    async def _ask(self, cycle: int) -> ModelTurn:
        """Ask the model once and keep its reply; a call without an id gets one, to be answered by."""
        started_at, started = self.clock(), time.perf_counter()
        reply = await self.model.complete(
            self.result.messages, tools=self.result.definitions, options=self.options
        )
        latency_ms = (time.perf_counter() - started) * 1000
        if any(not call.call_id for call in reply.calls):
            named = (
                call if call.call_id else replace(call, call_id=f"call_{cycle}_{position}")
                for position, call in enumerate(reply.calls)
            )
            reply = replace(reply, calls=tuple(named))
        turn = ModelTurn(cycle=cycle, reply=reply, started_at=started_at, latency_ms=latency_ms)
        self.result.turns.append(turn)
        return turn

    async def _answer(self, turn: ModelTurn) -> None:
        """Carry out the calls of one round. All are checked before any runs."""
        reply, first = turn.reply, len(self.result.calls)
        asked = {
            "role": "assistant",
            "content": reply.content,
            "tool_calls": [_as_message(c) for c in reply.calls],
        }
        self.result.messages.append(asked)
        pending = [
            check_call(
                requested,
                self.tools,
                cycle=turn.cycle,
                index_in_cycle=position,
                call_index=first + position,
                context=self.context,
            )
            for position, requested in enumerate(reply.calls)
        ]
        outcomes: dict[int, ToolOutcome] = {}
        try:
            await self._tell("on_message", asked, turn)
            await self._together([call for call in pending if not _acts(call)], outcomes)
            for call in pending:
                if _acts(call):
                    await self._carry_out(call, outcomes)
        finally:  # whatever ended the round, what became of its calls is kept, in call order
            done = [outcomes[position] for position in sorted(outcomes)]
            self.result.calls.extend(done)
            told = [
                {"role": "tool", "content": each.result_text, "tool_call_id": each.call_id} for each in done
            ]
            self.result.messages.extend(told)
        for message in told:
            await self._tell("on_message", message, None)

    async def _together(self, calls: Sequence[PendingCall], outcomes: dict[int, ToolOutcome]) -> None:
        if len(calls) < 2:
            for call in calls:
                await self._carry_out(call, outcomes)
            return
        tasks = [asyncio.create_task(self._carry_out(call, outcomes)) for call in calls]
        try:
            await asyncio.gather(*tasks)
        except BaseException:  # cancelled, or a hook gave up: no call may go on behind our back
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    async def _carry_out(self, call: PendingCall, outcomes: dict[int, ToolOutcome]) -> None:
        await self._tell("on_call", call)
        cancellation: asyncio.CancelledError | None = None
        try:
            outcome = await carry_out(call, approve=self.approve, clock=self.clock)
        except Interrupted as interrupted:
            outcome, cancellation = interrupted.outcome, interrupted.cancellation
        outcomes[call.index_in_cycle] = outcome
        await self._tell("on_result", outcome)
        if cancellation is not None:
            raise cancellation

    async def _tell(self, event: str, *what: Any) -> None:
        for hook in self.hooks:
            answer = getattr(hook, event)(*what)
            if inspect.isawaitable(answer):
                await answer


def _acts(call: PendingCall) -> bool:
    return call.fault is None and call.tool is not None and call.tool.effect != "read"


def _as_message(call: RequestedCall) -> dict[str, Any]:
    function = {"name": call.tool_name, "arguments": call.arguments_text}
    return {"id": call.call_id, "type": "function", "function": function}
