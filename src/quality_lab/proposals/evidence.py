"""The labelled calls behind proposals, with what was given to them and what came back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import Filters

MOST_OF_A_KIND = 50  # newest labels of one kind on one tool and source that are looked at
_BETWEEN = "\x1f"


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """A label that stands on a call, and the call; of a call that is not here the label alone."""

    tenant: str
    tool_name: str
    source: str | None
    label: str
    call_uid: str
    author: str | None
    note: str | None
    labelled_at: datetime | None
    expected_tool: str | None
    expected_arguments: str | None
    age: int  # 1 is the newest of its kind
    conversation_id: str | None
    arguments: str | None
    arguments_state: str | None
    result: str | None
    outcome: str | None
    error_text: str | None
    called_at: datetime | None
    file: str | None
    line: int | None


def evidence(
    store: Asks, *, filters: Filters, pairs: Collection[tuple[str, str, str | None]]
) -> list[Evidence]:
    """Return the newest labels of each kind on the given tenants, tools and sources, newest first."""
    if not pairs:
        return []
    wanted = sorted(_BETWEEN.join((tenant, tool, source or "")) for tenant, tool, source in pairs)
    return put(
        store,
        Evidence,
        "evidence",
        filters,
        time="label",
        room=__package__,
        pairs=wanted,
        most=MOST_OF_A_KIND,
    )
