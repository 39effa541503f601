"""Rates and label shares for all calls that a queue was drawn from, beside what the reviews say as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from quality_lab.answers import Answer
from quality_lab.errors import UsageError
from quality_lab.labels import FIVE
from quality_lab.metrics.asking import Asks, together
from quality_lab.metrics.queue_lines import QueueLine, disjoint
from quality_lab.metrics.weighted_cells import (
    Cell,
    Counted,
    StratumShare,
    shares_of,
    strata_of,
    weighted_cells,
)
from quality_lab.sampling import DISPUTED
from quality_lab.strata import WeightedRate, unseen, weighted_rate

ALL_TOOLS = "all tools"
_LABELS: tuple[Counted, ...] = (*FIVE, "disputed")
_WEIGHTED = {"unit": "share", "interval": ("weighted_low", "weighted_high")}


@dataclass(frozen=True, kw_only=True, slots=True)
class WeightedTool:
    """A tool, what its reviewed calls are judged to be, and what that says of all its calls."""

    tool_name: str
    calls: int = field(metadata={"help": "calls that the queue was drawn from, or that were known before"})
    reviewed: int = field(metadata={"help": "of them, drawn and labelled, or labelled before"})
    failures: int = field(metadata={"help": "of the reviewed, judged wrong_tool or bad_args"})
    raw_rate: float | None = field(
        metadata={"unit": "share", "help": "failures / reviewed: what was drawn more often weighs more"}
    )
    weighted_rate: float | None = field(
        metadata={**_WEIGHTED, "help": "judged failure rate of all its calls: each stratum by its calls"}
    )
    weighted_low: float | None = field(metadata={"unit": "share", "help": "lower 95 % bound"})
    weighted_high: float | None = field(metadata={"unit": "share", "help": "upper 95 % bound"})
    not_reviewed: int = field(metadata={"help": "drawn calls that nobody has labelled yet"})
    reason: str | None = field(metadata={"help": "why there is no weighted rate"})
    strata: tuple[StratumShare, ...] = field(metadata={"compact": False})


@dataclass(frozen=True, kw_only=True, slots=True)
class WeightedLabel:
    """A label, on how many reviewed calls it stands, and on what share of all calls that says it would."""

    label: str
    calls: int = field(metadata={"help": "reviewed calls on which such a label stands now"})
    reviewed_calls: int
    raw_share: float | None = field(metadata={"unit": "share", "help": "calls of the reviewed calls"})
    weighted_share: float | None = field(
        metadata={**_WEIGHTED, "help": "of all calls; shares may add up to over 1"}
    )
    weighted_low: float | None = field(metadata={"unit": "share", "help": "lower 95 % bound"})
    weighted_high: float | None = field(metadata={"unit": "share", "help": "upper 95 % bound"})
    all_calls: int = field(metadata={"help": "calls that the queue was drawn from, or known before"})
    reason: str | None = field(metadata={"help": "why there is no weighted share"})
    strata: tuple[StratumShare, ...] = field(metadata={"compact": False})


def queue_to_weigh(store: Asks, *, queues: Sequence[QueueLine]) -> QueueLine:
    """Return the first of *queues* of which each stratum has a review, else the first."""
    with together(store):
        for queue in queues:
            if weighted_rate(strata_of(weighted_cells(store, queue=queue), "failures")) is not None:
                return queue
    return queues[0]


def weighted_failing_tools(
    store: Asks, *, queues: Sequence[QueueLine], top: int | None = 25
) -> Answer[WeightedTool]:
    """Return the judged failure rate of all calls: of all tools first, then of the *top* tools, worst first.

    It speaks for every call that the *queues* could have drawn and for those that were labelled before. Tools
    come by their lower bound; a tool with calls in a stratum of which nobody has reviewed any has no rate, and
    its reason names the stratum.

    Raises: UsageError where a call may have been in the frames of two queues.
    """
    _check(queues)
    with together(store):
        cells = [cell for queue in queues for cell in weighted_cells(store, queue=queue)]
    tools = sorted({cell.sums.tool_name for cell in cells})
    rows = [_tool(name, [cell for cell in cells if cell.sums.tool_name == name]) for name in tools]
    rows.sort(key=lambda row: (row.weighted_low is None, -(row.weighted_low or 0), -row.calls, row.tool_name))
    shown = rows if top is None else rows[:top]
    return Answer(
        [_tool(ALL_TOOLS, cells), *shown],
        WeightedTool,
        title="Judged failure rate of all calls",
        notes=_notes(queues, cells),
        more=len(rows) - len(shown),
    )


def weighted_labels(store: Asks, *, queues: Sequence[QueueLine]) -> Answer[WeightedLabel]:
    """Return the five labels in their order, then "disputed", each with its share of all calls.

    It speaks for the same calls as `weighted_failing_tools`.

    Raises: UsageError where a call may have been in the frames of two queues.
    """
    _check(queues)
    with together(store):
        cells = [cell for queue in queues for cell in weighted_cells(store, queue=queue)]
    rows = []
    for label in _LABELS:
        strata = strata_of(cells, label)
        found = weighted_rate(strata)
        hits, reviewed = sum(one.hits for one in strata), sum(one.reviewed for one in strata)
        rows.append(
            WeightedLabel(
                label=label,
                calls=hits,
                reviewed_calls=reviewed,
                raw_share=hits / reviewed if reviewed else None,
                weighted_share=found.value if found else None,
                weighted_low=found.low if found else None,
                weighted_high=found.high if found else None,
                all_calls=sum(one.calls for one in strata),
                reason=_reason(cells, found),
                strata=shares_of(cells, label),
            )
        )
    return Answer(rows, WeightedLabel, title="Labels of all calls", notes=_notes(queues, cells))


def _tool(name: str, cells: Sequence[Cell]) -> WeightedTool:
    strata = strata_of(cells, "failures")
    found = weighted_rate(strata)
    hits, reviewed = sum(one.hits for one in strata), sum(one.reviewed for one in strata)
    return WeightedTool(
        tool_name=name,
        calls=sum(one.calls for one in strata),
        reviewed=reviewed,
        failures=hits,
        raw_rate=hits / reviewed if reviewed else None,
        weighted_rate=found.value if found else None,
        weighted_low=found.low if found else None,
        weighted_high=found.high if found else None,
        not_reviewed=_not_reviewed(cells),
        reason=_reason(cells, found),
        strata=shares_of(cells, "failures"),
    )


def _not_reviewed(cells: Sequence[Cell]) -> int:
    return sum(cell.sums.drawn - cell.sums.reviewed for cell in cells)


def _reason(cells: Sequence[Cell], found: WeightedRate | None) -> str | None:
    if found is not None:
        return None
    names = dict.fromkeys(unseen(strata_of(cells, "failures")))
    return f"none_reviewed: {', '.join(names)}" if names else "no_calls"


def _check(queues: Sequence[QueueLine]) -> None:
    """Refuse queues that may have drawn from the same calls: those would count twice."""
    for one, other in combinations(queues, 2):
        if not disjoint(one, other):
            raise UsageError(
                f"queues {one.key[:8]} and {other.key[:8]} may have drawn from the same calls, which would count "
                "twice; wanted queues of different times, tools, sources or tenants"
            )


def _notes(queues: Sequence[QueueLine], cells: Sequence[Cell]) -> list[str]:
    notes = []
    for queue in queues:
        mine = [cell for cell in cells if cell.queue == queue.key]
        drawn = sum(cell.sums.drawn for cell in mine if not cell.known)
        reviewed = sum(cell.sums.reviewed for cell in mine if not cell.known)
        known = sum(cell.sums.reviewed for cell in mine if cell.known)
        when = "" if queue.drawn_at is None else f" of {queue.drawn_at:%Y-%m-%d}"
        calls = sum(one.calls for one in strata_of(mine, "failures"))
        _, again = queue.drawn_of().get(DISPUTED, (0, 0))
        disputes = (
            f"; {again} more of the {queue.drawn:,} drawn {'is a dispute' if again == 1 else 'are disputes'}, "
            "labelled before the draw and counted there"
            if again
            else ""
        )
        notes.append(
            f"for the {calls:,} calls of queue {queue.key[:8]}{when} ({queue.strategy}, seed {queue.seed}): "
            f"{reviewed} of {drawn} drawn calls are reviewed, {known} were known before{disputes}"
        )
    late = sum(max(0, cell.sums.reviewed - cell.calls) for cell in cells if cell.known)
    if late:
        notes.append(
            f"late_labels: {late} labels from before the draw came in after it; their calls count once"
        )
    if missing := _not_reviewed(cells):
        notes.append(
            f"not_reviewed: for {missing} drawn calls the reviewed ones of their stratum stand; "
            "that is fair as long as nobody chose which to leave out"
        )
    return notes
