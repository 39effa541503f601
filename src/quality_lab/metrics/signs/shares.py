"""How often a tool's calls fail, are turned away or come back empty: all that a rate and its change need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from quality_lab.intervals import Sums
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import Filters

Sign = Literal["failed", "gated", "empty"]
_ROOM = "quality_lab.metrics.signs"


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolSign:
    """A tool's traced calls, added up over its conversations."""

    tool_name: str
    calls: int
    conversations: int  # with at least one call whose outcome is known
    known: int
    known_known: int
    failed: int
    failed_failed: int
    failed_known: int
    gated: int
    gated_gated: int
    gated_known: int
    fine_conversations: int  # with at least one call that ended well
    fine: int
    fine_fine: int
    empty: int
    empty_empty: int
    empty_fine: int

    def sums(self, sign: Sign) -> Sums:
        """Return what an interval needs for one of the three shares."""
        if sign == "empty":
            return Sums(
                n=self.fine, y=self.empty, conversations=self.fine_conversations,
                yy=self.empty_empty, ym=self.empty_fine, mm=self.fine_fine,
            )  # fmt: skip  # the sums read as two lines
        hits: dict[str, tuple[int, int, int]] = {
            "failed": (self.failed, self.failed_failed, self.failed_known),
            "gated": (self.gated, self.gated_gated, self.gated_known),
        }
        y, yy, ym = hits[sign]
        return Sums(n=self.known, y=y, conversations=self.conversations, yy=yy, ym=ym, mm=self.known_known)


@dataclass(frozen=True, kw_only=True, slots=True)
class ConversationSign:
    """One conversation's calls of one tool."""

    tool_name: str
    conversation_uid: str
    started_at: datetime
    known: int
    failed: int
    gated: int
    fine: int
    empty: int

    def of(self, sign: Sign) -> tuple[int, int]:
        """Return the calls that count for one of the three shares, and the hits among them."""
        if sign == "empty":
            return self.fine, self.empty
        return self.known, self.failed if sign == "failed" else self.gated


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlierTool:
    """A call that passed or was turned away, with one of the tools that had done their work before it."""

    call_uid: str
    conversation_uid: str
    gated: bool
    gate_reason: str | None
    earlier_tool: str | None  # None: nothing was called before


@dataclass(frozen=True, kw_only=True, slots=True)
class GateReason:
    """A reason for which the application turned a tool's calls away."""

    tool_name: str
    reason: str | None
    calls: int
    conversations: int
    last_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class GuardText:
    """A reply that a guard stopped."""

    call_uid: str
    conversation_uid: str
    created_at: datetime | None
    reason: str | None
    text: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FailureWords:
    """What failed calls of a tool say of themselves."""

    tool_name: str
    words: str  # the first 120 characters
    calls: int


@dataclass(frozen=True, kw_only=True, slots=True)
class WeeklyOutcome:
    """What a tool's calls of one week came to, and what reviewers say of them."""

    tool_name: str
    week: str  # its Monday
    calls: int
    known: int
    failed: int
    gated: int
    empty: int
    reviewed: int
    judged_wrong: int  # wrong_tool or bad_args


def tool_signs(store: Asks, *, filters: Filters) -> list[ToolSign]:
    """Return one row a tool, by name."""
    return put(store, ToolSign, "tool_signs", filters, room=_ROOM)


def conversation_signs(store: Asks, *, filters: Filters, chosen: Sequence[str]) -> list[ConversationSign]:
    """Return one row for each conversation and each of the *chosen* tools in it, in order of time."""
    return put(store, ConversationSign, "conversation_signs", filters, room=_ROOM, chosen=list(chosen))


def earlier_tools(store: Asks, *, filters: Filters, chosen: str) -> list[EarlierTool]:
    """Return the calls of the *chosen* tool that passed or were gated, a row for each earlier tool."""
    return put(store, EarlierTool, "earlier_tools", filters, room=_ROOM, chosen=chosen)


def failure_words(
    store: Asks, *, filters: Filters, chosen: Sequence[str], most: int = 200
) -> list[FailureWords]:
    """Return what failed calls of the *chosen* tools say, the most frequent first within each tool."""
    return put(store, FailureWords, "failure_words", filters, room=_ROOM, chosen=list(chosen), most=most)


def guard_texts(store: Asks, *, filters: Filters) -> list[GuardText]:
    """Return the replies that guards stopped, in order of time."""
    return put(store, GuardText, "guard_texts", filters, room=_ROOM)


def weekly_outcomes(store: Asks, *, filters: Filters) -> list[WeeklyOutcome]:
    """Return one row for each tool and each week in which it was called, by tool and week."""
    return put(store, WeeklyOutcome, "weekly_outcomes", filters, room=_ROOM)


def gate_reasons(store: Asks, *, filters: Filters) -> list[GateReason]:
    """Return why calls were turned away, by tool and reason, the most frequent first."""
    return put(store, GateReason, "gate_reasons", filters, room=_ROOM)
