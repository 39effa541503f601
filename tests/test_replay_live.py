"""A model that is asked anew, judged by the rules of the case; what the verdict rests on."""

from __future__ import annotations

from typing import Any

import pytest
from replaying import QUOTE_RIGHT, QUOTE_WRONG, Saying, case, definition, rerun, then

from quality_lab.toolloop import ModelError, call


def test_a_model_that_does_it_right_passes_and_one_that_does_it_wrong_fails() -> None:
    [right] = rerun(case(), model=Saying(QUOTE_RIGHT))
    [wrong] = rerun(case(), model=Saying(QUOTE_WRONG))

    assert (right.verdict, wrong.verdict) == ("PASS", "FAIL")
    assert wrong.reason == 'call 1, calls[0] equals, args.mode: expected "target"; got "source"'
    assert right.trials[0].reply == "460 USDT"
    assert (right.trials[0].input_tokens, right.trials[0].output_tokens) == (200, 20)


def test_the_model_is_shown_the_conversation_and_the_definitions_as_they_were() -> None:
    odd = definition("quote", {"mode": {"type": "string"}})
    odd["function"]["description"] = "  As it was.  "
    odd["function"]["x-extra"] = 1
    model = Saying(QUOTE_RIGHT)

    rerun(case(input={"tools": [odd]}), model=model)

    assert model.asked[0]["tools"] == [odd]
    assert model.asked[0]["messages"] == [{"role": "user", "content": "15000 baht please, 1"}]


def test_without_messages_nothing_is_asked() -> None:
    model = Saying(QUOTE_RIGHT)

    [outcome] = rerun(case(input={"messages": []}), model=model)

    assert (outcome.verdict, outcome.reason[:11], model.asked) == ("INCONCLUSIVE", "no_messages", [])


def test_a_case_with_nothing_but_prose_is_inconclusive_without_a_judge() -> None:
    [outcome] = rerun(case(expected={"behavior": "Be nice."}), model=Saying(QUOTE_RIGHT))

    assert (outcome.verdict, outcome.reason[:10]) == ("INCONCLUSIVE", "only_prose")


def test_rules_are_drafted_from_the_label_only_where_that_was_asked_for() -> None:
    bare = case(expected={"behavior": "Quotes in baht."})

    [without] = rerun(bare, model=Saying(QUOTE_WRONG))
    [drafted] = rerun(bare, model=Saying(QUOTE_WRONG), draft_rules=True)
    [fixed] = rerun(bare, model=Saying(QUOTE_RIGHT), draft_rules=True)
    [ruled] = rerun(case(), model=Saying(QUOTE_WRONG), draft_rules=True)

    assert (without.verdict, drafted.verdict, fixed.verdict) == ("INCONCLUSIVE", "FAIL", "PASS")
    assert (drafted.drafted, ruled.drafted) == (True, False)
    assert drafted.reason.endswith("(by drafted rules)")


def test_a_server_that_fails_is_an_error_and_never_the_agent_s_failure() -> None:
    down = ModelError("m at http://127.0.0.1 could not be reached", kind="connection")

    [outcome] = rerun(case(), model=Saying(lambda messages: down))
    [midway] = rerun(case(), model=Saying(then(call("quote", {"mode": "source"}), down)))

    assert (outcome.verdict, midway.verdict) == ("ERROR", "ERROR")
    assert outcome.reason.startswith("model_failed: m at")


def test_a_call_that_the_contract_refuses_is_a_failed_call() -> None:
    strict = definition("quote", {"mode": {"enum": ["target"]}})
    again = then(call("quote", {"mode": "source"}), call("quote", {"mode": "target"}), "460 USDT")

    [outcome] = rerun(case(input={"tools": [strict]}), model=Saying(again))

    assert outcome.verdict == "PASS"
    assert [each.grade for each in outcome.trials[0].evidence] == [None, "recorded"]


