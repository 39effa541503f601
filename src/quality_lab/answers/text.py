"""An answer as a plain table for terminals: no escape sequence of a trace ever gets through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from quality_lab.answers.columns import Column
from quality_lab.answers.visible import visible
from quality_lab.answers.words import UNKNOWN, count_words, heading, percent_range, words

if TYPE_CHECKING:
    from quality_lab.answers.answer import Answer

_MOST = 48  # characters of one cell, before anything has to give way
_LEAST = 12
_LEAST_FIRST = 30  # the first column names the row, so it gives way last
_NEXT_TO_RATES = ("calls", "rows", "reviewed", "flags", "reason")


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


def cell(row: Any, column: Column) -> str:
    """Return the words of one cell, a rate followed by its interval."""
    value = getattr(row, column.name)
    text = visible(words(value, column))
    if value is None or column.interval is None:
        return text
    low, high = (getattr(row, name) for name in column.interval)
    return text if low is None or high is None else f"{text} ({percent_range(low, high)})"


def left_out_words(blank: Sequence[Column]) -> str:
    """Return the sentence on columns left out for having nothing to say, or an empty text."""
    return f"All 0, unknown or empty: {', '.join(heading(column) for column in blank)}." if blank else ""


def text_table(answer: Answer[Any], *, width: int, max_rows: int | None) -> str:
    """Return title, table and notes; what does not fit in *width* is cut with `…` or named as left out."""
    rows = answer.rows[:max_rows]
    columns, blank = shown_columns(answer.columns, rows)
    cells = {column.name: [cell(row, column) for row in rows] for column in columns}
    columns, dropped = _fit(columns, cells, width)
    lines = [visible(answer.title)]
    if rows:
        widths = {column.name: _widths(column, cells[column.name]) for column in columns}
        _squeeze(widths, columns, width)
        _stretch(widths, columns, cells, width)
        lines += _rows(columns, cells, widths, len(rows))
    else:
        lines.append("No rows.")
    tail = [count_words(len(rows), len(answer.rows), answer.more), left_out_words(blank)]
    if dropped and rows:
        tail.append(f"No room for: {', '.join(heading(column) for column in dropped)}.")
    lines += [line for line in tail if line] + [visible(note) for note in answer.notes]
    return "\n".join(lines)


def _widths(column: Column, texts: Sequence[str]) -> int:
    longest_word = max(len(word) for word in heading(column).split(" "))
    return max(longest_word, min(_MOST, max((len(text) for text in texts), default=0)))


def _fit(
    columns: Sequence[Column], cells: dict[str, list[str]], width: int
) -> tuple[list[Column], list[Column]]:
    """Return the columns that fit, at their narrowest, and those that do not, both in their order.

    What names the row comes first, then rates, what they rest on and what is said of them, then the rest.
    """
    used = 0
    fitting: set[str] = set()
    for column in sorted(
        columns, key=lambda column: _rank(column, columns[0])
    ):  # stable: in order within a rank
        full = _widths(column, cells[column.name])
        rigid = column.is_number or column.unit == "time"
        least = full if rigid else min(full, _LEAST if fitting else _LEAST_FIRST)
        if fitting and used + 2 + least > width:
            continue
        used += least + (2 if fitting else 0)
        fitting.add(column.name)
    return (
        [column for column in columns if column.name in fitting],
        [column for column in columns if column.name not in fitting],
    )


def _rank(column: Column, first: Column) -> int:
    if column is first:
        return 0
    if column.interval:
        return 1
    return 2 if column.name in _NEXT_TO_RATES else 3


def _squeeze(widths: dict[str, int], columns: Sequence[Column], width: int) -> None:
    """Take room from the widest text columns until a line fits."""
    texts = [column.name for column in columns if not column.is_number and column.unit != "time"]
    spare = {columns[0].name: _LEAST_FIRST - _LEAST}
    while sum(widths.values()) + 2 * (len(widths) - 1) > width:
        widest = max(texts, key=lambda name: widths[name] - spare.get(name, 0), default=None)
        if widest is None or widths[widest] - spare.get(widest, 0) <= _LEAST:
            return  # only figures are left: better a long line than a cut number
        widths[widest] -= 1


def _stretch(
    widths: dict[str, int], columns: Sequence[Column], cells: dict[str, list[str]], width: int
) -> None:
    """Give the room that is left to text that was cut."""
    spare = width - sum(widths.values()) - 2 * (len(widths) - 1)
    for column in columns:
        more = max(map(len, cells[column.name])) - widths[column.name]
        taken = max(0, min(spare, more))
        widths[column.name] += taken
        spare -= taken


def _rows(
    columns: Sequence[Column], cells: dict[str, list[str]], widths: dict[str, int], count: int
) -> list[str]:
    heads = [_wrap(heading(column), widths[column.name]) for column in columns]
    height = max(len(head) for head in heads)
    padded = [[""] * (height - len(head)) + head for head in heads]
    lines = [_line(columns, [head[level] for head in padded], widths) for level in range(height)]
    lines.append("  ".join("-" * widths[column.name] for column in columns))
    for index in range(count):
        lines.append(_line(columns, [cells[column.name][index] for column in columns], widths))
    return lines


def _wrap(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for word in text.split(" "):
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _line(columns: Sequence[Column], texts: Sequence[str], widths: dict[str, int]) -> str:
    parts = []
    for column, text in zip(columns, texts, strict=True):
        room = widths[column.name]
        if len(text) > room:
            kept = max(room - 1, 1)
            text = f"…{text[-kept:]}" if column.unit == "path" else f"{text[:kept]}…"
        parts.append(text.rjust(room) if column.is_number else text.ljust(room))
    return "  ".join(parts).rstrip() or UNKNOWN
