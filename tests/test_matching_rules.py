"""What a case may demand, what is an error of the case, and what each failure says."""

from __future__ import annotations

import time
from typing import Any

import pytest

from quality_lab.json_text import parse
from quality_lab.matching import Failure, Judgement, MadeCall, ModeProblem, Run, judge_run, mode_named
from quality_lab.matching.case import read_case
from quality_lab.matching.rules import read_rules


def judged(expected: dict[str, Any], *recorded: dict[str, Any], **more: Any) -> Judgement:
    return read_case({"expected": expected, "recorded": list(recorded), **more}).judge_recorded()


def call(tool: str = "pay", *, result: Any = True, **more: Any) -> dict[str, Any]:
    return {"tool": tool, "args": {}, "result": result, **more}


def fits(rule: str, value: str, *, args_mode: str = "subset") -> bool:
    """Whether a call whose argument x is *value* satisfies *rule*, both JSON text; "absent" leaves x out."""
    args = {} if value == "absent" else {"x": parse(value)}
    entry = {"tool": "pay", "args": {"x": parse(rule)}, "args_mode": args_mode}
    judgement = judged({"calls": [entry]}, call(args=args))
    assert judgement.verdict in ("PASS", "FAIL"), judgement
    return judgement.verdict == "PASS"


@pytest.mark.parametrize(
    ("rule", "fitting", "unfit"),
    [
        ("1", ["1", "1.0", "10e-1"], ["true", '"1"', "null", "absent", "1.0000000000000000000001"]),
        ("true", ["true"], ["1", "false", '"true"']),
        ("null", ["null"], ["absent", "false", "0", '""']),
        ("0.1", ["0.10"], ["0.10000000000000000001"]),
        ('{"a":[1,{"b":2}]}', ['{"a":[1,{"b":2,"c":3}],"d":4}'], ['{"a":[{"b":2},1]}', '{"a":[1]}', "[]"]),
        ('{"$any":true}', ["null", "0", "[]"], ["absent"]),
        ('{"$absent":true}', ["absent"], ["null"]),
        ('{"$default":{"$one_of":[1,2]}}', ["absent", "2"], ["3", "null"]),
        ('{"$one_of":[{"$regex":"a+"},[1]]}', ['"aaa"', "[1]"], ['"ab"', "absent"]),
        ('{"$regex":"a|ab"}', ['"ab"', '"a"'], ['"abc"', '"xab"', "1"]),
        ('{"$regex":"a"}', ['"a"'], ['"a\\n"']),
        ('{"$approx":1,"$abs":0.1}', ["1.1", "0.9"], ["1.1000000000000000001", '"1"', "true"]),
        ('{"$approx":-200,"$rel":0.01}', ["-202", "-198"], ["-202.01", "200"]),
        ('{"$approx":1e400,"$rel":0.5}', ["1.5e400", "5e399"], ["1.6e400"]),
        ('{"$type":"integer"}', ["2", "2.0", "2e3"], ["2.5", '"2"', "true"]),
        ('{"$type":"null"}', ["null"], ["absent", "0"]),
        ('{"$contains":"b"}', ['"abc"', '["b"]'], ['"ac"', '["abc"]', "{}"]),
        ('{"$contains":{"a":1}}', ['[0,{"a":1,"b":2}]'], ['[{"a":2}]', '"a"']),
        ('{"$unordered":[1,{"$any":true}]}', ["[7,1]", "[1,1]"], ["[1]", "[7,8]"]),
        ('{"$unordered":[]}', ["[]"], ["[1]", "{}"]),
        ('{"$not":{"$type":"string"}}', ["1", "null"], ['"a"', "absent"]),
        ('{"$not":{"$absent":true}}', ["null"], ["absent"]),
        ('{"$folded":"Café straße"}', ['" CAFE\u0301  STRASSE "'], ['"cafe strasse"', "1"]),
        ('{"$literal":{"$any":true}}', ['{"$any":true}', '{"$any":true,"b":1}'], ['{"$any":1}', "1"]),
        ('{"$literal":{"a":{"$not":1}}}', ['{"a":{"$not":1}}'], ['{"a":2}']),
    ],
)
def test_a_rule_takes_what_it_describes_and_nothing_else(
    rule: str, fitting: list[str], unfit: list[str]
) -> None:
    assert {value: fits(rule, value) for value in fitting} == dict.fromkeys(fitting, True)
    assert {value: fits(rule, value) for value in unfit} == dict.fromkeys(unfit, False)


