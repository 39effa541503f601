"""The loop: what is asked, what runs, what is told, and what remains when something goes wrong."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, field_validator

from quality_lab.toolloop import (
    LoopHook,
    LoopResult,
    ModelError,
    ModelReply,
    PendingCall,
    ScriptedModel,
    Tool,
    ToolContext,
    ToolError,
    approve_all,
    call,
    run_loop,
    tool,
)

ASK = [{"role": "user", "content": "200 USDT, please"}]
AMOUNT = {
    "type": "object",
    "properties": {"amount": {"type": "number"}},
    "required": ["amount"],
    "additionalProperties": False,
}


def make(execute: Any, **promises: Any) -> Tool:
    said: dict[str, Any] = {"name": "quote", "description": "Quotes.", "effect": "read", **promises}
    return Tool(execute=execute, **said)


def run(model: Any, *tools: Tool, **more: Any) -> LoopResult:
    return asyncio.run(run_loop(model, ASK, tools, **more))


def one_call(execute: Any, arguments: Any = None, **promises: Any) -> Any:
    """Return what became of one call of a tool that does *execute*."""
    approve = promises.pop("approve", None)
    return run(
        ScriptedModel(call("quote", arguments), "done"), make(execute, **promises), approve=approve
    ).calls[0]


class Watch(LoopHook):
    """Remembers everything it is told."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []

    def on_start(self, result: LoopResult) -> None:
        self.events.append(("start", None))

    def on_message(self, message: Any, turn: Any) -> None:
        self.events.append(("message", message["role"]))

    def on_call(self, call: PendingCall) -> None:
        self.events.append(("call", call.requested.tool_name))

    async def on_result(self, outcome: Any) -> None:
        self.events.append(("result", outcome.status))

    def on_end(self, result: LoopResult, error: BaseException | None) -> None:
        self.events.append(("end", type(error).__name__ if error else None))


# -- the conversation ------------------------------------------------------------------------------------


def test_a_call_is_run_and_told_and_the_model_asked_again():
    model = ScriptedModel(call("quote", {"amount": 200}, call_id="c1"), "That is 6520 baht.")

    result = run(model, make(lambda args, context: {"thb": args["amount"] * 32.6}, parameters=AMOUNT))

    assert result.content == "That is 6520 baht."
    assert result.exhausted is False
    assert model.requests[1].messages == [
        *ASK,
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "quote", "arguments": '{"amount":200}'}}
            ],
        },
        {"role": "tool", "content": '{"thb":6520.0}', "tool_call_id": "c1"},
    ]
    assert result.transcript[-1] == {"role": "assistant", "content": "That is 6520 baht."}


def test_the_messages_that_were_given_are_left_as_they_were():
    given_messages = [{"role": "user", "content": "hello"}]
    asyncio.run(run_loop(ScriptedModel(call("quote"), "done"), given_messages, [make(lambda a, c: 1)]))

    assert given_messages == [{"role": "user", "content": "hello"}]


def test_without_tools_there_is_one_plain_completion():
    model = ScriptedModel("hello")

    result = run(model)

    assert (result.content, len(model.requests), model.requests[0].tools) == ("hello", 1, [])


def test_a_model_that_calls_what_nobody_offered_is_told_so_and_not_asked_again():
    model = ScriptedModel(ModelReply(content="let me see", calls=(call("ghost"),)), "never asked for")

    result = run(model)

    assert (result.content, result.exhausted, len(model.requests)) == ("let me see", False, 1)
    assert result.calls[0].error_kind == "unknown_tool"


def test_after_four_rounds_that_still_want_tools_there_is_no_answer():
    model = ScriptedModel(*[call("quote") for _ in range(5)])

    result = run(model, make(lambda a, c: 1))

    assert (result.content, result.exhausted, len(model.requests)) == (None, True, 4)
    assert [each.cycle for each in result.calls] == [0, 1, 2, 3]
    assert result.transcript == result.messages


