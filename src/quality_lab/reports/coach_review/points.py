"""The agenda as sentences, each with the place of its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from quality_lab.proposals import Followed
from quality_lab.proposals.effect_words import in_short
from quality_lab.reports.coach_review.facts import ReviewFacts
from quality_lab.reports.findings.finding import counted
from quality_lab.reports.quality import cards


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """A point of the agenda as a sentence."""

    kind: str
    tool_name: str | None
    text: str
    anchor: str
    evidence: Mapping[str, Any]


def points(facts: ReviewFacts) -> list[Point]:
    """Return the agenda in the order in which a meeting goes through it."""
    found = [
        Point(
            kind="came_back" if one.recurred else one.verdict or "in_work",
            tool_name=one.tool_name,
            text=_followed_words(one),
            anchor=f"decision-{one.id}",
            evidence={"proposal": one.id, "state": one.state, "verdict": one.verdict},
        )
        for one in facts.follow_up
    ]
    fresh = [group for group in facts.groups if group.standing in ("new", "open")]
    found += [
        Point(
            kind=f"{group.standing}_group",
            tool_name=group.proposal.tool_name,
            text=f"{'New' if group.standing == 'new' else 'Open'}: {group.proposal.label} on "
            f"{group.proposal.tool_name}. {cards.weight(group.proposal)}",
            anchor=cards.anchor(group.proposal),
            evidence={
                "proposal": group.proposal.id,
                "calls": group.proposal.calls,
                "reviewed": group.proposal.reviewed,
            },
        )
        for group in fresh[:3]
    ]
    if len(fresh) > 3:
        found.append(
            Point(kind="groups", tool_name=None, text=f"{counted(len(fresh) - 3, 'more group')} of complaints.",
                  anchor="groups", evidence={"groups": len(fresh)})
        )  # fmt: skip  # one point
    if facts.disputes:
        found.append(
            Point(kind="disputes", tool_name=None,
                  text=f"Reviewers disagree on {counted(len(facts.disputes), 'call')}.",
                  anchor="disputes", evidence={"calls": [one.call_uid for one in facts.disputes]})
        )  # fmt: skip  # one point
    if facts.unseen:
        most = facts.unseen[0]
        found.append(
            Point(kind="unreviewed", tool_name=most.tool_name,
                  text=f"Nobody has reviewed {(most.calls or 0) - most.reviewed:,} of the {most.calls:,} calls of "
                  f"{most.tool_name}.",
                  anchor="unseen", evidence={"calls": most.calls, "reviewed": most.reviewed})
        )  # fmt: skip  # one point
    return found


def _followed_words(one: Followed) -> str:
    what = f"{one.label} on {one.tool_name}"
    if one.recurred:
        calls = counted(one.calls_since_decision or 0, "call")
        told = f" Its effect: {in_short(one.effect)}." if one.effect else ""
        return f"It came back: {what}, {one.state}, on {calls} made since.{told}"
    if one.effect is None:
        return f"In work: {what}" + (f", due {_day(one.due)}." if one.due else ".")
    return f"{what}, {one.state}: {in_short(one.effect)}."


def _day(due: str) -> str:
    try:
        day = date.fromisoformat(due)
    except ValueError:
        return due
    return f"{day.day} {day:%B %Y}"