def test_exact_arguments_allow_no_unlisted_key_at_any_depth_and_no_listed_one_to_be_too_many() -> None:
    rule = '{"a":[{"b":1}],"c":{"$default":2}}'

    assert fits(rule, '{"a":[{"b":1}]}', args_mode="exact")
    assert fits(rule, '{"a":[{"b":1}],"c":2}', args_mode="exact")
    assert not fits(rule, '{"a":[{"b":1,"x":0}]}', args_mode="exact")
    assert not fits(rule, '{"a":[{"b":1}],"x":0}', args_mode="exact")
    assert not fits('{"$one_of":[{"a":1}]}', '{"a":1,"x":0}', args_mode="exact")


def test_a_key_that_stands_twice_in_the_arguments_is_nobody_s_guess() -> None:
    made = parse('{"x": 1, "x": 1}')

    judgement = judged({"calls": [{"tool": "pay", "args": {"x": 1}}]}, call(args=made))

    assert judgement.verdict == "FAIL"


MALFORMED = [
    ({"mode": "sideways"}, "expected.mode: no mode is named sideways"),
    ({"mode": 3}, "expected.mode: wanted the name of a mode, got 3"),
    ({"mode": "exact"}, "expected.calls: mode exact says nothing without a list of calls"),
    ({"mode": "none", "calls": [{"tool": "a"}]}, "expected.calls: mode none demands that no call is made"),
    ({"mode": "only_from", "calls": [{"tool": "a", "times": 2}]}, "expected.calls[0].times: in only_from"),
    ({"calls": {}}, "expected.calls: wanted a list, got {}"),
    ({"calls": ["a"]}, 'expected.calls[0]: wanted an object with a tool, got "a"'),
    ({"calls": [{"tool": " "}]}, "expected.calls[0].tool: wanted the name of a tool"),
    ({"calls": [{"tool": "get_*"}]}, "expected.calls[0].tool: a pattern such as get_*"),
    ({"calls": [{"tool": "a", "arguments": {}}]}, "expected.calls[0]: nothing is named arguments"),
    ({"calls": [{"tool": "a", "args": []}]}, "expected.calls[0].args: wanted an object, got []"),
    ({"calls": [{"tool": "a", "times": 0}]}, "expected.calls[0].times: wanted a whole number from 1"),
    ({"calls": [{"tool": "a", "must_succeed": 1}]}, "expected.calls[0].must_succeed: wanted true or false"),
    ({"calls": [{"tool": "a", "args_mode": "superset"}]}, "expected.calls[0].args_mode: what other tools"),
    ({"forbidden": [{"tool": "a", "times": 2}]}, "expected.forbidden[0].times: what is forbidden"),
    ({"max_calls": -1}, "expected.max_calls: wanted a whole number from 0, got -1"),
    ({"min_calls": 3, "max_calls": 2}, "expected.min_calls: 3 is more than max_calls 2"),
    ({"max_call": 2}, "expected: nothing is named max_call; did you mean max_calls?"),
    ({"failed_attempts": "drop"}, "expected.failed_attempts: wanted"),
    ({"reply": {}}, "expected.reply: wanted an object"),
    ({"reply": {"contains": "a"}}, "expected.reply.contains: wanted a list of texts"),
    ({"reply": {"matches": "("}}, "expected.reply.matches: no regular expression"),
    ({"end_state": []}, "expected.end_state: wanted an object"),
]


@pytest.mark.parametrize(("expected", "said"), MALFORMED, ids=[said for _, said in MALFORMED])
def test_a_case_that_cannot_be_read_is_an_error_that_names_the_place(
    expected: dict[str, Any], said: str
) -> None:
    judgement = judged(expected, call())

    assert judgement.verdict == "ERROR"
    assert judgement.reason.startswith(f"malformed_case: {said}")


