"""The calls that are judged, and what of them is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from quality_lab.json_text import JsonTextError, parse
from quality_lab.matching.json_values import ABSENT
from quality_lab.outcomes import Signals, decide, fields_looked_at
from quality_lab.records import Outcome

FAILED: tuple[str, ...] = ("error", "soft_error", "rejected")


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeCall:
    """One call that was made; *args* is ABSENT where the arguments were not captured."""

    tool: str
    args: Any = ABSENT
    outcome: Outcome | Literal["unavailable", "refused"] = "ok"  # the last two: by the re-run, not the tool
    cycle: int = 0  # number of its round; calls of one round follow each other

    @property
    def succeeded(self) -> bool | None:
        """Whether the call counts as one that did its work: not where it failed; None where nobody knows.

        One whose result was unavailable in a re-run counts: the model made it, and nothing says it failed.
        One that a re-run refused to carry out does not, and is not held against the model either.
        """
        return None if self.outcome in ("unknown", "refused") else self.outcome not in FAILED


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """What an agent did, as far as it is known."""

    calls: Sequence[MadeCall]
    reply: str | None = None
    reply_known: bool = False
    end_state: Any = ABSENT
    only_one_call_known: bool = False  # the others were not kept: only that call's own faults can be judged
    unavailable_cycle: int | None = None  # of the first result that was not served; what follows is doubtful


def outcome_of_result(tool: str, *, error: bool | None, result: Any = ABSENT) -> Outcome:
    """Return the outcome of a call by the rule of `outcomes`; *error* None where no flag was kept.

    A result without a flag counts as no failure, since a case marks those that were. A flag without a result
    is believed.

    >>> outcome_of_result("pay", error=False, result={"ok": False}), outcome_of_result("pay", error=None)
    ('soft_error', 'unknown')
    """
    if result is ABSENT:
        return "unknown" if error is None else "error" if error else "ok"
    fields = _top_level(result)
    looked_at = {name: _plain(fields[name]) for name in fields_looked_at() if name in fields}
    outcome, _ = decide(Signals(tool_name=tool, is_error=bool(error), fields=looked_at))
    return outcome


def recorded_calls(calls: Sequence[Mapping[str, Any]], *, as_wanted: bool = False) -> tuple[MadeCall, ...]:
    """Return the calls of a case's list; *as_wanted* where a person wrote what should have been done.

    Calls of one ``cycle`` that follow each other are a round, and a call without one is a round of its own.
    What a person wrote was never carried out, so that a result it does not name speaks neither way.
    """
    made: list[MadeCall] = []
    before: Any = ABSENT
    number = -1
    for call in calls:
        cycle = call.get("cycle", ABSENT)
        if cycle is ABSENT or before is ABSENT or cycle != before:
            number += 1
        before = cycle
        error = call.get("error")
        if as_wanted and error is None:
            error = False
        outcome = outcome_of_result(call["tool"], error=error, result=call.get("result", ABSENT))
        made.append(MadeCall(tool=call["tool"], args=call.get("args", ABSENT), outcome=outcome, cycle=number))
    return tuple(made)


def _top_level(result: Any) -> Mapping[str, Any]:
    """Return the object that a result is, or that its text holds one level down."""
    if isinstance(result, str) and result.lstrip(" \t\r\n").startswith("{"):
        try:
            result = parse(result)
        except JsonTextError:
            return {}
    return result if isinstance(result, Mapping) else {}


def _plain(value: Any) -> Any:
    """Return *value* with its number, if it is one, as a float: its size and sign are all that matters."""
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return 1.0
    return value
