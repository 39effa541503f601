"""The frame of the story: its four weeks, its tools, and who comes when.

Conversations are planned first (what kind, which week, which hour) and played in the order of time, so that
habits stay even over the weeks: every choice comes from a deck of cards that is dealt out and reshuffled.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

DAY = 86_400
HOUR = 3_600
START = int(datetime(2026, 5, 4, tzinfo=UTC).timestamp())  # a Monday
RELEASE = START + 14 * DAY + HOUR + 1_800  # Monday of week 3, before the first client
CALENDAR_MOVED = START + 7 * DAY  # Monday of week 2
PROPOSAL_APPLIED = START + 8 * DAY + 4 * HOUR + 1_212  # Tuesday of week 2
LLM_ONLY_DAYS = (5, 6)  # the first weekend: no embedding model, another reply strategy

QUOTE, VERIFICATION, ORDER = "compute_exchange_quote", "check_exchange_verification", "create_exchange_order"
REQUISITES, PAYMENT, PAYOUT = "fetch_exchange_requisites", "verify_exchange_payment", "issue_exchange_payout"
CANCEL, INFO = "cancel_exchange_order", "get_exchange_business_info"
SLOTS, BOOK, LINK = "check_slots", "book_calendar_slot", "offer_booking_link"
EXCHANGE_TOOLS = [QUOTE, VERIFICATION, ORDER, CANCEL, REQUISITES, PAYMENT, PAYOUT, INFO, SLOTS, BOOK, LINK]
GUARD = "exchange_response_guard"  # upstream's pseudo-tool: part of the format, never renamed

KINDS = {"rate": 44, "deal": 26, "newcomer": 22, "office": 30, "status": 12, "link": 8, "cancel": 5}


@dataclass
class Call:
    """One call as it will stand in the trace list, and what the story knows about it beyond that."""

    tool: str
    args: dict[str, Any]
    result: Any
    error: bool = False
    cycle: int = 0
    fate: str = "ok"  # ok, error, soft_error, gated, guard
    flaw: str = ""  # what a careful reviewer would find: baht, early, no_status, swallowed
    at: int = 0
    index: int = 0
    id: int = 0
    conversation: Conversation | None = None
    place: int = 0  # how many calls of this tool came before it in its conversation

    @property
    def empty(self) -> bool:
        return self.result is None or self.result == [] or self.result == {} or self.result == ""


@dataclass
class Conversation:
    kind: str
    start: int
    id: int = 0
    contact: int = 0
    turns: list[tuple[int, list[Call]]] = field(default_factory=list)

    @property
    def source(self) -> str:
        return "llm_reply" if (self.start - START) // DAY in LLM_ONLY_DAYS else "rag_reply"

    def say(self, after: int, *calls: Call) -> None:
        """Add a turn *after* so many seconds since the last one; all calls of a turn carry its time."""
        last = self.turns[-1][0] if self.turns else self.start
        self.turns.append((last + after, list(calls)))


class Deck:
    """Cards dealt in random order, all of them before any comes again."""

    def __init__(self, rng: random.Random, cards: list[Any]) -> None:
        self.rng, self.cards = rng, cards
        self.left: list[Any] = []

    def draw(self) -> Any:
        if not self.left:
            self.left = list(self.cards)
            self.rng.shuffle(self.left)
        return self.left.pop()


def spread(rng: random.Random, calls: list[Call], count: int) -> list[Call]:
    """Return *count* of *calls*, one from each of so many equal stretches of them, in their order."""
    if count > len(calls):
        raise ValueError(f"{count} calls wanted, {len(calls)} there")
    cuts = [len(calls) * i // count for i in range(count + 1)] if count else []
    return [rng.choice(calls[low:high]) for low, high in zip(cuts, cuts[1:], strict=False)]


def plan(rng: random.Random) -> list[Conversation]:
    """Return all conversations, still silent, in order of time: a quarter of each kind in each week.

    The office is open from 9:00 to 21:00 at seven hours east of UTC; weekends are quiet.
    """
    shells = []
    for week in range(4):
        kinds = [kind for kind, count in KINDS.items() for i in range(count) if i * 4 // count == week]
        rng.shuffle(kinds)
        weekdays = Deck(rng, [day for day, share in enumerate((6, 6, 7, 6, 7, 3, 2)) for _ in range(share)])
        for kind in kinds:
            weekday = weekdays.draw()
            low, high, peak = (4.0, 10.0, 7.0) if weekday > 4 else (2.2, 12.2, rng.choice([4.0, 10.0]))
            second = int(rng.triangular(low, high, peak) * HOUR)
            shells.append(Conversation(kind, START + (week * 7 + weekday) * DAY + second))
    shells.sort(key=lambda shell: shell.start)
    rates = [shell for shell in shells if shell.kind == "rate"]
    rates[0].start, rates[-1].start = START + 2 * HOUR + 947, START + 27 * DAY + 12 * HOUR + 2_431
    return sorted(shells, key=lambda shell: shell.start)


def iso(at: int) -> str:
    """Return the second *at* as people write it: 2026-05-04T02:15:47Z."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
