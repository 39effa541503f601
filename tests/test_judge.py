"""A model as a judge: what it is asked, what counts as its word, and when that word decides."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from replaying import QUOTE_RIGHT, Saying, case, rerun

from quality_lab.judge import Judge, JudgeFailed, Says, agreement_of
from quality_lab.replay import Budget, Keeper
from quality_lab.toolloop import ModelError, ScriptedModel

PROSE = {"behavior": "Quotes in baht."}


def says(verdict: str, reason: str = "Because.") -> str:
    return json.dumps({"reason": reason, "verdict": verdict})


def opinion(judge: Judge) -> Any:
    calls = [{"tool": "quote", "args": {"mode": "target"}, "result": 1, "secret": "x"}]
    return asyncio.run(judge.opinion(case(expected=PROSE), calls, "460 USDT"))


MEASURED = agreement_of([(True, "pass")] * 12 + [(False, "fail")] * 12)


def test_the_judge_sees_the_material_as_data_and_answers_by_a_schema() -> None:
    model = ScriptedModel(says("pass"))

    came = opinion(Judge(model))

    [request] = model.requests
    assert came.verdict == "pass"
    assert request.options["response_format"]["type"] == "json_schema"
    assert request.options["response_format"]["json_schema"]["strict"] is True
    told = json.loads(request.messages[1]["content"])
    assert told == {
        "behavior": "Quotes in baht.",
        "conversation": [{"role": "user", "content": "15000 baht please, 1"}],
        "calls": [{"tool": "quote", "args": {"mode": "target"}, "result": 1}],
        "reply": "460 USDT",
    }


def test_a_server_without_schemas_is_asked_for_an_object_and_never_for_a_schema_again() -> None:
    unknown = ModelError("refused with 400", kind="status", status=400)
    model = ScriptedModel(unknown, says("fail"), says("unsure"))
    judge = Judge(model)

    came = [opinion(judge).verdict, opinion(judge).verdict]

    assert came == ["fail", "unsure"]
    assert [request.options["response_format"]["type"] for request in model.requests] == [
        "json_schema",
        "json_object",
        "json_object",
    ]


@pytest.mark.parametrize(
    "answer",
    ["", "pass", "[]", says("maybe"), '{"verdict": "pass"}', '{"verdict": "pass", "reason": 3}', None],
)
def test_what_is_no_verdict_is_asked_for_once_more_and_then_none(answer: Any) -> None:
    model = ScriptedModel(answer, answer)

    with pytest.raises(JudgeFailed):
        opinion(Judge(model))

    assert len(model.requests) == 2


def test_a_server_that_is_down_is_not_asked_in_another_way() -> None:
    model = ScriptedModel(ModelError("down", kind="connection"))

    with pytest.raises(ModelError):
        opinion(Judge(model))


def test_an_unmeasured_judge_is_heard_and_decides_nothing() -> None:
    [outcome] = rerun(
        case(expected=PROSE), model=Saying(QUOTE_RIGHT), judge=Judge(ScriptedModel(says("pass", "It did.")))
    )

    assert outcome.verdict == "INCONCLUSIVE"
    assert outcome.reason.startswith("judge_not_measured")
    assert "pass: It did." in outcome.reason


@pytest.mark.parametrize(
    ("word", "verdict"), [("pass", "PASS"), ("fail", "FAIL"), ("unsure", "INCONCLUSIVE")]
)
def test_a_measured_judge_decides(word: str, verdict: str) -> None:
    judge = Judge(ScriptedModel(says(word)), agreement=MEASURED)

    [outcome] = rerun(case(expected=PROSE), model=Saying(QUOTE_RIGHT), judge=judge)

    assert outcome.verdict == verdict
    assert outcome.trials[0].checks[-1].name == "judge"


def test_the_judge_is_not_asked_where_rules_decide() -> None:
    model = ScriptedModel()

    [outcome] = rerun(case(), model=Saying(QUOTE_RIGHT), judge=Judge(model, agreement=MEASURED))

    assert (outcome.verdict, model.requests) == ("PASS", [])


def test_a_judge_that_fails_is_an_error_and_not_the_agent_s() -> None:
    judge = Judge(ScriptedModel("nonsense", "nonsense"), agreement=MEASURED)

    [outcome] = rerun(case(expected=PROSE), model=Saying(QUOTE_RIGHT), judge=judge)

    assert (outcome.verdict, outcome.reason[:12]) == ("ERROR", "judge_failed")


def pairs(good: dict[Says, int], bad: dict[Says, int]) -> list[tuple[bool, Says]]:
    told: list[tuple[bool, Says]] = []
    for found_good, counts in ((True, good), (False, bad)):
        for word, count in counts.items():
            told += [(found_good, word)] * count
    return told


def test_agreement_is_what_scikit_learn_and_statsmodels_say() -> None:
    from sklearn.metrics import cohen_kappa_score
    from statsmodels.stats.proportion import proportion_confint

    told = pairs({"pass": 17, "fail": 3}, {"fail": 14, "pass": 6})

    came = agreement_of(told)

    people = ["pass" if good else "fail" for good, _ in told]
    assert came.kappa == pytest.approx(cohen_kappa_score(people, [word for _, word in told]))
    assert (came.tpr.value, came.tnr.value) == (17 / 20, 14 / 20)
    assert (came.tpr.low, came.tpr.high) == pytest.approx(proportion_confint(17, 20, method="wilson"))
    assert came.kappa_low is not None
    assert came.kappa_low < came.kappa < 1
    assert came.gates is False  # the lower bound of 14 in 20 is below one half


@pytest.mark.parametrize(
    ("good", "bad", "gates"),
    [
        ({"pass": 10}, {"fail": 10}, True),
        ({"pass": 9}, {"fail": 30}, False),
        ({"pass": 40}, {}, False),
        ({"pass": 20}, {"fail": 8, "unsure": 12}, False),
        ({"pass": 20}, {"pass": 20}, False),
    ],
)
def test_only_enough_agreement_on_both_sides_lets_a_judge_decide(good: Any, bad: Any, gates: bool) -> None:
    assert agreement_of(pairs(good, bad)).gates is gates


def test_without_variation_kappa_is_not_known() -> None:
    assert agreement_of([(True, "pass")] * 5).kappa is None
    assert agreement_of([]).kappa is None


def test_agreement_is_measured_on_what_people_labelled_without_showing_the_label() -> None:
    right = [{"tool": "quote", "args": {"mode": "target"}, "result": 1}]
    cases = [case(at, expected=PROSE, corrected=right) for at in range(1, 13)]
    cases.append(case(99, expected=PROSE, recorded=right, provenance={"label": "good_reply"}))
    asked: list[str] = []

    def judge_of(messages: list[dict[str, Any]]) -> str:
        told = messages[1]["content"]
        asked.append(told)
        return says("pass" if json.loads(told)["calls"][0]["args"] == {"mode": "target"} else "fail")

    judge = Judge(Saying(judge_of))
    agreement = asyncio.run(judge.measure(cases))

    assert (agreement.n, agreement.tpr.n, agreement.tnr.n) == (25, 13, 12)
    assert (agreement.tpr.value, agreement.tnr.value, agreement.kappa) == (1.0, 1.0, 1.0)
    assert agreement.gates
    assert judge.as_json()["gates"] is True
    assert not any("good_reply" in told or "bad_args" in told for told in asked)


def test_questions_that_got_no_answer_are_counted_apart() -> None:
    model = Saying(lambda messages: ModelError("down", kind="connection"))

    agreement = asyncio.run(Judge(model).measure([case(expected=PROSE)]))

    assert (agreement.n, agreement.failed, agreement.gates) == (0, 1, False)


def test_the_key_of_a_judge_names_its_model() -> None:
    assert Judge(ScriptedModel(name="a")).key != Judge(ScriptedModel(name="b")).key


def a_cent_a_token(read: int, written: int) -> Decimal:
    return Decimal(read + written) / 100


def test_a_judge_s_questions_are_paid_out_of_the_run_s_budget_at_its_own_price() -> None:
    budget = Budget(Decimal("2.50"), lambda read, written: Decimal(0))
    model = Saying(lambda messages: says("pass"))  # 110 tokens a question: 1.10 dollars
    cases = [case(at, expected=PROSE) for at in range(1, 31)]

    agreement = asyncio.run(Judge(model, purse=budget.purse(a_cent_a_token)).measure(cases))

    # eight are asked at once, each is paid when its answer is there, and none begins once the money is spent
    assert 3 <= len(model.asked) <= 10
    assert budget.spent == Decimal("1.10") * len(model.asked)
    assert (agreement.n, agreement.failed) == (len(model.asked), 30 - len(model.asked))
    assert budget.begin() is False
    assert budget.ended is not None
    assert budget.ended.startswith("budget_reached")


def test_no_judge_is_asked_once_the_budget_is_spent_and_the_trial_is_an_error() -> None:
    budget = Budget(Decimal("1.00"), lambda read, written: Decimal("1.00"))
    model = Saying(lambda messages: says("pass"))
    judge = Judge(model, agreement=MEASURED, purse=budget.purse(a_cent_a_token))
    budget.spent = Decimal("0.50")
    rerun(case(1), model=Saying(QUOTE_RIGHT), budget=budget)  # has rules: no question, 1 dollar

    with pytest.raises(JudgeFailed, match="budget_reached: 1.500000 of 1.00 dollars"):
        opinion(judge)

    assert model.asked == []


def test_a_judge_whose_server_does_not_say_what_it_took_ends_the_budget() -> None:
    budget = Budget(Decimal("9"), lambda read, written: Decimal(0))
    judge = Judge(ScriptedModel(says("pass")), purse=budget.purse(a_cent_a_token))

    opinion(judge)

    assert budget.begin() is False
    assert budget.ended is not None
    assert budget.ended.startswith("usage_unknown")


def test_an_answer_that_was_given_before_is_not_asked_for_again_and_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "reruns.jsonl"
    first = Keeper(path, resume=False)
    before = opinion(Judge(Saying(lambda messages: says("fail", "No baht.")), answers=first))
    first.close()
    model = Saying(lambda messages: says("pass"))

    second = Keeper(path, resume=True)
    judge = Judge(model, answers=second)
    again, then_asked = opinion(judge), opinion(judge)
    second.close()

    assert again == before
    assert (then_asked.verdict, len(model.asked)) == ("pass", 1)


def test_a_run_that_begins_anew_knows_no_earlier_answer(tmp_path: Path) -> None:
    path = tmp_path / "reruns.jsonl"
    first = Keeper(path, resume=False)
    opinion(Judge(Saying(lambda messages: says("fail")), answers=first))
    first.close()

    anew = Keeper(path, resume=False)
    came = opinion(Judge(Saying(lambda messages: says("pass")), answers=anew))
    anew.close()

    assert came.verdict == "pass"


def test_a_trial_whose_judge_was_refused_by_the_budget_is_judged_and_not_paid_again(tmp_path: Path) -> None:
    path = tmp_path / "reruns.jsonl"

    def run(budget: Budget, *, resume: bool) -> tuple[Any, Saying, Saying]:
        model, judge_model = Saying(QUOTE_RIGHT), Saying(lambda messages: says("pass"))
        keeper = Keeper(path, resume=resume)
        judge = Judge(judge_model, agreement=MEASURED, purse=budget.purse(a_cent_a_token), answers=keeper)
        prose = [case(at, expected=PROSE) for at in (1, 2)]
        came = rerun(*prose, model=model, judge=judge, budget=budget, keeper=keeper, concurrency=1)
        keeper.close()
        return came, model, judge_model

    def dear(read: int, written: int) -> Decimal:
        return Decimal("1.00")

    spent_up = Budget(Decimal("1.00"), dear)
    spent_up.spent = Decimal("0.50")
    (first, second), model, judge_model = run(spent_up, resume=False)
    assert first.verdict == "PASS"
    assert second.reason.startswith("budget_reached")  # 0.50 + 1.00 for the trial + 1.10 for the judge

    poor = Budget(Decimal("1.00"), dear)
    path.write_text("")
    (first, _), model, judge_model = run(_emptied_by_a_trial(poor), resume=True)
    assert (first.verdict, first.reason.startswith("judge_failed: budget_reached")) == ("ERROR", True)
    assert (len(model.asked), len(judge_model.asked)) == (2, 0)  # two cycles of one trial

    (first, second), model, judge_model = run(Budget(Decimal("99"), dear), resume=True)
    assert (first.verdict, second.verdict) == ("PASS", "PASS")
    assert (len(model.asked), len(judge_model.asked)) == (2, 2)  # the second case alone was played
    assert (first.trials[0].kept, second.trials[0].kept) == (True, False)

    (first, second), model, judge_model = run(Budget(Decimal("99"), dear), resume=True)
    assert (first.verdict, second.verdict, model.asked, judge_model.asked) == ("PASS", "PASS", [], [])


def _emptied_by_a_trial(budget: Budget) -> Budget:
    """Let somebody else spend it while the first trial is played, as other trials under way do."""
    begin = budget.begin

    def begin_and_spend() -> bool:
        begun = begin()
        budget.spent = Decimal("1.00")
        return begun

    budget.begin = begin_and_spend  # type: ignore[method-assign]  # the one place where time passes
    return budget


def test_a_judge_that_is_busy_is_asked_again_and_the_model_is_not() -> None:
    busy = ModelError("refused with 429", kind="status", status=429)
    model, judge_model = Saying(QUOTE_RIGHT), ScriptedModel(busy, says("pass"))
    judge = Judge(judge_model, agreement=MEASURED)

    async def no_time(seconds: float) -> None:
        return None

    [came] = rerun(case(1, expected=PROSE), model=model, judge=judge, sleep=no_time)

    assert (came.verdict, len(model.asked), len(judge_model.requests)) == ("PASS", 2, 2)
