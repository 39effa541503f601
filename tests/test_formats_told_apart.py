"""Public files of many tools: spans are told from all else; what is of no format hears what was missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from quality_lab import formats
from quality_lab.errors import InputError, UnrecognisedFormat

FAMILIES = {  # folder or file → the format it is
    "langfuse/worker": "langfuse",
    "otel-agentevals/helm.json": "otel_genai",
    "otel-agentevals/tempo_export_with_batches.json": "otel_genai",
    "strands-evals/adk_live_spans.json": "otel_genai",
    "strands-evals/openai_agents_genai_live_spans.json": "otel_genai",
    "strands-evals/otel_genai_convention_spans.json": "otel_genai",
    "strands-evals/claude_live_spans.json": "openinference",
    "strands-evals/openinference_live_spans.json": "openinference",
    "strands-evals/smolagents_live_spans.json": "openinference",
    "openinference/openinference_client_span_tool_calls.json": "openinference",
    "openinference/otel_": "otel_genai",
}
SPANS = {*FAMILIES.values(), "phoenix_annotations"}


def test_spans_and_observations_are_their_own_format_and_nothing_else_is_one_of_theirs(shared: Path) -> None:
    told: dict[str, str] = {}
    for path in sorted((shared / "traces").rglob("*.*")):
        try:
            told[str(path.relative_to(shared / "traces"))] = formats.recognise(path).name
        except (UnrecognisedFormat, InputError):
            continue

    meant = {
        name: next((known for start, known in FAMILIES.items() if name.startswith(start)), None)
        for name in told
    }
    assert sum(known is not None for known in meant.values()) == 22
    assert {name: known for name, known in told.items() if known in SPANS} == {
        name: known for name, known in meant.items() if known is not None
    }


@pytest.mark.parametrize(
    "name",
    [
        "homegrown/shaft-design-agent.tool_calls.jsonl",
        "openai-conformance/Responses_mutual_exclusive_error_response.json",
        "who-and-when/algorithm-generated-1.json",
        "who-and-when/hand-crafted-1.json",
    ],
)
def test_a_file_of_no_format_names_the_three_nearest_and_what_each_missed(shared: Path, name: str) -> None:
    with pytest.raises(UnrecognisedFormat) as problem:
        formats.recognise(shared / "traces" / name)

    said = str(problem.value).partition("Nearest are ")[2].split("; ")
    assert len(said) == 3
    assert len({one.partition(":")[0] for one in said}) == 3
    assert all(": missing " in one for one in said)
