"""What got lost, or was made one, on the way from files into the lab: one row a thing, in the same words everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from quality_lab.answers import Answer

# Each dictionary of a file's report, and what it counts, in words.
KINDS = {
    "unknown_fields": "fields that nobody knows",
    "unmapped_labels": "labels that nobody knows",
    "not_understood": "not understood",
    "set_aside": "set aside",
    "merged_by": "written more than once and merged",
    "missing": "missing",
    "not_captured": "not captured",
}
_NOUNS = {"tool_calls": "tool calls", "messages": "messages"}
_STATES = {
    "arguments not_captured": "calls without arguments in the export",
    "arguments absent": "calls whose arguments are empty",
    "result not_captured": "calls without a result in the export",
    "result absent": "calls that no result came for",
    "result pending": "calls whose result was still pending",
    "result truncated": "calls whose result was cut",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class LossRow:
    """One thing that a file held and that is not in the lab as it stood there."""

    file: str = field(metadata={"unit": "path"})
    kind: str  # in words: one of `KINDS`, or a flag such as "ends too early"
    what: str  # the field, the label, the kind of record, the rule
    times: int
    before: int | None = field(default=None, metadata={"help": "written in the file"})
    after: int | None = field(default=None, metadata={"help": "what they are, once merged"})


def loss_rows(reports: Iterable[Mapping[str, Any]]) -> Iterator[LossRow]:
    """Yield what the *reports* (entries of `load --json`) tell, file by file, in the order of `KINDS`."""
    for report in reports:
        file = str(report.get("path") or "a file")
        status = report.get("status")
        if status in ("failed", "unrecognised"):
            yield LossRow(file=file, kind=str(status), what=str(report.get("reason") or ""), times=1)
            continue
        if report.get("rejected"):
            yield LossRow(
                file=file, kind="rejected", what="lines that could not be read", times=report["rejected"]
            )
        for key, kind in KINDS.items():
            for what, times in by_frequency(report.get(key) or {}):
                yield LossRow(file=file, kind=kind, what=_STATES.get(what, what), times=times)
            if key == "merged_by":
                yield from _merged_from(file, report)
        if report.get("glued"):
            yield LossRow(
                file=file, kind="glued", what="objects that shared a line with another", times=report["glued"]
            )
        if report.get("truncated_input"):
            yield LossRow(file=file, kind="ends too early", what="lines before the cut are loaded", times=1)
        if report.get("possibly_truncated"):
            what = "exactly a full page of rows, so it may have been cut at its limit"
            yield LossRow(file=file, kind="possibly truncated", what=what, times=1)


def _merged_from(file: str, report: Mapping[str, Any]) -> Iterator[LossRow]:
    for noun, counts in (report.get("merged_from") or {}).items():
        before, after = counts["before"], counts["after"]
        yield LossRow(
            file=file,
            kind=KINDS["merged_by"],
            what=f"{_NOUNS.get(noun, noun)} in all",
            times=before - after,
            before=before,
            after=after,
        )


def by_frequency(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the *counts*, most frequent first."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def in_words(row: LossRow) -> str:
    """Return what a row tells of its thing.

    >>> in_words(LossRow(file="a.jsonl", kind="missing", what="call without result", times=3))
    'call without result (3)'
    """
    if row.before is not None:
        return f"{row.before:,} {row.what.removesuffix(' in all')} written, {row.after:,} of them distinct"
    return f"{row.what} ({row.times:,})"


def loss_answer(
    reports: Iterable[Mapping[str, Any]], *, title: str = "What was not understood on load"
) -> Answer[LossRow]:
    """Return the rows as an answer that shows itself; without any row its note says that all was understood."""
    rows = list(loss_rows(reports))
    notes = [] if rows else ["Every line of every file was read and understood."]
    return Answer(rows, LossRow, title=title, notes=notes)
