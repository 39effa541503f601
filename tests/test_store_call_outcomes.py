"""Outcomes of the calls of a load: the rule's own, whatever stands in a result and whatever came before."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from file_reading import json_texts
from hypothesis import given, settings
from hypothesis import strategies as st

from quality_lab.outcomes import OutcomeOverrides, Override, outcome_of, shipped
from quality_lab.records import ErrorOrigin, ResultState, ToolCall
from quality_lab.store.call_outcomes import CallOutcomes

NAMES = ("ok", "error", "reason", "needsOperator", "approvalRequired", "verified", "duplicateOrderId", "note")
WORDS = (
    "true",
    "false",
    "null",
    "0",
    "-0.0",
    "1e400",
    '""',
    '"approval_required"',
    '"a b"',
    "[]",
    "{}",
    "NaN",
    "01",
)


def spelt(name: str) -> st.SearchStrategy[str]:
    """Return *name* as a key of an object, plain or with its first letter as an escape."""
    return st.sampled_from([f'"{name}"', f'"\\u{ord(name[0]):04x}{name[1:]}"'])


pairs = st.tuples(st.sampled_from(NAMES).flatmap(spelt), st.sampled_from(WORDS) | json_texts())
objects = st.lists(pairs, max_size=6).map(
    lambda found: "{" + ", ".join(": ".join(pair) for pair in found) + "}"
)
held = objects | objects.map(json.dumps) | objects.map(lambda text: json.dumps(json.dumps(text)))
cut = st.tuples(held, st.integers(0, 60), st.sampled_from(["", "{", '"', "\\", "\ud83d", "\x00", " "])).map(
    lambda parts: parts[0][: parts[1]] + parts[2] + parts[0][parts[1] + 1 :]
)
results = st.none() | st.tuples(st.sampled_from(["", " ", "\n\t", "\ufeff"]), held | cut | json_texts()).map(
    "".join
)
calls = st.builds(
    ToolCall,
    key_space=st.just("k"),
    key=st.just("1"),
    conversation_id=st.just("c"),
    tool_name=st.sampled_from(["pay", "check_exchange_verification", "verify_exchange_payment"]),
    result=results,
    result_state=st.sampled_from(get_args(ResultState)) | st.just("present"),
    is_error=st.sampled_from([False, False, None, True]),
    error_origin=st.none() | st.sampled_from(get_args(ErrorOrigin)),
    actor=st.sampled_from(["model", "model", "guard"]),
    person_refused=st.booleans(),
)
STRANGE = Override(outcome="gated", field='a "b"', equals=True)
RULES = (shipped(), OutcomeOverrides(), OutcomeOverrides(overrides=(*shipped().overrides, STRANGE)))


@settings(max_examples=300)
@given(st.lists(calls, min_size=1, max_size=8), st.sampled_from(RULES))
def test_calls_have_the_outcomes_of_the_rule_whatever_came_before_them(
    made: list[ToolCall], rules: OutcomeOverrides
) -> None:
    outcomes = CallOutcomes(rules)

    assert [outcomes.of(call) for call in made * 2] == [
        outcome_of(call, overrides=rules) for call in made * 2
    ]


def call(result: str | None, **more: Any) -> ToolCall:
    values = {"key_space": "k", "key": "1", "conversation_id": "c", "tool_name": "pay", "is_error": False}
    return ToolCall(**values | more, result=result)


def test_nothing_left_of_a_result_that_was_cut_is_not_a_result_that_never_came() -> None:
    outcomes = CallOutcomes(shipped())

    assert outcomes.of(call(None)) == ("unknown", None)
    assert outcomes.of(call(None, result_state="truncated")) == ("ok", None)


@pytest.mark.parametrize("levels", [10, 300, 450, 20_000])
@pytest.mark.parametrize("field", ["error", "note"])
def test_a_result_that_is_nested_deeply_has_the_outcome_of_the_rule(levels: int, field: str) -> None:
    deep = call(f'{{"{field}":{"[" * levels}{"]" * levels},"ok":false}}')

    assert CallOutcomes(shipped()).of(deep) == outcome_of(deep)


def test_a_house_may_look_at_a_field_whose_name_holds_a_quote() -> None:
    rules = OutcomeOverrides(overrides=(STRANGE,))

    assert CallOutcomes(rules).of(call('{"a \\"b\\"":true}')) == ("gated", None)
    assert CallOutcomes(rules).of(call('{"a \\"b\\"":false}')) == ("ok", None)


def test_two_results_that_differ_only_where_the_rule_looks_keep_their_outcomes_apart() -> None:
    outcomes = CallOutcomes(shipped())

    assert outcomes.of(call('{"note":"n","ok":true}')) == ("ok", None)
    assert outcomes.of(call('{"note":"n","ok":false}')) == ("soft_error", None)
    assert outcomes.of(call('{"note":"m","ok":true}')) == ("ok", None)
