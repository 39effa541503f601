"""An answer as a plain table for terminals: no escape sequence of a trace ever gets through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from quality_lab.answers.choosing import fitting, shown_columns, unsaid
from quality_lab.answers.columns import Column
from quality_lab.answers.harmless import visible
from quality_lab.answers.words import UNKNOWN, count_words, heading, interval_words, words

if TYPE_CHECKING:
    from quality_lab.answers.answer import Answer

_MOST = 48  # characters of one cell, before anything has to give way
_LEAST = 12
_LEAST_FIRST = 30  # the first column names the row, so it gives way last


def cell(row: Any, column: Column) -> str:
    """Return the words of one cell, a rate followed by its interval."""
    value = getattr(row, column.name)
    text = visible(words(value, column))
    if value is None or column.interval is None:
        return text
    low, high = (getattr(row, name) for name in column.interval)
    return text if low is None or high is None else f"{text} ({interval_words(low, high, column)})"


def text_table(answer: Answer[Any], *, width: int, max_rows: int | None) -> str:
    """Return title, table and notes; what does not fit in *width* is cut with `…` or named as left out."""
    rows = answer.rows[:max_rows]
    columns, blank = shown_columns(answer.columns, rows)
    cells = {column.name: [cell(row, column) for row in rows] for column in columns}
    first = columns[0]
    least = {column.name: _least(column, cells[column.name], first=column is first) for column in columns}
    columns, dropped = fitting(columns, least, gap=2, width=width)
    lines = [visible(answer.title)]
    if rows:
        widths = {column.name: _widths(column, cells[column.name]) for column in columns}
        _squeeze(widths, columns, width)
        _stretch(widths, columns, cells, width)
        lines += _rows(columns, cells, widths, len(rows))
    else:
        lines.append("No rows.")
    tail = [count_words(len(rows), len(answer.rows), answer.more)]
    tail += unsaid(blank, dropped) if rows else []
    lines += [line for line in tail if line] + [visible(note) for note in answer.notes]
    return "\n".join(lines)


def _widths(column: Column, texts: Sequence[str]) -> int:
    longest_word = max(len(word) for word in heading(column).split(" "))
    return max(longest_word, min(_MOST, max((len(text) for text in texts), default=0)))


def _least(column: Column, texts: Sequence[str], *, first: bool) -> int:
    full = _widths(column, texts)
    rigid = column.is_number or column.unit == "time"
    return full if rigid else min(full, _LEAST_FIRST if first else _LEAST)


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
