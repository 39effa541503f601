"""The tools that were called, and how their calls spread over conversations."""

from __future__ import annotations

from dataclasses import dataclass

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters


@dataclass(frozen=True, kw_only=True, slots=True)
class CalledTool:
    """A tool's traced calls, added up."""

    tool_name: str
    calls: int
    conversations: int
    mm: int  # Σ m_c² over the m_c calls of each conversation
    states_effect: bool  # a definition says whether it reads or writes


def called_tools(store: Asks, *, filters: Filters = EVERYTHING) -> dict[str, CalledTool]:
    """Return the tools with a picked call in a trace export, by name."""
    return {row.tool_name: row for row in put(store, CalledTool, "called_tools", filters)}
