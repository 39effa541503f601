"""What there is to coach a style on: the newest faults that reviewers confirmed on calls made in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from quality_lab.answers import Answer
from quality_lab.errors import UsageError
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.undated import undated_notes

MOST = 12  # as many as upstream's coach is shown


@dataclass(frozen=True, kw_only=True, slots=True)
class CoachSignal:
    """A confirmed fault on one call of a style."""

    label: str
    tool_name: str
    note: str | None
    asked: str | None = field(
        metadata={"help": "what the user said last before the call, where traces hold it"}
    )
    arguments: str | None = field(metadata={"unit": "json"})
    result: str | None = field(metadata={"unit": "json"})
    error: bool
    outcome: str
    expected_tool: str | None = field(metadata={"help": "the tool that the reviewer named"})
    expected_arguments: str | None = field(metadata={"unit": "json"})
    disputed: bool = field(metadata={"help": "no label has a majority on the call"})
    reviewer: str | None
    labelled_at: datetime | None = field(metadata={"help": "time of the label"})
    called_at: datetime | None = field(metadata={"help": "time of the call"})
    source: str | None
    call_uid: str
    conversation_id: str
    style_of_call: bool = field(
        metadata={
            "compact": False,
            "help": "whether the call itself names its style, or its conversation does",
        }
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Style:
    """A style and the calls that were made in it."""

    style: str
    calls: int


def coach_signals(
    store: Asks, chosen: str, *, filters: Filters = EVERYTHING, limit: int = MOST
) -> Answer[CoachSignal]:
    """Return the *limit* newest faults on calls of the style *chosen*, the newest label first.

    A fault is a label wrong_tool, missing_tool or bad_args that stands on a call and that neither a majority nor
    an adjudication overruled; labels of one kind on one call are one fault. The style is the one that the call
    was made in, as its export says; only where that says nothing, the one of its conversation. The window means
    the time of the label.

    Raises:
        UsageError: *limit* is below 1.
    """
    if limit < 1:
        raise UsageError(f"at least one label can be shown, not {limit}")
    rows = put(store, CoachSignal, "coach_signals", filters, time="label", chosen=chosen)
    notes = undated_notes(store, filters, time="label")
    if any(not row.style_of_call for row in rows[:limit]):
        notes.append("style: where a call does not name its style, that of its conversation counts")
    title = f"Signals for the style {chosen}"
    return Answer(rows[:limit], CoachSignal, title=title, notes=notes, more=max(0, len(rows) - limit))


def styles(store: Asks, *, filters: Filters = EVERYTHING) -> list[Style]:
    """Return the styles that calls or their conversations name, by calls, most first."""
    return put(store, Style, "styles", filters)
