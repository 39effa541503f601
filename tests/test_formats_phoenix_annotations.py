"""Phoenix annotations: rows about spans, traces and sessions become feedback with their author's kind."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from file_reading import json_texts, read, written
from hypothesis import given
from test_formats_otel_genai import exact

from quality_lab.records import BY_SPAN

ROW: dict[str, Any] = {
    "id": "U3BhbjoxMg==", "span_id": "67f6740bbe1ddc3f", "name": "review", "annotator_kind": "HUMAN",
    "result": {"label": "Bad-Args", "score": 0.0, "explanation": "the date is missing"}, "identifier": "",
    "metadata": {}, "created_at": "2026-05-01T08:00:00+00:00", "updated_at": "2026-05-02T08:00:00+00:00",
    "source": "APP", "user_id": "ann",
}  # fmt: skip


def test_a_row_about_a_span_is_feedback_on_the_call_of_that_span(tmp_path: Path) -> None:
    found = read(written(tmp_path, [ROW]))

    (label,) = found.labels
    assert found.format == "phoenix_annotations"
    assert (label.key_space, label.key) == ("phoenix", "U3BhbjoxMg==")
    assert (label.target_level, label.target_key_space, label.call_key) == (
        "call",
        BY_SPAN,
        "67f6740bbe1ddc3f",
    )
    assert (label.name, label.label, label.label_raw, label.score) == (
        "review",
        "bad_args",
        "Bad-Args",
        "0.0",
    )
    assert (label.author_kind, label.author, label.note) == ("HUMAN", "ann", "the date is missing")
    assert label.created_at == datetime(2026, 5, 2, 8, tzinfo=UTC)
    assert found.notes.unknown_fields == {}


def test_a_row_that_names_its_trace_names_the_whole_key_and_ids_are_told_in_any_spelling(
    tmp_path: Path,
) -> None:
    trace = "5b8efff798038103d269b633813fc60c"
    spellings = [
        {"trace_id": trace, "span_id": "0ba89dbc7d90dd52"},
        {"trace_id": f"0x{trace}", "span_id": "0xba89dbc7d90dd52"},
        {"traceId": "W47/95gDgQPSabYzgT/GDA==", "spanId": "C6idvH2Q3VI="},
    ]
    bare = {key: value for key, value in ROW.items() if key != "span_id"}

    found = read(written(tmp_path, [{**bare, **ids} for ids in spellings]))

    assert {(one.target_key_space, one.call_key) for one in found.labels} == {
        ("otel", f"{trace}:0ba89dbc7d90dd52")
    }


def test_rows_about_traces_and_sessions_are_about_conversations(tmp_path: Path) -> None:
    bare = {key: value for key, value in ROW.items() if key != "span_id"}

    found = read(written(tmp_path, [{**bare, "trace_id": "AB" * 16}, {**bare, "session_id": "s-1"}]))

    assert [(one.target_level, one.conversation_id, one.call_key) for one in found.labels] == [
        ("conversation", "ab" * 16, None), ("conversation", "s-1", None)
    ]  # fmt: skip


def test_rows_of_a_data_frame_and_the_answer_of_the_server_say_the_same(tmp_path: Path) -> None:
    flat = {key: value for key, value in ROW.items() if key != "result"}
    flat |= {f"result.{key}": value for key, value in ROW["result"].items()}
    alone = {**flat, "annotation_name": "review", **ROW["result"]}

    said = [
        read(written(tmp_path, json.dumps(document).encode())).labels
        for document in ([ROW], [flat], [alone], {"data": [ROW], "next_cursor": None}, {"annotations": [ROW]})
    ]

    assert all(labels == said[0] for labels in said)
    assert len(said[0]) == 1


def test_kinds_and_labels_that_nobody_knows_are_kept_and_counted(tmp_path: Path) -> None:
    found = read(written(tmp_path, [
        {**ROW, "annotator_kind": "LLM", "result": {"label": "hallucinated"}},
        {**ROW, "annotator_kind": "ORACLE", "result": {"score": 1}, "mood": "good"},
    ]))  # fmt: skip

    assert [(one.label, one.label_raw, one.author_kind) for one in found.labels] == [
        (None, "hallucinated", "LLM"), (None, None, "CODE")
    ]  # fmt: skip
    assert found.notes.unmapped_labels == {"hallucinated": 1}
    assert found.notes.not_understood == {"annotator_kind ORACLE": 1}
    assert found.notes.unknown_fields == {"mood": 1}


def test_without_an_id_the_key_is_what_phoenix_tells_annotations_apart_by(tmp_path: Path) -> None:
    bare = {key: value for key, value in ROW.items() if key != "id"}

    one, again, other = read(written(tmp_path, [bare, bare, {**bare, "identifier": "bob"}])).labels

    assert one.key == again.key != other.key


@pytest.mark.parametrize(
    ("change", "path"),
    [({"span_id": None}, "span_id"), ({"result": ...}, "result"), ({"created_at": "x"}, "created_at")],
)
def test_a_row_that_lacks_something_costs_only_itself(
    tmp_path: Path, change: dict[str, Any], path: str
) -> None:
    broken = {key: value for key, value in {**ROW, **change, "updated_at": None}.items() if value is not ...}

    found = read(written(tmp_path, [ROW, broken, ROW]))

    assert [(line, where) for line, where, _ in found.broken] == [(2, path)]
    assert len(found.labels) == 2


@given(json_texts())
def test_a_score_comes_out_as_it_went_in(tmp_path_factory: pytest.TempPathFactory, score: str) -> None:
    folder = tmp_path_factory.mktemp("score", numbered=True)
    line = json.dumps({**ROW, "result": {"score": "SCORE"}}).replace('"SCORE"', score)

    (label,) = read(written(folder, line.encode())).labels

    assert exact(label.score) == (None if score == '""' else exact(score))
