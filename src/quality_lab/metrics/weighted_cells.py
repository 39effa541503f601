"""What the reviews of a queue say, by stratum and tool, beside how many calls each of them stands for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from typing import Literal

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.queue_lines import QueueLine
from quality_lab.sampling import DISPUTED, REVIEWED
from quality_lab.strata import Stratum

Counted = Literal["failures", "good_reply", "wrong_tool", "missing_tool", "bad_args", "other", "disputed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CellSums:
    """A row of the query."""

    tool_name: str
    stratum: str
    drawn: int
    reviewed: int
    failures: int
    good_reply: int
    wrong_tool: int
    missing_tool: int
    bad_args: int
    other: int
    disputed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """A tool within a stratum: what was drawn of it, and the calls that this stands for."""

    queue: str  # key of its queue
    calls: int  # when the queue was drawn
    sums: CellSums

    @property
    def known(self) -> bool:
        """Say whether its calls were known before the draw."""
        return self.sums.stratum == REVIEWED


@dataclass(frozen=True, kw_only=True, slots=True)
class StratumShare:
    """What a weighted rate takes from one stratum."""

    queue: str
    stratum: str = field(metadata={"help": "reviewed: known before the draw"})
    calls: int = field(metadata={"help": "of the stratum when the queue was drawn"})
    drawn: int
    reviewed: int = field(metadata={"help": "of the drawn calls"})
    hits: int = field(metadata={"help": "of the reviewed calls"})


def weighted_cells(store: Asks, *, queue: QueueLine) -> list[Cell]:
    """Return each tool within each stratum of a queue, by stratum and tool.

    The sizes are those of the draw. Calls that were labelled before it are a stratum of their own, of which
    everything is known; a dispute that was drawn to be settled is one of them. What people label without
    having been asked stands in no cell: no chance chose it. A drawn call that is not reviewed is counted and
    left out: the reviewed calls of its cell stand for it.
    """
    drawn_at = None if queue.drawn_at is None else queue.drawn_at.astimezone(UTC).replace(tzinfo=None)
    rows = put(store, CellSums, "weighted_cells", queue.asked(), queue=queue.key, drawn_at=drawn_at)
    sums = {(row.stratum, row.tool_name): row for row in rows}
    calls: dict[tuple[str, str], int] = defaultdict(int)
    for cell in queue.cells():
        calls[REVIEWED if cell.stratum == DISPUTED else cell.stratum, cell.tool_name] += cell.calls
    return [
        Cell(queue=queue.key, calls=calls.get(key, 0), sums=sums.get(key) or _nothing(*key))
        for key in sorted(calls.keys() | sums.keys())
    ]


def strata_of(cells: Iterable[Cell], counted: Counted) -> list[Stratum]:
    """Return the strata that *cells* make up, in order, with how many reviewed calls are so *counted*.

    Each stratum of each queue is one. Labels from before a draw that came in after it make none larger than
    it was.
    """
    found = []
    for _, stratum, of in _by_stratum(cells):
        calls = sum(cell.calls for cell in of)
        reviewed = sum(cell.sums.reviewed for cell in of)
        hits: int = sum(getattr(cell.sums, counted) for cell in of)
        if reviewed > calls:
            reviewed, hits = calls, round(hits * calls / reviewed)
        found.append(Stratum(name=stratum, calls=calls, reviewed=reviewed, hits=hits))
    return found


def shares_of(cells: Sequence[Cell], counted: Counted) -> tuple[StratumShare, ...]:
    """Return the same strata as a row of an answer shows them."""
    return tuple(
        StratumShare(
            queue=queue,
            stratum=one.name,
            calls=one.calls,
            drawn=sum(cell.sums.drawn for cell in of),
            reviewed=one.reviewed,
            hits=one.hits,
        )
        for (queue, _, of), one in zip(_by_stratum(cells), strata_of(cells, counted), strict=True)
    )


def _by_stratum(cells: Iterable[Cell]) -> list[tuple[str, str, list[Cell]]]:
    several: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        several[cell.queue, cell.sums.stratum].append(cell)
    return [(queue, stratum, of) for (queue, stratum), of in several.items()]


def _nothing(stratum: str, tool_name: str) -> CellSums:
    return CellSums(
        tool_name=tool_name,
        stratum=stratum,
        drawn=0,
        reviewed=0,
        failures=0,
        good_reply=0,
        wrong_tool=0,
        missing_tool=0,
        bad_args=0,
        other=0,
        disputed=0,
    )