BROKEN_RULES = [
    '{"$fuzzy":1}', '{"$any":false}', '{"$absent":1}', '{"$one_of":1}', '{"$one_of":[]}', '{"$regex":1}',
    '{"$regex":"(?=a)"}', '{"$regex":"(a)\\\\1"}', '{"$regex":"a)|(?:b"}', '{"$approx":1}',
    '{"$approx":1,"$abs":1,"$rel":1}', '{"$approx":true,"$abs":1}', '{"$approx":1,"$abs":-1}',
    '{"$approx":1,"$abs":"1"}', '{"$abs":1}', '{"$type":"float"}', '{"$type":["string"]}',
    '{"$unordered":{}}', '{"$folded":1}', '{"$any":true,"b":1}', '{"$any":true,"$not":1}',
    '{"$not":{"$fuzzy":1}}', '[{"$fuzzy":1}]', '{"a":{"$one_of":[{"$regex":"("}]}}', '{"a":1,"a":2}',
]  # fmt: skip


@pytest.mark.parametrize("rule", BROKEN_RULES)
def test_a_rule_that_is_none_is_an_error_of_the_case_whatever_was_called(rule: str) -> None:
    entry = {"tool": "pay", "args": {"x": parse(rule)}}

    assert judged({"calls": [entry]}, call(args={"x": 1})).verdict == "ERROR"
    assert judged({"calls": [entry]}).verdict == "ERROR"
    assert judged({"forbidden": [entry]}, call(args={"x": 1})).verdict == "ERROR"


def test_rules_nested_without_end_are_an_error_and_not_a_crash() -> None:
    rule: Any = 1
    for _ in range(900):
        rule = {"a": rule}

    judgement = judged({"calls": [{"tool": "pay", "args": rule}]}, call())

    assert judgement.verdict == "ERROR"
    assert "nested more than 200 levels" in judgement.reason


def test_an_expression_that_explodes_elsewhere_is_answered_at_once() -> None:
    started = time.perf_counter()

    assert not fits('{"$regex":"(a+)+b"}', '"' + "a" * 4000 + '"')
    assert time.perf_counter() - started < 0.5


@pytest.mark.parametrize(
    ("name", "mode"),
    [("strict", "exact"), ("EXACT", "exact"), ("exact_match", "exact"), ("IN_ORDER", "in_order"),
     ("in_order_match", "in_order"), ("ANY_ORDER", "any_order"), ("superset", "any_order"),
     ("unordered", "unordered"), ("subset", "only_from"), ("irrelevance", "none"),
     ("trajectory_exact_match", "exact")],
)  # fmt: skip
def test_other_tools_names_are_understood_where_they_mean_the_same(name: str, mode: str) -> None:
    assert mode_named(name) == mode
    assert read_rules({"mode": name, "calls": []}).mode == mode


@pytest.mark.parametrize("name", ["precision", "trajectory_recall", "tool-call-f1", "fuzzy", "ordered"])
def test_a_name_that_means_something_else_is_refused_with_what_to_write(name: str) -> None:
    with pytest.raises(ModeProblem, match=f"^{name} is no mode here: .*(write|describe)"):
        mode_named(name)


def test_a_failure_names_step_rule_path_and_both_values() -> None:
    expected = {"calls": [{"tool": "pay", "args": {"to": [{"sum": {"$approx": 5, "$abs": 1}}]}}]}

    judgement = judged(expected, call("look"), call(args={"to": [{"sum": 9}]}))

    [check] = judgement.checks
    assert check.failures == (
        Failure(
            step=1,
            rule="calls[0] $approx",
            path="args.to[0].sum",
            expected='{"$approx":5,"$abs":1}',
            got="9",
        ),
    )


def test_the_explanation_is_the_pairing_of_which_least_is_wrong() -> None:
    expected = {"calls": [
        {"tool": "pay", "args": {"a": 1, "b": 1, "c": 1}},
        {"tool": "pay", "args": {"a": 2, "b": 2, "c": 2}},
    ]}  # fmt: skip

    judgement = judged(
        expected, call(args={"a": 2, "b": 2, "c": 9}), call(args={"a": 1, "b": 1, "c": 8}), call("look")
    )

    said = [str(failure) for failure in judgement.checks[0].failures]
    assert said == [
        "call 2, calls[0] equals, args.c: expected 1; got 8",
        "call 1, calls[1] equals, args.c: expected 2; got 9",
    ]


