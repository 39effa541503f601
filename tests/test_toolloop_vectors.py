"""Upstream's loop on upstream's scripts: where ours does the same, where it does not, and why."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from typing import Any

import pytest

from quality_lab.toolloop import LoopResult, ModelError, ModelReply, ScriptedModel, Tool, call, run_loop
from quality_lab.toolloop.wire import to_json

# Scripts that lean on JavaScript (`special`), those with text beside calls, and the one without tools. One
# that is not named here must come out the same; one that is named must differ, and only where it says.
DIFFERS = {
    "throws-before-waiting": (
        {"outcome", "requests", "messagesAfter", "telemetry", "warnings", "started"},
        "a tool that fails at once is a failed call like any other; upstream's loop dies of it",
    ),
    "nothing-returned": (
        {"outcome", "requests", "messagesAfter", "telemetry"},
        "a tool that gives nothing gives null: a message without content is refused by servers",
    ),
    "result-refers-to-itself": (
        {"outcome", "requests", "messagesAfter", "telemetry", "warnings"},
        "a result that JSON cannot hold is a failed call, told to the model; upstream's loop dies of it",
    ),
    "result-has-big-integer": (
        {"outcome", "requests", "messagesAfter", "telemetry"},
        "an integer of any length is JSON; upstream's loop dies of it",
    ),
    "result-numbers-without-json-form": (
        {"outcome", "requests", "messagesAfter", "telemetry", "warnings"},
        "not-a-number is no result: the call fails, where upstream quietly writes null",
    ),
    "result-drops-functions": (
        {"outcome", "requests", "messagesAfter", "telemetry", "warnings"},
        "a result with parts that JSON cannot hold fails, where upstream quietly drops them",
    ),
    "args-key-order": (
        {"requests", "messagesAfter"},
        "keys stay in the order in which the model wrote them",
    ),
    "args-not-an-object": (
        {"outcome", "requests", "messagesAfter", "telemetry", "warnings", "started"},
        "arguments that are no object are refused before anything runs",
    ),
    "tool-changes-its-args": (
        {"outcome", "telemetry"},
        "the record keeps what the model asked for, not what the tool made of it",
    ),
    "text-beside-calls": ({"requests", "messagesAfter"}, "text beside calls is kept"),
    "exhausted": ({"requests", "messagesAfter"}, "text beside calls is kept"),
    "random-04": ({"requests", "messagesAfter"}, "text beside calls is kept"),
    "random-06": ({"requests", "messagesAfter"}, "text beside calls is kept"),
    "random-12": ({"requests", "messagesAfter"}, "text beside calls is kept"),
    "no-tools": (
        {"requests", "outcome"},
        "without tools there is one plain completion; upstream goes on asking",
    ),
}


def as_javascript_reads_it(text: str) -> Any:
    """Return JSON with every number as JavaScript holds and prints it."""

    def number(digits: str) -> int | float:
        value = float(digits)
        return int(Decimal(repr(value))) if value.is_integer() and abs(value) < 1e21 else value

    return json.loads(text, parse_int=number, parse_float=number)


def text_of_a_thrown_value(value: Any) -> str:
    """Return the text that JavaScript has for a value that is no error."""
    if isinstance(value, dict):
        return "[object Object]"
    return value if isinstance(value, str) else json.dumps(value)


class Workshop:
    """The tools of a script, and what they saw of each other."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.finished: list[str] = []

    def tool(self, described: dict[str, Any]) -> Tool:
        name, behaviour, count = described["name"], described["behaviour"], 0

        def run(args: dict[str, Any], context: object) -> Any:
            nonlocal count
            count += 1
            self.started.append(name)
            if behaviour["do"] == "throw_now":
                raise RuntimeError(behaviour["message"])
            return later(args, count)

        async def later(args: dict[str, Any], number: int) -> Any:
            try:
                if behaviour["do"] in ("wait", "wait_throw"):
                    await asyncio.sleep(behaviour["ms"] / 1000)
                return self.result(behaviour, args, number)
            finally:
                self.finished.append(name)

        return Tool(
            name=name,
            description=described["description"],
            parameters={"type": "object"},
            execute=run,
            effect="read",
            inline=True,
        )

    def result(self, behaviour: dict[str, Any], args: dict[str, Any], number: int) -> Any:
        match behaviour["do"]:
            case "return" | "wait":
                return behaviour["value"]
            case "echo":
                return {"got": args}
            case "return_args":
                return args
            case "count":
                return {"call": number}
            case "throw" | "wait_throw":
                raise RuntimeError(behaviour["message"])
            case "throw_value":
                raise RuntimeError(text_of_a_thrown_value(behaviour["value"]))
            case "change_args":
                args.update(behaviour["set"])
                return {"done": True}
            case "nothing":
                return None
            case "self_reference":
                loop: dict[str, Any] = {}
                loop["self"] = loop
                return loop
            case "big_integer":
                return {"big": 2**70}
            case "number":
                return {"n": float(behaviour["value"])}
            case "with_function":
                return {"a": 1, "f": print, "u": object(), "list": [print, object()]}
        raise AssertionError(f"no behaviour {behaviour['do']}")


