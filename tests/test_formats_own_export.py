"""What the workbench exports of itself loads back to the very same rows, whatever format it came from."""

from __future__ import annotations

import json

import pytest

import quality_lab as ql
from quality_lab.formats import by_name, recognise

TABLES = {
    "tool_calls": "select * exclude (source_id, line) from tool_calls order by call_uid",
    "feedback": "select * exclude (source_id, line) from feedback order by feedback_uid",
}
CALL = {
    "record_type": "tool_call",
    "key_space": "somewhere",
    "key": "7",
    "conversation_id": "c",
    "tool_name": "book_tour",
    "arguments": {"city": "Phuket"},
    "created_at": "2026-06-01T08:00:00Z",
    "seen_in": ["trace", "feedback"],
}


def written(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_it_is_recognised_and_is_not_taken_for_the_journal(tmp_path):
    label = {"record_type": "feedback", "key_space": "journal", "key": "1"}

    assert recognise(written(tmp_path / "calls", CALL)) is by_name("quality_lab.export")
    assert recognise(written(tmp_path / "labels", label)) is by_name("quality_lab.export")


def test_the_demo_exported_loads_back_to_the_same_calls_and_labels(repository, tmp_path):
    first, second = ql.open(tmp_path / "first"), ql.open(tmp_path / "second")
    demo = repository / "data" / "demo"
    first.load(demo / "exports", demo / "journal")
    calls = first.export("calls", tmp_path / "calls.jsonl")
    labels = first.export("feedback", tmp_path / "feedback.jsonl")
    report = second.load(tmp_path / "feedback.jsonl", tmp_path / "calls.jsonl")

    assert [file.rejected for file in report.files] == [0, 0]
    assert [file.unknown_fields for file in report.files] == [{}, {}]
    assert (calls.left_out, labels.left_out) == (0, 0)
    assert calls.rows > 450
    for name, sql in TABLES.items():
        assert first.sql(sql).equals(second.sql(sql)), name


def test_a_call_seen_in_two_kinds_of_files_counts_as_seen_in_both(tmp_path):
    lab = ql.open(tmp_path)
    lab.load(written(tmp_path / "calls.jsonl", CALL))

    assert lab.sql("select in_trace, in_feedback, in_case from tool_calls").rows() == [(True, True, False)]


@pytest.mark.parametrize(
    ("change", "path", "reason"),
    [
        ({"tool_name": 7}, "tool_name", "wanted string, got integer"),
        ({"created_at": "yesterday"}, "created_at", "wanted an ISO 8601 time, got 'yesterday'"),
        ({"seen_in": []}, "seen_in", "wanted at least one of trace, feedback and case, got none"),
        ({"record_type": "cat"}, "record_type", "wanted tool_call or feedback, got 'cat'"),
    ],
)
def test_a_line_that_breaks_its_promise_is_put_aside_with_path_and_reason(tmp_path, change, path, reason):
    lab = ql.open(tmp_path)
    lab.load(written(tmp_path / "calls.jsonl", CALL, CALL | change))
    rejects = [(row.line, row.path, row.reason) for row in lab.rejects()]

    assert rejects == [(2, path, reason)]
