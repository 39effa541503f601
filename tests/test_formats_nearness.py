"""Which three formats a file that none takes is said to be nearest to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality_lab import formats
from quality_lab.errors import InputError, UnrecognisedFormat
from quality_lab.formats.nearness import nearness
from quality_lab.formats.registry import _sample, registry

_VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=12,
)
# Spans without an envelope are told by their attributes, whose names no shape lists; Logfire's log holds requests.
NOT_BY_SHAPE = ("openinference/", "logfire/")


def nearest_to(path: Path) -> list[str]:
    with pytest.raises(UnrecognisedFormat) as problem:
        formats.recognise(path)
    said = str(problem.value).partition("Nearest are ")[2].split("; ")
    return [one.partition(":")[0] for one in said]


@pytest.mark.parametrize(
    ("record", "nearest"),
    [
        ({"conversation": [{"role": "user", "content": "hi"}]}, "openai_chat"),
        ({"task_id": 1, "traj": [{"role": "user", "content": "hi"}]}, "tau_bench"),
        (
            {"app_name": "a", "user_id": "u", "turns": [{"author": "a", "content": {"parts": []}}]},
            "google_adk",
        ),
        ({"toolName": "pay", "label": "bad_args", "examples": []}, "quality_lab.proposals"),
        ({"span_id": "s", "result": {"label": "good"}, "name": "helpful"}, "phoenix_annotations"),
        ({"conversations": [{"from": "human", "text": "hi"}]}, "sharegpt"),
        ({"tools": [{"name": "pay", "description": "Pays."}], "messages": 1}, "tool_lists"),
        ({"toolCallId": 1, "toolName": "pay", "feedbackCreatedAt": 5}, "quality_lab.feedback"),
        ({"info": {"trace_id": "t"}, "spans": [{"span_id": "s", "attributes": {}}]}, "openinference"),
    ],
)
def test_the_format_whose_keys_are_there_comes_first(tmp_path: Path, record: Any, nearest: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps(record))

    assert nearest_to(path)[0] == nearest


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("who-and-when/algorithm-generated-1.json", "openai_chat"),  # "history" of roles and contents
        ("openhands/tests_unit_resolver_mock_output_output.jsonl", "openai_chat"),
        ("langsmith/langsmith_py_wrap_openai_stream.json", "openai_chat"),
        ("mlflow/mlflow-3.17.2-demo-traces.jsonl", "openinference"),  # spans, one envelope deeper
        ("google-adk/samples/travel-concierge__eval__data__intrip.test.json", "google_adk"),
        ("homegrown/shaft-design-agent.tool_calls.jsonl", "quality_lab.traces"),  # "tool" and "args"
    ],
)
def test_so_it_is_with_real_files_that_are_of_no_format(shared: Path, name: str, nearest: str) -> None:
    assert nearest_to(shared / "traces" / name)[0] == nearest


def test_a_real_file_of_a_format_is_near_to_that_format(shared: Path) -> None:
    far, looked_at = [], 0
    for path in sorted((shared / "traces").rglob("*.json*")):
        name = str(path.relative_to(shared / "traces"))
        try:
            known = formats.recognise(path)
        except (UnrecognisedFormat, InputError):
            continue
        if name.startswith(NOT_BY_SHAPE):
            continue
        objects = _sample(path).objects
        order = sorted(registry(), key=lambda other: -nearness(objects, other.shapes))
        looked_at += 1
        if known not in order[:3]:
            far.append(f"{name}: {known.name}")

    assert far == []
    assert looked_at > 50


def test_every_format_but_maps_and_matches_says_what_its_objects_look_like() -> None:
    assert {known.name for known in registry() if not known.shapes} == {"mapped", "quality_lab.matches"}


@given(_VALUES)
def test_nearness_is_a_share_and_one_where_every_key_is_in_its_place(value: Any) -> None:
    near = nearness([{"a": value}], ["a a.b", "c"])

    assert 0 <= near <= 1
    assert near >= 0.5  # "a" is there
    assert nearness([{"a": {"b": value}}], ["a a.b"]) == 1.0
    assert nearness([{"a": [1, {"b": value}]}], ["a.b"]) == 1.0


def test_a_key_that_stands_in_files_of_every_kind_says_nothing_where_it_is_out_of_place() -> None:
    assert nearness([{"deep": {"type": "x", "name": "y"}}], ["a.type b.name"]) == 0.0
    assert nearness([{"deep": {"span_id": "x"}}], ["a.span_id"]) == 0.5
    assert nearness([], ["a"]) == 0.0