def test_text_beside_calls_reason_to_stop_attempts_and_tokens_are_kept():
    first = ModelReply(
        content="One moment.",
        calls=(call("quote"),),
        finish_reason="tool_calls",
        attempts=3,
        input_tokens=10,
        output_tokens=5,
    )
    last = ModelReply(content="done", finish_reason="length", input_tokens=20, output_tokens=7)

    result = run(ScriptedModel(first, last), make(lambda a, c: 1))

    assert result.messages[1]["content"] == "One moment."
    assert [turn.reply.finish_reason for turn in result.turns] == ["tool_calls", "length"]
    assert (result.turns[0].reply.attempts, result.finish_reason) == (3, "length")
    assert (result.input_tokens, result.output_tokens) == (30, 12)
    assert all(turn.latency_ms > 0 for turn in result.turns)


def test_tokens_that_one_round_did_not_say_are_not_summed():
    result = run(
        ScriptedModel(ModelReply(calls=(call("quote"),), input_tokens=10), "done"), make(lambda a, c: 1)
    )

    assert result.input_tokens is None


def test_a_call_without_an_id_gets_one_so_that_it_can_be_answered():
    model = ScriptedModel([call("quote"), call("quote", call_id="mine")], "done")

    run(model, make(lambda a, c: 1))

    assert [message["tool_call_id"] for message in model.requests[1].messages[-2:]] == ["call_0_0", "mine"]


# -- what keeps a call from running ----------------------------------------------------------------------


NO_JSON = "the arguments of quote are no valid JSON: "
NOT_VALID = "the arguments of quote are not valid: "


@pytest.mark.parametrize(
    ("arguments", "kind", "told"),
    [
        ('{"amount": 20', "invalid_json", NO_JSON + "Expecting ',' delimiter at character 14 of 13"),
        ('{"amount": NaN}', "invalid_json", NO_JSON + "NaN is no JSON number"),
        ('{"amount": 1e999}', "invalid_json", NO_JSON + "the number 1e999 is too large to be held"),
        (
            '{"amount": 1, "amount": 2}',
            "invalid_json",
            NO_JSON + "the key 'amount' stands twice in one object",
        ),
        ("[1]", "invalid_arguments", "the arguments of quote are a list, not an object"),
        ("null", "invalid_arguments", "the arguments of quote are null, not an object"),
        ('"{}"', "invalid_arguments", "the arguments of quote are a text, not an object"),
        ("", "invalid_arguments", NOT_VALID + '"amount" is a required property'),
        ('{"amount": "200"}', "invalid_arguments", NOT_VALID + 'amount: "200" is not of type "number"'),
    ],
)
def test_arguments_that_cannot_be_right_are_told_back_and_nothing_runs(arguments, kind, told):
    ran: list[Any] = []

    came = one_call(
        lambda a, c: ran.append(a), arguments, parameters=AMOUNT, effect="write", approve=approve_all
    )

    assert (came.error_kind, came.result, came.status) == (kind, {"error": told}, "error")
    assert (ran, came.took_effect, came.arguments_text) == ([], False, arguments)


def test_arguments_nested_beyond_measure_are_told_back():
    came = one_call(lambda a, c: a, '{"a":' * 50_000 + "1" + "}" * 50_000)

    assert came.error_kind == "invalid_json"
    assert came.result == {"error": "the arguments of quote are no valid JSON: nested too deeply"}


def test_no_arguments_at_all_are_an_empty_object():
    came = one_call(lambda args, context: args, "  ")

    assert (came.result, came.arguments, came.arguments_state) == ({}, {}, "absent")


def test_all_calls_of_a_round_are_checked_before_any_of_them_runs():
    ran: list[str] = []
    checked: list[str] = []

    class Asked(Tool):
        def problems(self, arguments: Any) -> list[str]:
            checked.append("checked")
            assert ran == []
            return super().problems(arguments)

    asked = Asked(name="quote", description="Quotes.", execute=lambda a, c: ran.append("ran"), effect="read")
    run(ScriptedModel([call("quote"), call("quote"), call("quote")], "done"), asked)

    assert (checked, ran) == (["checked"] * 3, ["ran"] * 3)


def test_numbers_reach_the_tool_as_json_gives_them():
    came = one_call(
        lambda args, context: [type(each).__name__ for each in args["n"]],
        '{"n":[1, 1.0, 1e2, 12345678901234567890123]}',
    )

    assert came.result == ["int", "float", "float", "int"]


