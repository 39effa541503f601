"""What a review meeting has to go through, gathered from the lab."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from quality_lab.metrics.coverage import Coverage, coverage
from quality_lab.metrics.filters import Filters
from quality_lab.metrics.signs.reviews import Reviewed, reviewed
from quality_lab.proposals import Followed, Proposal, followed, proposals
from quality_lab.reports.attached import AGENDA
from quality_lab.reports.coach_review.agendas import prepared
from quality_lab.reports.window import ReportWindow
from quality_lab.store import Store

REPORT = "coach-review"
Standing = Literal["came back", "new", "open", "in work"]
_PLACE: dict[Standing, int] = {"came back": 0, "new": 1, "open": 1, "in work": 2}
_URGENT = {"not_verified": 1, "inconclusive": 2, None: 3, "verified": 4}


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """A group of complaints that the meeting has to talk about."""

    proposal: Proposal
    standing: Standing
    owner: str | None = None
    due: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewFacts:
    """Everything that stands on the agenda."""

    follow_up: tuple[Followed, ...]  # decisions to talk about: what came back first
    settled: tuple[Followed, ...]  # dismissed or closed, and it did not come back
    groups: tuple[Group, ...]  # what came back, then new and open by impact, then what is in work
    disputes: tuple[Reviewed, ...]  # newest first
    several: int  # calls that several people reviewed
    unseen: tuple[Coverage, ...]  # most unreviewed calls first
    last_prepared_at: datetime | None  # of the review before this one

    @property
    def new(self) -> int:
        """Return how many groups nobody has seen before."""
        return sum(one.standing == "new" for one in self.groups)


def review_facts(store: Store, window: ReportWindow) -> ReviewFacts:
    """Return what there is to go through. Groups and disputes are those on calls that were made in the window.

    A group is new where it did not stand on the last agenda, and none of its labels on a call from before the
    window; where neither is known it is open.
    """
    filters = replace(window.filters, time="call")
    begin = window.filters.window().since
    last = _last_agenda(store.home / "reports")
    with store.together():
        everything = proposals(store, filters=Filters(author_kind=filters.author_kind), top=None)
        told = followed(store, filters=filters, groups=everything)
        inside = proposals(store, filters=filters, top=None)
        earlier = (
            proposals(store, filters=replace(filters, since=None, until=begin), top=None) if begin else ()
        )
        several = reviewed(store, filters=filters, least_reviewers=2)
        seen = coverage(store, filters=filters)
    answered = {(one.tenant, one.fingerprint): one for one in told}
    known = {(one.tenant, one.fingerprint) for one in earlier} | (last.groups if last else set())
    first_call_at = window.facts.first_call_at
    told_apart = last is not None or (
        begin is not None and first_call_at is not None and first_call_at < begin
    )
    groups = [
        Group(
            proposal=one,
            standing=standing,
            owner=decided.owner if decided else None,
            due=decided.due if decided else None,
        )
        for one in inside
        for group in [(one.tenant, one.fingerprint)]
        for decided in [answered.get(group)]
        if (standing := _standing(one, known=group in known or not told_apart)) is not None
    ]
    groups.sort(key=lambda group: _PLACE[group.standing])  # within each the order of proposals: by impact
    done = [one for one in told if one.state in ("dismissed", "closed") and not one.recurred]
    to_do = [one for one in told if one not in done]
    to_do.sort(key=lambda one: (not one.recurred, _URGENT.get(one.verdict, 3)))
    return ReviewFacts(
        follow_up=tuple(to_do),
        settled=tuple(done),
        groups=tuple(groups),
        disputes=tuple(reversed([one for one in several if one.disputed])),
        several=len(several),
        unseen=tuple(one for one in seen if one.calls and one.calls > one.reviewed),
        last_prepared_at=last.prepared_at if last else None,
    )


def _standing(one: Proposal, *, known: bool) -> Standing | None:
    if one.recurred:
        return "came back"
    if not one.calls:
        return None  # every call of it is disputed, and stands there
    if one.state == "accepted":
        return "in work"
    if one.state == "pending":
        return "open" if known else "new"
    return None  # decided, and it did not come back


@dataclass(frozen=True, slots=True)
class _LastAgenda:
    prepared_at: datetime
    groups: set[tuple[str, str]]  # tenant and fingerprint


def _last_agenda(shelf: Path) -> _LastAgenda | None:
    """Return what the newest review that lies on the shelf had on its agenda."""
    for one in prepared(shelf):
        if one.run.report == REPORT and one.why_not is None:
            try:
                agenda = json.loads((one.folder / AGENDA).read_text(encoding="utf-8"))
                groups = {(str(each["tenant"]), str(each["fingerprint"])) for each in agenda["groups"]}
                return _LastAgenda(datetime.fromisoformat(agenda["prepared_at"]), groups)
            except (OSError, ValueError, KeyError, TypeError):
                continue  # of another version, or just being removed
    return None


def agenda_of(facts: ReviewFacts, window: ReportWindow, notes: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return the agenda as it is frozen: what to go through, by its ids, with the figures of that moment.

    *notes* are the labels on the disputed calls, by call.
    """
    asked = window.filters.window()
    return {
        "report": REPORT,
        "as_of": window.filters.now(),
        "tz": window.filters.tz,
        "window": {"since": asked.since, "until": asked.until, "words": window.words()},
        "decisions": [
            {
                name: getattr(one, name)
                for name in (
                    *(
                        "id",
                        "fingerprint",
                        "tenant",
                        "title",
                        "state",
                        "decided_at",
                        "author",
                        "owner",
                        "due",
                    ),
                    *("expectation", "recurred", "calls_since_decision", "verdict", "why"),
                )
            }
            for one in facts.follow_up
        ],
        "groups": [
            {
                "standing": group.standing,
                "owner": group.owner,
                "due": group.due,
                **{
                    name: getattr(group.proposal, name)
                    for name in (
                        *("id", "fingerprint", "tenant", "title", "state", "severity", "tool_name", "label"),
                        *("source", "calls", "reviewed", "rate", "low", "high", "impact"),
                    )
                },
                "examples": [example.call_uid for example in group.proposal.examples[:3]],
            }
            for group in facts.groups
        ],
        "disputes": [
            {
                "call_uid": one.call_uid,
                "tool_name": one.tool_name,
                "conversation_id": one.conversation_id,
                "labels": [
                    {"author": note.author, "label": note.label} for note in notes.get(one.call_uid, ())
                ],
            }
            for one in facts.disputes
        ],
        "unreviewed": [
            {
                "tool_name": one.tool_name,
                "calls": one.calls,
                "reviewed": one.reviewed,
                "failures": one.failures,
                "failures_reviewed": one.failures_reviewed,
            }
            for one in facts.unseen
        ],
    }
