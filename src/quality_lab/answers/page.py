"""An answer as escaped HTML: a compact table without script or outside file, at home in light and in dark."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from quality_lab.answers.choosing import fitting, shown_columns, unsaid
from quality_lab.answers.columns import Column
from quality_lab.answers.harmless import visible
from quality_lab.answers.words import count_words, heading, interval_words, words

if TYPE_CHECKING:
    from quality_lab.answers.answer import Answer

_SHORT = 28  # characters that stand on one line
_MOST = 60  # characters of a cell; the whole text is its hover text
_MOST_HOVER = 4000

_GAP = 2
_WIDTH = 148  # characters in the width of a notebook on a screen of 1,280 px
_SHARE = 13  # characters of an interval below its rate

STYLE = """
.ql-answer{font-size:13px;line-height:1.45;max-width:100%;
  --ql-ground:var(--jp-layout-color0,var(--vscode-editor-background,var(--ql-page,Canvas)));
  --ql-bar:var(--ql-accent,#2a78c8)}
.ql-answer .ql-title{font-weight:600;margin:0 0 .3em}
.ql-answer .ql-scroll{max-height:40em;overflow:auto}
.ql-answer table{border-collapse:separate;border-spacing:0;margin:0;width:auto}
.ql-answer th{position:sticky;top:0;background:var(--ql-ground);vertical-align:bottom;font-weight:600;
  border-bottom:1px solid color-mix(in srgb,currentColor 35%,transparent);z-index:1}
.ql-answer table th,.ql-answer table td{padding:.25em .55em;text-align:left;color:inherit}
.ql-answer td{border-bottom:1px solid color-mix(in srgb,currentColor 12%,transparent);vertical-align:top;
  background:none;max-width:22em;overflow-wrap:break-word}
.ql-answer table .ql-n{text-align:right;font-variant-numeric:tabular-nums}
.ql-answer td.ql-n,.ql-answer .ql-one{white-space:nowrap}
.ql-answer .ql-json{font-family:ui-monospace,monospace;font-size:12px;overflow-wrap:anywhere;min-width:14em}
.ql-answer .ql-i{display:block;opacity:.75;font-size:12px}
.ql-answer .ql-rate{display:block;position:relative;height:4px;margin-top:2px;min-width:5em;
  background:color-mix(in srgb,currentColor 10%,transparent)}
.ql-answer .ql-rate span{position:absolute;top:0;height:4px}
.ql-answer .ql-bar{left:0;background:var(--ql-bar)}
.ql-answer .ql-rate .ql-span{top:-2px;height:8px;box-sizing:border-box;border:solid currentColor;
  border-width:0 1px;opacity:.7}
.ql-answer .ql-rate .ql-span::before{content:"";position:absolute;left:0;right:0;top:3.5px;height:1px;
  background:currentColor}
.ql-answer p{margin:.3em 0 0;opacity:.8;max-width:64em}
""".strip()


def html_table(answer: Answer[Any], *, max_rows: int, style: bool = True) -> str:
    """Return title, table and notes as HTML; *style* False leaves the style sheet to the page around it."""
    rows = answer.rows[:max_rows]
    columns, blank = shown_columns(answer.columns, rows)
    least = {column.name: _least(column, rows) for column in columns}
    columns, dropped = fitting(columns, least, gap=_GAP, width=_WIDTH)
    body = "".join(f"<tr>{''.join(_cell(row, column) for column in columns)}</tr>" for row in rows)
    head = "".join(_head(column) for column in columns)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    shown = f'<div class="ql-scroll" tabindex="0">{table}</div>' if rows else "<p>No rows.</p>"
    has_times = any(column.shape.kind == "time" for column in columns)
    tail = [
        count_words(len(rows), len(answer.rows), answer.more),
        *(unsaid(blank, dropped) if rows else ()),
        "Times are UTC." if rows and has_times else "",
        *answer.notes,
    ]
    paragraphs = "".join(f"<p>{text(line)}</p>" for line in tail if line)
    sheet = f"<style>{STYLE}</style>" if style else ""
    title = f'<div class="ql-title">{text(answer.title)}</div>'
    return f'<div class="ql-answer">{sheet}{title}{shown}{paragraphs}</div>'


def text(value: str, *, keep: str = "") -> str:
    """Return text from anywhere as HTML that shows it, and does nothing else."""
    return escape(visible(value, keep=keep), quote=True)


def _least(column: Column, rows: Sequence[Any]) -> int:
    """Return about how many characters wide a column will be."""
    head = max(map(len, heading(column).split(" ")))
    if column.unit == "share" or column.interval:
        return max(head, _SHARE)
    longest = max((len(words(getattr(row, column.name), column)) for row in rows), default=0)
    return max(head, min(longest, _SHORT))


def _head(column: Column) -> str:
    hover = f' title="{text(column.help)}"' if column.help else ""
    numeric = ' class="ql-n"' if column.is_number else ""
    return f'<th scope="col"{numeric}{hover}>{text(heading(column))}</th>'


def _cell(row: Any, column: Column) -> str:
    value = getattr(row, column.name)
    whole = words(value, column)
    if column.is_number:
        beside = ""
        if value is not None:
            beside = _interval(row, column)
            beside += _bar(row, value, column) if column.unit == "share" else ""
        return f'<td class="ql-n">{text(whole)}{beside}</td>'
    said = value if column.unit == "uid" and value else whole
    short = f"{whole}…" if column.unit == "uid" and value else whole
    if len(whole) > _MOST or column.unit == "path" and len(whole) > _SHORT:
        short = f"…{whole[-_SHORT:]}" if column.unit == "path" else f"{whole[:_MOST]}…"
    hover = f' title="{text(said[:_MOST_HOVER])}"' if short != said else ""
    kind = "ql-json" if column.unit == "json" else "ql-one" if len(short) <= _SHORT + 1 else ""
    css = f' class="{kind}"' if kind else ""
    return f"<td{css}{hover}>{text(short)}</td>"


def _bounds(row: Any, column: Column) -> tuple[float, float] | None:
    if column.interval is None:
        return None
    low, high = (getattr(row, name) for name in column.interval)
    return None if low is None or high is None else (low, high)


def _interval(row: Any, column: Column) -> str:
    bounds = _bounds(row, column)
    return f'<span class="ql-i"> ({interval_words(*bounds, column)})</span>' if bounds else ""


def _bar(row: Any, value: float, column: Column) -> str:
    bounds, whisker = _bounds(row, column), ""
    if bounds:
        low, high = bounds
        whisker = f'<span class="ql-span" style="left:{_at(low)};width:{_at(high - low)}"></span>'
    bar = f'<span class="ql-bar" style="width:{_at(value)}"></span>'
    return f'<span class="ql-rate">{bar}{whisker}</span>'


def _at(share: float) -> str:
    return f"{min(max(share, 0.0), 1.0) * 100:.1f}%"
