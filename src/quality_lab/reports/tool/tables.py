"""The tables of the report on one tool: how its calls end, what failures say, its arguments, its definitions."""

from __future__ import annotations

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from quality_lab.answers.words import number, percent
from quality_lab.metrics.definitions import Definition
from quality_lab.metrics.failing_tools import FailingTool
from quality_lab.metrics.latency import Latency
from quality_lab.reports.blocks import Html, folded, join, paragraph, rate, table, tag
from quality_lab.reports.findings.finding import counted
from quality_lab.reports.tool.facts import Argument, Said, Told

_MOST = 10  # rows of a table that is read at one glance
_LEAST = 10  # calls under a definition: below that a rate says less than the words "not enough data"


def endings(row: FailingTool) -> Html | None:
    """Return what became of the calls as counts and shares; None where no trace export holds them."""
    if not row.calls:
        return None
    ok = row.calls - sum(
        each or 0 for each in (row.errors, row.soft_errors, row.gated, row.rejected, row.unknown)
    )
    kinds = (
        ("went through", ok),
        ("raised an error", row.errors),
        ("said no in the result", row.soft_errors),
        ("were turned away", row.gated),
        ("were refused by a person", row.rejected),
        ("nobody knows how they ended", row.unknown),
        ("reported no error and came back empty", row.empty_results),
    )
    rows = [[words, f"{calls:,}", percent(calls / row.calls)] for words, calls in kinds if calls]
    return table(["Calls that …", "Calls", "Share"], rows, numeric=(1, 2))


def failures(said: Sequence[Said]) -> Html | None:
    """Return what failed calls say of themselves, most frequent first; None where none failed."""
    if not said:
        return None
    rows = [[tag("code", one.words or "nothing"), f"{one.calls:,}"] for one in said[:_MOST]]
    left = len(said) - _MOST
    more = paragraph(f"{counted(left, 'more wording')} below these.", class_="quiet") if left > 0 else None
    return join([table(["What failed calls say", "Calls"], rows, numeric=(1,)), more])


def arguments(found: Sequence[Argument]) -> Html:
    """Return each argument with its values, and how reviewers judged the calls that gave them."""
    if not found:
        return paragraph("No call of this window has arguments that could be read.")
    shown = [_argument(one) for one in found[:_MOST]]
    left = found[_MOST:]
    names = ", ".join(one.path for one in left[:_MOST])
    rest = paragraph(f"Given less often: {names}.", class_="quiet") if left else None
    return join([*shown, rest])


def _argument(one: Argument) -> Html:
    rows = [[tag("code", told.words), f"{told.calls:,}", _judged(told)] for told in one.told]
    heading = paragraph(
        tag("code", one.path),
        f": given in {counted(one.calls, 'call')}, {counted(one.values, 'different value')}.",
    )
    left = paragraph(f"Other values: {counted(one.left, 'call')}.", class_="quiet") if one.left > 0 else None
    listed = table(["Value", "Calls", "Judged wrong"], rows, numeric=(1, 2))
    return join([heading, listed, left])


def _judged(told: Told) -> Html | str:
    """Return how many of the reviewed calls with a value were judged wrong: counts, as a share would claim more."""
    if not told.reviewed:
        return tag("small", "not reviewed")
    words = f"{told.wrong:,} of {told.reviewed:,} reviewed"
    return tag("span", words, class_="warn") if told.wrong * 2 > told.reviewed else words


def definitions(rows: Sequence[Definition], zone: ZoneInfo) -> Html:
    """Return how the tool was offered, when, and how its calls fared under each definition."""
    if not rows:
        return paragraph("No file that was loaded says how the tool was offered.")
    shown = [
        [
            _day(row, zone),
            "; ".join(row.change) or "the first that is known",
            f"{row.calls:,}",
            rate(row.error_rate, row.low, row.high)
            if row.calls >= _LEAST
            else tag("small", "not enough data"),
        ]
        for row in rows[:_MOST]
    ]
    newest = max(rows, key=lambda row: (row.last_at is not None, row.last_at))
    text = tag("pre", newest.description) if newest.description else None
    return join(
        [
            table(["Since", "What changed", "Calls", "Failed"], shown, numeric=(2, 3)),
            folded("What the model is told now", text) if text is not None else None,
        ]
    )


def _day(row: Definition, zone: ZoneInfo) -> str:
    if row.first_at is None:
        return "at some time"
    day = row.first_at.astimezone(zone)
    return f"{day.day} {day:%B %Y}"


def latency(rows: Sequence[Latency]) -> Html:
    """Return how long its calls took, as a sentence."""
    if not rows:
        return paragraph("No call of this window says how long it took.")
    row = rows[0]
    return paragraph(
        f"Half of {counted(row.calls, 'call')} took at most {number(row.p50_ms)} ms, 95 % at most "
        f"{number(row.p95_ms)} ms; the slowest took {number(row.max_ms)} ms."
    )
