"""What reviewers said of single calls, with the arguments and the words that belong to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import Filters

_ROOM = "quality_lab.metrics.signs"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reviewed:
    """A reviewed call, or a guard's row that was reviewed."""

    call_uid: str
    conversation_uid: str
    conversation_id: str
    tool_name: str
    source: str | None
    created_at: datetime | None
    outcome: str
    gate_reason: str | None
    verdict: str | None  # the label that over half of the reviewers gave
    disputed: bool
    reviewers: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ArgumentValue:
    """A call with its arguments, and its judgement where it has one."""

    call_uid: str
    created_at: datetime | None
    arguments: str  # JSON text
    verdict: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelNote:
    """A label that counts, and what its reviewer wrote."""

    call_uid: str
    conversation_uid: str
    tool_name: str
    label: str
    author: str | None
    note: str | None
    expected_tool: str | None
    expected_arguments: str | None  # JSON text
    created_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ChosenCall:
    """A single call with what it was given and what came back, both JSON text."""

    call_uid: str
    conversation_id: str
    tool_name: str
    arguments: str | None
    arguments_state: str
    result: str | None
    result_state: str
    outcome: str
    gate_reason: str | None
    error_text: str | None
    source: str | None
    created_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """The last thing that the user said before a call."""

    call_uid: str
    text: str


def reviewed(store: Asks, *, filters: Filters, least_reviewers: int = 1) -> list[Reviewed]:
    """Return the calls and guards' rows that so many people reviewed, by the time of the call."""
    return put(store, Reviewed, "reviewed", filters, room=_ROOM, least_reviewers=least_reviewers)


def argument_values(store: Asks, *, filters: Filters, chosen: str, most: int = 5000) -> list[ArgumentValue]:
    """Return the arguments of the *most* newest calls of the *chosen* tool, and of all its reviewed ones."""
    return put(store, ArgumentValue, "argument_values", filters, room=_ROOM, chosen=chosen, most=most)


def label_notes(store: Asks, *, filters: Filters, chosen: Sequence[str] = ()) -> list[LabelNote]:
    """Return the labels that count on calls in the window (or on the *chosen* of them), by their own time."""
    return put(store, LabelNote, "label_notes", filters, room=_ROOM, chosen=list(chosen))


def asked(store: Asks, *, filters: Filters, chosen: Sequence[str]) -> list[Asked]:
    """Return what the user said before each of the *chosen* calls (their uids), where the traces hold it."""
    return put(store, Asked, "asked", filters, room=_ROOM, chosen=list(chosen))


def chosen_calls(store: Asks, *, filters: Filters, chosen: Sequence[str]) -> list[ChosenCall]:
    """Return the *chosen* calls (their uids) by uid, whenever they were made."""
    return put(store, ChosenCall, "chosen_calls", filters, room=_ROOM, chosen=list(chosen))
