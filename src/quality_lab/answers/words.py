"""How a value reads: shares as percentages, thousands separated, three significant digits, times in UTC."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from quality_lab.answers.columns import Column, plain
from quality_lab.people import shown

UNKNOWN = "–"
UID_SHOWN = 8  # characters of a uid: enough to tell it from the others, and to ask for it by


def percent(share: float) -> str:
    """Return a share of 0 to 1 as a percentage, with a decimal only under ten.

    >>> percent(0.314), percent(0.075), percent(0.999), percent(0)
    ('31 %', '7.5 %', '99.9 %', '0 %')
    >>> percent(0.0101)
    '1 %'
    """
    value = share * 100
    near_hundred = 99 <= value < 100
    if (value < 10 or near_hundred) and value != int(value):
        return f"{f'{value:.1f}'.removesuffix('.0')} %" if value >= 0.05 else f"{value:.2g} %"
    return f"{value:.0f} %"


def percent_range(low: float, high: float) -> str:
    """Return an interval of shares, as in `22 to 42 %`."""
    return f"{percent(low).removesuffix(' %')} to {percent(high)}"


def interval_words(low: float, high: float, column: Column) -> str:
    """Return the bounds of a column's value, in the words of that column."""
    return percent_range(low, high) if column.unit == "share" else f"{number(low)} to {number(high)}"


def number(value: float) -> str:
    """Return a number with three significant digits and its thousands separated; whole numbers stay whole.

    >>> number(12345), number(3.14159), number(1234.5), number(0.00012345)
    ('12,345', '3.14', '1,234', '0.000123')
    """
    if isinstance(value, int) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def time(value: datetime) -> str:
    """Return a time in UTC, to the minute, without saying the zone again in each cell."""
    return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def words(value: Any, column: Column) -> str:
    """Return how *value* reads in a table; it may hold control characters still where it is text."""
    if value is None:
        return UNKNOWN
    if isinstance(value, datetime):
        return time(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        if column.unit == "share":
            return percent(value)
        if column.unit == "text":  # a name that is written in digits
            return str(value)
        return f"{number(value)} ms" if column.unit == "ms" else number(value)
    if isinstance(value, str):
        return value[:UID_SHOWN] if column.unit == "uid" else shown(value)
    flat = plain(value)
    if isinstance(flat, list) and all(isinstance(inner, (str, int, float)) for inner in flat):
        return ", ".join(shown(inner) if isinstance(inner, str) else str(inner) for inner in flat)
    return flat if isinstance(flat, str) else json.dumps(flat, ensure_ascii=False)


def heading(column: Column) -> str:
    """Return the column's name as words."""
    return column.name.replace("_", " ")


def count_words(shown: int, here: int, more: int) -> str:
    """Return the word on rows that are not shown, or an empty text where all are.

    >>> count_words(20, 25, 7), count_words(3, 3, 0)
    ('The first 20 of 25 rows; 7 more were not asked for.', '')
    """
    beyond = f"{more:,} more {'was' if more == 1 else 'were'} not asked for."
    if shown < here:
        first = f"The first {shown:,} of {here:,} rows"
        return f"{first}; {beyond}" if more else f"{first}."
    return f"{here:,} {'row' if here == 1 else 'rows'}; {beyond}" if more else ""
