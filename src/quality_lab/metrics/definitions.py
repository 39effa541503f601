"""How the tools that were offered changed, and how calls fared under each definition."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby, pairwise

from quality_lab.answers import Answer
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.definition_changes import changes
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.rates import rate_of
from quality_lab.metrics.undated import undated_notes

_EVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class DefinitionSums:
    """A row of the query; the sums are those of `intervals.Sums`."""

    tool_name: str
    digest: str
    description: str | None
    parameters: str | None
    first_at: datetime | None
    last_at: datetime | None
    calls: int
    error_n: int
    error_y: int
    error_conversations: int
    error_yy: int
    error_ym: int
    error_mm: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """A tool as it was offered, and what changed against the definition of that name before it."""

    tool_name: str
    digest: str = field(metadata={"help": "of name, description and schema"})
    first_at: datetime | None = field(metadata={"help": "first seen"})
    last_at: datetime | None = field(metadata={"help": "last seen"})
    calls: int = field(metadata={"help": "calls made under it"})
    error_rate: float | None = field(
        metadata={"unit": "share", "help": "(errors + soft_errors) / (calls - unknown - rejected)"}
    )
    low: float | None = field(metadata={"unit": "share", "help": "lower 95 % bound"})
    high: float | None = field(metadata={"unit": "share", "help": "upper 95 % bound"})
    change: tuple[str, ...] = field(
        metadata={"help": "against the one before; empty for the first, and if undated"}
    )
    flags: tuple[str, ...] = field(metadata={"help": "why a rate is missing or rough"})
    description: str | None = field(metadata={"compact": False})
    parameters: str | None = field(metadata={"compact": False, "unit": "json", "help": "JSON Schema"})


def definitions(store: Asks, *, filters: Filters = EVERYTHING) -> Answer[Definition]:
    """Return the definitions of every tool by name, oldest first, each with what changed against the one
    before it.

    Definitions that nobody called are there too, unless filters or a window pick calls.
    """
    sums = put(store, DefinitionSums, "definitions", filters)
    sums.sort(key=lambda row: (row.tool_name, row.first_at is None, row.first_at or _EVER, row.digest))
    rows = []
    for _, of_tool in groupby(sums, key=lambda row: row.tool_name):
        several = list(of_tool)
        rows.append(_definition(several[0], ()))
        for before, after in pairwise(several):
            dated = before.first_at is not None and after.first_at is not None
            rows.append(_definition(after, changes(before, after) if dated else ()))
    notes = undated_notes(store, filters, time="call")
    return Answer(rows, Definition, title="Tool definitions", notes=notes)


def _definition(row: DefinitionSums, change: tuple[str, ...]) -> Definition:
    error = rate_of(row, "error")
    flags = ["outcomes_unknown"] if row.calls and error is None else []
    if error is not None and error.few:
        flags.append("few_conversations")
    return Definition(
        tool_name=row.tool_name,
        digest=row.digest,
        first_at=row.first_at,
        last_at=row.last_at,
        calls=row.calls,
        error_rate=error.value if error else None,
        low=error.low if error else None,
        high=error.high if error else None,
        change=change,
        flags=tuple(flags),
        description=row.description,
        parameters=row.parameters,
    )