def scripted(script: dict[str, Any]) -> ScriptedModel:
    model = ScriptedModel()
    for reply in script["replies"]:
        if "throw" in reply:
            model.enqueue(ModelError(reply["throw"], kind="status"))
            continue
        calls = [call(each["name"], to_json(each["args"]), call_id=each["id"]) for each in reply["toolCalls"]]
        model.enqueue(ModelReply(content=reply["content"], calls=tuple(calls)))
    return model


async def played(script: dict[str, Any]) -> dict[str, Any]:
    """Return what our loop makes of *script*, in the words of the vectors."""
    workshop, model = Workshop(), scripted(script)
    tools = [workshop.tool(described) for described in script["tools"]]
    raised: ModelError | None = None
    try:
        result = await run_loop(
            model, script["messages"], tools, options=script["llmOpts"], max_cycles=script["maxCycles"]
        )
    except ModelError as error:
        raised, result = error, error.result or LoopResult()
    records = [record_of(each) for each in result.calls]
    asked = model.requests
    came: dict[str, Any] = {
        "requests": [request.messages for request in asked],
        "toolsSent": [named(tool) for tool in asked[0].tools] if asked else None,
        "llmOptsSent": asked[0].options if asked else None,
        "sameToolsEachCycle": all(request.tools == asked[0].tools for request in asked),
        "messagesAfter": result.messages,
        "started": workshop.started,
        "finished": workshop.finished,
        "warnings": [
            f'[tool-loop] tool "{each.tool_name}" failed: {each.error_text}'
            for each in result.calls
            if each.is_error
        ],
    }
    if raised is not None:
        return {**came, "outcome": {"raised": str(raised), "raisedType": "Error"}, "telemetry": None}
    first = {"toolCall": {"name": records[0]["name"], "result": records[0]["result"]}} if records else {}
    telemetry = {**first, "toolCalls": records} if records else {}
    outcome = {"content": result.content, "exhausted": result.exhausted, "toolCalls": records}
    return {**came, "outcome": outcome, "telemetry": telemetry}


def record_of(each: Any) -> dict[str, Any]:
    return {
        "name": each.tool_name,
        "args": each.arguments,
        "result": each.result,
        "error": each.is_error,
        "cycle": each.cycle,
    }


def named(definition: dict[str, Any]) -> tuple[str, str]:
    """Return what can be compared of a definition: the tools here take any object."""
    return definition["function"]["name"], definition["function"]["description"]


def differences(script: dict[str, Any], came: dict[str, Any]) -> set[str]:
    """Return the keys in which what came is not what upstream's loop gave."""
    expected = dict(script["expected"])
    if expected.get("toolsSent") is not None:
        expected["toolsSent"] = [named(tool) for tool in expected["toolsSent"]]
    return {key for key, value in expected.items() if exact(came[key]) != exact(value)}


def exact(value: Any) -> str:
    """Return a text that is the same only where values, kinds of numbers and the order of lists are."""
    return json.dumps(value, sort_keys=True, default=list)


@pytest.fixture(scope="module")
def scripts(shared) -> list[dict[str, Any]]:
    text = (shared / "golden/tool-loop/scripts.jsonl").read_text(encoding="utf-8")
    return [as_javascript_reads_it(line) for line in text.split("\n") if line]


async def run_all(scripts: list[dict[str, Any]]) -> dict[str, set[str]]:
    return {script["id"]: differences(script, await played(script)) for script in scripts}


@pytest.mark.shared
def test_every_script_comes_out_as_upstreams_unless_a_reason_is_given(scripts):
    found = asyncio.run(run_all(scripts))

    assert {name: keys for name, keys in found.items() if keys} == {
        name: keys for name, (keys, _) in DIFFERS.items()
    }
    assert len(found) == 58


@pytest.mark.shared
def test_only_scripts_that_may_differ_are_excused(scripts):
    may = {
        script["id"]
        for script in scripts
        if "special" in script
        or not script["tools"]
        or any(reply.get("content") and reply.get("toolCalls") for reply in script["replies"])
    }

    assert set(DIFFERS) <= may


@pytest.mark.shared
def test_scripts_with_text_beside_calls_differ_in_that_text_alone(scripts):
    def muted(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {**message, "content": None} if message.get("tool_calls") else message for message in messages
        ]

    beside = [
        script
        for script in scripts
        if DIFFERS.get(script["id"], (None, ""))[1] == "text beside calls is kept"
    ]
    for script in beside:
        came = asyncio.run(played(script))
        assert muted(came["messagesAfter"]) == script["expected"]["messagesAfter"]
        assert [muted(request) for request in came["requests"]] == script["expected"]["requests"]

    assert len(beside) == 5


def test_the_loop_has_a_result_in_hand_before_it_asks_again():
    model = ScriptedModel(call("check", {}), "done")
    check = Tool(name="check", description="Checks.", execute=lambda a, c: 1, effect="read", inline=True)

    result = asyncio.run(run_loop(model, [{"role": "user", "content": "go"}], [check]))

    assert isinstance(result, LoopResult)
    assert model.requests[1].messages[-1]["content"] == "1"
