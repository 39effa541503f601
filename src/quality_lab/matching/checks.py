"""What a verdict is made of: checks, each with what failed or why it could not decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

VerdictName = Literal["PASS", "FAIL", "INCONCLUSIVE", "ERROR"]
CheckName = Literal[
    "shape", "forbidden", "counts", "calls", "reply", "end_state", "tape", "contract", "judge"
]
Status = Literal["pass", "fail", "undecided", "error"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """One thing that is not as it should be."""

    step: int | None  # position of the made call, from 0; None where no call is meant
    rule: str  # "calls[0]", "forbidden[1]", "max_calls", … and the rule inside it: "calls[0] $regex"
    path: str  # "args.amount", "tool", "outcome", "order", "reply", …
    expected: str
    got: str

    def __str__(self) -> str:
        where = "" if self.step is None else f"call {self.step + 1}, "
        return f"{where}{self.rule}, {self.path}: expected {self.expected}; got {self.got}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One of the things that are checked, and what came of it."""

    name: CheckName
    status: Status
    failures: tuple[Failure, ...] = ()
    reason: str | None = None  # where it is undecided, or an error: a code, then words after ": "

    def as_json(self) -> dict[str, Any]:
        """Return the check as JSON has it."""
        return {
            "name": self.name,
            "status": self.status,
            "reason": self.reason,
            "failures": [asdict(failure) for failure in self.failures],
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """A verdict, why, and every check behind it."""

    verdict: VerdictName
    reason: str
    checks: tuple[Check, ...]


def verdict_of(checks: Sequence[Check], *, nothing: str) -> Judgement:
    """Return the verdict that *checks* add up to; *nothing* is the reason where there is none.

    What fails counts above all but an error, and what is undecided keeps the rest from passing.
    """
    for status, verdict in (("error", "ERROR"), ("fail", "FAIL"), ("undecided", "INCONCLUSIVE")):
        found = [check for check in checks if check.status == status]
        if found:
            first = found[0]
            reason = first.reason or (str(first.failures[0]) if first.failures else first.name)
            return Judgement(verdict=verdict, reason=reason, checks=tuple(checks))  # type: ignore[arg-type]  # the three above
    if checks:
        return Judgement(verdict="PASS", reason="every check passed", checks=tuple(checks))
    return Judgement(verdict="INCONCLUSIVE", reason=nothing, checks=())
