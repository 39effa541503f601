"""The labelled calls behind proposals, with what was given to them and what came back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from quality_lab.labels import FIVE
from quality_lab.metrics.asking import Asks, put_among
from quality_lab.metrics.filters import Filters

MOST_OF_A_KIND = 20  # newest labels of one kind on one tool and source that are looked at
_BETWEEN = "\x1f"


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """A label that stands on a call, and the call; of a call that is not here the label alone."""

    group_key: str
    age: int  # 1 is the newest of its kind
    tenant: str
    tool_name: str
    source: str | None
    label: str
    feedback_uid: str
    call_uid: str
    author: str | None
    note: str | None
    labelled_at: datetime | None
    expected_tool: str | None
    expected_arguments: str | None
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
    store: Asks, *, filters: Filters, groups: Collection[tuple[str, str, str | None, str]]
) -> list[Evidence]:
    """Return the newest labels of the given tenants, tools, sources and labels, newest first.

    A group of bad_args brings along the other labels on its tool and source, for comparison.
    """
    if not groups:
        return []
    keys = {
        _BETWEEN.join((tenant, tool, source or "", each))
        for tenant, tool, source, label in groups
        for each in (FIVE if label == "bad_args" else (label,))
    }
    rows = put_among(
        store,
        Evidence,
        "evidence",
        filters,
        column="group_key",
        among=keys,
        time="label",
        room=__package__,
        most=MOST_OF_A_KIND,
        joins_calls=True,
    )
    return sorted(rows, key=lambda row: (row.age, row.feedback_uid))
