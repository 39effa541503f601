"""Upstream's feedback summary, key for key: it counts labels, never calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from quality_lab.errors import UsageError
from quality_lab.labels import FIVE
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.joined_examples import epoch_s, joined_examples

MOST_TOOLS = 25
_KEYS = {
    "good_reply": "goodReply",
    "wrong_tool": "wrongTool",
    "missing_tool": "missingTool",
    "bad_args": "badArgs",
    "other": "other",
}
_UPSTREAM_FILTERS = ("tool", "source", "label", "error", "tenant", "tz", "as_of", "author_kind")
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelTotal:
    """A row of the query."""

    tool_name: str
    source: str | None
    is_error: bool | None
    label: str
    total: int
    last_at: datetime | None


def compat_summary(store: Asks, *, filters: Filters = EVERYTHING, limit: int = 25) -> dict[str, Any]:
    """Return the summary document; *limit* bounds `recent` alone.

    byTool holds at most 25 tools, most labelled first, then by the newest label; sources with equal counts
    come in the order of their newest label, then by name.

    Raises:
        UsageError: a filter that upstream does not have, or a limit outside 1 to 200.
    """
    only_upstream_filters(filters)
    if not 1 <= limit <= 200:
        raise UsageError(f"the summary shows 1 to 200 recent labels, not {limit}")
    rows = put(store, LabelTotal, "compat_summary", filters)
    return {
        "totals": _block(rows),
        "byLabel": [_label(label, [row for row in rows if row.label == label]) for label in FIVE],
        "byTool": [
            {"toolName": name, **_block(of_name)}
            for name, of_name in _grouped(rows, lambda row: row.tool_name)[:MOST_TOOLS]
        ],
        "bySource": [
            {"source": name, **_block(of_name)} for name, of_name in _grouped(rows, lambda row: row.source)
        ],
        "byError": [
            {"error": flag, "total": _total(of_flag), "lastFeedbackAt": epoch_s(_last(of_flag))}
            for flag in (False, True)
            if (of_flag := [row for row in rows if row.is_error is flag])
        ],
        "recent": [one.document() for one in joined_examples(store, filters=filters, limit=limit)],
    }


def only_upstream_filters(filters: Filters) -> None:
    """Check that *filters* are among those that upstream has. Raises UsageError naming one that is not."""
    strange = [
        name
        for name in Filters.__dataclass_fields__
        if name not in _UPSTREAM_FILTERS and getattr(filters, name) != getattr(EVERYTHING, name)
    ]
    if strange:
        raise UsageError(f"upstream's documents know tool, source, label and error, no filter {strange[0]!r}")


def _grouped(
    rows: Iterable[LabelTotal], key: Callable[[LabelTotal], Hashable]
) -> list[tuple[Any, list[LabelTotal]]]:
    """Return the rows of each key, most labels first, then by the newest label, then by key."""
    groups: dict[Hashable, list[LabelTotal]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return sorted(
        groups.items(), key=lambda one: (-_total(one[1]), _ago(_last(one[1])), one[0] is None, one[0] or "")
    )


def _block(rows: list[LabelTotal]) -> dict[str, Any]:
    return {
        "total": _total(rows),
        **{_KEYS[label]: _total([row for row in rows if row.label == label]) for label in FIVE},
        "errorCount": _total([row for row in rows if row.is_error]),
        "lastFeedbackAt": epoch_s(_last(rows)),
    }


def _label(label: str, rows: list[LabelTotal]) -> dict[str, Any]:
    return {"label": label, "total": _total(rows), "lastFeedbackAt": epoch_s(_last(rows))}


def _total(rows: list[LabelTotal]) -> int:
    return sum(row.total for row in rows)


def _last(rows: list[LabelTotal]) -> datetime | None:
    return max((row.last_at for row in rows if row.last_at is not None), default=None)


def _ago(moment: datetime | None) -> float:
    return -((moment or _NEVER) - _NEVER).total_seconds()
