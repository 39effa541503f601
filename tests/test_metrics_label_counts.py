"""Counts of labels: rows as upstream counts them, calls as they stand now, shares of what was reviewed."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import timedelta

import pytest
from lab_builder import MONDAY, LabBuilder

from quality_lab.errors import UsageError
from quality_lab.intervals import Sums, rate
from quality_lab.labels import FIVE, judgement
from quality_lab.metrics import Filters, label_counts

ORDER = [*FIVE, "unmapped", "disputed"]


@pytest.fixture
def builder(tmp_path):
    return LabBuilder(tmp_path)


def counted(answer) -> dict[str, tuple[int, int]]:
    return {row.label: (row.rows, row.calls) for row in answer}


def test_an_empty_lab_names_all_seven_in_their_order(builder):
    answer = label_counts(builder.store())

    assert [row.label for row in answer] == ORDER
    assert {(row.rows, row.calls, row.share, row.last_at) for row in answer} == {(0, 0, None, None)}


def test_rows_count_what_was_given_and_calls_what_stands(builder):
    first, second, third = builder.calls(3)
    builder.label(first, "bad_args", "anna")
    builder.label(
        first, "good_reply", "anna", created_at=MONDAY + timedelta(hours=5)
    )  # anna thinks better of it
    builder.label(second, "bad_args", "anna")
    builder.label(second, "bad_args", "bob")
    builder.label(third, "wrong_tool", "anna")
    builder.label(third, "other", "bob")

    answer = label_counts(builder.store())

    assert counted(answer) == {
        "good_reply": (1, 1),
        "wrong_tool": (1, 1),
        "missing_tool": (0, 0),
        "bad_args": (3, 1),
        "other": (1, 1),
        "unmapped": (0, 0),
        "disputed": (2, 1),
    }
    assert {row.reviewed_calls for row in answer} == {3}
    assert answer[0].last_at == MONDAY + timedelta(hours=5)
    assert answer[3].share == pytest.approx(1 / 3)


def test_an_unmapped_label_is_counted_and_reviews_nothing(builder):
    call = builder.call()
    builder.label(call, None, label_raw="Hallucination")
    builder.label(call, None, "bob", label_raw="made up")
    builder.label(builder.call(), "good_reply")

    answer = label_counts(builder.store())

    assert counted(answer)["unmapped"] == (2, 1)
    assert {row.reviewed_calls for row in answer} == {1}
    assert answer[5].share is None


def test_labels_on_turns_and_conversations_are_not_labels_of_calls(builder):
    call = builder.call()
    builder.label(call, "bad_args", target_level="turn")
    builder.label(call, "bad_args", target_level="conversation", call_key=None)

    assert counted(label_counts(builder.store()))["bad_args"] == (0, 0)


def test_machines_count_only_where_they_are_asked_for(builder):
    call = builder.call()
    builder.label(call, "bad_args", "judge", author_kind="LLM")
    store = builder.store()

    assert counted(label_counts(store))["bad_args"] == (0, 0)
    assert counted(label_counts(store, filters=Filters.of(author_kind="LLM")))["bad_args"] == (1, 1)


def test_the_share_has_the_interval_of_its_conversations(builder):
    # twelve conversations of two reviewed calls each; in four of them both are bad_args
    for number in range(12):
        for call in builder.calls(2, conversation_id=f"c{number}"):
            builder.label(call, "bad_args" if number < 4 else "good_reply")

    bad = label_counts(builder.store())[3]

    expected = rate(Sums(n=24, y=8, conversations=12, yy=16, ym=16, mm=48))
    assert expected is not None
    assert (bad.share, bad.low, bad.high) == (expected.value, expected.low, expected.high)
    assert bad.conversations == 12
    assert bad.flags == ()


def test_a_label_that_names_no_conversation_is_of_that_of_its_call(builder):
    for number in range(12):
        for call in builder.calls(2, conversation_id=f"c{number}"):
            builder.label(call, "bad_args" if number < 4 else "good_reply", conversation_id=None)

    bad = label_counts(builder.store())[3]

    assert (bad.conversations, bad.reviewed_calls) == (12, 24)


def test_labels_by_tool_source_error_style_reviewer_and_week(builder):
    a = builder.call("a", source="rag_reply", style="calm", conversation_id="1")
    b = builder.call("b", source="llm_reply", is_error=True, error_origin="flag", conversation_id="2")
    builder.label(a, "bad_args", "anna")
    builder.label(b, "good_reply", "bob", created_at=MONDAY + timedelta(days=7))
    builder.label(b, "bad_args", "anna", created_at=MONDAY + timedelta(days=7))
    store = builder.store()

    def bad(by) -> dict:
        answer = label_counts(store, by=by)
        return {
            row.group: (row.rows, row.calls, row.reviewed_calls) for row in answer if row.label == "bad_args"
        }

    assert bad("tool") == {"a": (1, 1, 1), "b": (1, 1, 1)}
    assert bad("source") == {"rag_reply": (1, 1, 1), "llm_reply": (1, 1, 1)}
    assert bad("error") == {"false": (1, 1, 1), "true": (1, 1, 1)}
    assert bad("style") == {"calm": (1, 1, 1), None: (1, 1, 1)}
    assert bad("reviewer") == {"anna": (2, 2, 2), "bob": (0, 0, 1)}
    assert bad("week") == {"2026-06-01": (1, 1, 1), "2026-06-08": (1, 1, 1)}


def test_a_dispute_is_counted_for_each_reviewer_that_takes_part(builder):
    call, calm = builder.calls(2)
    builder.label(call, "bad_args", "anna")
    builder.label(call, "good_reply", "bob")
    builder.label(calm, "good_reply", "cleo")

    answer = label_counts(builder.store(), by="reviewer")

    disputed = {row.group: row.calls for row in answer if row.label == "disputed"}
    assert disputed == {"anna": 1, "bob": 1, "cleo": 0}


def test_weeks_begin_on_monday_of_the_zone(builder):
    builder.label(builder.call(), "bad_args", created_at=MONDAY - timedelta(hours=10))  # Sunday 22:00 UTC
    store = builder.store()

    utc = label_counts(store, by="week")
    bangkok = label_counts(store, by="week", filters=Filters.of(tz="Asia/Bangkok"))

    assert {row.group for row in utc} == {"2026-05-25"}
    assert {row.group for row in bangkok} == {"2026-06-01"}


def test_labels_cannot_be_counted_by_anything(builder):
    with pytest.raises(UsageError, match="not by 'moon'"):
        label_counts(builder.store(), by="moon")


def test_a_label_on_a_call_that_is_elsewhere_counts_and_is_told(builder):
    builder.label("4711", "bad_args")
    store = builder.store()

    assert counted(label_counts(store))["bad_args"] == (1, 1)
    by_tool = label_counts(store, by="tool")
    assert by_tool.notes == ("labels_elsewhere: 1 label stands on a call that is not in this lab",)


def test_what_sql_judges_is_what_the_rule_in_python_judges(builder):
    chance = random.Random(7)
    said = defaultdict(list)
    for number in range(250):
        call = builder.call("a", conversation_id=f"c{number // 3}")
        for _ in range(chance.choice([0, 1, 1, 2, 3, 4])):
            said[call.key].append(
                builder.label(
                    call,
                    chance.choice(FIVE),
                    chance.choice(["anna", "bob", "cleo", None]),
                    created_at=chance.choice([None, MONDAY, MONDAY + timedelta(hours=1)]),
                    adjudication=chance.random() < 0.1,
                )
            )
    judged = [judgement(rows) for rows in said.values()]

    answer = label_counts(builder.store())

    found = {row.label: row for row in answer}
    assert found["bad_args"].reviewed_calls == len(judged)
    assert found["disputed"].calls == sum(one.disputed for one in judged) > 10
    for label in FIVE:
        assert found[label].rows == sum(row.label == label for rows in said.values() for row in rows)
        assert found[label].calls == sum(any(row.label == label for row in one.current) for one in judged)
