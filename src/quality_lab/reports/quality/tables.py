"""The tables of the quality report: failing tools, reviewers, gates, what could not be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from quality_lab.answers.words import percent
from quality_lab.labels import FIVE
from quality_lab.metrics.definitions import Definition
from quality_lab.metrics.failing_tools import FailingTool
from quality_lab.metrics.guards import Guard
from quality_lab.metrics.label_counts import LabelCount
from quality_lab.metrics.signs.reviews import LabelNote, Reviewed
from quality_lab.metrics.signs.shares import GateReason
from quality_lab.people import People
from quality_lab.reports.blocks import Html, folded, items, join, paragraph, rate, table, tag
from quality_lab.reports.quality.exchange import person
from quality_lab.store.loss_rows import in_words, loss_rows
from quality_lab.store.store import RejectRow

_MOST_LOSSES = 5  # of one kind in one file
_LEAST = 10  # calls: below that a rate says less than the words "not enough data"


def failing_tools(rows: Sequence[FailingTool], *, top: int, more: int) -> Html:
    """Return the failing tools as a table, and a word on those left out."""
    shown = [
        [
            tag("code", row.tool_name),
            join([_count(row.calls), _small(_in(row.conversations, "conversation"))]),
            _failed(row),
            _count(row.gated),
            _count(row.empty_results),
            _judged(row),
        ]
        for row in rows[:top]
    ]
    headings = ["Tool", "Calls", "Failed", "Turned away", "Empty", "Judged wrong"]
    left = len(rows) - len(shown) + more
    order = "Tools stand in the order of the larger lower end of their two intervals, shown here or not"
    rest = f"{order}; {left} more rank below these." if left else f"{order}."
    return join([table(headings, shown, numeric=range(1, 6)), paragraph(rest, class_="quiet")])


def reviewed_beside(rows: Sequence[LabelCount], *, calls: int) -> Html | None:
    """Return how many of what was reviewed are no calls of the agent; None where all are.

    *calls* counts the agent's reviewed calls, as the first screen says them.
    """
    reviewed = max((row.reviewed_calls for row in rows), default=0)
    beside = reviewed - calls
    if beside <= 0:
        return None
    words = f"{beside:,} of the {reviewed:,} {'is no call' if beside == 1 else 'are no calls'} of the agent"
    return paragraph(
        f"{words}: guards' rows, calls by the user's side, or calls no file holds.", class_="quiet"
    )


def reviewers(rows: Sequence[LabelCount], people: People) -> Html | None:
    """Return who gave which labels, most first; None where nobody gave any. Ids of one name stand beside it."""
    by_name: dict[str, Counter[str]] = {}
    for row in rows:
        by_name.setdefault(row.group or "not named", Counter())[row.label] += row.rows
    given = sorted(by_name.items(), key=lambda one: (-sum(one[1][label] for label in FIVE), one[0]))
    names = Counter(people.name(name) for name, counts in given if sum(counts.values()))
    shown = [
        [
            join([person(name, people), f" ({name})" if names[people.name(name)] > 1 else None]),
            str(sum(counts[label] for label in FIVE)),
            *(str(counts[label]) for label in FIVE),
        ]
        for name, counts in given
        if sum(counts.values())
    ]
    headings = ["Reviewer", "Labels", *(label.replace("_", " ") for label in FIVE)]
    return table(headings, shown, numeric=range(1, 7)) if shown else None


def disputes(rows: Sequence[Reviewed], notes: Sequence[LabelNote], people: People, *, most: int = 6) -> Html:
    """Return the calls on which no label has a majority, each with what its reviewers said."""
    disputed = [row for row in rows if row.disputed]
    if not disputed:
        several = sum(row.reviewers > 1 for row in rows)
        if not several:
            return paragraph("No call was reviewed by two people, so nobody could disagree.")
        return paragraph(f"None: the {several} calls that several people reviewed were judged by a majority.")
    said: dict[str, list[LabelNote]] = {}
    for note in notes:
        said.setdefault(note.call_uid, []).append(note)
    shown = [
        [
            join(
                [
                    tag("code", row.tool_name),
                    Html("<br>"),
                    tag("small", f"conversation {row.conversation_id}"),
                ]
            ),
            items(
                join(
                    [
                        f"{person(note.author or 'somebody', people)}: ",
                        tag("strong", note.label),
                        f" {note.note}" if note.note else None,
                    ]
                )
                for note in said.get(row.call_uid, [])
            ),
        ]
        for row in disputed[-most:]
    ]
    left = len(disputed) - len(shown)
    rest = paragraph(f"{left} older ones are left out here.", class_="quiet") if left else None
    return join([table(["Call", "What each reviewer says"], shown), rest])


def guards(rows: Sequence[Guard]) -> Html:
    """Return what the guards stopped."""
    if not rows:
        return paragraph("No guard stepped in.")
    shown = [
        [tag("code", row.reason), row.action, f"{row.rows:,}", f"{row.conversations:,}"] for row in rows[:10]
    ]
    return table(["Guard's reason", "It did", "Replies", "Conversations"], shown, numeric=(2, 3))


def gates(rows: Sequence[GateReason]) -> Html:
    """Return why the application turned calls away."""
    if not rows:
        return paragraph("No call was turned away.")
    shown = [
        [
            tag("code", row.tool_name),
            tag("code", row.reason or "not stated"),
            f"{row.calls:,}",
            f"{row.conversations:,}",
        ]
        for row in rows[:10]
    ]
    return table(["Tool", "Turned away because", "Calls", "Conversations"], shown, numeric=(2, 3))


def changed_definitions(rows: Iterable[Definition]) -> Html | None:
    """Return which tools were offered differently since when; None where no change is known."""
    changes = [
        join(
            [
                f"Since {row.first_at.day} {row.first_at:%B}, " if row.first_at else "At some time, ",
                tag("code", row.tool_name),
                f" is offered differently: {'; '.join(row.change)}.",
            ]
        )
        for row in rows
        if row.change
    ]
    return join([paragraph("What the model was offered changed too:"), items(changes)]) if changes else None


def not_understood(reports: Sequence[Mapping[str, Any]], rejects: Sequence[RejectRow]) -> Html:
    """Return what could not be read or was not understood on load, file by file."""
    sentences: list[Html | str] = []
    for report in reports:
        words = list(_words_on(report))
        if words:
            sentences.append(join([tag("code", str(report.get("path", "a file"))), f": {'; '.join(words)}."]))
    if not sentences:
        return paragraph("Every line of every file was read and understood.")
    shown = [
        [tag("code", f"{row.file}:{row.line}"), row.path or "the whole line", row.reason]
        for row in rejects[:8]
    ]
    left = len(rejects) - len(shown)
    quarantine = (
        folded(
            "The line in quarantine" if len(rejects) == 1 else f"The {len(rejects):,} lines in quarantine",
            table(["Line", "Where in it", "Why"], shown),
            paragraph(f"{left:,} more: quality-lab rejects.", class_="quiet") if left else None,
        )
        if rejects
        else None
    )
    return join([items(sentences), quarantine])


def _words_on(report: Mapping[str, Any]) -> Iterable[str]:
    for kind, group in groupby(loss_rows([report]), key=lambda row: row.kind):
        rows = list(group)
        if kind == "rejected":
            yield f"{rows[0].times:,} of {report.get('lines') or 0:,} lines could not be read"
        elif kind in ("failed", "unrecognised", "ends too early", "possibly truncated"):
            yield f"{kind}: {rows[0].what or 'no format knows it'}"
        else:
            named = ", ".join(map(in_words, rows[:_MOST_LOSSES]))
            yield f"{kind}: {named}" + (
                f" and {len(rows) - _MOST_LOSSES} more" if len(rows) > _MOST_LOSSES else ""
            )


def _failed(row: FailingTool) -> Html:
    """Return the share of failed calls, or why there is none."""
    known = (row.calls or 0) - (row.unknown or 0) - (row.rejected or 0)
    if row.calls is None:
        return tag("small", "no trace export")
    if not known:
        return tag("small", "outcomes unknown")
    if known < _LEAST:
        failed = (row.errors or 0) + (row.soft_errors or 0)
        return tag("small", f"not enough data ({failed} of {known})")
    some = f"{known:,} known" if known < row.calls else ""
    few = "few conversations" if "few_conversations" in row.flags else ""
    return join([rate(row.error_rate, row.error_low, row.error_high), _small(some or few)])


def _judged(row: FailingTool) -> Html:
    """Return the share judged wrong, or why there is none."""
    if not row.reviewed:
        return tag("small", "not reviewed")
    if row.reviewed < _LEAST or row.judged_failure_rate is None:
        return tag("small", f"not enough data ({row.reviewed} reviewed)")
    share = rate(row.judged_failure_rate, row.judged_low, row.judged_high)
    return join([share, _small(f"of {row.reviewed:,} reviewed")])


def _small(words: str) -> Html | None:
    return tag("small", words, class_="under") if words else None


def _in(count: int | None, noun: str) -> str:
    return "" if count is None else f"{count:,} {noun}{'' if count == 1 else 's'}"


def _count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def share_words(part: int, whole: int) -> str:
    """Return a part of a whole with its share.

    >>> share_words(3, 40)
    '3 of 40 (7.5 %)'
    """
    return f"{part:,} of {whole:,}" + (f" ({percent(part / whole)})" if whole else "")
