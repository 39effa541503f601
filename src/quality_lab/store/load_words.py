"""What a load says to a person: a line a file, below it what needs a look, then the totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from quality_lab.answers.harmless import visible
from quality_lab.store.loss_rows import LossRow, in_words, loss_rows

if TYPE_CHECKING:
    from quality_lab.store.load_report import FileReport, LoadReport

_COUNTED = ("loaded", "updated", "unchanged", "merged", "rejected", "blank")
_MOST_NAMES = 8
_TOLD_BELOW = frozenset(
    ("rejected", "glued", "ends too early", "possibly truncated")
)  # in lines of their own


def load_lines(report: LoadReport) -> list[str]:
    """Return the lines that tell of *report*; control characters of file and field names show as escapes."""
    lines = [line for file in report.files for line in _file_lines(file)]
    lines.append(f"Brought {_counts(report.totals) or 'nothing new'} in {report.seconds:.2f} s.")
    lines.append(f"The lab holds {_counts(report.store) or 'nothing'}.")
    return lines


def _file_lines(file: FileReport) -> list[str]:
    name = visible(file.path)
    if file.status in ("failed", "unrecognised"):
        reason = [f"    {visible(line)}" for line in (file.reason or "").splitlines()]
        own = [f"    If it is of your own making: quality-lab load {name} --suggest-map"]
        return [f"{name}: {file.status}", *reason, *(own if file.status == "unrecognised" else [])]
    if file.format is None:
        return [f"{name}: {file.reason}"]
    counted = {word: getattr(file, word) for word in _COUNTED}
    told = ", ".join(f"{count:,} {word}" for word, count in counted.items() if count) or "nothing in it"
    lines = [f"{name}: {file.format}, {_count(file.lines, 'lines')}: {told}"]
    losses = [row for row in loss_rows([file.to_json()]) if row.kind not in _TOLD_BELOW]
    for kind, group in groupby(losses, key=lambda row: row.kind):
        lines.append(f"    {kind}: {_listed(list(group))}")
    if file.glued:
        lines.append(f"    {file.glued:,} objects shared a line with another")
    if file.truncated_input:
        lines.append("    the compressed file ends too early; the lines before the cut are loaded")
    if file.possibly_truncated:
        rows = file.lines - file.blank
        lines.append(f"    possibly truncated: an export with exactly {rows:,} rows is a full page")
    if file.rejected:
        lines.append("    why lines were rejected: quality-lab rejects")
    return lines


def _listed(rows: Sequence[LossRow]) -> str:
    shown = ", ".join(visible(in_words(row)) for row in rows[:_MOST_NAMES])
    more = len(rows) - _MOST_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown


def _counts(counts: Mapping[str, int]) -> str:
    return _joined([_count(count, name.replace("_", " ")) for name, count in counts.items() if count])


def _count(count: int, several: str) -> str:
    return f"{count:,} {several.removesuffix('s') if count == 1 else several}"


def _joined(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" and {words[-1]}" if words else ""
