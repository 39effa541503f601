"""The parts of a review as markup: decisions with what became of them, groups, disputes, what nobody has seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, tzinfo

from quality_lab.metrics.coverage import Coverage
from quality_lab.people import People
from quality_lab.proposals import Effect, Followed
from quality_lab.proposals.effect_words import in_short
from quality_lab.reports.blocks import Html, folded, join, paragraph, rate, table, tag
from quality_lab.reports.coach_review.facts import Group
from quality_lab.reports.quality import cards
from quality_lab.reports.quality.exchange import Example, person

_DONE = {
    "accept": "Accepted",
    "accepted": "Accepted",
    "applied": "Applied",
    "dismissed": "Dismissed",
    "closed": "Closed",
}
_MOST_UNSEEN = 12


def day_words(moment: datetime | None, zone: tzinfo) -> str:
    """Return the day of a moment as people say it."""
    if moment is None:
        return "some day"
    local = moment.astimezone(zone)
    return f"{local.day} {local:%B}"


def decision(
    one: Followed, *, people: People, zone: tzinfo, today: date, evidence: str | None = None
) -> Html:
    """Return a decision as a card: who took it, who sees to it by when, what became of it.

    *evidence* is where the calls are told on which it came back.
    """
    return tag(
        "article",
        tag("h3", one.title),
        *_decision_body(one, people=people, zone=zone, today=today),
        _back(one, evidence),
        class_="card",
        id=f"decision-{one.id}",
    )


def _decision_body(one: Followed, *, people: People, zone: tzinfo, today: date) -> list[Html | None]:
    marks = tag(
        "p",
        tag("span", "it came back", class_="mark high") if one.recurred else None,
        tag("span", one.state, class_="mark"),
        _verdict_mark(one.effect),
        f"{one.label} on ",
        tag("code", one.tool_name),
        f", {one.source}" if one.source else None,
        class_="marks",
    )
    by = f" by {person(one.author, people)}" if one.author else ""
    decided, holds = day_words(one.decided_at, zone), one.effect and day_words(one.effect.changed_at, zone)
    head = f"{_DONE.get(one.state, one.state)} on {decided}{by}"
    head += f", in effect since {holds}" if holds and holds != decided else ""
    answered = _reference(one)
    said = join(
        [
            head,
            ": " if answered else None,
            answered,
            ". ",
            owner_words(one.owner, one.due, people, today, done=one.state != "accepted"),
        ]
    )
    return [
        marks,
        paragraph(said),
        paragraph("“", one.note, "”") if one.note else None,
        paragraph(tag("strong", "Expected: "), one.expectation) if one.expectation else None,
        paragraph(one.why, class_="state")
        if one.why
        else paragraph("Nothing was changed yet.", class_="quiet"),
        _figures(one.effect) if one.effect else None,
    ]


def owner_words(
    owner: str | None, due: str | None, people: People, today: date, *, done: bool
) -> Html | None:
    """Return who sees to it and by when, what is overdue standing out; once it is *done*, who saw to it."""
    named = tag("strong", person(owner, people)) if owner else None
    if done:
        return join([named, " saw to it."]) if named else None
    if named is None and not due:
        return tag("span", "Nobody is named for it.", class_="warn")
    who = join([named, " sees to it"]) if named else Html("It is to be done")
    return join([who, join([" by ", due_words(due, today)]) if due else None, "."])


def due_words(due: str, today: date) -> Html | str:
    """Return a day that something is due on."""
    try:
        day = date.fromisoformat(due)
    except ValueError:
        return due
    words = f"{day.day} {day:%B}" + (f" {day.year}" if day.year != today.year else "")
    return tag("span", f"{words} (overdue)", class_="warn") if day < today else words


def _verdict_mark(effect: Effect | None) -> Html | None:
    if effect is None:
        return None
    return tag("span", in_short(effect), class_="mark high" if effect.verdict == "not_verified" else "mark")


def _reference(one: Followed) -> Html | str | None:
    words = one.ref or one.url
    if words and one.url and one.url.startswith(("http://", "https://")):
        return tag("a", words, href=one.url)
    return words


def _figures(effect: Effect) -> Html | None:
    if effect.rate_before is None and effect.rate_since is None:
        return None
    rows = [
        [
            "Before",
            f"{effect.calls_before:,}",
            f"{effect.reviewed_before:,}",
            rate(effect.rate_before, effect.low_before, effect.high_before),
        ],
        [
            "Since",
            f"{effect.calls_since:,}",
            f"{effect.reviewed_since:,}",
            rate(effect.rate_since, effect.low_since, effect.high_since),
        ],
    ]
    return table(["", "Calls made", "Reviewed", f"Judged {effect.label}"], rows, numeric=(1, 2, 3))


def _back(one: Followed, evidence: str | None) -> Html | None:
    if not one.recurred or not one.calls_since_decision:
        return None
    calls = "1 call" if one.calls_since_decision == 1 else f"{one.calls_since_decision:,} calls"
    link = join([" ", tag("a", "Examples", href=f"#{evidence}")]) if evidence else None
    return paragraph(f"It came back on {calls} made since then.", link)


def settled(rows: Sequence[Followed], *, people: People, zone: tzinfo) -> Html | None:
    """Return what was dismissed or closed and did not come back; None where there is nothing."""
    if not rows:
        return None
    shown = [
        [
            one.title,
            one.state,
            day_words(one.decided_at, zone),
            person(one.author, people) if one.author else "–",
            one.note or "–",
        ]
        for one in rows
    ]
    return folded(
        f"Settled, and not come back: {len(rows)}", table(["What", "State", "On", "By", "Why"], shown)
    )


def group_card(group: Group, examples: Mapping[str, Example], *, people: People, today: date) -> Html:
    """Return a group of complaints as a card with who sees to it and up to three examples."""
    name = paragraph("Proposal ", tag("code", group.proposal.id), class_="quiet")
    return cards.card(group.proposal, examples, _who(group, people, today), name, mark=_standing_mark(group))


def group_slide(group: Group, examples: Mapping[str, Example], *, people: People, today: date) -> Html:
    """Return a group of complaints as a slide: what nobody could read from afar is left to the report."""
    one = group.proposal
    told = [each for each in one.examples if each.call_uid in examples][:1]
    short = replace(one, rationale=one.rationale[:3], action_items=one.action_items[:1], examples=tuple(told))
    return group_card(replace(group, proposal=short), examples, people=people, today=today)


def _standing_mark(group: Group) -> Html | None:
    """Return that a group is new; of any other its state says enough."""
    return tag("span", "new", class_="mark") if group.standing == "new" else None


def _who(group: Group, people: People, today: date) -> Html | None:
    if not group.owner and not group.due:
        return None
    done = group.standing != "in work"
    return paragraph(owner_words(group.owner, group.due, people, today, done=done))


def unseen(rows: Sequence[Coverage], *, calls: int) -> Html:
    """Return where nobody has looked, most unreviewed calls first; *calls* is how many there are in the window."""
    if not calls:
        return paragraph("There was no call in this window, so there is none to review.")
    if not rows:
        return paragraph("Every call was reviewed.")
    shown = [
        [
            tag("code", one.tool_name),
            f"{one.calls or 0:,}",
            f"{one.reviewed:,}",
            rate(one.coverage, None, None),
            f"{one.failures - (one.failures_reviewed or 0):,} of {one.failures:,}"
            if one.failures
            else "none",
        ]
        for one in rows[:_MOST_UNSEEN]
    ]
    left = len(rows) - len(shown)
    rest = (
        paragraph(f"{left} more tools have calls that nobody has reviewed.", class_="quiet") if left else None
    )
    headings = ["Tool", "Calls", "Reviewed", "Share", "Failures not reviewed"]
    return join([table(headings, shown, numeric=(1, 2, 3, 4)), rest])