def test_a_whole_fit_is_never_given_up_for_a_nicer_explanation() -> None:
    expected = {
        "calls": [{"tool": "pay", "args": {"a": 1}}, {"tool": "pay", "args": {"a": 1, "b": 2, "c": 3}}]
    }

    judgement = judged(expected, call(args={"a": 1, "b": 2}), call(args={"a": 9}))

    assert [failure.step for failure in judgement.checks[0].failures] == [1, 1, 1]


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        ({"args": {"n": 1}, "result": 1}, "PASS"),
        ({"args": {"n": 1}, "error": False}, "PASS"),  # the flag is believed
        ({"args": {"n": 1}}, "INCONCLUSIVE"),
        ({"result": 1}, "INCONCLUSIVE"),
        ({"args": {"n": 2}}, "FAIL"),
        ({"args": {"n": 1}, "error": True}, "FAIL"),
        ({"args": {"n": 1}, "result": {"ok": False}}, "FAIL"),
        ({"args": {"n": 1}, "result": {"error": ""}}, "PASS"),
        ({"args": {"n": 1}, "result": {"needsVerification": True, "ok": False}}, "PASS"),
    ],
)
def test_what_was_not_kept_never_passes_and_a_gate_is_no_failure(made: dict[str, Any], verdict: str) -> None:
    assert judged({"calls": [{"tool": "pay", "args": {"n": 1}}]}, {"tool": "pay", **made}).verdict == verdict


def test_arguments_that_were_not_kept_leave_what_is_forbidden_undecided() -> None:
    expected = {"forbidden": [{"tool": "pay", "args": {"n": 1}}]}

    assert judged(expected, {"tool": "pay", "result": 1}).verdict == "INCONCLUSIVE"
    assert judged(expected, {"tool": "look"}).verdict == "PASS"
    assert judged({"forbidden": [{"tool": "pay"}]}, {"tool": "pay"}).verdict == "FAIL"


def test_a_forbidden_call_is_forbidden_though_it_failed() -> None:
    assert judged({"forbidden": [{"tool": "pay"}]}, call(error=True)).verdict == "FAIL"


def test_every_check_is_reported_though_one_fails() -> None:
    expected = {
        "mode": "none", "forbidden": [{"tool": "p*"}], "max_calls": 0, "reply": {"contains": ["sorry"]},
        "end_state": {"orders": []},
    }  # fmt: skip

    judgement = judged(expected, call())

    assert [(check.name, check.status) for check in judgement.checks] == [
        ("forbidden", "fail"), ("counts", "fail"), ("calls", "fail"), ("reply", "undecided"),
        ("end_state", "undecided"),
    ]  # fmt: skip
    assert judgement.verdict == "FAIL"


def test_ignored_failures_leave_counts_alone_and_steps_as_they_were() -> None:
    expected = {"mode": "exact", "failed_attempts": "ignore", "calls": [{"tool": "pay"}]}

    assert judged({**expected, "max_calls": 1}, call(error=True), call()).verdict == "FAIL"
    judgement = judged(expected, call(error=True), call(), call("look"))

    assert [failure.step for failure in judgement.checks[0].failures] == [2]
    assert judged(expected, {"tool": "pay", "args": {}}, call()).verdict == "INCONCLUSIVE"


def test_the_reply_and_the_end_state_are_judged_where_they_are_known() -> None:
    rules = read_rules({
        "reply": {"contains": ["460.1"], "not_contains": ["sorry"], "matches": "You get .*"},
        "end_state": {"orders": {"$unordered": [{"id": 1}]}},
    })  # fmt: skip
    good = Run(
        calls=(), reply="You get 460.1 USDT", reply_known=True, end_state={"orders": [{"id": 1, "to": 2}]}
    )
    bad = Run(calls=(), reply="sorry, 460.1", reply_known=True, end_state={"orders": []})
    silent = Run(calls=(), reply=None, reply_known=True, end_state={"orders": [{"id": 1}]})

    assert judge_run(rules, good).verdict == "PASS"
    assert [len(check.failures) for check in judge_run(rules, bad).checks] == [2, 1]
    assert judge_run(rules, silent).verdict == "FAIL"


