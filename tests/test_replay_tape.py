"""Recorded results, each served once."""

from __future__ import annotations

from typing import Any

import pytest
from replaying import case

from quality_lab.json_text import canonical, parse
from quality_lab.matching import read_case
from quality_lab.replay.tape import Policy, Tape, args_key, tape_of

TAPE = [
    {"tool": "quote", "args": {"n": 1}, "result": "one"},
    {"tool": "pay", "args": {}, "result": "paid"},
    {"tool": "quote", "args": {"n": 2}, "result": "two"},
    {"tool": "quote", "args": {"n": 2}, "result": "two again"},
]


def served(policy: Policy, *calls: tuple[str, Any]) -> list[Any]:
    tape = Tape(tape_of(case(tape=TAPE)), policy)
    came = [tape.serve(tool, args) for tool, args in calls]
    return [None if each is None else (each.record.result, each.drift) for each in came]


def test_fifo_serves_a_tool_s_results_in_order_and_tells_of_drift() -> None:
    came = served("fifo", ("quote", {"n": 2}), ("quote", {"n": 2}), ("pay", {}), ("quote", {}), ("quote", {}))

    assert came == [("one", True), ("two", False), ("paid", False), ("two again", True), None]


@pytest.mark.parametrize("policy", ["strict", "by_args"])
def test_by_arguments_each_result_is_served_once_in_the_order_recorded(policy: Policy) -> None:
    came = served(
        policy, ("quote", {"n": 2}), ("quote", parse('{"n": 2.0}')), ("quote", {"n": 2}), ("pay", {"x": 1})
    )

    assert came == [("two", False), ("two again", False), None, None]


def test_what_nobody_asked_for_is_left_on_the_tape() -> None:
    tape = Tape(tape_of(case(tape=TAPE)), "strict")
    tape.serve("pay", {})

    assert [record.result for record in tape.unused] == ["one", "two", "two again"]


def test_a_record_is_recorded_where_it_says_what_was_recorded_and_edited_otherwise() -> None:
    recorded = [{"tool": "quote", "args": {"n": 1}, "result": {"a": 1.0}}, {"tool": "pay", "args": {}}]
    tape = [
        {"tool": "quote", "args": {"n": 1}, "result": {"a": 1}},
        {"tool": "quote", "args": {"n": 1}, "result": {"a": 2}},
    ]

    assert [each.grade for each in tape_of(case(recorded=recorded, tape=tape))] == ["recorded", "edited"]


def test_without_a_tape_the_recorded_and_the_corrected_results_are_it() -> None:
    corrected = [{"tool": "quote", "args": {"mode": "target"}, "result": 2}, {"tool": "quote", "args": {}}]

    records = tape_of(case(corrected=corrected))

    assert [(each.grade, each.args) for each in records] == [
        ("recorded", '{"mode":"source"}'),
        ("edited", '{"mode":"target"}'),
    ]


def test_a_case_of_upstream_has_the_labelled_call_as_its_tape() -> None:
    old = case(context={"toolCall": {"result": {"sum": 1}, "error": False}})
    record = dict(old.record)
    del record["recorded"]

    [only] = tape_of(read_case(record))
    assert (only.tool, only.args, only.result) == ("quote", '{"mode":"source"}', {"sum": 1})


@pytest.mark.parametrize(
    "args",
    [
        {}, {"b": "x", "a": 1}, {"n": 10**25}, {"n": -(10**21)}, {"q": 'a "word"\n'},
        {"q": "café", "w": None, "v": True},
        {"q": "\ud800"}, {"deep": {"a": [1, 2.5]}}, [1], "text", {"n": 1.0},
    ],
)  # fmt: skip
def test_the_short_way_to_the_text_of_arguments_ends_where_the_long_one_does(args: Any) -> None:
    assert args_key(args) == canonical(args)