def test_a_tool_that_changes_its_arguments_changes_no_record():
    came = one_call(lambda args, context: args.update(amount=99), {"amount": 1})

    assert came.arguments == {"amount": 1}


# -- faults of a tool ------------------------------------------------------------------------------------


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this")


@pytest.mark.parametrize("as_coroutine", [False, True])
@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ToolError("no rate for THB"), "no rate for THB"),
        (KeyError("rate"), "'rate'"),
        (RuntimeError(""), ""),
        (SystemExit(3), "3"),
        (StopIteration("over"), "over"),
        (asyncio.CancelledError("by itself"), None),
        (TimeoutError("the shop's own"), "the shop's own"),
        (RecursionError("deep"), "deep"),
        (Mute(), "Mute"),
    ],
)
def test_whatever_a_tool_raises_is_told_and_recorded(error, told, inline, as_coroutine):
    async def later(args: Any, context: Any) -> None:
        raise error

    def at_once(args: Any, context: Any) -> None:
        raise error

    came = one_call(later if as_coroutine else at_once, inline=inline, effect="write", approve=approve_all)

    assert (came.status, came.error_kind, came.took_effect) == ("error", "exception", None)
    if told is not None and not (as_coroutine and isinstance(error, StopIteration)):
        assert came.result == {"error": told}
        assert came.exception == type(error).__name__


class Trap(dict):
    def items(self) -> Any:
        raise RuntimeError("no items")


@pytest.mark.parametrize("result", [{1, 2}, float("nan"), {"f": print}, b"bytes", Trap(a=1)])
def test_a_result_that_json_cannot_hold_is_told_and_recorded_with_its_effect(result):
    came = one_call(lambda args, context: result, effect="write", approve=approve_all)

    assert (came.status, came.error_kind, came.took_effect) == ("error", "unserialisable", True)
    assert came.result["error"].startswith("quote ran, but its result cannot be written as JSON: ")


def test_a_result_that_holds_itself_is_told_as_a_fault():
    def knot(args: Any, context: Any) -> Any:
        holds: list[Any] = []
        holds.append(holds)
        return holds

    assert one_call(knot).error_kind == "unserialisable"


def test_one_fault_leaves_the_other_calls_of_the_round_alone():
    def pick(args: Any, context: Any) -> str:
        if args["amount"] == 2:
            raise ToolError("two is taken")
        return f"seat {args['amount']}"

    calls = [call("quote", {"amount": n}) for n in (1, 2, 3)]
    result = run(ScriptedModel(calls, "done"), make(pick, parameters=AMOUNT))

    assert [each.result for each in result.calls] == ["seat 1", {"error": "two is taken"}, "seat 3"]


def test_an_error_that_a_tool_reports_in_its_result_is_no_fault_of_the_call():
    came = one_call(lambda args, context: {"error": "no rate"})

    assert (came.status, came.is_error, came.result) == ("ok", False, {"error": "no rate"})


def test_a_validator_of_ones_own_that_breaks_is_a_fault_of_the_tool():
    class Stay(BaseModel):
        nights: int

        @field_validator("nights")
        @classmethod
        def broken(cls, nights: int) -> int:
            raise LookupError("no calendar")

    came = one_call(lambda a, c: "ran", {"nights": 2}, parameters=Stay, effect="write", approve=approve_all)

    assert (came.error_kind, came.took_effect, came.result) == ("exception", False, {"error": "no calendar"})


# -- time ------------------------------------------------------------------------------------------------


def test_a_synchronous_tool_that_takes_too_long_is_left_behind_and_its_effect_unknown():
    let_go = threading.Event()

    begun = time.perf_counter()
    came = one_call(lambda a, c: let_go.wait(30), effect="write", timeout_s=0.1, approve=approve_all)
    took = time.perf_counter() - begun
    let_go.set()

    assert (came.error_kind, came.took_effect) == ("timeout", None)
    assert came.result == {"error": "quote gave no answer within 0.1 s; whether it took effect is not known"}
    assert took < 5


def test_a_read_that_takes_too_long_has_no_effect_to_wonder_about():
    let_go = threading.Event()
    came = one_call(lambda a, c: let_go.wait(30), timeout_s=0.05)
    let_go.set()

    assert (came.error_kind, came.took_effect) == ("timeout", False)
    assert came.result == {"error": "quote gave no answer within 0.05 s"}


