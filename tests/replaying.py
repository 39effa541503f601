"""Cases, models and runs for the tests of re-runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from quality_lab.json_text import parse
from quality_lab.matching import Case, read_case
from quality_lab.replay import CaseOutcome, CaseToRun, Rerun, RunSettings, Shelf
from quality_lab.toolloop import Model, ModelReply, RequestedCall, Tool, call

Said = Callable[[list[dict[str, Any]]], Any]


def definition(name: str, properties: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A function as OpenAI defines it; MCP's hints may stand beside."""
    function = {
        "name": name,
        "description": f"Does {name}.",
        "parameters": {"type": "object", "properties": properties or {}},
    }
    return {"type": "function", "function": function, **more}


def record(case_id: int = 1, **more: Any) -> dict[str, Any]:
    """A case that upstream takes too: quoted by the wrong mode."""
    case = {
        "recordType": "tool_call_regression_case", "id": case_id, "proposalId": None, "toolCallId": None,
        "source": "tool_call_feedback", "toolName": "quote", "label": "bad_args", "title": f"case {case_id}",
        "input": {
            "toolName": "quote", "args": {"mode": "source"}, "feedback": {"label": "bad_args"},
            "messages": [{"role": "user", "content": f"15000 baht please, {case_id}"}],
            "tools": [definition("quote", {"mode": {"type": "string"}})],
        },
        "expected": {"behavior": "Quotes in baht.", "calls": [{"tool": "quote", "args": {"mode": "target"}}]},
        "recorded": [{"tool": "quote", "args": {"mode": "source"}, "result": {"sum": 1.5}, "error": False}],
        "context": {}, "status": "active", "createdByAdminId": None, "createdAt": 1, "updatedAt": 1,
    }  # fmt: skip
    given = more.pop("input", {})
    case["input"] = {**case["input"], **given}  # type: ignore[dict-item]  # both are objects
    return {**case, **more}


def case(case_id: int = 1, **more: Any) -> Case:
    """The case in such a record, read as from a file."""
    return read_case(parse(json.dumps(record(case_id, **more))))


class Saying:
    """A model that says what a function of the conversation gives: a text, a call, or several."""

    name = "saying"

    def __init__(self, say: Said) -> None:
        self.say = say
        self.asked: list[dict[str, Any]] = []
        self.at_once = 0
        self.most_at_once = 0

    async def complete(
        self, messages: Sequence[dict[str, Any]], *, tools: Sequence[dict[str, Any]], options: Any
    ) -> ModelReply:
        self.asked.append({"messages": list(messages), "tools": list(tools), "options": dict(options)})
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        said = self.say(list(messages))
        if isinstance(said, BaseException):
            raise said
        tokens = {"input_tokens": 100, "output_tokens": 10}
        if isinstance(said, str) or said is None:
            return ModelReply(content=said, **tokens)
        calls = (said,) if isinstance(said, RequestedCall) else tuple(said)
        return ModelReply(calls=calls, **tokens)


def then(*replies: Any) -> Said:
    """Say *replies* one after the other in each conversation: the n-th after n - 1 rounds of tools."""

    def say(messages: list[dict[str, Any]]) -> Any:
        rounds = sum(message["role"] == "assistant" for message in messages)
        return replies[min(rounds, len(replies) - 1)]

    return say


QUOTE_RIGHT = then(call("quote", {"mode": "target"}), "460 USDT")
QUOTE_WRONG = then(call("quote", {"mode": "source"}), "489000 baht")


def rerun(
    *cases: Case,
    model: Model | None = None,
    tools: str | Sequence[Tool] | None = None,
    allow_live: bool = False,
    allowed: Sequence[str] = (),
    **more: Any,
) -> list[CaseOutcome]:
    """The outcomes of a re-run; *more* are settings, or what `Rerun` takes beside them."""
    named = {name: more.pop(name) for name in list(more) if name in RunSettings.__slots__}
    shelf = Shelf(tools, folder=Path.cwd(), environ={}, allow_live=allow_live, allowed=allowed)
    run = Rerun(shelf, model=model, model_key="test", settings=RunSettings(**named), **more)
    to_run = [CaseToRun(line=at, case=each) for at, each in enumerate(cases, 1)]
    return asyncio.run(run.run(to_run))
