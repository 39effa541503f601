"""OpenTelemetry spans of agents: OTLP JSON, Tempo, Jaeger, console exporters, flat lists, and log records.

The spans of one file are joined in memory (some six times the file's size), since children are written
before their parents and calls are told several times.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quality_lab.formats.contract import ObjectFormat
from quality_lab.formats.span_envelopes import SCOPES
from quality_lab.formats.span_reading import KEY_SPACE, read_spans, span_marks, spans_within
from quality_lab.formats.spans import LOGS, RESOURCES

NAME = "otel_genai"
KEY = (
    f'(id of the trace, id of the span), both in hex, in the key space "{KEY_SPACE}" of the whole '
    "OpenTelemetry family; for a call without one of its own that of the model's answer, and the place in it"
)


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    envelope = any(isinstance(found.get(name), list) for name in (*RESOURCES, *SCOPES, *LOGS))
    inside = spans_within(found)
    marks = span_marks(found) if not envelope and not inside else "otel"
    return {
        'a list "resourceSpans", "batches" or "data" with spans, or the ids of a trace and a span': envelope
        or bool(inside)
        or marks != "",
        "attributes or tags of a span that are not OpenInference's": envelope
        or bool(inside)
        or marks == "otel",
    }


FORMAT = ObjectFormat(
    name=NAME,
    title="OpenTelemetry GenAI spans (OTLP JSON, Tempo, Jaeger, flat lists)",
    recognised_by='"resourceSpans", "batches" or Jaeger\'s "data" with spans, or objects with the ids of a '
    "trace and a span and attributes; these are gen_ai.*, ADK's, Traceloop's, Vercel's or OpenInference's.",
    key=KEY,
    expectations=_expectations,
    shapes=(
        "resourceSpans.scopeSpans.spans.traceId resourceSpans.scopeSpans.spans.attributes",
        "batches.scopeSpans.spans.traceId batches.scopeSpans.spans.attributes",
        "trace_id span_id attributes start_time",
        "data.traceID data.spans.spanID data.spans.tags",
    ),
    reader=read_spans,
)