@pytest.mark.parametrize(
    ("expected", "label_call", "verdict"),
    [
        ({"forbidden": [{"tool": "pay"}]}, {}, "FAIL"),
        ({"forbidden": [{"tool": "refund"}]}, {}, "PASS"),
        ({"calls": [{"tool": "pay", "args": {"n": 1}}]}, {}, "PASS"),
        ({"calls": [{"tool": "pay", "args": {"n": 2}}]}, {}, "FAIL"),
        ({"calls": [{"tool": "pay"}]}, {}, "INCONCLUSIVE"),
        ({"calls": [{"tool": "refund", "args": {"n": 2}}]}, {}, "INCONCLUSIVE"),
        ({"mode": "none"}, {}, "INCONCLUSIVE"),
        ({"max_calls": 0}, {}, "INCONCLUSIVE"),
    ],
)
def test_of_a_case_with_only_the_labelled_call_its_own_faults_alone_decide(
    expected: dict[str, Any], label_call: dict[str, Any], verdict: str
) -> None:
    record = {
        "toolName": "pay",
        "input": {"args": {"n": 1}},
        "expected": expected,
        "context": {"toolCall": {"result": 1, "error": False, **label_call}},
    }

    assert read_case(record).judge_recorded().verdict == verdict


def test_a_case_in_which_nothing_was_recorded_is_inconclusive() -> None:
    judgement = read_case({"expected": {"mode": "none"}, "context": {}}).judge_recorded()

    assert (judgement.verdict, judgement.reason[:16]) == ("INCONCLUSIVE", "nothing_recorded")


def run_until(unavailable: int, *tools: str) -> Run:
    """A run of calls, a cycle each, of which the result in cycle *unavailable* could not be served."""
    calls = tuple(
        MadeCall(tool=tool, args={}, cycle=at, outcome="unavailable" if at == unavailable else "ok")
        for at, tool in enumerate(tools)
    )
    return Run(calls=calls, unavailable_cycle=unavailable, reply="done", reply_known=True)


@pytest.mark.parametrize(
    ("expected", "run", "verdict"),
    [
        ({"calls": [{"tool": "a"}]}, run_until(0, "a"), "PASS"),  # a call in that cycle stands
        ({"calls": [{"tool": "a"}]}, run_until(0, "a", "b"), "PASS"),
        ({"calls": [{"tool": "b"}]}, run_until(0, "a", "b"), "INCONCLUSIVE"),  # what decides came after
        ({"calls": [{"tool": "c"}]}, run_until(0, "a", "b"), "INCONCLUSIVE"),  # might have come
        ({"calls": [{"tool": "a", "args": {"n": 1}}]}, run_until(0, "a"), "FAIL"),  # wrong, and it stands
        ({"calls": [{"tool": "a", "args": {"n": 1}}]}, run_until(0, "a", "b"), "FAIL"),
        ({"forbidden": [{"tool": "a"}]}, run_until(0, "a"), "FAIL"),
        ({"forbidden": [{"tool": "b"}]}, run_until(0, "a", "b"), "INCONCLUSIVE"),
        ({"mode": "exact", "calls": [{"tool": "a"}]}, run_until(0, "a"), "PASS"),
        ({"mode": "exact", "calls": [{"tool": "a"}]}, run_until(0, "a", "b"), "INCONCLUSIVE"),
        ({"mode": "exact", "calls": [{"tool": "b"}]}, run_until(0, "a", "b"), "FAIL"),
        (
            {"mode": "unordered", "calls": [{"tool": "b"}, {"tool": "a"}]},
            run_until(0, "a", "b"),
            "INCONCLUSIVE",
        ),
        ({"mode": "unordered", "calls": [{"tool": "b"}]}, run_until(0, "a", "b"), "FAIL"),
        ({"mode": "only_from", "calls": [{"tool": "a"}]}, run_until(0, "a", "b"), "INCONCLUSIVE"),
        ({"mode": "only_from", "calls": [{"tool": "b"}]}, run_until(0, "a", "b"), "FAIL"),
        ({"mode": "none"}, run_until(0, "a"), "FAIL"),
        ({"max_calls": 1}, run_until(0, "a", "b"), "INCONCLUSIVE"),
        ({"max_calls": 0}, run_until(0, "a", "b"), "FAIL"),
        ({"min_calls": 2}, run_until(0, "a"), "INCONCLUSIVE"),
        ({"reply": {"contains": ["done"]}}, run_until(0, "a"), "INCONCLUSIVE"),
    ],
)
def test_after_a_result_that_could_not_be_served_nothing_decides(
    expected: dict[str, Any], run: Run, verdict: str
) -> None:
    assert judge_run(read_rules(expected), run).verdict == verdict
