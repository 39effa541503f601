"""Which tools are labelled most: upstream's ranking of "top failing tools"."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters

_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelledTool:
    """A tool name with how many labels stand on it, praise included."""

    tool_name: str
    label_rows: int
    last_at: datetime | None


def labelled_tools(store: Asks, *, filters: Filters = EVERYTHING) -> list[LabelledTool]:
    """Return tool names by labels given, most first, ties by the newest label, then by name."""
    rows = put(store, LabelledTool, "labelled_tools", filters)
    return sorted(rows, key=lambda row: (-row.label_rows, _reversed(row.last_at), row.tool_name))


def _reversed(moment: datetime | None) -> float:
    return -((moment or _NEVER) - _NEVER).total_seconds()