def test_an_asynchronous_tool_that_takes_too_long_is_cancelled():
    ended: list[str] = []

    async def slow(args: Any, context: Any) -> None:
        try:
            await asyncio.sleep(30)
        finally:
            ended.append("put away")

    came = one_call(slow, timeout_s=0.05)

    assert (came.error_kind, ended) == ("timeout", ["put away"])


def test_an_asynchronous_tool_that_will_not_be_cancelled_is_left_behind():
    async def stubborn(args: Any, context: Any) -> None:
        until = time.monotonic() + 4
        while time.monotonic() < until:
            try:
                await asyncio.sleep(0.2)
            except asyncio.CancelledError:
                continue

    async def race() -> float:
        begun = time.perf_counter()
        result = await run_loop(ScriptedModel(call("quote"), "done"), ASK, [make(stubborn, timeout_s=0.05)])
        assert result.calls[0].error_kind == "timeout"
        return time.perf_counter() - begun

    assert asyncio.run(race()) < 3


def test_tools_left_behind_do_not_keep_others_from_running():
    let_go = threading.Event()
    slow = make(lambda a, c: let_go.wait(30), name="slow", timeout_s=0.05)
    quick = make(lambda a, c: "here", name="quick")

    result = run(ScriptedModel([call("slow")] * 40, call("quick"), "done"), slow, quick)
    let_go.set()

    assert result.calls[-1].result == "here"
    assert {each.error_kind for each in result.calls[:40]} == {"timeout"}


def test_a_synchronous_function_that_gives_back_a_coroutine_is_awaited_within_the_time():
    came = one_call(lambda a, c: asyncio.sleep(0.01, "awaited"))

    assert came.result == "awaited"


def test_an_inline_tool_runs_in_the_loops_own_thread_and_others_do_not():
    def where(args: Any, context: Any) -> bool:
        return threading.current_thread() is threading.main_thread()

    assert one_call(where, inline=True).result is True
    assert one_call(where).result is False


def test_a_tool_in_a_thread_sees_the_context_variables_of_its_caller():
    tenant = contextvars.ContextVar("tenant", default="nobody")

    async def scene() -> Any:
        tenant.set("acme")
        model = ScriptedModel(call("quote"), "done")
        return (await run_loop(model, ASK, [make(lambda a, c: tenant.get())])).calls[0].result

    assert asyncio.run(scene()) == "acme"


def test_a_tool_works_in_a_process_that_was_forked_from_one_with_idle_threads():
    code = """
import asyncio, os
from quality_lab.toolloop import ScriptedModel, Tool, call, run_loop

def once():
    tool = Tool(name="t", description="d", execute=lambda args, context: 1, effect="read", timeout_s=5)
    return asyncio.run(run_loop(ScriptedModel(call("t"), "done"), [], [tool])).calls[0].status

assert once() == "ok"
child = os.fork()
if child == 0:
    os._exit(0 if once() == "ok" else 1)
print(os.waitpid(child, 0)[1])
"""

    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert said.stdout.strip() == "0"


def test_a_program_ends_though_a_tool_does_not():
    code = """
import asyncio, time
from quality_lab.toolloop import ScriptedModel, Tool, call, run_loop

tool = Tool(name="t", description="d", execute=lambda a, c: time.sleep(60), effect="read", timeout_s=0.1)
print(asyncio.run(run_loop(ScriptedModel(call("t"), "done"), [], [tool])).calls[0].error_kind)
"""

    begun = time.perf_counter()
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=50
    )

    assert said.stdout.strip() == "timeout"
    assert time.perf_counter() - begun < 30


# -- order -----------------------------------------------------------------------------------------------


