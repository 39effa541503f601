"""What is wrong with a tool, by rule and in words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One broken rule of one tool."""

    rule: str  # a short name that does not change, for machines
    message: str  # what was wanted and what came, for people
