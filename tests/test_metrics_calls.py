"""Calls and conversations: listed in order, with the labels that stand on them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from lab_builder import MONDAY, LabBuilder

from quality_lab.errors import UsageError
from quality_lab.metrics import Filters, calls, conversation
from quality_lab.records import Conversation


@pytest.fixture
def builder(tmp_path):
    return LabBuilder(tmp_path)


def test_the_newest_call_comes_first_and_those_of_a_turn_in_their_order(builder):
    builder.call("old", created_at=MONDAY - timedelta(days=1))
    for index, name in ((1, "second"), (0, "first"), (2, "third")):
        builder.call(name, call_index=index)
    builder.call("undated", created_at=None)

    answer = calls(builder.store())

    assert [row.tool_name for row in answer] == ["first", "second", "third", "old", "undated"]


def test_a_call_shows_what_went_in_and_came_out_to_the_letter(builder):
    arguments = '{"b":1.10,"a":12345678901234567890123456789,"b":2,"t":"\\ud83d"}'
    builder.call(
        arguments=arguments, result='"\\u0000"', turn=2, cycle=1, call_index=3, style="calm", model="m-1"
    )

    row = calls(builder.store())[0]

    assert (row.arguments, row.result) == (arguments, '"\\u0000"')
    assert (row.turn, row.cycle, row.call_index, row.style, row.model) == (2, 1, 3, "calm", "m-1")
    assert (row.file, row.line, row.outcome, row.is_error, row.actor) == ("records", 1, "ok", False, "model")


def test_the_labels_that_stand_are_listed_oldest_first_with_who_and_why(builder):
    call = builder.call()
    builder.label(call, "bad_args", "anna", created_at=MONDAY + timedelta(hours=1), note="THB, not USDT")
    builder.label(call, "good_reply", "anna", created_at=MONDAY + timedelta(hours=3))
    builder.label(call, "bad_args", "bob", created_at=MONDAY + timedelta(hours=2), note="the currency")
    builder.label(call, None, "bob", label_raw="Hallucination", created_at=MONDAY + timedelta(hours=4))

    row = calls(builder.store())[0]

    assert row.labels == ("bad_args", "good_reply", "Hallucination")
    assert [(review.reviewer, review.note) for review in row.reviews] == [
        ("bob", "the currency"),
        ("anna", None),
        ("bob", None),
    ]


def test_label_filters_pick_calls_by_the_labels_that_stand(builder):
    first, second, third, _ = builder.calls(4)
    builder.label(first, "bad_args", "anna")
    builder.label(second, "bad_args", "anna")
    builder.label(second, "good_reply", "bob")
    builder.label(third, "bad_args", "anna", created_at=MONDAY + timedelta(hours=1))
    builder.label(third, "other", "anna", created_at=MONDAY + timedelta(hours=2))
    store = builder.store()

    def keys(**filters) -> set[int]:
        return {row.line for row in calls(store, filters=Filters.of(**filters))}

    assert keys(label="bad_args") == {1, 2}
    assert keys(label="disputed") == {2}
    assert keys(label=["other", "good_reply"]) == {2, 3}
    assert keys(reviewer="bob") == {2}
    assert keys(label="bad_args", reviewer="bob") == set()


def test_guard_rows_are_no_calls_unless_they_are_asked_for(builder):
    builder.call()
    builder.guard("unbacked_quote")
    store = builder.store()

    assert [row.tool_name for row in calls(store)] == ["compute_exchange_quote"]
    assert [row.tool_name for row in calls(store, filters=Filters.of(actor="guard"))] == [
        "exchange_response_guard"
    ]
    assert [row.tool_name for row in calls(store, filters=Filters.of(outcome="guard"))] == [
        "exchange_response_guard"
    ]


def test_a_limit_leaves_calls_out_and_counts_them(builder):
    for call in builder.calls(5):
        builder.label(call, "bad_args", "anna")
        builder.label(call, "bad_args", "bob")
    store = builder.store()

    answer = calls(store, limit=2)

    assert (len(answer), answer.more) == (2, 3)
    assert len(calls(store, limit=None)) == 5
    with pytest.raises(UsageError, match="at least one"):
        calls(store, limit=0)


def test_a_conversation_is_told_in_order(builder):
    builder.message("user", "How much?", position=0, conversation_id="c1")
    builder.message("assistant", "One moment", position=1, conversation_id="c1")
    builder.message("tool", "32.6", position=2, conversation_id="c1")
    builder.message("assistant", "It is 32.6", position=3, conversation_id="c1")
    late = builder.call("second", conversation_id="c1", message_position=1, index_in_cycle=1)
    early = builder.call("first", conversation_id="c1", message_position=1, index_in_cycle=0)
    builder.label(early, "bad_args", "anna", note="wrong way round")
    builder.label(late, "good_reply", "anna")
    whole = {"target_level": "conversation", "call_key": None, "tool_name": None}
    builder.label(late, None, "judge", score="4", author_kind="LLM", **whole)
    builder.call("elsewhere", conversation_id="c2")

    answer = conversation(builder.store(), "c1")

    told = [(row.kind, row.who, row.text or row.tool_name) for row in answer]
    assert told == [
        ("message", "user", "How much?"),
        ("message", "assistant", "One moment"),
        ("call", "model", "first"),
        ("label", "anna", "wrong way round"),
        ("call", "model", "second"),
        ("label", "anna", "second"),
        ("message", "tool", "32.6"),
        ("message", "assistant", "It is 32.6"),
        ("label", "judge", None),
    ]
    assert (answer[3].label, answer[3].target, answer[8].target, answer[8].result) == (
        "bad_args",
        "call",
        "conversation",
        "4",
    )


def test_without_messages_calls_go_by_time_turn_and_place(builder):
    builder.call("later", created_at=MONDAY + timedelta(hours=1), call_index=0)
    builder.call("second", call_index=1)
    builder.call("first", call_index=0)

    assert [row.tool_name for row in conversation(builder.store(), "c1")] == ["first", "second", "later"]


def test_a_conversation_is_found_by_its_uid_too_and_an_unknown_one_is_empty(builder):
    builder.call()
    store = builder.store()
    uid = calls(store)[0].conversation_uid

    assert len(conversation(store, uid)) == 1
    assert len(conversation(store, "nobody")) == 0


def test_equal_ids_of_two_tenants_follow_each_other_and_are_told_apart(builder, tmp_path):
    builder.call("a")
    store = builder.store()
    store.write_records([builder.records[0]], origin="other", tenant="other")

    both = conversation(store, "c1")

    assert len(both) == 2
    assert both.notes == ("several: 2 conversations have this id; they follow each other",)
    assert len(conversation(store, "c1", filters=Filters.of(tenant="other"))) == 1


def test_a_conversation_with_messages_alone_is_found(builder):
    builder.add(Conversation(key_space="quality_lab", conversation_id="c7"))
    builder.message("user", "hello", position=0, conversation_id="c7")

    assert [row.text for row in conversation(builder.store(), "c7")] == ["hello"]
