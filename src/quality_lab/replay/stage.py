"""The tools of one trial: offered as they are today, and none of them able to do anything that lasts.

A stand-in runs in memory. A read runs live where that is allowed. Everything else is served from the tape;
what is not there is unavailable, and a tool that cannot be undone is refused. The tool's own code is not kept
within reach in these cases, so that no mistake further down can run it.
"""

from __future__ import annotations

import contextvars
import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from quality_lab.json_text import JsonTextError, parse
from quality_lab.matching.json_values import ABSENT
from quality_lab.replay.tape import Grade, Tape
from quality_lab.toolloop.calling import PendingCall
from quality_lab.toolloop.contract import Effect, Tool, ToolContext, ToolError
from quality_lab.toolloop.loop import LoopHook
from quality_lab.toolloop.record import ToolOutcome

_UNDECLARED = "A tool of which no definition is known."
_call: contextvars.ContextVar[int] = contextvars.ContextVar("call")


@dataclass(kw_only=True, slots=True)
class Evidence:
    """What the result of one call rests on."""

    tool: str
    cycle: int
    args: Any  # numbers exact; text that is no JSON as it came
    grade: Grade | None = None  # None: the call was answered by the contract, no result was needed
    drift: bool = False  # the arguments were others than those that the result was recorded for
    refused: bool = False  # the tool cannot be undone, and was not run
    error: bool = False  # the record says that the call failed
    result: Any = ABSENT  # as recorded, numbers exact
    note: str | None = None


class Stage(LoopHook):
    """What a model is offered in one trial, and the book of what was served."""

    def __init__(
        self,
        *,
        tools: Sequence[Tool],
        tape: Tape,
        stand_ins: Collection[str] = (),
        live: Collection[str] = (),
        undeclared: Collection[str] = (),
    ) -> None:
        self.tape = tape
        self.evidence: dict[int, Evidence] = {}
        self.hidden = frozenset(undeclared)
        self._graded: dict[str, Grade] = {}
        self._graded.update(dict.fromkeys(live, "live"))
        self._graded.update(dict.fromkeys(stand_ins, "simulated"))
        self.tools = [tool if tool.name in self._graded else self._from_tape(tool) for tool in tools]
        self.tools += [
            self._from_tape(Tool(name=name, description=_UNDECLARED, execute=_nothing, inline=True))
            for name in undeclared
        ]

    def _from_tape(self, tool: Tool) -> Tool:
        """Return *tool* with the tape in place of its code."""
        on_tape = copy.copy(tool)  # the compiled schema is kept, which is what takes time

        name, effect = tool.name, tool.effect

        def execute(_args: dict[str, Any], _context: ToolContext) -> Any:
            return self._serve(name, effect)

        kept = {"schema": tool.schema, "digest": tool.digest}  # made once, on the tool that stays
        for key, value in {"execute": execute, "inline": True, "timeout_s": None, **kept}.items():
            object.__setattr__(on_tape, key, value)  # frozen, and nobody has seen this copy yet
        return on_tape

    def _serve(self, tool: str, effect: Effect) -> Any:
        evidence = self.evidence[_call.get()]
        served = self.tape.serve(tool, evidence.args)
        if served is None:
            evidence.grade = "unavailable"
            if effect == "irreversible":  # stated or not: what is not stated may be anything
                evidence.refused = True
                evidence.note = f"{tool} cannot be undone; it was refused and not run"
                raise ToolError(f"{tool} cannot be undone and is not carried out here")
            evidence.note = f"no recorded result for {tool}"
            raise ToolError(f"the result of {tool} is unavailable here")
        evidence.grade, evidence.drift = served.record.grade, served.drift
        evidence.error, evidence.result = served.record.error, served.record.result
        return plain(served.record.result)

    # ---- told by the loop ----

    def on_call(self, call: PendingCall) -> None:
        """Open the page of a call; the tape finds it by the call that is being carried out."""
        _call.set(call.call_index)
        requested = call.requested
        self.evidence[call.call_index] = Evidence(
            tool=requested.tool_name, cycle=call.cycle, args=exact_arguments(requested.arguments_text)
        )

    def on_result(self, outcome: ToolOutcome) -> None:
        """Note what a stand-in or a live tool gave."""
        evidence = self.evidence[outcome.call_index]
        if evidence.grade is None:
            ran = outcome.status == "ok" or outcome.error_kind in ("exception", "timeout", "unserialisable")
            if ran or outcome.status == "gated":
                evidence.grade = self._graded.get(outcome.tool_name)

    @property
    def unavailable_cycle(self) -> int | None:
        """The cycle of the first result that could not be served; None where all could."""
        return min(
            (each.cycle for each in self.evidence.values() if each.grade == "unavailable"), default=None
        )


def exact_arguments(text: str) -> Any:
    """Return arguments as a model wrote them, numbers exact; text that is no JSON as it is, none as {}."""
    if not text.strip():
        return {}
    try:
        return parse(text)
    except JsonTextError:
        return text


def plain(value: Any) -> Any:
    """Return a JSON value with numbers that Python's own writer takes."""
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() and abs(value) < 10**300 else float(value)
    return value


def _nothing(_args: dict[str, Any], _context: ToolContext) -> Any:
    raise ToolError("nothing carries this out")
