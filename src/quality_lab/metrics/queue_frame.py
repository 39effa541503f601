"""What a queue is drawn from, counted by stratum and tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import Filters
from quality_lab.sampling import DISPUTED, PREFERRED, REST, REVIEWED, Strategy, rare_tools


@dataclass(frozen=True, kw_only=True, slots=True)
class FrameCell:
    """The calls of one tool in one stratum."""

    tool_name: str
    stratum: str  # REVIEWED for those that were known before
    calls: int


def queue_frame(
    store: Asks, *, filters: Filters, strategy: Strategy, rare: Sequence[str] = ()
) -> list[FrameCell]:
    """Return how many calls each stratum has of each tool, calls reviewed before among them, by stratum and tool.

    The calls are those that rates count: of the agent's side, seen in a trace export, no guard rows. *rare*
    are the tools of the stratum "rare".
    """
    return put(store, FrameCell, "queue_frame", filters, **stratum_words(strategy, rare))


def rare_tools_of(cells: Sequence[FrameCell]) -> tuple[str, ...]:
    """Return the tools that count as rare among the calls that nobody has reviewed."""
    counts: dict[str, int] = {}
    for cell in cells:
        if cell.stratum not in (REVIEWED, DISPUTED):
            counts[cell.tool_name] = counts.get(cell.tool_name, 0) + cell.calls
    return rare_tools(counts)


def by_stratum(cells: Sequence[FrameCell], strategy: Strategy) -> dict[str, int]:
    """Return how many calls may be drawn from each stratum, in the order of the strategy, the rest last."""
    order = (*PREFERRED[strategy], REST)
    return {name: sum(cell.calls for cell in cells if cell.stratum == name) for name in order}


def stratum_words(strategy: Strategy, rare: Sequence[str]) -> dict[str, Any]:
    """Return the parameters that say into which strata a strategy cuts the calls."""
    preferred = PREFERRED[strategy]
    return {
        "errors": "error" in preferred,
        "disputes": DISPUTED in preferred,
        "rare_tools": list(rare) if "rare" in preferred else [],
    }
