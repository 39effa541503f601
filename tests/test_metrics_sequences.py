"""Sequences: each rule on a story that it is to find, and beside it the stories that it is not."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from lab_builder import MONDAY, LabBuilder
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from quality_lab.errors import UsageError
from quality_lab.metrics import Filters, calls, sequences
from quality_lab.metrics.asking import put
from quality_lab.metrics.sequences import Candidate
from quality_lab.records import ToolDefinition

FAILED: dict[str, Any] = {"is_error": True, "error_origin": "flag", "result": '{"error":"no"}'}
GATED: dict[str, Any] = {"result": '{"ok":false,"needsVerification":true}'}


@pytest.fixture
def builder(tmp_path):
    return LabBuilder(tmp_path)


def turn(
    builder: LabBuilder,
    *calls: tuple[str, str] | tuple[str, str, dict[str, Any]],
    conversation_id: str = "c1",
    **given: Any,
):
    """Add calls of one turn, one a round: tool, arguments, and what else is to be said; return them."""
    return [
        builder.call(
            call[0],
            arguments=call[1],
            conversation_id=conversation_id,
            **({"cycle": place, "call_index": place} | given | (call[2] if len(call) > 2 else {})),
        )
        for place, call in enumerate(calls)
    ]


def found(answer) -> list[tuple[str, str, int, int]]:
    return [(row.rule, row.tool_name, row.calls, row.conversations) for row in answer]


@pytest.mark.parametrize(
    ("first", "rule"),
    [({}, "repeated_call"), (FAILED, "repeated_after_error"), (GATED, "repeated_after_gate"),
     ({"result": '{"error":"no such city"}'}, "repeated_after_error")],
)  # fmt: skip  # a line for each outcome
def test_the_same_call_again_is_told_by_how_the_first_ended(builder, first, rule):
    turn(builder, ("find", '{"a":1,"b":"x"}', first), ("find", '{"b":"x","a":1}'))

    answer = sequences(builder.store())

    assert found(answer) == [(rule, "find", 1, 1)]
    assert (answer[0].of_calls, answer[0].of_conversations, answer[0].share) == (2, 1, 0.5)
    assert answer[0].examples[0].before_uid is not None


@pytest.mark.parametrize(
    "second",
    [
        ("find", '{"a":2,"b":"x"}'),  # other arguments, as long
        ("find", '{"a":1,"b":"x","c":null}'),
        ("look", '{"a":1,"b":"x"}'),  # another tool
        ("find", '{"a":1,"b":"x"}', {"created_at": MONDAY + timedelta(minutes=1)}),  # upstream's next turn
        ("find", '{"a":1,"b":"x"}', {"arguments_state": "not_captured"}),
    ],
)
def test_what_is_not_the_same_call_in_the_same_turn_is_left_alone(builder, second):
    turn(builder, ("find", '{"a":1,"b":"x"}'), second)

    assert found(sequences(builder.store())) == []


def test_a_call_between_the_two_leaves_them_alone(builder):
    turn(builder, ("pay", "{}", GATED), ("verify", "{}"), ("pay", "{}"))

    assert found(sequences(builder.store())) == []


def test_equal_calls_of_one_round_are_no_retry(builder):
    turn(builder, ("find", "{}", FAILED), ("find", "{}", FAILED), cycle=0)

    assert found(sequences(builder.store())) == []


def test_turns_are_those_that_the_format_tells(builder):
    for number in (0, 1):
        turn(
            builder,
            ("find", "{}"),
            key_space="chat",
            turn=number,
            message_position=2 * number,
            conversation_id="two",
        )
    for position in (0, 1):
        turn(
            builder,
            ("find", "{}"),
            key_space="chat",
            turn=0,
            message_position=position,
            conversation_id="one",
        )

    assert found(sequences(builder.store())) == [("repeated_call", "find", 1, 1)]


def test_ping_pong_is_two_calls_and_the_same_two_again(builder):
    turn(builder, ("a", '{"x":1}'), ("b", "{}"), ("a", '{"x":1}'), ("b", "{}"))
    turn(builder, ("a", '{"x":1}'), ("b", "{}"), ("a", '{"x":2}'), ("b", "{}"), conversation_id="other")
    turn(builder, ("a", '{"x":1}'), ("b", "{}"), ("a", '{"x":1}'), conversation_id="short")
    turn(
        builder,
        ("a", '{"x":1,"y":2}'),
        ("b", "{}"),
        ("a", '{"y":2,"x":1}'),
        ("b", "{}"),
        conversation_id="turned",
    )

    answer = sequences(builder.store())

    assert found(answer)[:1] == [("ping_pong", "b", 2, 2)]  # each is four rounds long as well
    assert {example.conversation_id for example in answer[0].examples} == {"c1", "turned"}


def test_one_tool_again_and_again_is_no_ping_pong(builder):
    turn(builder, *[("a", "{}")] * 4, cycle=0)

    assert found(sequences(builder.store())) == [("repeated_call", "a", 3, 1)]


def test_a_guards_row_between_two_calls_does_not_part_them(builder):
    turn(builder, ("find", "{}"))
    builder.guard("unbacked_quote", cycle=0, call_index=1)
    turn(builder, ("find", "{}"), cycle=1, call_index=2)

    assert found(sequences(builder.store())) == [("repeated_call", "find", 1, 1)]


def test_the_cycle_limit_is_upstreams_four_unless_one_is_given(builder):
    turn(builder, *[("find", f'{{"page":{page}}}') for page in range(4)])
    turn(builder, *[("find", f'{{"page":{page}}}') for page in range(3)], conversation_id="three rounds")
    turn(
        builder,
        *[("find", f'{{"page":{page}}}') for page in range(4)],
        conversation_id="chat",
        key_space="chat",
    )
    store = builder.store()

    assert found(sequences(store)) == [("cycle_limit", "find", 1, 1)]
    assert found(sequences(store, cycle_limit=3)) == [("cycle_limit", "find", 1, 1)]
    assert found(sequences(store, cycle_limit=4)) == [("cycle_limit", "find", 2, 2)]
    with pytest.raises(UsageError, match="at least one round"):
        sequences(store, cycle_limit=0)


def effects(builder: LabBuilder, **effect_of: str) -> None:
    for name, effect in effect_of.items():
        builder.add(ToolDefinition(digest=name, name=name, effect=effect))  # type: ignore[arg-type]  # an effect by its name


def test_a_write_right_after_a_failed_read_is_found_where_definitions_state_effects(builder):
    effects(builder, read="read", write="write")
    turn(builder, ("read", "{}", FAILED), ("write", "{}"))
    turn(builder, ("read", "{}"), ("write", "{}"), conversation_id="read well")
    turn(builder, ("write", "{}", FAILED), ("read", "{}"), conversation_id="the other way round")
    turn(builder, ("write", '{"a":1}', FAILED), ("write", "{}"), conversation_id="wrote before")
    turn(builder, ("read", "{}", FAILED), ("look", "{}"), ("write", "{}"), conversation_id="looked again")

    answer = sequences(builder.store())

    assert found(answer) == [("write_after_failed_read", "write", 1, 1)]
    assert answer.notes[0].startswith("effects_not_stated: no definition says whether 1 of the 3 tools")


def test_a_write_that_was_done_twice_in_a_conversation_is_found_across_turns(builder):
    effects(builder, pay="irreversible", look="read")
    later = MONDAY + timedelta(hours=1)
    turn(builder, ("pay", '{"to":"a","n":1}'))
    turn(builder, ("pay", '{"to":"b","n":1}'), created_at=later)  # as long, and another payment
    turn(builder, ("pay", '{"n":1,"to":"a"}'), created_at=later + timedelta(hours=1))
    turn(builder, ("look", "{}"), conversation_id="looks")
    turn(builder, ("look", "{}"), conversation_id="looks", created_at=later)
    turn(builder, ("pay", "{}", FAILED), conversation_id="failed first")
    turn(builder, ("pay", "{}"), conversation_id="failed first", created_at=later)

    answer = sequences(builder.store())

    assert found(answer) == [("written_twice", "pay", 1, 1)]
    assert answer[0].of_calls == 5


def test_a_write_is_found_again_though_the_filters_leave_the_first_out(builder):
    effects(builder, pay="irreversible")
    noon = MONDAY + timedelta(hours=12)
    turn(builder, ("pay", '{"to":"a","n":1}'))
    turn(builder, ("pay", '{"n":1,"to":"a"}'), created_at=noon)
    turn(builder, ("pay", '{"n":2,"to":"a"}'), created_at=noon + timedelta(hours=1))
    store = builder.store()
    uids = {call.arguments: call.call_uid for call in calls(store)}

    answer = sequences(store, filters=Filters.of(since=noon.isoformat()))

    assert found(answer) == [("written_twice", "pay", 1, 1)]
    example = answer[0].examples[0]
    assert (example.call_uid, example.before_uid) == (uids['{"n":1,"to":"a"}'], uids['{"to":"a","n":1}'])
    assert answer[0].of_calls == 2


def test_many_writes_of_one_conversation_are_looked_at_once_each(builder):
    effects(builder, pay="write")
    turn(builder, *(("pay", f'{{"row":{row % 90 + 10}}}') for row in range(180)), cycle=0)
    store = builder.store()

    answer = sequences(store)

    assert found(answer) == [("written_twice", "pay", 90, 1)]
    assert len(put(store, Candidate, "sequences", Filters(), cycle_limit=None)) < 2 * 180


def test_filters_pick_the_call_and_not_those_before_it(builder):
    turn(builder, ("a", "{}", FAILED), ("a", "{}"), ("b", "{}"), ("a", "{}"), key_space="chat")
    store = builder.store()

    assert found(sequences(store, filters=Filters.of(tool="a"))) == [("repeated_after_error", "a", 1, 1)]
    assert found(sequences(store, filters=Filters.of(outcome="ok"))) == [("repeated_after_error", "a", 1, 1)]
    assert found(sequences(store, filters=Filters.of(tool="b"))) == []
    assert sequences(store, filters=Filters.of(tool="a"))[0].of_calls == 3


def test_the_interval_knows_that_repeats_come_in_few_conversations(builder):
    repeats = [3, 2, 1, *[0] * 9]
    for chat, count in enumerate(repeats):
        turn(builder, ("find", "{}"), *[("find", "{}")] * count, cycle=0, conversation_id=f"chat {chat}")

    row = sequences(builder.store())[0]

    p, n, chats = 6 / 18, 18, 12
    spread = sum((y - p * (y + 1)) ** 2 for y in repeats)
    worth = n / (chats / (chats - 1) * spread / (n * p * (1 - p)))
    worth *= (stats.norm.ppf(0.975) / stats.t.ppf(0.975, chats - 1)) ** 2
    assert (row.calls, row.of_calls, row.conversations, row.of_conversations) == (6, 18, 3, 12)
    assert (row.low, row.high) == pytest.approx(proportion_confint(p * worth, worth, method="wilson"))


def test_calls_of_a_feedback_export_and_guards_rows_are_no_sequence(builder):
    turn(builder, ("find", "{}"), ("find", "{}"), seen_in="feedback")
    turn(builder, ("find", "{}", {"seen_in": "feedback"}), ("look", "{}"), conversation_id="half of it")
    turn(builder, ("look", "{}", {"seen_in": "feedback"}), ("look", "{}"), conversation_id="labelled alone")
    builder.guard("unbacked_quote", conversation_id="g")
    builder.guard("unbacked_quote", conversation_id="g")

    answer = sequences(builder.store())

    assert found(answer) == []
    assert answer.notes[0].startswith("effects_not_stated")


def test_without_a_trace_export_no_order_is_known_and_it_says_so(builder):
    turn(builder, ("find", "{}"), ("find", "{}"), seen_in="feedback")

    answer = sequences(builder.store())

    assert answer.notes == ("no call that was asked for was seen in a trace export, so no order is known",)
