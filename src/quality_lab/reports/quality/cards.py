"""Proposals as cards: what, how bad, why, what to do, and one real example with two more folded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quality_lab.answers.words import number, percent, percent_range
from quality_lab.proposals import Proposal
from quality_lab.reports.blocks import Html, folded, items, join, paragraph, table, tag
from quality_lab.reports.quality.exchange import Example, exchange

_LEAST = 10  # reviewed calls: below that a rate is not said


def cards(proposals: Sequence[Proposal], examples: Mapping[str, Example], *, most: int, more: int) -> Html:
    """Return the first *most* proposals as cards, the others as rows of a table."""
    if not proposals:
        return paragraph("No label asks for a change in this window.")
    shown = [card(proposal, examples) for proposal in proposals[:most]]
    return join([*shown, _others(proposals[most:], more)])


def example_uids(proposals: Sequence[Proposal], *, most: int) -> list[str]:
    """Return the calls that the cards show."""
    return [example.call_uid for proposal in proposals[:most] for example in proposal.examples[:3]]


def anchor(proposal: Proposal) -> str:
    """Return the name under which links point to its card."""
    return f"proposal-{proposal.id}"


def card(
    proposal: Proposal, examples: Mapping[str, Example], *more: Html | None, mark: Html | None = None
) -> Html:
    """Return one proposal as a card; *mark* stands beside its severity, *more* before its examples."""
    severity = "mark high" if proposal.severity == "high" else "mark"
    marks = tag(
        "p",
        tag("span", f"{proposal.severity} severity", class_=severity),
        tag("span", str(proposal.state), class_="mark"),
        tag("span", "it came back", class_="mark high") if proposal.recurred else None,
        mark,
        f"{proposal.label} on ",
        tag("code", proposal.tool_name),
        f", {proposal.source}" if proposal.source else ", no source named",
        class_="marks",
    )
    told = [examples[one.call_uid] for one in proposal.examples[:3] if one.call_uid in examples]
    return tag(
        "article",
        tag("h3", proposal.title),
        marks,
        paragraph(weight(proposal)),
        items(proposal.rationale) if proposal.rationale else None,
        join([tag("h4", "To do"), items(proposal.action_items)]) if proposal.action_items else None,
        *more,
        exchange(told[0]) if told else None,
        folded(_more_words(len(told) - 1), *(exchange(example) for example in told[1:]))
        if told[1:]
        else None,
        class_="card",
        id=anchor(proposal),
    )


def weight(proposal: Proposal) -> str:
    """Return how often it happens and how sure that is, as a sentence."""
    calls = f"{proposal.calls:,} {'call' if proposal.calls == 1 else 'calls'}"
    if proposal.rate is None or proposal.low is None or proposal.high is None:
        return f"{calls} judged so; no trace export is here, so there is no rate."
    if proposal.reviewed < _LEAST:
        return f"{calls} judged so of {proposal.reviewed:,} reviewed: not enough data for a rate."
    words = f"{percent(proposal.rate)} ({percent_range(proposal.low, proposal.high)})"
    impact = (
        f"; at least {number(proposal.impact)} calls a week"
        if proposal.impact and proposal.impact >= 0.1
        else ""
    )
    return f"{words} of the {proposal.reviewed:,} reviewed calls were judged so ({calls}){impact}."


def _more_words(count: int) -> str:
    return "One more example" if count == 1 else f"{count} more examples"


def _others(rest: Sequence[Proposal], more: int) -> Html | None:
    if not rest and not more:
        return None
    rows = [
        [
            proposal.title,
            tag("code", proposal.tool_name),
            proposal.label,
            proposal.severity,
            f"{proposal.calls:,}",
        ]
        for proposal in rest
    ]
    left = paragraph(f"{more} more lie below these.", class_="quiet") if more else None
    listed = table(["And also", "Tool", "Label", "Severity", "Calls"], rows, numeric=(4,)) if rows else None
    return join([listed, left])
