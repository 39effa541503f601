"""Scores of Langfuse as feedback: whose they are, what they are about, and what they say."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from quality_lab.formats.contract import Reading
from quality_lab.formats.json_pieces import Pieces, first, is_nothing, string_in, word
from quality_lab.formats.moments import iso_moment
from quality_lab.formats.span_story import Story
from quality_lab.formats.validation import tally
from quality_lab.labels import fold_label
from quality_lab.records import AuthorKind, Feedback

_AUTHORS: dict[str, AuthorKind] = {"ANNOTATION": "HUMAN", "EVAL": "LLM", "API": "CODE"}


def score_moment(score: Pieces) -> datetime | None:
    """Return when a score was given.

    Raises:
        Refused: what stands there is no time.
    """
    at = word(score, "timestamp", "createdAt", "created_at")
    return None if at is None else iso_moment(at, "scores[].timestamp")


def score_feedback(
    score: Pieces, story: Story, conversations: Mapping[str, str], reading: Reading
) -> Feedback:
    """Return a score: on the call that its observation is, else on the conversation."""
    notes = reading.notes
    key, trace_id = word(score, "id"), word(score, "traceId", "trace_id")
    if key is None:
        key = f"{trace_id}/{word(score, 'observationId') or ''}/{word(score, 'name') or ''}"
    source = word(score, "source") or ""
    if source not in _AUTHORS:
        tally(notes, notes.not_understood, f"source {source or '(none)'} of a score")
    observation_id = word(score, "observationId", "observation_id")
    place = story.places.get((trace_id or "", observation_id or ""))
    session = word(score, "sessionId", "session_id")
    conversation_id = session or (None if trace_id is None else conversations.get(trace_id, trace_id))
    is_call = place.call_key is not None if place is not None else observation_id is not None
    text = string_in(first(score, "stringValue", "string_value")) or string_in(score.get("value"))
    is_word = word(score, "dataType", "data_type") not in ("NUMERIC", "BOOLEAN", "CORRECTION")
    given = text if is_word else None
    if given is not None and fold_label(given) is None:
        tally(notes, notes.unmapped_labels, given)
    value = first(score, "longStringValue") if word(score, "dataType") == "CORRECTION" else score.get("value")
    return Feedback(
        key_space=story.key_space,
        key=key,
        target_level="call" if is_call else "conversation",
        target_key_space=story.key_space,
        conversation_id=conversation_id,
        call_key=(place.call_key if place is not None else f"{trace_id}:{observation_id}")
        if is_call
        else None,
        name=word(score, "name"),
        label=fold_label(given),
        label_raw=given,
        score=None if is_nothing(value) or value is None else value.decode(),
        author_kind=_AUTHORS.get(source, "CODE"),
        author=word(score, "authorUserId", "author_user_id"),
        note=word(score, "comment"),
        created_at=score_moment(score),
        source=reading.options.source,
        tool_name=None if place is None else place.tool_name,
    )
