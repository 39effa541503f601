"""A line of a Responses API log taken apart: what was asked, what was answered, or items alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import msgspec

from quality_lab.formats.json_pieces import Pieces, list_in, object_in, string_in, word
from quality_lab.formats.moments import moment_of
from quality_lab.formats.responses_items import chronological
from quality_lab.formats.validation import Refused, joined, tally
from quality_lab.records import ReadNotes

_KNOWN = frozenset(
    """
    id object created_at created completed_at timestamp status background billing conversation error
    incomplete_details instructions max_output_tokens max_tool_calls model output parallel_tool_calls
    previous_response_id prompt_cache_key prompt_cache_retention reasoning safety_identifier service_tier
    store temperature text tool_choice tools top_logprobs top_p truncation usage user metadata include input
    stream stream_options request response items data first_id last_id has_more output_text prompt
    frequency_penalty presence_penalty moderation custom_id method url body type sequence_number
    """.split()  # noqa: SIM905 - a list of sixty quoted words is harder to read
)


@dataclass(slots=True)
class Line:
    """A line taken apart: what was asked, what was answered, and the bare items that it may be instead."""

    asked: Pieces
    answered: Pieces
    items: list[bytes] | None
    below_asked: str
    below_answered: str


def taken_apart(members: Pieces, notes: ReadNotes) -> Line:
    """Return the halves of a line: as they lie side by side, under names, or as a batch wraps them.

    Raises:
        Refused: it holds nothing of the Responses API.
    """
    for key in members:
        if key not in _KNOWN:
            tally(notes, notes.unknown_fields, key)
    asked, below = members, ""
    for name in ("request", "body"):
        inner = object_in(members.get(name))
        if inner is not None:
            asked, below = object_in(inner.get("body")) or inner, name
    answered, answer_below = members, ""
    inner = object_in(members.get("response"))
    if inner is not None:
        answered, answer_below = object_in(inner.get("body")) or inner, "response"
    for part, path in ((asked, below), (answered, answer_below)):
        for key in part if path else ():
            if key not in _KNOWN:
                tally(notes, notes.unknown_fields, joined(path, key))
    listed = next((found for key in ("items", "data") if (found := list_in(members.get(key)))), None)
    if listed is None and "input" not in asked and "output" not in answered:
        raise Refused("", 'wanted "input", "output" or items')
    return Line(asked, answered, listed and chronological(listed), below, answer_below)


def moment_of_line(found: Line) -> datetime | None:
    """Return the time that a line names."""
    for part, path in ((found.answered, found.below_answered), (found.asked, found.below_asked)):
        for name in ("created_at", "created", "timestamp"):
            moment = moment_of(msgspec.Raw(part.get(name, b"")), joined(path, name))
            if moment is not None:
                return moment
    return None


def conversation_of_line(found: Line) -> str | None:
    """Return the id of the conversation that a line names."""
    for part in (found.answered, found.asked):
        held = part.get("conversation")
        named = string_in(held) or word(object_in(held) or {}, "id")
        if named:
            return named
    given = word(found.asked, "id") or ""
    return given if given.startswith("conv_") else None
