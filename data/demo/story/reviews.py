"""What the three reviewers wrote about the exchange assistant's calls.

Dana (3) writes the most, Tomas (5) writes the least, Priya (8) forgives easily. They sit down on Mondays,
Wednesdays and Fridays and look at what has come since; now and then two of them look at the same call.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import story.words as words
from story.frame import (
    DAY,
    GUARD,
    HOUR,
    INFO,
    ORDER,
    PAYMENT,
    QUOTE,
    RELEASE,
    REQUISITES,
    SLOTS,
    START,
    VERIFICATION,
    Call,
    Deck,
    spread,
)
from story.plot import LAST_REVIEW, Story

DANA, TOMAS, PRIYA = words.REVIEWERS
SESSIONS = [day for week in range(4) for day in (week * 7, week * 7 + 2, week * 7 + 4)]


@dataclass
class Label:
    call: Call
    label: str
    note: str | None
    reviewer: int
    at: int
    id: int = 0


class Voices:
    """Hands out notes, each once before any comes again; Dana takes the long ones, Tomas the short ones."""

    def __init__(self, rng: random.Random, notes: dict[str, list[str | None]]) -> None:
        self.rng, self.notes = rng, notes
        self.left: dict[str, list[str | None]] = {}

    def note(self, kind: str, reviewer: int) -> str | None:
        """Return what *reviewer* writes about a call of this kind, if anything."""
        if not self.left.get(kind):
            self.left[kind] = self.rng.sample(self.notes[kind], len(self.notes[kind]))
        left = self.left[kind]
        fitting = [
            note
            for note in left
            if note is None or reviewer == PRIYA or (len(note) > 44) == (reviewer == DANA)
        ]
        note = (fitting or left)[0]
        left.remove(note)
        return note


def at_the_desk(rng: random.Random, after: int) -> int:
    """Return a second at which a reviewer looks at what happened at *after*: in the next open session."""
    day = next(day for day in SESSIONS if START + day * DAY + 9 * HOUR > after + 2 * HOUR)
    opens, closes = START + day * DAY + 3 * HOUR + 1_800, START + day * DAY + 9 * HOUR
    return rng.randint(max(opens, after + HOUR), closes)


def sound(call: Call) -> bool:
    """Say whether there is nothing wrong with *call*; a guard's row is sound where it is not of the plot."""
    return not call.flaw and call.fate in ("ok", "guard") and not call.empty


def refused(call: Call) -> bool:
    return call.fate == "soft_error"


def read_baht_as_source(call: Call) -> bool:
    return call.flaw == "baht"


def came_back_empty(call: Call) -> bool:
    return call.flaw == "swallowed"


def came_too_early(call: Call) -> bool:
    return call.flaw == "early"


def had_no_status(call: Call) -> bool:
    return call.flaw == "no_status"