def test_reads_run_together_then_the_others_one_by_one_and_answers_stand_in_call_order():
    log: list[str] = []

    def worker(name: str, effect: str) -> Tool:
        async def work(args: Any, context: Any) -> str:
            log.append(f"{name} begins")
            await asyncio.sleep(0.02)
            log.append(f"{name} ends")
            return name

        return make(work, name=name, effect=effect)

    tools = [worker("w1", "write"), worker("r1", "read"), worker("i1", "irreversible"), worker("r2", "read")]
    result = run(ScriptedModel([call(t.name) for t in tools], "done"), *tools, approve=approve_all)

    assert set(log[:2]) == {"r1 begins", "r2 begins"}
    assert set(log[2:4]) == {"r1 ends", "r2 ends"}
    assert log[4:] == ["w1 begins", "w1 ends", "i1 begins", "i1 ends"]
    assert [each.result for each in result.calls] == ["w1", "r1", "i1", "r2"]
    assert [m["content"] for m in result.messages[2:]] == ['"w1"', '"r1"', '"i1"', '"r2"']


@settings(max_examples=60, deadline=None)
@given(
    effects=st.lists(st.sampled_from(["read", "write", "irreversible"]), min_size=1, max_size=6),
    waits=st.lists(st.integers(0, 3), min_size=6, max_size=6),
)
def test_writes_never_overlap_and_every_call_is_answered_once_in_its_place(effects, waits):
    running: list[str] = []
    writes: list[int] = []

    async def work(args: Any, context: Any) -> int:
        effect = effects[args["n"]]
        if effect != "read":
            assert running == []
            writes.append(args["n"])
        else:
            assert all(each == "read" for each in running)
        running.append(effect)
        await asyncio.sleep(waits[args["n"]] / 1000)
        running.remove(effect)
        return args["n"]

    tools = [make(work, name=effect, effect=effect) for effect in ("read", "write", "irreversible")]
    calls = [call(effect, {"n": n}) for n, effect in enumerate(effects)]
    result = run(ScriptedModel(calls, "done"), *tools, approve=approve_all)

    assert [each.result for each in result.calls] == list(range(len(effects)))
    assert [each.call_index for each in result.calls] == list(range(len(effects)))
    assert writes == sorted(writes)


# -- who may what ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("effect", ["write", "irreversible"])
def test_what_acts_is_refused_where_nobody_can_approve(effect):
    ran: list[Any] = []

    came = one_call(lambda a, c: ran.append(1), effect=effect)

    assert (came.status, came.error_kind, ran, came.took_effect) == ("refused", "approval_missing", [], False)
    assert came.result == {
        "error": "quote needs a person's approval, and nobody is here to give it; it was not run"
    }


@pytest.mark.parametrize("as_coroutine", [False, True])
@pytest.mark.parametrize("answer", [True, False])
def test_a_person_is_asked_for_each_call_that_acts_and_for_no_read(answer, as_coroutine):
    asked: list[Any] = []

    def approve(pending: PendingCall) -> bool:
        asked.append((pending.requested.tool_name, pending.arguments))
        return answer

    async def approve_later(pending: PendingCall) -> bool:
        return approve(pending)

    tools = [make(lambda a, c: "read", name="look"), make(lambda a, c: "acted", name="act", effect="write")]
    result = run(
        ScriptedModel([call("look"), call("act", {"n": 1})], "done"),
        *tools,
        approve=approve_later if as_coroutine else approve,
    )

    assert asked == [("act", {"n": 1})]
    assert result.calls[0].result == "read"
    assert (result.calls[1].status, result.calls[1].error_kind) == (
        ("ok", None) if answer else ("refused", "declined")
    )


def test_where_asking_for_approval_fails_the_call_is_refused():
    def nobody_there(pending: PendingCall) -> bool:
        raise EOFError("no terminal")

    came = one_call(lambda a, c: "acted", effect="write", approve=nobody_there)

    assert (came.status, came.error_kind, came.exception) == ("refused", "approval_missing", "EOFError")


def test_a_gate_says_not_now_in_its_own_words_and_nobody_is_asked():
    asked: list[Any] = []
    denial = {"ok": False, "needsOperator": True, "reason": "action_not_allowed_for_stage"}

    came = one_call(
        lambda a, c: "acted",
        effect="write",
        gate=lambda args, context: denial if context.state is None else None,
        approve=lambda pending: asked.append(pending) or True,
    )

    assert (came.status, came.result, came.is_error, came.took_effect) == ("gated", denial, False, False)
    assert asked == []


