"""What is wrong with a tool, by rule and in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One broken rule of one tool."""

    rule: str  # a short name that does not change, for machines
    message: str  # what was wanted and what came, for people


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCheck:
    """One tool and every rule that it breaks."""

    tool: str
    problems: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        """Return whether no rule is broken."""
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        """Return the check as `quality-lab tools check --json` prints it."""
        told = [{"rule": problem.rule, "message": problem.message} for problem in self.problems]
        return {"tool": self.tool, "ok": self.ok, "problems": told}


def check(tool: str, problems: Iterable[Problem]) -> ToolCheck:
    """Return the check of one tool."""
    return ToolCheck(tool=tool, problems=tuple(problems))