class Reviews:
    """All labels of one story, in the order in which they were given."""

    def __init__(self, story: Story) -> None:
        self.story, self.plot = story, story.plot
        self.rng = random.Random(f"{story.seed}:reviews")
        self.voices = Voices(self.rng, words.NOTES)
        self.turn = Deck(self.rng, [DANA, DANA, TOMAS, TOMAS, PRIYA])
        self.labels: list[Label] = []
        self.seen: set[int] = set()
        self._quotes()
        self._other_tools()
        self.labels.sort(key=lambda label: (label.at, label.call.id, label.reviewer))
        number = 500
        for label in self.labels:
            number += self.rng.choice([1, 1, 1, 2])
            label.id = number

    def _quotes(self) -> None:
        early, late = (START, RELEASE), (RELEASE, LAST_REVIEW)
        relabelled, disputed = self._pick(2, QUOTE, *early, read_baht_as_source)
        first = self._label(relabelled, "good_reply", "quote_good", TOMAS)
        self._label(relabelled, "bad_args", "quote_baht_first", TOMAS, after=first)
        self._label(disputed, "bad_args", "quote_baht_first", DANA)
        self._label(disputed, "good_reply", "quote_baht_lenient", PRIYA)
        for call in self._pick(1, QUOTE, *early):
            self._label(call, "other", "quote_other")
        for call in self._pick(24, QUOTE, *early):
            self._label(call, "good_reply", "quote_good")
        if self.plot:
            found = self._pick(11, QUOTE, *late, read_baht_as_source)
            self._label(found[4], "bad_args", "quote_baht", DANA)
            self._label(found[4], "good_reply", "quote_baht_lenient", PRIYA)
            for i, call in enumerate(found):
                if i == 4:
                    continue
                self._label(call, "bad_args", "quote_baht", DANA if i in (2, 6, 8) else None)
                if i in (2, 6, 8):
                    self._label(call, "bad_args", "quote_baht", TOMAS)
                if i == 8:
                    self._label(call, "good_reply", "quote_baht_lenient", PRIYA)
        else:
            for i, call in enumerate(self._pick(11, QUOTE, *late)):
                self._label(call, "good_reply", "quote_good", DANA if i in (2, 4, 6, 8) else None)
                if i in (2, 6, 8):
                    self._label(call, "good_reply", "quote_good", TOMAS)
                if i == 4:
                    self._label(call, "other", "quote_other", PRIYA)
        for call in self._pick(1, QUOTE, *late):
            self._label(call, "other", "quote_other")
        for call in self._pick(20, QUOTE, *late):
            self._label(call, "good_reply", "quote_good")

    def _other_tools(self) -> None:
        whole = (START, LAST_REVIEW)
        if self.plot:
            for call in self._pick(2, PAYMENT, *whole, self._refused_then_accepted):
                self._label(call, "other", "payment_other")
        else:
            for call in self._pick(1, PAYMENT, *whole, refused):
                self._label(call, "other", "payment_refused")
        for i, call in enumerate(self._pick(2 if self.plot else 3, PAYMENT, *whole)):
            self._label(call, "good_reply", "payment_good", PRIYA)
            if i == 0:
                self._label(call, "good_reply", "payment_good", DANA)
        if self.plot:
            for call in self._pick(3, SLOTS, *whole, came_back_empty):
                self._label(call, "other", "slots_other")
        else:
            for call in self._pick(1, SLOTS, *whole):
                self._label(call, "bad_args", "slots_bad_args")
        for call in self._pick(1 if self.plot else 3, SLOTS, *whole):
            self._label(call, "good_reply", "slots_good")
        if self.plot:
            for call in self._pick(1, REQUISITES, *whole, came_too_early):
                self._label(call, "wrong_tool", "requisites_early", DANA)
        for call in self._pick(3 if self.plot else 4, REQUISITES, *whole):
            self._label(call, "good_reply", "requisites_good")
        for call in self._pick(2, ORDER, *whole):
            self._label(call, "good_reply", "order_good")
        doubtful, needless = self._pick(2, VERIFICATION, *whole)
        self._label(doubtful, "wrong_tool", "verification_wrong", TOMAS)
        self._label(doubtful, "good_reply", "verification_good", PRIYA)
        self._label(needless, "wrong_tool", "verification_wrong", TOMAS)
        self._missing_tools(whole)

    def _missing_tools(self, whole: tuple[int, int]) -> None:
        guards = self._pick(2, GUARD, *whole, had_no_status if self.plot else sound)
        if self.plot:
            chases = self._pick(5, INFO, *whole, had_no_status)
            for call in chases:
                self._label(call, "missing_tool", "no_status", DANA if call is chases[3] else None)
            for call in self._pick(1, VERIFICATION, *whole, had_no_status):
                self._label(call, "missing_tool", "no_status_verified")
            self._label(chases[3], "other", "no_status_other", PRIYA)
            self._label(guards[0], "missing_tool", "no_status_guard", DANA)
            self._label(guards[0], "missing_tool", "no_status_guard", PRIYA)
            self._label(guards[1], "missing_tool", "no_status_guard")
        else:
            for call in self._pick(1, INFO, *whole):
                self._label(call, "missing_tool", "no_receipt", TOMAS)
            for call in self._pick(4, INFO, *whole):
                self._label(call, "good_reply", "info_good")
            for call in self._pick(1, VERIFICATION, *whole):
                self._label(call, "good_reply", "verification_good")
            for call in guards:
                self._label(call, "other", "guard_other")
        for call in self._pick(1, INFO, *whole):
            self._label(call, "good_reply", "info_good")

    def _refused_then_accepted(self, call: Call) -> bool:
        return refused(call) and any(
            later.tool == PAYMENT
            and later.conversation is call.conversation
            and later.place
            and later.fate == "ok"
            for later in self.story.calls
        )

    def _pick(
        self,
        count: int,
        tool: str,
        since: int,
        until: int,
        what: Callable[[Call], bool] | None = None,
    ) -> list[Call]:
        """Return *count* calls of *tool* that nobody has looked at, spread over time; sound unless told."""
        wanted = what or sound
        pool = [
            call
            for call in self.story.calls
            if call.tool == tool
            and since <= call.at < until - 4 * HOUR
            and not call.place
            and call.id not in self.seen
            and wanted(call)
        ]
        return spread(self.rng, pool, count)

    def _label(
        self, call: Call, label: str, kind: str, reviewer: int | None = None, *, after: int = 0
    ) -> int:
        """Let somebody judge *call*, a little after *after* if that is given; return when it was."""
        who = reviewer or self.turn.draw()
        note = self.voices.note(kind, who)
        if note:
            note = note.format(amount=call.args.get("amount"), asset=call.args.get("asset"))
        at = after + self.rng.randint(600, 3_000) if after else at_the_desk(self.rng, call.at)
        self.labels.append(Label(call, label, note, who, at))
        self.seen.add(call.id)
        return at
