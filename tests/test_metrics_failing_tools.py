"""Failing tools: what is counted, over what, how sure, and who comes first."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest
from lab_builder import MONDAY, LabBuilder

from quality_lab.errors import UsageError
from quality_lab.intervals import Sums, design_effect, rate
from quality_lab.labels import FIVE, judgement
from quality_lab.metrics import Filters, failing_tools
from quality_lab.metrics.asking import put
from quality_lab.metrics.failing_tools import ToolSums
from quality_lab.metrics.filters import EVERYTHING
from quality_lab.store import Store

ERROR = {"is_error": True, "error_origin": "flag", "result": '{"error":"boom"}'}
GATED = {"result": '{"ok":false,"needsOperator":true}'}
SOFT = {"result": '{"ok":false}'}


@pytest.fixture
def builder(tmp_path):
    return LabBuilder(tmp_path)


def test_outcomes_are_counted_and_the_rate_leaves_out_what_nobody_knows(builder):
    builder.calls(4)
    builder.calls(2, **ERROR)
    builder.calls(1, **SOFT)
    builder.calls(3, **GATED)
    builder.calls(1, person_refused=True)
    builder.calls(2, result=None, result_state="pending")
    builder.calls(1, result="[]")

    row = failing_tools(builder.store())[0]

    assert (row.calls, row.errors, row.soft_errors, row.gated, row.rejected, row.unknown) == (
        14,
        2,
        1,
        3,
        1,
        2,
    )
    assert row.empty_results == 1
    assert row.error_rate == pytest.approx(3 / 11)  # (2 + 1) / (14 - 2 - 1)
    assert row.conversations == 14
    assert row.rank_by == "error"
    assert row.flags == ()


def test_the_interval_of_the_error_rate_is_that_of_its_conversations(builder):
    # twelve conversations of five calls; in three of them every call fails
    for number in range(12):
        builder.calls(5, conversation_id=f"c{number}", **(ERROR if number < 3 else {}))

    row = failing_tools(builder.store())[0]

    expected = rate(Sums(n=60, y=15, conversations=12, yy=75, ym=75, mm=300))
    assert expected is not None
    assert (row.error_rate, row.error_low, row.error_high) == (0.25, expected.low, expected.high)
    assert expected.n_eff < 12


def test_calls_of_unknown_outcome_alone_leave_the_rate_open(builder):
    builder.calls(12, is_error=None)

    row = failing_tools(builder.store())[0]

    assert (row.calls, row.unknown, row.error_rate, row.error_low) == (12, 12, None, None)
    assert row.flags == ("outcomes_unknown",)


def test_a_rate_over_a_handful_of_known_calls_among_many_says_so(builder):
    builder.calls(30, is_error=None)
    builder.calls(10, is_error=None, **SOFT)

    row = failing_tools(builder.store())[0]

    assert row.error_rate == 1
    assert "outcomes_mostly_unknown" in row.flags


def test_reviewed_calls_judge_a_tool_and_missing_tool_is_not_its_failure(builder):
    made = builder.calls(40)
    for call, label in zip(
        made, ["bad_args"] * 3 + ["wrong_tool"] * 2 + ["missing_tool", "other"], strict=False
    ):
        builder.label(call, label)
    builder.label(made[7], "good_reply", "anna")
    builder.label(made[8], "good_reply", "anna")
    builder.label(made[8], "bad_args", "bob")

    row = failing_tools(builder.store())[0]

    assert (row.good_reply, row.wrong_tool, row.missing_tool, row.bad_args, row.other) == (1, 2, 1, 3, 1)
    assert (row.disputed, row.reviewed, row.coverage) == (1, 9, 9 / 40)
    assert row.judged_failure_rate == pytest.approx(5 / 9)
    assert row.flags == ("few_conversations_judged",)
    assert row.rank_by == "judged"


def test_guard_rows_and_the_users_own_calls_stand_outside(builder):
    builder.calls(3)
    builder.guard("unbacked_quote")
    builder.calls(2, "look_up_bill", actor="user", **ERROR)
    store = builder.store()

    assert [(row.tool_name, row.calls) for row in failing_tools(store)] == [("compute_exchange_quote", 3)]
    asked_for = failing_tools(store, filters=Filters.of(actor="user"))
    assert [(row.tool_name, row.errors) for row in asked_for] == [("look_up_bill", 2)]
    assert len(failing_tools(store, filters=Filters.of(actor="guard"))) == 0


def test_a_feedback_export_alone_gives_no_rate_and_says_why(builder):
    for call in builder.calls(12, seen_in="feedback", **ERROR):
        builder.label(call, "bad_args")

    answer = failing_tools(builder.store())

    row = answer[0]
    assert (row.calls, row.errors, row.error_rate, row.coverage, row.judged_failure_rate) == (None,) * 5
    assert (row.reviewed, row.bad_args, row.impact) == (12, 12, None)
    assert row.flags == ("no_trace_export",)
    assert answer.notes == (
        "no_trace_export: only labelled calls are here of rag_reply (tenant default), "
        "so nothing there has a rate",
    )


def test_a_source_without_traces_takes_nothing_from_one_that_has_them(builder):
    builder.calls(20)
    for call in builder.calls(5, source="llm_reply", seen_in="feedback", **ERROR):
        builder.label(call, "bad_args")

    answer = failing_tools(builder.store())

    row = answer[0]
    assert (row.calls, row.error_rate, row.reviewed, row.coverage) == (20, 0, 5, 0)
    assert row.judged_failure_rate is None
    assert row.flags == ("labels_outside_trace",)
    assert "llm_reply" in answer.notes[0]


def test_calls_without_a_source_are_of_a_source_of_their_own(builder):
    builder.calls(3, source=None)

    answer = failing_tools(builder.store())

    assert (answer[0].calls, answer[0].flags, answer.notes) == (3, ("few_conversations",), ())


def test_the_larger_lower_bound_comes_first_then_calls_then_the_name(builder):
    builder.calls(20, "often", **ERROR)
    builder.calls(20, "often")
    builder.calls(12, "always", **ERROR)
    builder.calls(12, "b_fine")
    builder.calls(12, "a_fine")
    builder.calls(30, "fine")
    for call in builder.calls(12, "judged"):
        builder.label(call, "wrong_tool")
    store = builder.store()

    ranked = failing_tools(store)

    assert [row.tool_name for row in ranked] == ["always", "judged", "often", "fine", "a_fine", "b_fine"]
    assert [row.rank_by for row in ranked] == ["error", "judged", "error", "error", "error", "error"]


def test_tools_without_any_rate_come_last(builder):
    builder.calls(50, "dark", is_error=None)
    builder.calls(2, "fine")

    assert [row.tool_name for row in failing_tools(builder.store())] == ["fine", "dark"]


def test_by_labels_is_upstreams_ranking_praise_and_guards_included(builder):
    made = builder.calls(3, "quote")
    loved = builder.call("loved")
    for number in range(4):
        builder.label(loved, "good_reply", f"r{number}")
    builder.label(loved, None, "r9", label_raw="superb")
    for call in made:
        builder.label(call, "bad_args")
    guard = builder.guard("unbacked_quote", created_at=MONDAY + timedelta(days=1))
    for number in range(3):
        builder.label(guard, "missing_tool", f"r{number}")
    builder.calls(100, "silent", **ERROR)

    ranked = failing_tools(builder.store(), by="labels")

    assert [(row.tool_name, row.label_rows) for row in ranked] == [
        ("loved", 4),
        ("exchange_response_guard", 3),
        ("quote", 3),
    ]
    assert {row.rank_by for row in ranked} == {"labels"}
    assert ranked[1].flags == ("no_calls",)


def test_impact_is_the_lower_bound_times_calls_a_week(builder):
    for day in range(28):
        builder.call("rare", created_at=MONDAY + timedelta(days=day), conversation_id=f"r{day}", **ERROR)
        builder.calls(10, "busy", created_at=MONDAY + timedelta(days=day), **(SOFT if day % 4 == 0 else {}))
    store = builder.store()

    by_rate = failing_tools(store)
    by_impact = failing_tools(store, by="impact", filters=Filters.of(since="2026-06-01", until="2026-06-29"))

    assert [row.tool_name for row in by_rate] == ["rare", "busy"]
    assert [row.tool_name for row in by_impact] == ["busy", "rare"]
    assert by_impact[0].calls_per_week == 70
    assert by_impact[0].impact == pytest.approx(70 * by_impact[0].error_low)
    assert by_impact[0].rank_by == "impact"


def test_less_than_a_week_counts_as_a_week(builder):
    builder.calls(12, **ERROR)
    builder.call(created_at=MONDAY + timedelta(hours=3), conversation_id="z")

    assert failing_tools(builder.store())[0].calls_per_week == 13


def test_undated_calls_have_no_impact(builder):
    builder.calls(12, created_at=None, **ERROR)

    row = failing_tools(builder.store(), by="impact")[0]

    assert (row.calls, row.impact, row.error_rate) == (12, None, 1)


def test_one_window_bounds_numerator_and_denominator(builder):
    for week in range(2):
        for call in builder.calls(
            10, created_at=MONDAY + timedelta(days=7 * week), **(ERROR if week else {})
        ):
            builder.label(call, "bad_args" if week else "good_reply")
    store = builder.store()

    first = failing_tools(store, filters=Filters.of(until="2026-06-08"))[0]

    assert (first.calls, first.errors, first.reviewed, first.bad_args) == (10, 0, 10, 0)


def test_the_rest_is_counted_where_only_the_top_is_shown(builder):
    for name in "abc":
        builder.calls(2, name)
    store = builder.store()

    assert (len(failing_tools(store, top=2)), failing_tools(store, top=2).more) == (2, 1)
    assert len(failing_tools(store, top=None)) == 3


@pytest.mark.parametrize("wrong", [{"by": "luck"}, {"filters": Filters.of(time="label")}])
def test_what_cannot_be_asked_is_refused(builder, wrong):
    with pytest.raises(UsageError):
        failing_tools(builder.store(), **wrong)


def test_every_number_agrees_with_a_count_by_hand(builder):
    chance = random.Random(11)
    made, said = [], {}
    for _ in range(400):
        kind = chance.choice([{}, {}, {}, ERROR, SOFT, GATED, {"is_error": None}, {"person_refused": True}])
        call = builder.call(
            chance.choice(["a", "b", "c"]),
            conversation_id=f"c{chance.randrange(40)}",
            seen_in=chance.choice(["trace", "trace", "trace", "feedback"]),
            **kind,
        )
        made.append((call, kind))
        rows = [
            builder.label(call, chance.choice(FIVE), chance.choice(["anna", "bob"]))
            for _ in range(chance.choice([0, 0, 1, 2, 3]))
        ]
        said[call.key] = judgement(rows)

    answer = failing_tools(builder.store())

    assert {row.tool_name for row in answer} == {"a", "b", "c"}
    for row in answer:
        traced = [
            (call, kind) for call, kind in made if call.tool_name == row.tool_name and call.seen_in == "trace"
        ]
        every = [call for call, _ in made if call.tool_name == row.tool_name]
        unknown = sum(kind == {"is_error": None} for _, kind in traced)
        refused = sum(kind == {"person_refused": True} for _, kind in traced)
        failed = {call.key for call, kind in traced if kind in (ERROR, SOFT)}
        known = [call for call, kind in traced if kind not in ({"is_error": None}, {"person_refused": True})]
        assert row.calls == len(traced)
        assert (row.unknown, row.rejected, row.errors + row.soft_errors) == (unknown, refused, len(failed))
        assert row.calls == row.errors + row.soft_errors + row.gated + row.rejected + row.unknown + sum(
            kind == {} for _, kind in traced
        )
        per_talk: dict[str, list[int]] = {}
        for call in known:
            counts = per_talk.setdefault(call.conversation_id, [0, 0])
            counts[0] += call.key in failed
            counts[1] += 1
        expected = rate(
            Sums(
                n=len(known),
                y=len(failed),
                conversations=len(per_talk),
                yy=sum(y * y for y, _ in per_talk.values()),
                ym=sum(y * m for y, m in per_talk.values()),
                mm=sum(m * m for _, m in per_talk.values()),
            )
        )
        assert expected is not None
        assert (row.error_rate, row.error_low, row.error_high) == (
            expected.value,
            expected.low,
            expected.high,
        )
        judged = [said[call.key] for call in every]
        assert row.reviewed == sum(one.reviewed for one in judged)
        assert row.disputed == sum(one.disputed for one in judged)
        assert row.bad_args == sum(one.label == "bad_args" for one in judged)
        reviewed = [said[call.key] for call, _ in traced if said[call.key].reviewed]
        assert row.coverage == len(reviewed) / len(traced)
        assert row.judged_failure_rate == sum(
            one.label in ("wrong_tool", "bad_args") for one in reviewed
        ) / len(reviewed)


def test_tau_bench_is_told_as_it_is(shared, tmp_path):
    store = Store(tmp_path)
    store.load([shared / "traces" / "tau-bench" / "gpt-4o-airline.json"])

    answer = failing_tools(store)

    assert [(row.tool_name, row.errors, row.calls) for row in answer[:2]] == [
        ("book_reservation", 30, 53),
        ("update_reservation_flights", 42, 104),
    ]
    assert sum(row.calls for row in answer) == 1164
    assert sum(row.errors for row in answer) == 73
    assert {row.reviewed for row in answer} == {0}
    assert {row.judged_failure_rate for row in answer} == {None}
    flights = next(row for row in put(store, ToolSums, "failing_tools", EVERYTHING) if row.calls == 104)
    known = Sums(n=104, y=42, conversations=58, yy=flights.error_yy, ym=flights.error_ym, mm=flights.error_mm)
    assert round(104 / design_effect(known)) == 49  # what these calls are worth
