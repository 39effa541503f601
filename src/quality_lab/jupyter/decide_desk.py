"""The desk at which proposals are decided: questions of the browser in, state and replies out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from quality_lab.answers import visible
from quality_lab.answers.words import number, percent, percent_range
from quality_lab.errors import NoData, StoreBusy, StoreError, UsageError
from quality_lab.jupyter.call_card import stamp, story_step
from quality_lab.jupyter.journal_stamp import JournalStamp, journal_stamp
from quality_lab.jupyter.replies import Asked, Replies, Reply, later, words_in
from quality_lab.lab import open_lab
from quality_lab.lab.deciding import KINDS, remark
from quality_lab.people import read_people, shown
from quality_lab.proposals import form_of

if TYPE_CHECKING:
    from quality_lab.lab import Lab
    from quality_lab.proposals import DecisionLine, Proposal

ACTIONS = (
    ("accept", "a", "It will be done; nothing has changed yet."),
    ("apply", "p", "It was done: say what, and where that stands."),
    ("dismiss", "d", "It will not be done."),
    ("close", "c", "It is over."),
    ("reopen", "o", "Back to pending; what was decided no longer stands."),
)
SHOWN_EXAMPLES = 3


class DecideDesk:
    """Proposals, and the decisions about them; every decision is a journal line at once.

    >>> import quality_lab as ql
    >>> lab = ql.open_demo()
    >>> desk = DecideDesk(lab, [lab.proposals()[0].id], decider="kim@example.com")
    >>> worst = desk.state()["items"][0]["id"]
    >>> desk.reply({"id": "1", "ask": "decide", "proposal": worst, "action": "apply"})["error"]
    'to apply takes a kind, and a ref or a url'
    >>> desk.reply({"id": "2", "ask": "decide", "proposal": worst, "action": "accept"})["ok"]
    True
    >>> desk.state()["items"][0]["state"]
    'accepted'
    >>> desk.reply({"id": "3", "ask": "undo"})["ok"]
    True
    """

    def __init__(self, lab: Lab, proposal_ids: Iterable[str], *, decider: str) -> None:
        """Look up how each proposal stands."""
        self.lab = lab
        self.decider = decider
        self._shown = visible(read_people(lab.home).name(decider))
        self._ids = list(dict.fromkeys(proposal_ids))
        self._found: dict[str, Proposal] = {}
        self._written: list[tuple[list[str], str]] = []  # lines of one decision, and its proposal
        self._replies = Replies(
            {"card": self._card, "ping": self._ping},
            writing={"decide": self._decide, "case": self._case, "undo": self._undo},
        )
        self._stamp: JournalStamp = ()
        self._impatient = open_lab(lab.home, wait_s=1.0, on_wait=lambda _: None)  # nobody waits for a ping
        if not self._bring_in():
            self._look_again()

    def reply(self, asked: Asked) -> Reply:
        """Return the reply to a question of the browser."""
        return self._replies.to(asked)

    def state(self) -> dict[str, Any]:
        """Return as JSON what every view of the desk shows: the proposals, and how each stands."""
        return {
            "decider": self._shown,
            "actions": [{"name": name, "key": key, "means": means} for name, key, means in ACTIONS],
            "kinds": list(KINDS),
            "items": [_row(self._found[one]) for one in self._ids if one in self._found],
        }

    def _card(self, asked: Asked) -> Reply:
        one = self._known(asked)
        lines = self.lab.decisions(one.id)
        return {
            "card": {
                "id": one.id,
                "fingerprint": visible(one.fingerprint),
                "summary": visible(one.summary),
                "rationale": [visible(text) for text in one.rationale],
                "action_items": [visible(text) for text in one.action_items],
                "flags": [visible(flag.replace("_", " ")) for flag in one.flags],
                "decisions": [_decision(line) for line in lines],
                "effect": self._effect(one) if lines else None,
                "examples": [
                    self._example(one, place) for place in range(min(SHOWN_EXAMPLES, len(one.examples)))
                ],
                "more": max(0, len(one.examples) - SHOWN_EXAMPLES),
            }
        }

    def _example(self, one: Proposal, place: int) -> dict[str, Any]:
        """Return an example as the exchange it was; a call that is not in the lab any more as its row."""
        example = one.examples[place]
        try:
            steps = [story_step(step, chosen=step.chosen) for step in self.lab.call(example.call_uid).steps]
        except NoData:
            steps = []
        return {
            "uid": example.call_uid,
            "at": stamp(example.called_at),
            "conversation": visible(example.conversation_id or ""),
            "steps": steps,
        }

    def _effect(self, one: Proposal) -> dict[str, str] | None:
        """Return what the decision that stands brought about; None where nothing was changed yet."""
        try:
            (found,) = self.lab.effect(one.id)
        except NoData:
            return None
        return {"verdict": found.verdict, "why": visible(found.why)}

    def _decide(self, asked: Asked) -> Reply:
        one = self._known(asked)
        said = self.lab.decide(
            one.id,
            asked.get("action"),  # type: ignore[arg-type]  # `decide` refuses what is none of its actions
            kind=words_in(asked, "kind"),
            ref=words_in(asked, "ref"),
            url=words_in(asked, "url"),
            note=words_in(asked, "note"),
            owner=words_in(asked, "owner"),
            due=words_in(asked, "due"),
            expect=words_in(asked, "expect"),
            effective_at=words_in(asked, "effective_at"),
            reviewer=self.decider,
        )
        self._written.append(([str(said.line["id"])], one.id))
        told = remark(one, words_in(asked, "expect"))
        return {
            "proposal": one.id,
            "notice": later(said),
            "remark": told and visible(told),
            **self._after(one),
        }

    def _case(self, asked: Asked) -> Reply:
        """Make a case of an example; the proposal is then applied, by that case."""
        one = self._known(asked)
        uid = asked.get("uid")
        now = self.lab.proposal(one.id)[0]
        place = next((i for i, example in enumerate(now.examples) if example.call_uid == uid), None)
        if place is None:
            raise UsageError(
                "this call is no longer among the examples of the proposal; `cases freeze` takes it"
            )
        frozen = self.lab.case_from_proposal(
            one.id, example=place, expect=words_in(asked, "expect"), reviewer=self.decider
        )
        lines = [] if frozen.decision is None else [frozen.decision]
        self._written.append(([*lines, str(frozen.line["id"])], one.id))
        made = {
            "case": frozen.id,
            "proof": frozen.proof,
            "reasons": [visible(text) for text in frozen.reasons],
        }
        return {"proposal": one.id, "notice": later(frozen), **made, **self._after(one)}

    def _undo(self, asked: Asked) -> Reply:
        if not self._written:
            raise UsageError("nothing was decided here that could be taken back")
        lines, proposal = self._written[-1]
        gone = self.lab.journal.retracted()
        notice = None
        for line in lines:
            if line not in gone:
                notice = later(self.lab.undo(line, reviewer=self.decider))
        self._written.pop()
        return {"proposal": proposal, "notice": notice, **self._after(self._found[proposal])}

    def _ping(self, asked: Asked) -> Reply:
        """Say that the kernel is there; where the journal has grown, bring in what others decided."""
        return self._card(asked) if self._bring_in() and asked.get("proposal") in self._found else {}

    def _bring_in(self) -> bool:
        stamp = journal_stamp(self.lab.journal, ("labels", "decisions", "cases", "retractions"))
        if stamp == self._stamp:
            return False
        try:
            self._impatient.load()
            self._look_again()
        except StoreBusy:
            return False  # the next ping tries again
        self._stamp = stamp
        return True

    def _after(self, one: Proposal) -> Reply:
        """Return the card as it stands after a line was written; none where the database cannot be asked."""
        try:
            self._look_again()
            return self._card({"proposal": one.id})
        except StoreError:  # the line is in the journal: what was just said must not look as if it were not
            return {"card": None}

    def _look_again(self) -> None:
        self._found = {one.id: one for one in self.lab.proposals(top=None) if one.id in self._ids}

    def _known(self, asked: Asked) -> Proposal:
        found = self._found.get(str(asked.get("proposal")))
        if found is None:
            raise UsageError(f"wanted a proposal of this page, came {asked.get('proposal')!r}")
        return found


def _row(one: Proposal) -> dict[str, Any]:
    interval = one.low is not None and one.high is not None
    return {
        "id": one.id,
        "title": visible(one.title),
        "severity": one.severity,
        "state": one.state,
        "recurred": one.recurred,
        "tool": visible(one.tool_name),
        "label": one.label,
        "source": visible(one.source or ""),
        "rate": "" if one.rate is None else percent(one.rate),
        "interval": percent_range(one.low, one.high) if interval else "",  # type: ignore[arg-type]  # both are there
        "of": f"{one.calls:,} of {one.reviewed:,} reviewed calls",
        "impact": "" if one.impact is None else f"at least {number(one.impact)} a week",
        "last": stamp(one.last_at),
        "expect": form_of(one.label, one.rate),
        "since": one.calls_since_decision,
    }


def _decision(line: DecisionLine) -> dict[str, Any]:
    named = {
        "kind": (line.kind or "").replace("_", " "),
        "ref": line.ref,
        "owner": shown(line.owner or ""),
        "due": line.due,
        "expectation": line.expectation,
        "note": line.note,
        "from": stamp(line.effective_at),
    }
    return {
        "action": line.action,
        "who": visible(shown(line.author or "somebody")),
        "at": stamp(line.decided_at),
        "url": visible(line.url or ""),
        "words": [[name, visible(text, keep="\n\t")] for name, text in named.items() if text],
    }
