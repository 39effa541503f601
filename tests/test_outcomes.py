"""The outcome rule, branch by branch, and results that nobody would have thought of."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality_lab.errors import InputError
from quality_lab.outcomes import (
    NO_RESULT,
    OutcomeOverrides,
    Override,
    Signals,
    decide,
    fields_looked_at,
    is_empty,
    load_overrides,
    outcome_of,
    shipped,
    signals,
)
from quality_lab.records import ToolCall


def call(result: str | None = '{"ok":true}', **given) -> ToolCall:
    values = {"key_space": "k", "key": "1", "conversation_id": "c", "tool_name": "pay", "is_error": False}
    return ToolCall(**values | given, result=result)


STAGE = '{"ok":false,"needsOperator":true,"reason":"action_not_allowed_for_stage"}'


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (call(), ("ok", None)),
        (call('{"ok":true}', is_error=None), ("unknown", None)),
        (call('{"ok":false}'), ("soft_error", None)),
        (call('{"ok":"false"}'), ("ok", None)),
        (call('{"ok":false}', is_error=None), ("soft_error", None)),
        (call('{"error":"no rate today"}'), ("soft_error", None)),
        (call('{"error":{"code":3}}'), ("soft_error", None)),
        (call('{"error":true}'), ("soft_error", None)),
        (call('{"error":""}'), ("ok", None)),
        (call('{"error":null}'), ("ok", None)),
        (call('{"error":false}'), ("ok", None)),
        (call('{"error":0}'), ("ok", None)),
        (call('{"error":{}}'), ("ok", None)),
        (call('{"needsVerification":true,"ok":true}'), ("gated", "needsVerification")),
        (call('{"needsOperator":true,"error":"no wallet"}'), ("gated", "needsOperator")),
        (call('{"needsOperator":false,"ok":true}'), ("ok", None)),
        (call('{"needsOperator":"true","ok":true}'), ("ok", None)),
        (call('{"ok":true,"nextStep":"needsOperator"}'), ("ok", None)),
        (call(STAGE), ("gated", "action_not_allowed_for_stage")),
        (call('{"reason":"action_not_allowed_for_stage"}'), ("gated", "action_not_allowed_for_stage")),
        (call('{"reason":"out of stock","ok":false}'), ("soft_error", None)),
        (call('{"needsOperator":true,"reason":"ask Ann about it"}'), ("gated", "needsOperator")),
        (call('{"needsApproval":true}'), ("gated", "needsApproval")),
        (call(STAGE, is_error=None), ("gated", "action_not_allowed_for_stage")),
        (call(STAGE, is_error=True), ("error", None)),
        (call('"Error: no such flight"', is_error=None, error_origin="text"), ("error", None)),
        (call(None, is_error=True, error_origin="exception"), ("error", None)),
        (call(STAGE, is_error=True, person_refused=True), ("rejected", None)),
        (call(STAGE, is_error=True, person_refused=True, actor="guard"), ("guard", None)),
        (call(None), ("unknown", None)),
        (call(None, result_state="absent"), ("unknown", None)),
        (call('"still pending"', result_state="pending"), ("unknown", None)),
        (call('{"ok":false}', result_state="not_captured"), ("unknown", None)),
        (call('{"ok":true,"text":"cut he', result_state="truncated"), ("ok", None)),
        (call("null"), ("ok", None)),
        (call("[]"), ("ok", None)),
        (call('"plain words"'), ("ok", None)),
        (call('"{\\"ok\\":false}"'), ("soft_error", None)),
        (call("not json at all"), ("ok", None)),
        (call('{"ok":false'), ("ok", None)),
        (call('{"ok":false,"note":"\\ud83d"}'), ("soft_error", None)),
        (call('{"order":1234567890123456789012345,"ok":false}'), ("soft_error", None)),
        (call(f'{{"order":{"9" * 5000},"ok":false}}'), ("soft_error", None)),
        (call(f'{{"deep":{"[" * 20_000}{"]" * 20_000},"ok":false}}'), ("ok", None)),
        (call('\n {"ok":false}'), ("soft_error", None)),
        (call('[{"ok":false}]'), ("ok", None)),
    ],
)
def test_the_first_rule_that_matches_gives_the_outcome(made, expected):
    assert outcome_of(made) == expected


def test_that_a_client_is_not_verified_is_an_answer_of_the_check_and_a_gate_elsewhere():
    result = '{"verified":false,"status":"missing","needsVerification":true}'

    asked = outcome_of(call(result, tool_name="check_exchange_verification"))
    tried = outcome_of(call(result, tool_name="create_exchange_order"))

    assert asked == ("ok", None)
    assert tried == ("gated", "needsVerification")


def test_a_check_that_found_its_client_verified_or_failed_itself_follows_the_general_rule():
    tool = "check_exchange_verification"

    assert outcome_of(call('{"verified":true}', tool_name=tool)) == ("ok", None)
    assert outcome_of(call('{"verified":null,"ok":false}', tool_name=tool)) == ("soft_error", None)
    assert outcome_of(call('{"verified":false}', tool_name=tool, is_error=True)) == ("error", None)


def test_a_payment_used_twice_is_a_soft_error_although_an_operator_is_asked_for():
    result = '{"ok":false,"needsOperator":true,"duplicateOrderId":88,"reason":"reused"}'

    assert outcome_of(call(result, tool_name="verify_exchange_payment")) == ("soft_error", None)
    assert outcome_of(call('{"ok":true,"duplicateOrderId":null}')) == ("ok", None)


def test_a_house_may_say_what_its_own_results_mean(tmp_path):
    rules = tmp_path / "outcomes.toml"
    rules.write_text(
        '[[override]]\ntool = "find"\nfield = "hits"\nequals = 0\noutcome = "soft_error"\n'
        '[[override]]\nfield = "queued"\nequals = true\noutcome = "gated"\n'
    )
    overrides = load_overrides(rules)

    assert outcome_of(call('{"hits":0}', tool_name="find"), overrides=overrides) == ("soft_error", None)
    assert outcome_of(call('{"hits":0.0}', tool_name="find"), overrides=overrides) == ("soft_error", None)
    assert outcome_of(call('{"hits":false}', tool_name="find"), overrides=overrides) == ("ok", None)
    assert outcome_of(call('{"hits":0}', tool_name="other"), overrides=overrides) == ("ok", None)
    assert outcome_of(call('{"queued":true}'), overrides=overrides) == ("gated", None)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("override = 3", "wanted"),
        ("[[override]]\nfield = 'a'\noutcome = 'fine'", "'fine' is none of"),
        ("[[override]]\nfield = 'a'\noutcome = 'guard'", "'guard' is none of"),
        ("[[override]]\noutcome = 'ok'", "must be text"),
        ("[[override]]\nfield = 'a'\noutcome = 'ok'\nwhen = 1", "unknown key 'when'"),
        ("[[override]]\nfield = 'a'\noutcome = 'ok'\nequals = [1]", "equals must be"),
        ("[[override", "cannot be read"),
    ],
)
def test_overrides_that_make_no_sense_are_refused_with_the_file_and_the_reason(tmp_path, text, told):
    rules = tmp_path / "outcomes.toml"
    rules.write_text(text)

    with pytest.raises(InputError, match=told) as refused:
        load_overrides(rules)

    assert str(rules) in str(refused.value)


@pytest.mark.parametrize(
    ("result", "empty"),
    [
        ("null", True),
        ('""', True),
        ("[]", True),
        ("{}", True),
        (" [ ] ", True),
        ("{\n}", True),
        (None, False),
        ("0", False),
        ("false", False),
        ('" "', True),
        ('"[]"', True),
        ('"null"', True),
        ('" { } "', True),
        ('"[0]"', False),
        ('"nothing"', False),
        ("[null]", False),
        ("[[]]", False),
        ('{"a":[]}', False),
        ("", False),
    ],
)
def test_an_empty_result_holds_nothing_and_a_missing_one_is_not_empty(result, empty):
    assert is_empty(result) is empty


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*fields_looked_at(), "x"]), inner)
    ),
    max_leaves=8,
)


@given(
    json_values,
    st.sampled_from([None, True, False]),
    st.sampled_from(["present", "absent", "pending", "truncated", "not_captured"]),
    st.sampled_from(["pay", "check_exchange_verification"]),
)
def test_the_fields_alone_decide_as_the_whole_call_does(value, flag, state, tool):
    made = call(json.dumps(value), is_error=flag, result_state=state, tool_name=tool)
    top = value if isinstance(value, dict) and state not in NO_RESULT else {}
    facts = Signals(
        tool_name=tool,
        is_error=flag,
        result_state=state,
        fields={name: one for name, one in top.items() if name in fields_looked_at()},
    )

    assert decide(facts) == outcome_of(made) or isinstance(value, str)
    assert decide(signals(made)) == outcome_of(made)


@given(st.text(max_size=200), st.sampled_from([None, True, False]))
def test_no_text_of_a_result_breaks_the_rule(text, flag):
    outcome, reason = outcome_of(call(text, is_error=flag))

    assert outcome in {"ok", "error", "soft_error", "gated", "unknown"}
    assert reason is None or outcome == "gated"


def test_what_ships_names_the_fields_that_the_store_has_to_look_at():
    assert fields_looked_at() == (
        "needsVerification",
        "needsOperator",
        "needsApproval",
        "approvalRequired",
        "reason",
        "error",
        "ok",
        "verified",
        "duplicateOrderId",
    )
    assert fields_looked_at(OutcomeOverrides())[-1] == "ok"
    assert [(rule.tool, rule.outcome) for rule in shipped().overrides] == [
        ("check_exchange_verification", "ok"),
        (None, "soft_error"),
    ]
    assert Override(outcome="ok", field="a").applies("any", {"a": 0})
