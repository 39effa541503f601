"""Coverage: where reviewers have looked."""

from __future__ import annotations

import pytest
from lab_builder import LabBuilder

from quality_lab.metrics import Filters, coverage


@pytest.fixture
def builder(tmp_path):
    return LabBuilder(tmp_path)


def test_what_nobody_looked_at_comes_first_with_its_failures(builder):
    seen = builder.calls(4, "seen")
    builder.label(seen[0], "bad_args", "anna")
    builder.label(seen[0], "good_reply", "bob")
    builder.label(seen[1], "good_reply", "anna")
    builder.calls(5, "unseen", is_error=True, error_origin="flag")
    builder.guard("unbacked_quote")

    first, second = coverage(builder.store())

    assert (first.tool_name, first.calls, first.reviewed, first.coverage, first.reviewers) == (
        "unseen",
        5,
        0,
        0,
        0,
    )
    assert (first.failures, first.failures_reviewed) == (5, 0)
    assert (second.tool_name, second.calls, second.reviewed, second.coverage, second.reviewers) == (
        "seen",
        4,
        2,
        0.5,
        2,
    )


def test_without_a_trace_export_there_is_no_coverage_and_a_reason(builder):
    builder.label(builder.call(seen_in="feedback"), "bad_args")

    answer = coverage(builder.store())

    assert (answer[0].calls, answer[0].coverage, answer[0].reviewed) == (None, None, 1)
    assert answer[0].reason == "no_trace_export"
    assert answer.notes[0].startswith("no_trace_export: ")


def test_a_call_that_its_sources_trace_export_leaves_out_is_not_covered(builder):
    builder.call("traced")
    builder.label(builder.call("untraced", seen_in="feedback"), "bad_args")

    rows = {row.tool_name: row for row in coverage(builder.store())}

    assert (rows["untraced"].calls, rows["untraced"].coverage, rows["untraced"].reason) == (
        0,
        None,
        "not_in_trace_export",
    )


def test_label_filters_change_no_coverage(builder):
    for call in builder.calls(4)[:2]:
        builder.label(call, "bad_args", "anna")
    store = builder.store()

    assert coverage(store, filters=Filters.of(label="other", reviewer="bob"))[0].coverage == 0.5
