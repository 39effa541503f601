"""Trend: periods in order, gaps shown, days and weeks of the zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from lab_builder import MONDAY, LabBuilder

from quality_lab.errors import UsageError
from quality_lab.metrics import Filters, trend

ERROR = {"is_error": True, "error_origin": "flag"}


@pytest.fixture
def builder(tmp_path):
    return LabBuilder(tmp_path)


def test_each_day_has_its_calls_errors_and_labels_and_a_gap_is_a_row_of_zeros(builder):
    builder.calls(3)
    builder.calls(1, **ERROR)
    made = builder.calls(2, created_at=MONDAY + timedelta(days=2), result='{"ok":false}')
    builder.label(made[0], "bad_args", created_at=MONDAY + timedelta(days=9))

    days = trend(builder.store())

    assert [(row.period, row.calls, row.errors, row.soft_errors, row.error_rate) for row in days] == [
        (date(2026, 6, 1), 4, 1, 0, 0.25),
        (date(2026, 6, 2), 0, 0, 0, None),
        (date(2026, 6, 3), 2, 0, 2, 1.0),
    ]
    assert [(row.reviewed, row.judged_failures, row.judged_failure_rate) for row in days] == [
        (0, 0, None),
        (0, 0, None),
        (1, 1, 1.0),
    ]


def test_weeks_begin_on_monday(builder):
    builder.calls(1, created_at=MONDAY + timedelta(days=6))
    builder.calls(2, created_at=MONDAY + timedelta(days=7))

    weeks = trend(builder.store(), every="week")

    assert [(row.period, row.calls) for row in weeks] == [(date(2026, 6, 1), 1), (date(2026, 6, 8), 2)]


def test_days_are_those_of_the_zone_on_both_sides_of_a_change_of_the_clock(builder):
    # Berlin: UTC+1 until 29 March 2026 at 01:00 UTC, then UTC+2
    for moment in ((3, 28, 22, 59), (3, 28, 23, 0), (3, 29, 21, 59), (3, 29, 22, 0)):
        builder.call(created_at=datetime(2026, *moment, tzinfo=UTC))

    days = trend(builder.store(), filters=Filters.of(tz="Europe/Berlin"))

    assert [(row.period.day, row.calls) for row in days] == [(28, 1), (29, 2), (30, 1)]


def test_the_window_stretches_the_rows_to_its_ends(builder):
    builder.calls(1)
    store = builder.store()

    days = trend(store, filters=Filters.of(since="2026-05-31", until="2026-06-03"))
    weeks = trend(store, every="week", filters=Filters.of(since="2026-05-31", until="2026-06-08"))

    assert [(row.period, row.calls) for row in days] == [
        (date(2026, 5, 31), 0),
        (date(2026, 6, 1), 1),
        (date(2026, 6, 2), 0),
    ]
    assert [row.period for row in weeks] == [date(2026, 5, 25), date(2026, 6, 1)]


def test_undated_calls_are_in_no_period(builder):
    builder.call(created_at=None)

    assert len(trend(builder.store())) == 0


def test_ages_between_two_calls_are_not_filled_and_told(builder):
    builder.call(created_at=datetime(1990, 1, 1, tzinfo=UTC))
    builder.call()

    answer = trend(builder.store())

    assert len(answer) == 2
    assert answer.notes[-1].startswith("gaps: over 4000 periods")


def test_conversations_that_span_days_count_in_each(builder):
    builder.call()
    builder.call(created_at=MONDAY + timedelta(days=1))

    assert [row.conversations for row in trend(builder.store())] == [1, 1]


@pytest.mark.parametrize("wrong", [{"every": "month"}, {"filters": Filters.of(time="label")}])
def test_what_makes_no_trend_is_refused(builder, wrong):
    with pytest.raises(UsageError):
        trend(builder.store(), **wrong)


def test_an_unknown_zone_is_refused_before_anything_is_asked(builder):
    with pytest.raises(UsageError, match="no time zone"):
        trend(builder.store(), filters=Filters(tz="Mars/Olympus"))


def test_without_a_trace_export_nobody_knows_how_many_calls_there_were(builder):
    for call in builder.calls(2, seen_in="feedback", **ERROR):
        builder.label(call, "bad_args")

    (day,) = trend(builder.store())

    assert (day.calls, day.conversations, day.errors, day.empty_results, day.error_rate) == (None,) * 5
    assert day.reviewed == 2
