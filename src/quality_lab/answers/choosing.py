"""Which columns of an answer are shown where there is not room for all, and what is said of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quality_lab.answers.columns import Column
from quality_lab.answers.words import heading

_NEXT_TO_RATES = ("calls", "rows", "reviewed", "flags", "reason", "outcome", "labels", "created_at")


def shown_columns(columns: Sequence[Column], rows: Sequence[Any]) -> tuple[list[Column], list[Column]]:
    """Return the columns to show, and those left out because every value in them is 0, unknown or empty.

    Bounds are not columns of their own where their rate is shown: they stand beside it. Columns that their
    row class calls not compact are in neither list.
    """
    bounds = {name for column in columns if column.interval for name in column.interval}
    candidates = [column for column in columns if column.compact and column.name not in bounds]
    blank = [
        column
        for column in candidates
        if rows and all(_is_nothing(getattr(row, column.name)) for row in rows)
    ]
    return [column for column in candidates if column not in blank] or candidates, blank


def _is_nothing(value: Any) -> bool:
    return value is None or value == 0 and not isinstance(value, str) or value in ("", (), [])


def fitting(
    columns: Sequence[Column], least: Mapping[str, int], *, gap: int, width: int
) -> tuple[list[Column], list[Column]]:
    """Return the columns that fit *width* at their least widths, and those that do not, both in their order.

    What names the row comes first, then rates, what they rest on and what is said of them, then the rest.
    """
    used = -gap
    chosen: set[str] = set()
    for column in sorted(
        columns, key=lambda column: _rank(column, columns[0])
    ):  # stable: in order within a rank
        if chosen and used + gap + least[column.name] > width:
            continue
        used += gap + least[column.name]
        chosen.add(column.name)
    return (
        [column for column in columns if column.name in chosen],
        [column for column in columns if column.name not in chosen],
    )


def _rank(column: Column, first: Column) -> int:
    if column is first:
        return 0
    if column.interval:
        return 1
    return 2 if column.name in _NEXT_TO_RATES else 3


def unsaid(blank: Sequence[Column], dropped: Sequence[Column]) -> list[str]:
    """Return a sentence on the columns with nothing to say, and one on those without room."""
    sentences = []
    if blank:
        sentences.append(f"All 0, unknown or empty: {', '.join(map(heading, blank))}.")
    if dropped:
        sentences.append(f"No room for: {', '.join(map(heading, dropped))}.")
    return sentences
