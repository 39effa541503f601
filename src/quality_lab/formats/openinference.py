"""OpenInference spans as Phoenix exports them: nested, flat, or as the rows of a data frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quality_lab.formats.contract import ObjectFormat
from quality_lab.formats.otel_genai import KEY
from quality_lab.formats.span_reading import read_spans, span_marks

NAME = "openinference"


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    marks = span_marks(found)
    return {
        'the ids of a trace and a span ("context", "context.span_id", "span_id"), or attributes alone': marks
        != "",
        'OpenInference\'s attributes ("openinference.span.kind", "llm.*") or "span_kind"': marks
        == "openinference",
    }


FORMAT = ObjectFormat(
    name=NAME,
    title="OpenInference / Phoenix spans",
    recognised_by='Objects with the ids of a trace and a span (under "context", as columns such as '
    '"context.span_id", or flat) and OpenInference\'s attributes or its "span_kind".',
    key=KEY,
    expectations=_expectations,
    shapes=(
        "context.trace_id context.span_id attributes span_kind",
        "trace_id span_id attributes span_kind",
    ),
    reader=read_spans,
)
