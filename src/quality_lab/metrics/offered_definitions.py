"""The tools that were offered to the model in one conversation."""

from __future__ import annotations

from dataclasses import dataclass

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING


@dataclass(frozen=True, kw_only=True, slots=True)
class OfferedDefinition:
    """A row of the query."""

    name: str
    description: str | None
    parameters: str | None  # JSON Schema as JSON text
    used: bool  # a call of the conversation was made under it


def offered_definitions(store: Asks, call_uid: str) -> list[OfferedDefinition]:
    """Return the definitions offered where *call_uid* was made, one a name; none means "not captured".

    Of several under one name the one that calls were made under stands, else the one seen last.
    """
    rows = put(store, OfferedDefinition, "offered_definitions", EVERYTHING, call=call_uid)
    return sorted({row.name: row for row in rows}.values(), key=lambda row: row.name)
