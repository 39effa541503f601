"""Latency: quantiles as pandas has them."""

from __future__ import annotations

import random

import pandas as pd
import pytest
from lab_builder import LabBuilder

from quality_lab.metrics import latency


@pytest.fixture
def builder(tmp_path):
    return LabBuilder(tmp_path)


def test_quantiles_agree_with_pandas(builder):
    chance = random.Random(3)
    values = {
        name: [chance.uniform(1, 5000) for _ in range(count)]
        for name, count in (("a", 40), ("b", 41), ("c", 1))
    }
    values["d"] = [7.0] * 30
    for name, several in values.items():
        for value in several:
            builder.call(name, latency_ms=value)

    rows = {row.tool_name: row for row in latency(builder.store())}

    for name, several in values.items():
        expected = pd.Series(several).quantile([0.5, 0.95])
        assert rows[name].calls == len(several)
        assert rows[name].p50_ms == pytest.approx(expected[0.5], rel=1e-12)
        assert rows[name].p95_ms == pytest.approx(expected[0.95], rel=1e-12)
        assert rows[name].max_ms == max(several)


def test_the_slowest_tool_comes_first_and_one_without_latency_is_left_out(builder):
    builder.call("slow", latency_ms=900)
    builder.call("fast", latency_ms=2)
    builder.call("silent")
    builder.guard("unbacked_quote", latency_ms=5000)

    assert [row.tool_name for row in latency(builder.store())] == ["slow", "fast"]


def test_calls_that_say_nothing_of_their_time_are_told_in_a_note(builder):
    builder.call("silent")

    told = latency(builder.store())

    assert (len(told), told.notes) == (0, ("no call that was asked for says how long it took",))


def test_calls_that_only_a_feedback_export_knows_do_not_count(builder):
    builder.call("a", latency_ms=10.0)
    builder.call("a", latency_ms=9000.0, seen_in="feedback")
    builder.call("b", latency_ms=20.0, seen_in="feedback")

    answer = latency(builder.store())

    assert [(row.tool_name, row.calls, row.max_ms) for row in answer] == [("a", 1, 10.0)]
