"""Annotations as Phoenix exports them: one row for each opinion on a span, a trace or a session.

A row names its span and not the trace; the store finds the call by the span alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object
from quality_lab.formats.json_pieces import Pieces, expanded, first, list_in, object_in, object_of, word
from quality_lab.formats.span_feedback import AnnotationTarget, annotation
from quality_lab.formats.span_ids import span_id_of, trace_id_of
from quality_lab.formats.span_reading import KEY_SPACE
from quality_lab.formats.units import RawUnit
from quality_lab.formats.validation import Refused, tally
from quality_lab.records import BY_SPAN, Record

NAME = "phoenix_annotations"
_TARGETS = ("span_id", "trace_id", "session_id", "spanId", "traceId", "sessionId")
_KINDS = ("annotator_kind", "annotatorKind")
_OTHER_FIELDS = """
    id name annotation_name result label score explanation metadata identifier source user_id userId username
    created_at updated_at createdAt updatedAt document_position annotator comment note
"""
_KNOWN = frozenset((*_TARGETS, *_KINDS, *_OTHER_FIELDS.split()))


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    def records(text: bytes, line: int) -> tuple[Record, ...]:
        members = object_of(text)
        listed = list_in(first(members, "data", "annotations"))
        if listed is None or any(name in members for name in _TARGETS):
            return (_annotation(members, reading, ""),)
        rows = ((f"data[{place}]", object_in(one)) for place, one in enumerate(listed))
        return tuple(_annotation(row or {}, reading, path) for path, row in rows)

    return each_object(raws, reading, records)


def _annotation(members: Pieces, reading: Reading, path: str) -> Record:
    members = expanded(members)
    for name in members.keys() - _KNOWN:
        tally(reading.notes, reading.notes.unknown_fields, name)
    span, trace, session = word(members, "span_id", "spanId"), word(members, "trace_id", "traceId"), None
    if span is None and trace is None:
        session = word(members, "session_id", "sessionId")
    if span is None and trace is None and session is None:
        raise Refused(f"{path}.span_id".lstrip("."), "required field is missing")
    if not any(name in members for name in ("result", "label", "score", "explanation")):
        raise Refused(f"{path}.result".lstrip("."), "required field is missing")
    span_id = None if span is None else span_id_of(span)
    trace_id = None if trace is None else trace_id_of(trace)
    if span_id is None:
        target = AnnotationTarget(session or trace_id or "", KEY_SPACE, conversation_id=session or trace_id)
    elif trace_id is None:
        target = AnnotationTarget(span_id, BY_SPAN, call_key=span_id)
    else:
        target = AnnotationTarget(span_id, KEY_SPACE, call_key=f"{trace_id}:{span_id}")
    return annotation(members, target, reading)


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    listed = found.get("data", found.get("annotations"))
    row = listed[0] if isinstance(listed, list) and listed and isinstance(listed[0], dict) else found
    opinions = any(name.partition(".")[0] in ("result", "label", "score", "explanation") for name in row)
    return {
        'the key "span_id", "trace_id" or "session_id"': any(name in row for name in _TARGETS),
        'the key "annotator_kind"': any(name in row for name in _KINDS),
        'a "result" with a label, a score or an explanation': opinions,
    }


FORMAT = ObjectFormat(
    name=NAME,
    title="Phoenix annotations",
    recognised_by='Rows with "span_id" (or "trace_id", "session_id"), "annotator_kind" and a "result".',
    key="Phoenix's own id of the annotation; without one the span, the name, the kind of annotator and the "
    "identifier, by which Phoenix itself tells them apart",
    expectations=_expectations,
    shapes=("span_id annotator_kind result.label name",),
    reader=_read,
)
