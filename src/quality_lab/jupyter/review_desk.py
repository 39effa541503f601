"""The desk at which one reviewer labels calls: questions of the browser in, state and replies out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from quality_lab.answers import visible
from quality_lab.errors import StoreBusy, UsageError
from quality_lab.jupyter.call_card import call_card
from quality_lab.jupyter.journal_stamp import JournalStamp, journal_stamp
from quality_lab.jupyter.replies import Asked, Replies, Reply, later, words_in
from quality_lab.jupyter.voices import Voices
from quality_lab.lab import open_lab
from quality_lab.people import read_people

if TYPE_CHECKING:
    from quality_lab.lab import Lab
    from quality_lab.lab.reviewing import Said

LABELS = (
    ("good_reply", "g", "The call was right, whatever came of it."),
    ("wrong_tool", "w", "Another tool should have been called, or none."),
    ("missing_tool", "m", "What was needed, no tool can do."),
    ("bad_args", "b", "The right tool, called with wrong arguments."),
    ("other", "o", "Something else is wrong; say it in a note."),
)


class ReviewDesk:
    """Calls to be labelled by one reviewer, and what was said of them; every word is a journal line at once.

    >>> import quality_lab as ql
    >>> lab = ql.open_demo()
    >>> first = lab.calls(tool="offer_booking_link")[0].call_uid
    >>> desk = ReviewDesk(lab, [first], reviewer="kim@example.com")
    >>> reply = desk.reply({"id": "1", "ask": "label", "uid": first, "label": "good_reply"})
    >>> reply["ok"], desk.state()["items"][0]["label"]
    (True, 'good_reply')
    >>> desk.reply({"id": "2", "ask": "undo", "uid": first})["ok"], desk.state()["items"][0]["label"]
    (True, None)
    """

    def __init__(
        self,
        lab: Lab,
        call_uids: Iterable[str],
        *,
        reviewer: str,
        blind: bool = True,
        advance: bool = True,
        guide_version: str | None = None,
        afresh: Collection[str] = frozenset(),
    ) -> None:
        """Look up what the reviewer has said of each call so far.

        For calls to be labelled *afresh* that does not count: a dispute may have been drawn to be looked at again.
        """
        self.lab = lab
        self.reviewer = reviewer
        self._shown = visible(read_people(lab.home).name(reviewer))
        self._blind = blind
        self._advance = advance
        self._guide_version = guide_version
        self._impatient = open_lab(lab.home, wait_s=0.5, on_wait=lambda _: None)  # nobody waits for a reply
        self._voices = Voices(self._impatient, reviewer, blind=blind, afresh=afresh)
        self._tenants: dict[
            str, str
        ] = {}  # of the calls: what makes a label whole while the database is held
        self._in_sight: set[str] = set()  # calls of which it was told what others say
        self._written: list[tuple[str, str]] = []  # line and call of what was said here and may be taken back
        self._items: dict[str, dict[str, Any]] = {uid: {"uid": uid} for uid in dict.fromkeys(call_uids)}
        self._stamp: JournalStamp = ()
        self._replies = Replies(
            {"card": self._card, "voices": self._voices_of, "ping": self._ping},
            writing={"label": self._label, "adjudicate": self._adjudicate, "undo": self._undo},
        )
        if not self._bring_in():
            with lab.store.together():  # opening has time
                self._look_again(self._items)

    @property
    def call_uids(self) -> Sequence[str]:
        """Return the calls in the order of the queue."""
        return tuple(self._items)

    def reply(self, asked: Asked) -> Reply:
        """Return the reply to a question of the browser."""
        return self._replies.to(asked)

    def first_open(self) -> int:
        """Return the place of the first call without a label of the reviewer, from 0; 0 where there is none."""
        return next((place for place, item in enumerate(self._items.values()) if not item.get("label")), 0)

    def state(self) -> dict[str, Any]:
        """Return as JSON what every view of the desk shows: who reviews, and how far each call is."""
        return {
            "reviewer": self._shown,
            "blind": self._blind,
            "advance": self._advance,
            "labels": [{"name": name, "key": key, "means": means} for name, key, means in LABELS],
            "items": list(self._items.values()),
        }

    def _card(self, asked: Asked) -> Reply:
        uid = self._known(asked)
        card = call_card(self.lab, uid, whole=bool(asked.get("whole")))
        return {"card": card, "voices": self._heard(uid)}

    def _voices_of(self, asked: Asked) -> Reply:
        return {"voices": self._heard(self._known(asked))}

    def _label(self, asked: Asked) -> Reply:
        uid = self._known(asked)
        said = self._impatient.label(
            uid,
            str(asked.get("label")),
            note=words_in(asked, "note"),
            expected_tool=words_in(asked, "expected_tool"),
            expected_arguments=words_in(asked, "expected_arguments"),
            guide_version=self._guide_version,
            reviewer=self.reviewer,
            tenant=self._tenants.get(uid),
            blind=uid not in self._in_sight,
        )
        return self._written_down(said, uid)

    def _adjudicate(self, asked: Asked) -> Reply:
        uid = self._known(asked)
        if self._heard(uid)["others"] is None:
            raise UsageError("give your own label first: settling shows what the others said")
        said = self._impatient.adjudicate(
            uid,
            str(asked.get("label")),
            note=words_in(asked, "note"),
            reviewer=self.reviewer,
            tenant=self._tenants.get(uid),
        )
        return self._written_down(said, uid)

    def _undo(self, asked: Asked) -> Reply:
        """Take back what was said here last; where that is nothing, the reviewer's label of this call."""
        here = self._known(asked)
        own = self._voices.own_line(here)
        line, uid = self._written[-1] if self._written else (own, here)
        if line is None:
            raise UsageError("there is nothing of yours to take back on this call")
        if line in self.lab.journal.retracted():  # from the command line, or by another view
            self._written = [one for one in self._written if one[0] != line]
            raise UsageError(f"the line {line} was taken back already")
        said = self._impatient.undo(line, reviewer=self.reviewer)
        self._written = self._written[:-1]
        return self._written_down(said, uid)

    def _ping(self, asked: Asked) -> Reply:
        """Say that the kernel is there; where the journal has grown, bring in what others wrote."""
        if not self._bring_in() or asked.get("uid") is None:
            return {}
        return {"voices": self._heard(self._known(asked))}

    def _bring_in(self) -> bool:
        """Bring in what the journal holds and the lab does not: lines of others, of git, of a kernel that died."""
        stamp = journal_stamp(self.lab.journal, ("labels", "retractions"))
        if stamp == self._stamp:
            return False
        try:
            self._impatient.load()
            self._look_again(self._items)
        except StoreBusy:
            return False  # the next ping tries again
        self._stamp = stamp
        return True

    def _written_down(self, said: Said, uid: str) -> Reply:
        self._voices.heard(said)
        if said.line.get("record_type") != "retraction":
            self._written.append((str(said.line["id"]), uid))
        return {"uid": uid, "notice": later(said), "voices": self._heard(uid)}

    def _heard(self, uid: str) -> dict[str, Any]:
        """Return what is said of a call, and note it in the state."""
        voices = self._voices.of(uid)
        (self._in_sight.add if voices["others"] else self._in_sight.discard)(uid)
        self._items[uid] = {
            "uid": uid,
            "label": voices["own"]["label"] if voices["own"] else None,
            "settled": voices["settled"]["label"] if voices["settled"] else None,
            "disputed": voices["disputed"],
        }
        return voices

    def _look_again(self, uids: Iterable[str]) -> None:
        from quality_lab.metrics.call_keys import call_keys

        if not self.lab.store.exists():
            return
        with self._impatient.store.together():
            found = call_keys(self._impatient.store, calls=sorted(self._items.keys() - self._tenants.keys()))
            self._tenants |= {uid: one.tenant for uid, one in found.items()}
            for uid in list(uids):
                self._heard(uid)

    def _known(self, asked: Asked) -> str:
        uid = asked.get("uid")
        if not isinstance(uid, str) or uid not in self._items:
            raise UsageError(f"wanted a call of this queue, came {uid!r}")
        return uid