def test_a_recorded_failure_is_served_as_one() -> None:
    tape = [{"tool": "quote", "args": {"mode": "target"}, "result": {"error": "down"}, "error": True}]

    [outcome] = rerun(case(tape=tape), model=Saying(QUOTE_RIGHT))

    assert outcome.verdict == "FAIL"
    assert "must_succeed" in outcome.reason


def test_strict_fails_what_was_not_asked_for_and_by_args_does_not() -> None:
    tape = [
        {"tool": "quote", "args": {"mode": "target"}, "result": 1},
        {"tool": "quote", "args": {"mode": "other"}, "result": 2},
    ]

    [strict] = rerun(case(tape=tape), model=Saying(QUOTE_RIGHT), tape="strict")
    [by_args] = rerun(case(tape=tape), model=Saying(QUOTE_RIGHT), tape="by_args")

    assert (strict.verdict, by_args.verdict) == ("FAIL", "PASS")
    assert [(check.name, check.status) for check in strict.trials[0].checks] == [
        ("calls", "pass"),
        ("tape", "fail"),
    ]


def test_drift_is_told_and_changes_nothing_else() -> None:
    [outcome] = rerun(case(), model=Saying(QUOTE_RIGHT))

    assert outcome.verdict == "PASS"
    assert outcome.trials[0].evidence[0].drift
    assert "recorded for other arguments" in outcome.trials[0].notes[0]


def test_a_tool_that_nobody_defined_is_no_error_and_is_not_shown() -> None:
    undefined = case(input={"tools": []})
    model = Saying(QUOTE_RIGHT)

    [outcome] = rerun(undefined, model=model)

    assert outcome.verdict == "PASS"
    assert model.asked[0]["tools"] == []


def test_the_final_text_and_exhaustion_are_judged() -> None:
    expected = {"behavior": "Names the sum.", "reply": {"contains": ["460"]}}
    never_ends = then(call("quote", {"mode": "target"}))
    tape = [{"tool": "quote", "args": {}, "result": at} for at in range(4)]

    [said] = rerun(case(expected=expected), model=Saying(QUOTE_RIGHT))
    [silent] = rerun(case(expected=expected, tape=tape), model=Saying(never_ends))

    assert (said.verdict, silent.verdict) == ("PASS", "FAIL")
    assert any("still wanted tools after 4 cycles" in note for note in silent.trials[0].notes)


def test_numbers_are_judged_as_the_model_wrote_them() -> None:
    expected = {"behavior": "Exactly.", "calls": [{"tool": "quote", "args": {"n": 9007199254740993}}]}
    asked = case(expected=expected, input={"tools": [definition("quote")]})

    [right] = rerun(asked, model=Saying(then(call("quote", '{"n": 9007199254740993.0}'), "done")))
    [wrong] = rerun(asked, model=Saying(then(call("quote", '{"n": 9007199254740992}'), "done")))

    assert (right.verdict, wrong.verdict) == ("PASS", "FAIL")


@pytest.mark.parametrize("args", ["[1]", "null", '"text"', "{"])
def test_arguments_that_are_no_object_are_a_failed_call(args: str) -> None:
    [outcome] = rerun(case(), model=Saying(then(call("quote", args), "done")))

    assert outcome.verdict == "FAIL"


def test_calls_of_one_round_are_judged_without_an_order() -> None:
    expected: dict[str, Any] = {
        "behavior": "Both.", "mode": "exact",
        "calls": [{"tool": "quote", "args": {"n": 1}}, {"tool": "quote", "args": {"n": 2}}],
    }  # fmt: skip
    tape = [{"tool": "quote", "args": {}, "result": at} for at in range(2)]
    asked = case(expected=expected, tape=tape, input={"tools": [definition("quote")]})

    [together] = rerun(asked, model=Saying(then([call("quote", {"n": 2}), call("quote", {"n": 1})], "done")))
    [apart] = rerun(asked, model=Saying(then(call("quote", {"n": 2}), call("quote", {"n": 1}), "done")))

    assert (together.verdict, apart.verdict) == ("PASS", "FAIL")
