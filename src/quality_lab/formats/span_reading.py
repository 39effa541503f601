"""The reading of files of spans, whatever wraps them: what the formats of the OpenTelemetry family share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from quality_lab.formats.contract import Reading, Unit, each_object
from quality_lab.formats.definitions import Definitions
from quality_lab.formats.exact import restored
from quality_lab.formats.json_pieces import object_in
from quality_lab.formats.span_feedback import annotation_moment, span_feedback
from quality_lab.formats.span_story import Story
from quality_lab.formats.span_tree import nodes_of
from quality_lab.formats.spans import SPAN_IDS, TRACE_IDS, Span, spans_of
from quality_lab.formats.units import RawUnit
from quality_lab.records import Record, SetAside

KEY_SPACE = "otel"
_USEFUL = re.compile(
    r"gen_ai\.|llm\.|openinference\.|tool|traceloop\.|ai\.|gcp\.vertex\.|mcp\.|session\.|input|output|langfuse\.|"
    r"langsmith\.|entity\.|span\.type|target$|events$|error|exception\.|pydantic_ai\.|all_messages|model_request|"
    r"operation\.cost|thread\.|otel\.status"
)
_OPENINFERENCE = ("openinference.span.kind", "llm.input_messages", "llm.output_messages")


def read_spans(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    """Yield the units of a file of spans, once it is read to its end."""
    spans: list[Span] = []

    def collect(text: bytes, unit: int) -> None:
        found = spans_of(text, unit, reading.notes)
        for raw in (one for span in found for one in span.annotations):
            annotation_moment(
                object_in(raw) or {}
            )  # a time that is none is told here, where its line is at hand
        for span in found:
            span.attributes = {name: value for name, value in span.attributes.items() if _USEFUL.match(name)}
            spans.append(span)

    units = gathered(raws, reading, collect)
    definitions = Definitions()
    story = Story(key_space=KEY_SPACE, reading=reading, definitions=definitions)
    story.tell(nodes_of(spans, reading.notes))
    for unit, feedback in span_feedback(spans, story, reading):
        story.records[unit].append(feedback)
    yield from definitions.told_at_last(laden(units, story.records))


def gathered(raws: Iterator[RawUnit], reading: Reading, collect: Callable[[bytes, int], None]) -> list[Unit]:
    """Return the units of a file without their records.

    *collect* is given the text of each object and its place among those that could be read; whatever it
    raises makes the object a reject.
    """
    place = 0

    def make(text: bytes, line: int) -> tuple[Record, ...]:
        nonlocal place
        collect(text, place)
        place += 1
        return (SetAside(kind="span", reason="nothing of a conversation in it"),)

    return list(each_object(raws, reading, make))


def laden(units: list[Unit], records: Mapping[int, list[Record]]) -> Iterator[Unit]:
    """Yield *units* with the records of each; one that has none keeps the word that it was set aside."""
    place = 0
    for unit in units:
        if not unit.records:
            yield unit
            continue
        found = records.get(place) or unit.records
        yield Unit(unit.line, tuple(map(restored, found)))
        place += 1


def spans_within(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return spans that an object wraps, as Jaeger, Tempo and Phoenix do; none where it is none."""
    inner = found.get("data", found.get("trace", found.get("spans")))
    listed = inner if isinstance(inner, list) else [inner]
    if any(name in found for name in ("info", "observations", "object")):
        return []
    spans: list[Mapping[str, Any]] = []
    for one in listed:
        if not isinstance(one, dict):
            continue
        if isinstance(one.get("spans"), list):
            spans += [span for span in one["spans"] if isinstance(span, dict)]
        elif isinstance(one.get("resourceSpans", one.get("batches")), list):
            return [one]
        else:
            spans.append(one)
    return [span for span in spans if span_marks(span) or ("spans" in found and _ids(span))]


def span_marks(found: Mapping[str, Any]) -> str:
    """Return "openinference" or "otel" for a span of either vocabulary, or "" for no span."""
    attributes = found.get("attributes", found.get("tags"))
    if attributes is None:
        prefix = "attributes."
        columns = {name.removeprefix(prefix) for name in found if name.startswith(prefix)}
        bare = not _ids(found)
        names = columns if columns or not bare else set(found)
    elif isinstance(attributes, dict):
        names = set(attributes)
    else:
        names = (
            {str(one.get("key")) for one in attributes if isinstance(one, dict)}
            if isinstance(attributes, list)
            else set()
        )
    is_span = _ids(found) and (attributes is not None or bool(names))
    ours = any(name.startswith(("gen_ai.", "llm.", "openinference.", "tool.")) for name in names)
    if not is_span and not (ours and not _ids(found)):
        return ""
    nested = isinstance(attributes, dict) and any(
        isinstance(attributes.get(one), dict) for one in ("llm", "openinference", "tool")
    )
    foreign = any(name.startswith(_OPENINFERENCE) for name in names) or nested
    kind = str(found.get("span_kind", "")).upper()
    is_kind = kind in (
        "LLM",
        "TOOL",
        "AGENT",
        "CHAIN",
        "RETRIEVER",
        "EMBEDDING",
        "RERANKER",
        "GUARDRAIL",
        "EVALUATOR",
    )
    return "openinference" if foreign or is_kind else "otel"


def _ids(found: Mapping[str, Any]) -> bool:
    context = found.get("context")
    if isinstance(context, dict) and "span_id" in context and "trace_id" in context:
        return True
    return any(name in found for name in TRACE_IDS) and (
        any(name in found for name in SPAN_IDS)
        or ("id" in found and "timestamp" in found and "duration" in found)
    )
