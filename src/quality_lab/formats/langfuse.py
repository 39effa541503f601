"""Langfuse: traces with their observations and scores, rows of observations, rows of scores.

An observation is a span that was taken apart: its attributes lie under "metadata", its input and output
beside them, as text, as text within text, or as they are. Older SDKs have no type for a tool; such a call is
found by its attributes, or by the name of a tool that a generation asked for. The latency that stands in a
file is seconds here and milliseconds there, so it is taken from the two times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quality_lab.formats.contract import ObjectFormat, Reading, Unit
from quality_lab.formats.definitions import Definitions
from quality_lab.formats.json_pieces import Pieces, list_in, object_in, object_of, quoted, word
from quality_lab.formats.langfuse_observations import TYPES, observation_span
from quality_lab.formats.langfuse_scores import score_feedback, score_moment
from quality_lab.formats.span_reading import gathered, laden
from quality_lab.formats.span_story import Story
from quality_lab.formats.span_tree import nodes_of
from quality_lab.formats.spans import Span
from quality_lab.formats.units import RawUnit
from quality_lab.formats.validation import Refused

NAME = "langfuse"


class _File:
    """What is gathered of one file."""

    def __init__(self, reading: Reading) -> None:
        self.spans: list[Span] = []
        self.scores: list[tuple[int, Pieces]] = []
        self.conversations: dict[str, str] = {}  # trace → session, where it has one
        self._reading = reading

    def take(self, text: bytes, unit: int) -> None:
        members = object_of(text)
        trace = object_in(members.get("trace")) or (members if "observations" in members else None)
        traces = list_in(members.get("traces"))
        if traces is not None:
            self._take_several(traces, members, unit)
        elif trace is not None:
            self._take_trace(trace, members, unit)
        elif "value" in members and "type" not in members:
            self._take_score(members, unit)
        elif word(members, "type") in TYPES:
            self._take_observation(members, unit, "")
        elif "timestamp" in members and "id" in members:
            self._take_trace(members, members, unit)
        else:
            raise Refused("type", "wanted a trace, an observation or a score")

    def _take_several(self, traces: list[bytes], around: Pieces, unit: int) -> None:
        """Take in a file that lists traces, their observations and their scores apart."""
        for raw in traces:
            trace = object_in(raw) or {}
            self._take_trace(trace, {**trace, "observations": b"[]"}, unit)
        for name in ("observations", "scores"):
            for place, raw in enumerate(list_in(around.get(name)) or ()):
                members = object_in(raw)
                if members is None:
                    raise Refused(f"{name}[{place}]", "wanted an object")
                if name == "scores":
                    self._take_score(members, unit)
                else:
                    self._take_observation(members, unit, f"{name}[{place}]")

    def _take_trace(self, trace: Pieces, around: Pieces, unit: int) -> None:
        trace_id = word(trace, "id")
        if trace_id is None:
            raise Refused("trace.id", "required field is missing")
        session = word(trace, "sessionId", "session_id")
        if session is not None:
            self.conversations[trace_id] = session
        listed = list_in(around.get("observations")) or list_in(trace.get("observations")) or []
        listed = [one for one in listed if one.startswith(b"{")]  # lists of traces name them by id alone
        for place, one in enumerate(listed):
            path = f"observations[{place}]"
            members = object_in(one)
            if members is None:
                raise Refused(path, "wanted an object")
            self._take_observation({"traceId": quoted(trace_id), **members}, unit, path)
        if not listed:  # so that the trace is a conversation all the same
            times = {"startTime": trace.get("timestamp", b"null"), "type": b'"SPAN"', "id": quoted(trace_id)}
            self._take_observation({"traceId": quoted(trace_id), **times}, unit, "")
        for name in ("scores", "corrections"):
            for scores in (trace.get(name), around.get(name) if around is not trace else None):
                for one in list_in(scores) or ():
                    score = object_in(one)
                    if score is not None:
                        self._take_score({"traceId": quoted(trace_id), **score}, unit)

    def _take_score(self, score: Pieces, unit: int) -> None:
        score_moment(score)  # a time that is none is told here, where its line is at hand
        self.scores.append((unit, score))

    def _take_observation(self, members: Pieces, unit: int, path: str) -> None:
        self.spans.append(observation_span(members, unit, path, self._reading.notes))


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    file = _File(reading)
    units = gathered(raws, reading, file.take)
    for span in file.spans:
        span.conversation_id = span.conversation_id or file.conversations.get(span.trace_id, span.trace_id)
    definitions = Definitions()
    story = Story(key_space=NAME, reading=reading, definitions=definitions, tells_all=True)
    story.tell(nodes_of(file.spans, reading.notes))
    for unit, score in file.scores:
        story.records[unit].append(score_feedback(score, story, file.conversations, reading))
    yield from definitions.told_at_last(laden(units, story.records))


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    trace = found["trace"] if isinstance(found.get("trace"), dict) else found
    if isinstance(found.get("traces"), list) and found["traces"] and isinstance(found["traces"][0], dict):
        trace = found["traces"][0]
    observed = isinstance(found.get("observations", trace.get("observations")), list) and "id" in trace
    is_row = "id" in found and bool(found.keys() & {"traceId", "trace_id"})
    is_trace = observed and bool(trace.keys() & {"timestamp", "scores"})
    is_observation = is_row and found.get("type") in TYPES and not found.keys() & {"spanId", "span_id"}
    is_score = "traceId" in found and "value" in found and "dataType" in found
    return {
        'a trace with "observations", or the keys "id" and "traceId"': observed or is_row or is_score,
        'the "timestamp" of a trace, the "type" of an observation, or the "dataType" of a score': is_trace
        or is_observation
        or is_score,
    }


FORMAT = ObjectFormat(
    name=NAME,
    title="Langfuse traces, observations and scores",
    recognised_by='Objects with a "trace" (or a trace\'s fields) and its "observations"; or rows with '
    '"traceId", "id" and a "type" such as GENERATION, SPAN or TOOL; or rows of scores.',
    key="(id of the trace, id of the observation): Langfuse's own, the same in every export; for a call "
    "without one of its own that of the generation, and the place in it",
    expectations=_expectations,
    shapes=(
        "trace.id trace.timestamp observations.type observations.traceId",
        "id traceId type startTime input",
        "traceId name value dataType",
    ),
    reader=_read,
)
