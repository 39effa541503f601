"""The coach-review report: its parts in order, each made when its cell asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import Any

from quality_lab.masking import Masker
from quality_lab.metrics.filters import Filters
from quality_lab.metrics.signs.reviews import LabelNote, label_notes
from quality_lab.people import People, read_people
from quality_lab.proposals import Followed
from quality_lab.reports.agreed import agreed_words
from quality_lab.reports.attached import Agenda, Slides
from quality_lab.reports.blocks import Html, Piece, items, join, paragraph, section, tag
from quality_lab.reports.coach_review import parts
from quality_lab.reports.coach_review.facts import ReviewFacts, agenda_of, review_facts
from quality_lab.reports.coach_review.points import Point, points
from quality_lab.reports.findings.finding import counted
from quality_lab.reports.notes import Note, note
from quality_lab.reports.quality import cards
from quality_lab.reports.quality.exchange import Example, examples, exchange
from quality_lab.reports.quality.head import facts_list, listed, note_figures, state
from quality_lab.reports.quality.page import HasStore
from quality_lab.reports.window import ReportWindow, freshness, report_window
from quality_lab.store import Store

_MOST_GROUPS, _MOST_DISPUTES = 8, 6  # told with examples; the others are named


def coach_review_page(
    lab: HasStore, *, title: str = "Coach review", unmasked: bool = False, **filters: Any
) -> CoachReviewPage:
    """Return the agenda of a review meeting on *lab*; *filters* are those of every question.

    Without `since` it looks at calls of the 28 days that end with the newest one; what became of decisions is
    told whenever they were taken. Arguments and results that it quotes are masked unless *unmasked*.

    Raises: UsageError for a filter that does not exist.
    """
    given = {name: value for name, value in filters.items() if value not in (None, (), [], "")}
    masker = None if unmasked else Masker(lab.store.home)
    return CoachReviewPage(lab.store, Filters.of(**given), title=title, masker=masker)


class CoachReviewPage:
    """The agenda of one meeting, told part by part: every method returns something that shows itself."""

    def __init__(self, store: Store, filters: Filters, *, title: str, masker: Masker | None) -> None:
        """Keep what is asked; nothing is read yet."""
        self._store = store
        self._asked = filters
        self._title = title
        self._masker = masker

    @cached_property
    def window(self) -> ReportWindow:
        """The window of the calls, and what it holds."""
        with self._store.together():
            return report_window(self._store, self._asked, people=self._people)

    @cached_property
    def facts(self) -> ReviewFacts:
        """What there is to go through."""
        return review_facts(self._store, self.window)

    @cached_property
    def _people(self) -> People:
        return read_people(self._store.home)

    @cached_property
    def _today(self) -> date:
        return self.window.filters.now().astimezone(self.window.zone).date()

    @cached_property
    def _examples(self) -> Mapping[str, Example]:
        shown = [group.proposal for group in self.facts.groups[:_MOST_GROUPS]]
        uids = cards.example_uids(shown, most=_MOST_GROUPS)
        uids += [one.call_uid for one in self.facts.disputes[:_MOST_DISPUTES]]
        with self._store.together():
            return examples(
                self._store,
                Filters(tz=self.window.filters.tz),
                uids,
                masker=self._masker,
                people=self._people,
            )

    @cached_property
    def _notes(self) -> Mapping[str, Sequence[LabelNote]]:
        """The labels on the disputed calls."""
        uids = [one.call_uid for one in self.facts.disputes]
        said: dict[str, list[LabelNote]] = {}
        for one in label_notes(self._store, filters=Filters(), chosen=uids) if uids else []:
            said.setdefault(one.call_uid, []).append(one)
        return said

    @cached_property
    def points(self) -> list[Point]:
        """The agenda as sentences, in the order in which a meeting goes through it."""
        return points(self.facts)

    def head(self) -> Piece:
        """Return the first screen: window, freshness, counts, and the agenda as sentences with links."""
        return Piece(self._head(links=True))

    def _head(self, *, links: bool) -> Html:
        window, last = self.window, self.facts.last_prepared_at
        about = f"{window.words()}. Days and times are those of {window.filters.tz}."
        if last is not None:
            about += f" The review before this one was prepared on {parts.day_words(last, window.zone)}."
        agenda = (
            listed(self.points, [one.anchor if links else None for one in self.points], most=None)
            if self.points
            else None
        )
        return join(
            [
                tag("h1", self._title) if self._title else None,
                paragraph(about, class_="quiet"),
                facts_list(window),
                paragraph(*state(window), class_="state"),
                agenda or paragraph("There is nothing on the agenda."),
            ]
        )

    def decisions(self) -> Piece:
        """Return what became of decisions: what came back first, then what did not work, then the rest."""
        cards_ = [self._decision(one) for one in self.facts.follow_up]
        nothing = paragraph("No decision waits to be followed up.") if not cards_ else None
        rest = parts.settled(self.facts.settled, people=self._people, zone=self.window.zone)
        return Piece(section("decisions", "What became of decisions", nothing, *cards_, rest))

    def _decision(self, one: Followed, *, links: bool = True) -> Html:
        shown = [group.proposal for group in self.facts.groups[:_MOST_GROUPS]]
        own = [each for each in shown if (each.tenant, each.fingerprint) == (one.tenant, one.fingerprint)]
        return parts.decision(
            one,
            people=self._people,
            zone=self.window.zone,
            today=self._today,
            evidence=cards.anchor(own[0]) if own and links else None,
        )

    def groups(self) -> Piece:
        """Return the groups of complaints as cards, each with real examples: what came back, then by impact."""
        groups = self.facts.groups
        shown = [
            parts.group_card(group, self._examples, people=self._people, today=self._today)
            for group in groups[:_MOST_GROUPS]
        ]
        rest = [f"{one.proposal.title} ({one.standing})" for one in groups[_MOST_GROUPS:]]
        nothing = paragraph("No label on a call of this window asks for a change.") if not shown else None
        left = join([paragraph("And also:"), items(rest)]) if rest else None
        return Piece(section("groups", "What to decide", nothing, *shown, left))

    def disputes(self) -> Piece:
        """Return the calls on which reviewers disagree, each as the exchange it was."""
        found = self.facts.disputes
        told = [
            self._examples[one.call_uid] for one in found[:_MOST_DISPUTES] if one.call_uid in self._examples
        ]
        if not found:
            several = counted(self.facts.several, "call")
            why = (
                f"None: the {several} that several people reviewed were judged by a majority."
                if self.facts.several
                else "No call was reviewed by two people, so nobody could disagree."
            )
            return Piece(section("disputes", "Where reviewers disagree", paragraph(why)))
        left = len(found) - len(told)
        agreed = agreed_words(self._store, filters=self.window.filters, people=self._people)
        return Piece(
            section(
                "disputes",
                "Where reviewers disagree",
                paragraph(
                    "To settle one, adjudicate it: that word wins over every reviewer's.", class_="quiet"
                ),
                paragraph(agreed) if agreed else None,
                *(_dispute(one) for one in told),
                paragraph(f"{counted(left, 'older one')} left out here.", class_="quiet") if left else None,
            )
        )

    def unseen(self) -> Piece:
        """Return what nobody has reviewed."""
        return Piece(
            section(
                "unseen",
                "What nobody has reviewed",
                parts.unseen(self.facts.unseen, calls=self.window.facts.calls),
            )
        )

    def after(self) -> Piece:
        """Return what is left to do once the meeting is over."""
        return Piece(
            section(
                "after",
                "After the meeting",
                paragraph(
                    "What is said in the meeting is a line of the journal at once. ",
                    tag("code", "quality-lab report close"),
                    " writes the minutes from these lines into this report's folder.",
                ),
            )
        )

    def agenda(self) -> Agenda:
        """Return the agenda to be frozen as `agenda.json`."""
        return Agenda(agenda_of(self.facts, self.window, self._notes))

    def slides(self) -> Slides:
        """Return the same as slides, one finding a slide."""
        facts = self.facts
        slides: list[Html] = [self._head(links=False)]
        slides += [
            join([_kicker("What became of a decision"), self._decision(one, links=False)])
            for one in facts.follow_up
        ]
        slides += [
            join(
                [
                    _kicker("To decide"),
                    parts.group_slide(group, self._examples, people=self._people, today=self._today),
                ]
            )
            for group in facts.groups[:_MOST_GROUPS]
        ]
        slides += [
            _dispute_slide(self._examples[one.call_uid])
            for one in facts.disputes[:_MOST_DISPUTES]
            if one.call_uid in self._examples
        ]
        slides.append(
            join(
                [
                    tag("h2", "What nobody has reviewed"),
                    parts.unseen(facts.unseen, calls=self.window.facts.calls),
                ]
            )
        )
        title = f"{self._title}, {self._today.day} {self._today:%B %Y}"
        return Slides(title, tuple(str(slide) for slide in slides))

    def note(self) -> Note:
        """Return the figures and findings for summary.json."""
        facts, window = self.facts, self.window
        told = [
            counted(len(facts.follow_up), "decision") + " to follow up",
            counted(len(facts.groups), "group") + " of complaints",
            counted(len(facts.disputes), "dispute"),
        ]
        return note(
            findings=self.points,
            tools={},
            lead=[f"{window.words()}: {', '.join(told)}."],
            decisions_to_follow=len(facts.follow_up),
            decisions_recurred=sum(one.recurred for one in facts.follow_up),
            decisions_verified=sum(one.verdict == "verified" for one in facts.follow_up),
            decisions_not_verified=sum(one.verdict == "not_verified" for one in facts.follow_up),
            groups=len(facts.groups),
            groups_new=facts.new,
            disputes=len(facts.disputes),
            tools_with_unreviewed_calls=len(facts.unseen),
            **freshness(window),
            **note_figures(window),
        )


def _kicker(words: str) -> Html:
    return paragraph(words, class_="quiet")


def _dispute_slide(example: Example) -> Html:
    heading = tag("h3", example.call.tool_name, f" in conversation {example.call.conversation_id}")
    return join([_kicker("Reviewers disagree"), heading, exchange(example)])


def _dispute(example: Example) -> Html:
    about = paragraph("conversation ", tag("code", example.call.conversation_id), class_="marks")
    return tag("article", about, exchange(example), class_="card", id=f"dispute-{example.call.call_uid[:8]}")