def test_a_gate_is_asked_again_before_each_call_because_a_call_may_move_the_state():
    state = {"stage": "open"}

    def gate(args: Any, context: ToolContext) -> Any:
        return None if context.state["stage"] == "open" else {"ok": False}

    async def shut(args: Any, context: ToolContext) -> str:
        context.state["stage"] = "shut"
        return "shut"

    result = run(
        ScriptedModel([call("quote"), call("quote")], "done"),
        make(shut, effect="write", gate=gate),
        approve=approve_all,
        context=ToolContext(state=state),
    )

    assert [each.status for each in result.calls] == ["ok", "gated"]


def test_a_gate_that_fails_lets_nothing_through():
    def broken(args: Any, context: Any) -> None:
        raise LookupError("no stage")

    came = one_call(lambda a, c: "acted", effect="write", gate=broken, approve=approve_all)

    assert (came.status, came.error_kind, came.took_effect) == ("error", "exception", False)


def test_a_tool_without_permission_is_neither_offered_nor_run():
    secret = make(lambda a, c: "secret", name="contacts", permission="contact_manage")
    by_rule = make(lambda a, c: "mine", name="mine", permission=lambda context: context.user == "ann")
    model = ScriptedModel([call("contacts"), call("mine")], "done")

    result = run(model, secret, by_rule, context=ToolContext(user="ann", permissions=frozenset({"other"})))

    assert [each["function"]["name"] for each in model.requests[0].tools] == ["mine"]
    assert [each.result for each in result.calls] == [{"error": "unknown tool: contacts"}, "mine"]


def test_the_context_reaches_every_tool_and_never_the_model():
    context = ToolContext(
        tenant="t-secret", conversation="c-secret", user="u-secret", state={"s": "s-secret"}
    )
    model = ScriptedModel(call("quote"), "done")

    result = run(model, make(lambda args, c: c.tenant == "t-secret"), context=context)

    assert result.calls[0].result is True
    assert "secret" not in repr(model.requests)


# -- hooks -----------------------------------------------------------------------------------------------


def test_hooks_are_told_of_everything_in_order():
    watch = Watch()

    run(ScriptedModel(call("quote"), "done"), make(lambda a, c: 1), hooks=[watch])

    assert watch.events == [
        ("start", None),
        ("message", "assistant"),
        ("call", "quote"),
        ("result", "ok"),
        ("message", "tool"),
        ("message", "assistant"),
        ("end", None),
    ]


def test_what_a_hook_raises_ends_the_run_and_leaves_no_call_running():
    class Bill(LoopHook):
        def on_result(self, outcome: Any) -> None:
            raise OSError("the ledger is full")

    ended: list[str] = []

    async def slow(args: Any, context: Any) -> None:
        try:
            await asyncio.sleep(30)
        finally:
            ended.append("ended")

    watch = Watch()
    tools = [make(slow, name="slow"), make(lambda a, c: 1, name="quick", inline=True)]
    with pytest.raises(OSError, match="the ledger is full"):
        run(ScriptedModel([call("slow"), call("quick")], "done"), *tools, hooks=[watch, Bill()])

    assert ended == ["ended"]
    assert watch.events[-1] == ("end", "OSError")


# -- when the model fails --------------------------------------------------------------------------------


def test_when_the_model_fails_everything_up_to_there_is_on_the_error():
    model = ScriptedModel(call("quote", {"n": 1}, call_id="c1"), ModelError("gone", kind="connection"))

    with pytest.raises(ModelError, match="gone") as caught:
        run(model, make(lambda a, c: "kept"))

    result = caught.value.result
    assert result is not None
    assert [each.result for each in result.calls] == ["kept"]
    assert result.messages[-1] == {"role": "tool", "content": '"kept"', "tool_call_id": "c1"}
    assert caught.value.exit_code == 4


def test_a_script_that_is_over_says_so():
    with pytest.raises(ModelError, match="was asked for reply 2; its script has no more"):
        run(ScriptedModel(call("quote")), make(lambda a, c: 1))


# -- cancellation ----------------------------------------------------------------------------------------


