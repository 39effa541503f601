"""Filters: what people write, what window it means, and that it picks what it says."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from lab_builder import MONDAY, LabBuilder

from quality_lab.errors import UsageError
from quality_lab.metrics import Filters, calls, failing_tools, label_counts, undated


@pytest.fixture
def builder(tmp_path):
    return LabBuilder(tmp_path)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)


def test_seven_days_are_the_seven_whole_days_before_today():
    window = Filters.of(since="7d", as_of="2026-06-10T15:30:00Z").window()

    assert (window.since, window.until) == (utc(2026, 6, 3), utc(2026, 6, 10))


def test_days_begin_in_the_zone_that_was_asked_for():
    window = Filters.of(since="7d", tz="Asia/Bangkok", as_of="2026-06-10T18:00:00Z").window()

    assert (window.since, window.until) == (utc(2026, 6, 3, 17), utc(2026, 6, 10, 17))


def test_days_are_calendar_days_over_a_change_of_the_clock():
    # on 29 March 2026 Berlin's clocks went from UTC+1 to UTC+2
    window = Filters.of(since="2d", tz="Europe/Berlin", as_of="2026-03-30T10:00:00Z").window()

    assert (window.since, window.until) == (utc(2026, 3, 27, 23), utc(2026, 3, 29, 22))


def test_an_end_that_is_given_stands_before_today():
    window = Filters.of(since="2w", until="1d", as_of="2026-06-10T15:30:00Z").window()

    assert (window.since, window.until) == (utc(2026, 5, 27), utc(2026, 6, 9))


@pytest.mark.parametrize(
    ("value", "instant"),
    [
        ("2026-06-01", utc(2026, 5, 31, 22)),
        (date(2026, 6, 1), utc(2026, 5, 31, 22)),
        ("2026-06-01T08:00", utc(2026, 6, 1, 6)),
        ("2026-06-01T08:00:00Z", utc(2026, 6, 1, 8)),
        ("2026-06-01T08:00:00+07:00", utc(2026, 6, 1, 1)),
        (datetime(2026, 6, 1, 8), utc(2026, 6, 1, 6)),  # noqa: DTZ001  # a time without a zone is what is tested
        (utc(2026, 6, 1, 8), utc(2026, 6, 1, 8)),
    ],
)
def test_a_date_or_time_without_a_zone_is_of_the_filters_zone(value, instant):
    assert Filters.of(since=value, tz="Europe/Berlin").window().since == instant


@pytest.mark.parametrize(
    ("keywords", "told"),
    [
        ({"since": "yesterday"}, "since is a date"),
        ({"until": "2026-13-01"}, "until is a date"),
        ({"since": 5}, "since is a date"),
        ({"since": "0001-01-01", "tz": "Asia/Bangkok"}, "since is a date"),
        ({"since": "2026-06-02", "until": "2026-06-01"}, "before it begins"),
        ({"tz": "Mars/Olympus", "since": "7d"}, "no time zone"),
        ({"tool_name": "x"}, "no filter 'tool_name'"),
        ({"label": "terrible"}, "none of good_reply"),
        ({"outcome": "fine"}, "none of ok"),
        ({"actor": "robot"}, "none of model"),
        ({"author_kind": "dog"}, "none of HUMAN"),
        ({"error": "yes"}, "true or false"),
        ({"time": "reply"}, "'call' or 'label'"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused_with_what_would(keywords, told):
    with pytest.raises(UsageError, match=told):
        Filters.of(**keywords)


def test_one_text_or_several_and_a_label_in_any_spelling_are_understood():
    filters = Filters.of(
        tool="a", source=["x", "y", "x"], label="Bad-Args", author_kind="llm", model=None, style=()
    )

    assert filters.tool == ("a",)
    assert filters.source == ("x", "y")
    assert filters.label == ("bad_args",)
    assert filters.author_kind == ("LLM",)
    assert filters.model == ()


def test_each_filter_picks_its_calls_and_several_pick_what_meets_all(builder):
    for number, given in enumerate(
        [
            {"tool_name": "b"},
            {"source": "llm_reply"},
            {"style": "calm"},
            {"model": "m-1"},
            {"conversation_id": "c9"},
            {"contact_id": "7"},
            {"message_id": "8"},
            {"outbound_id": "9"},
            {"actor": "user"},
            {"is_error": True, "error_origin": "flag"},
            {"result": '{"ok":false}'},
        ]
    ):
        builder.call(**{"tool_name": "a", "conversation_id": f"c{number + 100}"} | given)
    store = builder.store()

    def picked(**keywords) -> int:
        return len(calls(store, filters=Filters.of(**keywords)))

    assert picked() == 11
    for keywords in (
        {"tool": "b"},
        {"source": "llm_reply"},
        {"style": "calm"},
        {"model": "m-1"},
        {"conversation": "c9"},
        {"contact": "7"},
        {"message": "8"},
        {"outbound": "9"},
        {"actor": "user"},
        {"error": True},
        {"outcome": "soft_error"},
    ):
        assert picked(**keywords) == 1, keywords
    assert picked(error=False) == 10
    assert picked(tool="a", outcome=["error", "soft_error"]) == 2
    assert picked(tool="b", outcome="error") == 0
    assert picked(tenant="default") == 11
    assert picked(tenant="other") == 0


def test_a_call_that_cannot_say_is_neither_with_nor_without_error(builder):
    builder.call(is_error=None)
    store = builder.store()

    assert len(calls(store, filters=Filters.of(error=True))) == 0
    assert len(calls(store, filters=Filters.of(error=False))) == 0


def test_the_window_takes_its_first_instant_and_leaves_its_last_and_what_is_undated(builder):
    for hours in (0, 1, 2):
        builder.call(created_at=MONDAY + timedelta(hours=hours))
    builder.call(created_at=None)
    store = builder.store()
    filters = Filters.of(since=MONDAY, until=MONDAY + timedelta(hours=2))

    answer = calls(store, filters=filters)

    assert [row.created_at for row in answer] == [MONDAY + timedelta(hours=1), MONDAY]
    assert answer.notes == ("undated: 1 call has no time and stands outside this window",)
    assert undated(store, filters=filters).calls == 1


def test_label_filters_never_change_a_denominator(builder):
    made = builder.calls(20)
    for call in made[:10]:
        builder.label(call, "good_reply")
    builder.label(made[0], "bad_args", "bob")
    builder.label(made[10], "bad_args", "bob")
    store = builder.store()

    def row(**keywords):
        return failing_tools(store, filters=Filters.of(**keywords))[0]

    assert (row().calls, row().reviewed, row().bad_args, row().disputed) == (20, 11, 1, 1)
    assert (row(label="bad_args").calls, row(label="bad_args").reviewed) == (20, 11)
    assert (row(label="bad_args").bad_args, row(label="bad_args").good_reply) == (1, 0)
    assert (row(reviewer="bob").calls, row(reviewer="bob").reviewed) == (20, 11)
    assert (row(reviewer="bob").bad_args, row(reviewer="bob").good_reply) == (2, 0)
    assert row(reviewer="bob").coverage == row().coverage == 11 / 20


def test_labels_and_proposals_go_by_the_time_of_the_label_and_calls_by_their_own(builder):
    late = builder.call(created_at=MONDAY)
    builder.label(late, "bad_args", created_at=MONDAY + timedelta(days=9))
    store = builder.store()
    window = {"since": "2026-06-09", "until": "2026-06-12"}

    by_label = label_counts(store, filters=Filters.of(**window))
    by_call = label_counts(store, filters=Filters.of(time="call", **window))

    assert {row.label: row.rows for row in by_label}["bad_args"] == 1
    assert {row.label: row.rows for row in by_call}["bad_args"] == 0
    assert len(calls(store, filters=Filters.of(**window))) == 0
    assert len(calls(store, filters=Filters.of(time="label", **window))) == 1


def test_a_wrong_now_is_named_even_where_no_window_needs_it():
    with pytest.raises(UsageError, match="as_of is a date .* not 'x'"):
        Filters.of(as_of="x")
