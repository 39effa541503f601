"""What others said of spans: annotations that stand in a span, and the events of evaluations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from quality_lab.formats.contract import Reading
from quality_lab.formats.json_pieces import Pieces, first, is_nothing, object_in, word
from quality_lab.formats.moments import iso_moment
from quality_lab.formats.span_records import moment
from quality_lab.formats.span_story import Place, Story
from quality_lab.formats.spans import Event, Span
from quality_lab.formats.validation import tally
from quality_lab.labels import fold_label
from quality_lab.records import AuthorKind, Feedback

_KINDS: dict[str, AuthorKind] = {"HUMAN": "HUMAN", "LLM": "LLM", "CODE": "CODE"}
_EVALUATION = "gen_ai.evaluation.result"


@dataclass(frozen=True, slots=True)
class AnnotationTarget:
    """What an annotation is about."""

    name: str  # of the span, trace or session, for the key of an annotation that has none
    key_space: str
    conversation_id: str | None = None
    call_key: str | None = None  # None where it is about the conversation
    tool_name: str | None = None


def span_feedback(spans: Sequence[Span], story: Story, reading: Reading) -> Iterator[tuple[int, Feedback]]:
    """Yield the feedback that stands in *spans*, each with the unit it came from."""
    for span in spans:
        if not span.annotations and not span.events:
            continue
        place = story.places.get((span.trace_id, span.span_id)) or Place(span.trace_id)
        name = f"{span.trace_id}:{span.span_id}"
        target = AnnotationTarget(
            span.span_id, story.key_space, place.conversation_id, place.call_key, place.tool_name
        )
        for raw in span.annotations:
            members = object_in(raw)
            if members is None:
                tally(reading.notes, reading.notes.not_understood, "annotation that is no object")
            else:
                yield span.unit, annotation(members, target, reading)
        for number, event in enumerate(span.events):
            if event.name == _EVALUATION:
                yield span.unit, _evaluation(event, f"{name}#evaluation.{number}", target, reading)


def annotation_moment(members: Pieces) -> datetime | None:
    """Return when an annotation was made, or changed last.

    Raises:
        Refused: what stands there is no time.
    """
    at = word(members, "updated_at", "created_at", "updatedAt", "createdAt")
    return None if at is None else iso_moment(at, "created_at")


def annotation(members: Pieces, target: AnnotationTarget, reading: Reading) -> Feedback:
    """Return an annotation as Phoenix writes it: a name, a kind of annotator, and a result."""
    result = object_in(members.get("result")) or members
    kind = (word(members, "annotator_kind", "annotatorKind") or "").upper()
    if kind not in _KINDS:
        tally(reading.notes, reading.notes.not_understood, f"annotator_kind {kind or '(none)'}")
    given = word(result, "label")
    if given is not None and fold_label(given) is None:
        tally(reading.notes, reading.notes.unmapped_labels, given)
    name = word(members, "name", "annotation_name")
    identifier = word(members, "identifier") or ""
    score = first(result, "score")
    return Feedback(
        key_space="phoenix",
        key=word(members, "id") or f"{target.name}/{name or ''}/{kind}/{identifier}",
        target_level="conversation" if target.call_key is None else "call",
        target_key_space=target.key_space,
        conversation_id=target.conversation_id,
        call_key=target.call_key,
        name=name,
        label=fold_label(given),
        label_raw=given,
        score=None if score is None else score.decode(),
        author_kind=_KINDS.get(kind, "CODE"),
        author=word(members, "username", "user_id", "userId", "annotator") or identifier or None,
        note=word(result, "explanation", "comment", "note"),
        created_at=annotation_moment(members),
        source=reading.options.source,
        tool_name=target.tool_name,
    )


def _evaluation(event: Event, key: str, target: AnnotationTarget, reading: Reading) -> Feedback:
    """Return an evaluation's result as OpenTelemetry writes it; a program reports it, whoever judged."""
    found = event.attributes
    given = word(found, "gen_ai.evaluation.score.label")
    if given is not None and fold_label(given) is None:
        tally(reading.notes, reading.notes.unmapped_labels, given)
    value = found.get("gen_ai.evaluation.score.value")
    return Feedback(
        key_space=target.key_space,
        key=key,
        target_level="conversation" if target.call_key is None else "call",
        target_key_space=target.key_space,
        conversation_id=target.conversation_id,
        call_key=target.call_key,
        name=word(found, "gen_ai.evaluation.name"),
        label=fold_label(given),
        label_raw=given,
        score=None if value is None or is_nothing(value) else value.decode(),
        author_kind="CODE",
        note=word(found, "gen_ai.evaluation.explanation"),
        created_at=moment(event.at),
        source=reading.options.source,
        tool_name=target.tool_name,
    )
