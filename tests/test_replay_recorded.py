"""Recorded decisions against today's contracts: what they can prove, and what they cannot."""

from __future__ import annotations

from typing import Any

import pytest
from replaying import case, definition, rerun

from quality_lab.matching import read_case
from quality_lab.toolloop import Tool

STRICTER = definition("quote", {"mode": {"enum": ["target"]}})
GOOD = {"provenance": {"label": "good_reply"}}
NO_ARGS = {"tool": "quote", "result": 1}


def not_now(args: dict[str, Any], context: Any) -> dict[str, Any]:
    return {"ok": False, "needsOperator": True}


def today(**more: Any) -> Tool:
    schema = STRICTER["function"]["parameters"]
    promises = {"parameters": schema, "execute": lambda args, context: 1, **more}
    return Tool(name="quote", description="Quotes.", **promises)


@pytest.mark.parametrize(
    ("changes", "tools", "verdict", "reason"),
    [
        ({"input": {"tools": [STRICTER]}}, None, "PASS", "refused_today"),
        ({}, [today()], "PASS", "refused_today"),  # today's definition counts, not the captured one
        ({}, [today(parameters={"type": "object"}, gate=not_now)], "PASS", "refused_today"),
        ({}, None, "INCONCLUSIVE", "recorded_model_cannot_show_fix"),
        ({"input": {"tools": []}}, None, "INCONCLUSIVE", "recorded_model_cannot_show_fix"),
        ({"recorded": [], "context": {}}, None, "INCONCLUSIVE", "nothing_recorded"),
        ({"recorded": [NO_ARGS]}, [today()], "INCONCLUSIVE", "recorded_model_cannot_show_fix"),
        ({**GOOD, "input": {"tools": [STRICTER]}}, None, "FAIL", "refused_today"),
        (GOOD, None, "PASS", "let_through_today"),
        ({**GOOD, "input": {"tools": []}}, None, "INCONCLUSIVE", "no_contract_known"),
    ],
)  # fmt: skip
def test_a_contract_that_refuses_the_fault_is_a_pass_and_nothing_else_is(
    changes: dict[str, Any], tools: Any, verdict: str, reason: str
) -> None:
    [outcome] = rerun(case(**changes), tools=tools)

    assert (outcome.verdict, outcome.reason.split(":")[0]) == (verdict, reason)


def test_a_case_without_messages_is_decided_by_arguments_and_schema_alone() -> None:
    asked = case(input={"tools": [STRICTER], "messages": []})

    [outcome] = rerun(asked)

    assert outcome.verdict == "PASS"


def test_only_the_labelled_call_of_a_negative_case_has_to_be_refused() -> None:
    recorded = [
        {"tool": "quote", "args": {"mode": "other"}, "result": 1},
        {"tool": "quote", "args": {"mode": "source"}, "result": 1},
    ]
    only_other = definition("quote", {"mode": {"enum": ["source"]}})

    [outcome] = rerun(case(recorded=recorded, input={"tools": [only_other]}))

    assert outcome.verdict == "INCONCLUSIVE"


def test_a_call_that_had_failed_then_may_be_refused_now_in_a_positive_case() -> None:
    recorded = [
        {"tool": "quote", "args": {"mode": "source"}, "result": {"error": "no"}, "error": True},
        {"tool": "quote", "args": {"mode": "target"}, "result": 1},
    ]

    [outcome] = rerun(case(recorded=recorded, input={"tools": [STRICTER]}, **GOOD))

    assert outcome.verdict == "PASS"


def test_a_tool_that_is_not_on_the_list_is_refused() -> None:
    [outcome] = rerun(case(), allowed=["book"])
    [good] = rerun(case(**GOOD), allowed=["book"])

    assert (outcome.verdict, good.verdict) == ("PASS", "FAIL")


def test_arguments_that_are_no_json_are_refused_as_they_were_written() -> None:
    recorded = [{"tool": "quote", "args": '{"mode": "sour', "result": 1}]

    [outcome] = rerun(case(recorded=recorded, input={"args": None}))

    assert outcome.verdict == "PASS"
    assert "no valid JSON" in outcome.reason


def test_many_calls_of_many_cycles_are_all_made_again() -> None:
    recorded = [
        {"tool": "quote", "args": {"mode": "source", "n": at}, "result": at, "cycle": at // 2}
        for at in range(9)
    ]

    [outcome] = rerun(case(recorded=recorded))

    made = [(each.cycle, each.args["n"], each.grade) for each in outcome.trials[0].evidence]
    assert made == [(at // 2, at, "recorded") for at in range(9)]


def test_a_malformed_case_is_an_error_and_is_not_tried() -> None:
    [malformed] = rerun(case(expected={"behavior": "x", "mode": "sideways"}))

    assert (malformed.verdict, malformed.malformed, malformed.trials) == ("ERROR", True, ())
    assert malformed.reason.startswith("malformed_case: expected.mode")


def test_a_definition_that_is_none_is_no_contract() -> None:
    odd = {"type": "function", "function": {"name": "quote", "parameters": 3}}

    [outcome] = rerun(case(input={"tools": [odd]}, **GOOD))

    assert (outcome.verdict, outcome.reason[:17]) == ("INCONCLUSIVE", "no_contract_known")


def test_a_case_that_the_harness_cannot_bear_costs_itself_and_not_the_run() -> None:
    deep: Any = {}
    for _ in range(20_000):
        deep = {"a": deep}
    tools = [{"type": "function", "function": {"name": "quote", "parameters": deep}}]
    bad = read_case({**case().record, "input": {**case().record["input"], "tools": tools}})

    outcomes = rerun(bad, case(input={"tools": [STRICTER]}))

    assert [outcome.verdict for outcome in outcomes] == ["ERROR", "PASS"]
    assert outcomes[0].reason.startswith("harness_failed: ")
