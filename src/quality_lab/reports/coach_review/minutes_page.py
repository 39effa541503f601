"""Minutes to be read: as Markdown for a chat or a merge request, and as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from quality_lab.reports.blocks import Html, asset, folded, items, join, paragraph, section, table, tag, text
from quality_lab.reports.coach_review.minutes import DecisionSaid, LabelSaid, Minutes
from quality_lab.reports.findings.finding import counted
from quality_lab.reports.summary import markdown_text

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_ACTIONS = {"freeze": "made", "edit": "changed", "archive": "put away", "restore": "brought back"}
Rows = list[list[str]]
Part = tuple[str, list[str], Rows]  # title, headings, rows


def markdown(minutes: Minutes) -> str:
    """Return the minutes as Markdown; text from anywhere stands there as text."""
    lines = [f"# {markdown_text(minutes.title)}", ""]
    lines += [f"{markdown_text(sentence)}\n" for sentence in _lead(minutes)]
    for title, headings, rows in _parts(minutes):
        lines += [f"## {title}", "", f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
        lines += [f"| {' | '.join(markdown_text(cell) for cell in row)} |" for row in rows]
        lines.append("")
    if minutes.undecided:
        lines += ["## Left open", "", *(f"- {markdown_text(title)}" for title in minutes.undecided), ""]
    lines += ["## Keep it", ""]
    if minutes.git is None:
        lines.append(markdown_text(minutes.no_git or ""))
    else:
        lines += ["In the home of the lab:", "", "```", minutes.git, "```"]
    return "\n".join(lines) + "\n"


def page(minutes: Minutes) -> str:
    """Return the minutes as one HTML page that runs nothing and fetches nothing."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{text(f'Minutes: {minutes.title}')}</title>"
        f"<style>{asset('page.css')}\n{asset('pieces.css')}</style></head>\n"
        f'<body><main><div class="ql">{content(minutes)}</div></main></body></html>\n'
    )


def content(minutes: Minutes) -> Html:
    """Return what the page says, for a notebook too."""
    parts = []
    for title, headings, rows in _parts(minutes):
        shown = table(headings, rows)
        long = title.startswith("Labels") and len(rows) > 12
        parts.append(section(_anchor(title), title, folded(f"All {len(rows)}", shown) if long else shown))
    return join(
        [
            tag("h1", minutes.title),
            *(paragraph(sentence) for sentence in _lead(minutes)),
            *parts,
            section("open", "Left open", items(minutes.undecided)) if minutes.undecided else None,
            section(
                "keep",
                "Keep it",
                paragraph(
                    "The journal is what these minutes are made from. ",
                    minutes.no_git or "In the home of the lab:",
                ),
                tag("pre", minutes.git) if minutes.git else None,
            ),
        ]
    )


def _lead(minutes: Minutes) -> list[str]:
    closed = minutes.closed_at.astimezone(ZoneInfo(minutes.tz))
    if minutes.empty:
        return [f"Nothing was said since the agenda was prepared (closed {closed:%H:%M} {minutes.tz})."]
    who = f" by {_listed(minutes.people)}" if minutes.people else ""
    told = [f"{minutes.counts()[:1].upper()}{minutes.counts()[1:]}{who}; closed {closed:%H:%M} {minutes.tz}."]
    if minutes.labels:
        given = Counter(one.label for one in minutes.labels)
        told.append(f"Labels: {', '.join(f'{count} {label}' for label, count in given.most_common())}.")
    if minutes.unsettled:
        one = minutes.unsettled == 1
        told.append(
            f"{counted(minutes.unsettled, 'dispute')} of the agenda {'is' if one else 'are'} still open."
        )
    if minutes.corrected:
        told.append(f"{counted(minutes.corrected, 'label')} corrected later; the last one stands here.")
    if minutes.taken_back:
        told.append(f"{counted(minutes.taken_back, 'line')} taken back again.")
    return told


def _parts(minutes: Minutes) -> list[Part]:
    found: list[Part] = [
        (
            "Decisions",
            ["What", "Decided", "Who sees to it", "Expected", "Why"],
            [
                [
                    one.title,
                    f"{one.state} by {one.by}" + (f": {one.answer}" if one.answer else ""),
                    _owner(one),
                    one.expectation or "–",
                    one.note or "–",
                ]
                for one in minutes.decisions
            ],
        ),
        _settled(minutes.settled),
        (
            "Cases",
            ["Case", "What", "Proof", "By"],
            [
                [f"{one.id} ({_ACTIONS.get(one.action, one.action)})", one.title, one.proof or "–", one.by]
                for one in minutes.cases
            ],
        ),
        (
            "Labels given",
            ["Call", "Label", "By", "Note"],
            [[_call(one), one.label, one.by, one.note or "–"] for one in minutes.labels],
        ),
    ]
    return [part for part in found if part[2]]


def _settled(settled: Sequence[LabelSaid]) -> Part:
    """Return the disputes that were settled; what reviewers had said is known of those of the agenda."""
    title, known = "Disputes settled", any(one.before for one in settled)
    rows = [
        [
            _call(one),
            *(["; ".join(one.before) or "it was not on the agenda"] if known else []),
            f"{one.label}, says {one.by}",
            one.note or "–",
        ]
        for one in settled
    ]
    return title, ["Call", *(["Reviewers said"] if known else []), "It is", "Why"], rows


def _owner(one: DecisionSaid) -> str:
    """Return who sees to it and by when; a word where somebody should and nobody is named."""
    named = " ".join(filter(None, [one.owner, f"by {_day(one.due)}" if one.due else None]))
    return named or ("nobody is named" if one.state in ("accepted", "applied") else "–")


def _day(due: str) -> str:
    try:
        day = date.fromisoformat(due)
    except ValueError:
        return due
    return f"{day.day} {day:%B %Y}"


def _call(one: LabelSaid) -> str:
    name = one.tool_name or "a call that is not here"
    return f"{name} in {one.conversation_id}" if one.conversation_id else name


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _anchor(title: str) -> str:
    return title.split()[0].lower()


def document(minutes: Minutes) -> dict[str, Any]:
    """Return the minutes for machines: `minutes.json`."""
    from quality_lab.answers.columns import plain

    found: dict[str, Any] = {name: plain(getattr(minutes, name)) for name in Minutes.__dataclass_fields__}
    return found