def test_a_cancelled_run_ends_its_tools_and_tells_of_every_call_that_had_begun():
    watch = Watch()
    ended: list[str] = []
    let_go = threading.Event()

    async def slow(args: Any, context: Any) -> None:
        try:
            await asyncio.sleep(30)
        finally:
            ended.append("slow")

    tools = [make(slow, name="slow"), make(lambda a, c: let_go.wait(30), name="thread")]

    async def scene() -> tuple[bool, int]:
        model = ScriptedModel([call("slow"), call("thread")], "done")
        task = asyncio.create_task(run_loop(model, ASK, tools, hooks=[watch]))
        await asyncio.sleep(0.1)
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled(), len(asyncio.all_tasks()) - 1

    was_cancelled, left_running = asyncio.run(scene())
    let_go.set()

    assert (was_cancelled, left_running, ended) == (True, 0, ["slow"])
    assert [event for event in watch.events if event[0] == "result"] == [("result", "error")] * 2
    assert watch.events[-1] == ("end", "CancelledError")


def test_a_write_that_was_cancelled_is_kept_with_its_effect_unknown():
    kept: list[LoopResult] = []

    class Keep(LoopHook):
        def on_end(self, result: LoopResult, error: BaseException | None) -> None:
            kept.append(result)

    async def pay(args: Any, context: Any) -> None:
        await asyncio.sleep(30)

    async def scene() -> None:
        model = ScriptedModel([call("pay", call_id="p"), call("pay", call_id="q")], "done")
        tools = [make(pay, name="pay", effect="irreversible")]
        task = asyncio.create_task(run_loop(model, ASK, tools, hooks=[Keep()], approve=approve_all))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait({task})

    asyncio.run(scene())

    (only,) = kept[0].calls  # the second had not begun
    assert (only.call_id, only.error_kind, only.took_effect) == ("p", "cancelled", None)


def test_a_call_that_was_cancelled_while_a_person_was_asked_took_no_effect():
    watch = Watch()
    seen: list[Any] = []

    async def think(pending: PendingCall) -> bool:
        await asyncio.sleep(30)
        return True

    class Keep(LoopHook):
        def on_result(self, outcome: Any) -> None:
            seen.append((outcome.error_kind, outcome.took_effect, outcome.result))

    async def scene() -> None:
        model = ScriptedModel(call("pay"), "done")
        tools = [make(lambda a, c: 1, name="pay", effect="irreversible")]
        async with asyncio.timeout(0.05):  # a time-out of the host's own is a cancellation here
            await run_loop(model, ASK, tools, hooks=[watch, Keep()], approve=think)

    with pytest.raises(TimeoutError):
        asyncio.run(scene())

    assert seen == [("cancelled", False, {"error": "cancelled"})]
    assert watch.events[-1] == ("end", "CancelledError")


def test_the_time_a_person_takes_to_think_is_not_the_tools():
    def think(pending: PendingCall) -> bool:
        time.sleep(0.2)
        return True

    came = one_call(lambda a, c: 1, effect="write", inline=True, approve=think)

    assert came.latency_ms < 150


def test_nothing_is_left_behind_by_many_runs(caplog):
    async def scene() -> None:
        for _ in range(50):
            model = ScriptedModel([call("quote"), call("quote")], "done")
            await run_loop(model, ASK, [make(lambda a, c: 1)])

    before = threading.active_count()
    with caplog.at_level(logging.WARNING, logger="asyncio"):
        asyncio.run(scene(), debug=False)
        gc.collect()

    assert caplog.records == []
    assert threading.active_count() <= before + 2  # kept for the next calls: as many as ran at once


# -- writing a tool --------------------------------------------------------------------------------------


def test_a_decorated_function_is_a_tool_with_its_name_and_words():
    @tool(effect="read", parameters=AMOUNT)
    def price_of(args: Any, context: Any) -> float:
        """Prices an order.

        Call it when the customer names an amount.
        """
        return args["amount"] * 2.0

    result = run(ScriptedModel(call("price_of", {"amount": 4}), "done"), price_of)

    assert price_of.description == "Prices an order.\n\nCall it when the customer names an amount."
    assert result.calls[0].result == 8.0


def test_the_room_is_light_to_enter():
    code = """
import sys, quality_lab.toolloop as room
room.Tool, room.run_loop, room.ScriptedModel, room.OpenAICompatible, room.OpenTelemetryHook
print([name for name in ("openai", "httpx2", "pydantic", "aiohttp", "opentelemetry") if name in sys.modules])
"""

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "[]"
