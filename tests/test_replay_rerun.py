"""Many cases and trials: how often, how many at once, for how much, and what happens when it is cut short."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import tracemalloc
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from replaying import QUOTE_RIGHT, QUOTE_WRONG, Saying, case, record, rerun

from quality_lab.errors import UsageError
from quality_lab.regressions.rerunning import plan
from quality_lab.replay import Budget, CaseLine, Keeper, Progress, Rerun, Shelf, pass_hat, price_of
from quality_lab.replay.outcome import folded
from quality_lab.replay.playing import Trial
from quality_lab.toolloop import ModelError


def by_turns(*sayings: Any) -> Any:
    """Say as each of *sayings* in turn, one conversation after the other."""
    started = itertools.count()
    chosen: dict[int, Any] = {}

    def say(messages: list[dict[str, Any]]) -> Any:
        if len(messages) == 1:
            chosen[0] = sayings[next(started) % len(sayings)]
        return chosen[0](messages)

    return say


@pytest.mark.parametrize(
    ("sayings", "verdict", "stability", "hats"),
    [
        ((QUOTE_RIGHT,), "PASS", "stable_pass", {1: 1.0, 2: 1.0, 3: 1.0}),
        ((QUOTE_WRONG,), "FAIL", "stable_fail", {1: 0.0, 2: 0.0, 3: 0.0}),
        ((QUOTE_RIGHT, QUOTE_RIGHT, QUOTE_WRONG), "FAIL", "flaky", {1: 2 / 3, 2: 1 / 3, 3: 0.0}),
    ],
)
def test_trials_are_stable_or_flaky(
    sayings: Any, verdict: str, stability: str, hats: dict[int, float]
) -> None:
    [outcome] = rerun(case(), model=Saying(by_turns(*sayings)), trials=3, concurrency=1)

    assert (outcome.verdict, outcome.stability) == (verdict, stability)
    assert outcome.pass_hat == pytest.approx(hats)
    assert len(outcome.trials) == 3


@pytest.mark.parametrize(
    ("verdicts", "verdict"),
    [
        (["PASS", "FAIL", "ERROR"], "FAIL"), (["PASS", "ERROR"], "ERROR"),
        (["PASS", "INCONCLUSIVE"], "INCONCLUSIVE"),
        (["INCONCLUSIVE", "ERROR"], "ERROR"), (["FAIL", "INCONCLUSIVE"], "FAIL"), ([], "INCONCLUSIVE"),
    ],
)  # fmt: skip
def test_what_went_wrong_around_the_agent_never_hides_a_failure_and_never_passes(
    verdicts: list[Any], verdict: str
) -> None:
    assert folded([Trial(verdict=each, reason=each) for each in verdicts])[0] == verdict


def test_pass_hat_is_what_drawing_trials_without_putting_them_back_gives() -> None:
    for n in range(1, 7):
        for c in range(n + 1):
            trials = ["PASS"] * c + ["FAIL"] * (n - c)
            drawn = {
                j: Fraction(
                    sum(set(chosen) == {"PASS"} for chosen in itertools.combinations(trials, j)),
                    sum(1 for _ in itertools.combinations(trials, j)),
                )
                for j in range(1, n + 1)
            }

            assert pass_hat(trials) == pytest.approx({j: float(share) for j, share in drawn.items()})  # type: ignore[arg-type]  # plain texts


def test_no_more_run_at_once_than_was_asked_for_and_order_is_kept() -> None:
    model = Saying(QUOTE_RIGHT)
    seen: list[Progress] = []

    outcomes = rerun(*(case(at) for at in range(1, 31)), model=model, concurrency=4, progress=seen.append)

    assert 1 < model.most_at_once <= 4
    assert [outcome.case_id for outcome in outcomes] == list(range(1, 31))
    assert [each.done for each in seen] == list(range(1, 31))


def test_the_budget_stops_the_run_and_says_so() -> None:
    budget = Budget(Decimal("0.0035"), lambda read, written: Decimal(read + written) / 100_000)
    model = Saying(QUOTE_RIGHT)  # 220 tokens a case: 0.0022 dollars

    outcomes = rerun(*(case(at) for at in range(1, 6)), model=model, concurrency=1, budget=budget)

    assert [outcome.verdict for outcome in outcomes] == ["PASS", "PASS", "ERROR", "ERROR", "ERROR"]
    assert outcomes[2].reason.startswith("budget_reached: 0.004400 of 0.0035 dollars")
    assert len(model.asked) == 4


def test_trials_that_are_under_way_count_against_the_budget() -> None:
    budget = Budget(Decimal("0.0060"), lambda read, written: Decimal(read + written) / 100_000)

    outcomes = rerun(
        *(case(at) for at in range(1, 21)), model=Saying(QUOTE_RIGHT), concurrency=3, budget=budget
    )

    assert budget.spent <= Decimal("0.0022") * 5
    assert sum(outcome.verdict == "PASS" for outcome in outcomes) <= 5


def test_a_budget_of_a_model_without_a_price_is_refused() -> None:
    with pytest.raises(UsageError, match="a budget needs"):
        price_of("no-such-model-anywhere")


def test_a_server_that_is_too_busy_is_asked_again_later_and_then_given_up() -> None:
    busy = ModelError("m at http://127.0.0.1 refused with 429: slow down", kind="status", status=429)
    waits: list[float] = []
    replies = iter([busy, busy])

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    def say(messages: list[dict[str, Any]]) -> Any:
        return next(replies, None) or QUOTE_RIGHT(messages)

    [patient] = rerun(case(), model=Saying(say), sleep=sleep)
    [given_up] = rerun(case(), model=Saying(lambda messages: busy), sleep=sleep)

    assert (patient.verdict, given_up.verdict) == ("PASS", "ERROR")
    assert waits == [1.0, 2.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0]


class Cut(BaseException):
    """Somebody pulled the plug."""


def test_a_run_that_was_cut_short_goes_on_where_it_was_without_a_case_twice_or_lost(tmp_path: Path) -> None:
    path, cases = tmp_path / "reruns.jsonl", [case(at) for at in range(1, 11)]
    asked: list[str] = []

    def say_until(most: int) -> Any:
        def say(messages: list[dict[str, Any]]) -> Any:
            if len(messages) == 1:
                if len(asked) == most:
                    return Cut()
                asked.append(messages[0]["content"])
            return QUOTE_RIGHT(messages)

        return say

    keeper = Keeper(path, resume=False)
    with pytest.raises(Cut):
        rerun(*cases, model=Saying(say_until(4)), concurrency=1, keeper=keeper)
    keeper.close()
    with path.open("a") as half_a_line:
        half_a_line.write('{"form": 1, "key": "ab')
    again = Keeper(path, resume=True)
    outcomes = rerun(*cases, model=Saying(say_until(99)), concurrency=3, keeper=again)
    again.close()

    assert [outcome.verdict for outcome in outcomes] == ["PASS"] * 10
    assert sorted(asked) == sorted(f"15000 baht please, {at}" for at in range(1, 11))
    assert [outcome.trials[0].kept for outcome in outcomes] == [True] * 4 + [False] * 6
    assert outcomes[0].trials[0].reply == "460 USDT"
    assert outcomes[0].trials[0].evidence[0].grade == "recorded"


def test_a_kept_trial_is_used_only_for_the_same_content_tools_model_and_settings(tmp_path: Path) -> None:
    path = tmp_path / "reruns.jsonl"

    def asked_again(resumed: Any, **more: Any) -> int:
        keeper = Keeper(path, resume=False)
        rerun(case(), model=Saying(QUOTE_RIGHT), keeper=keeper)
        keeper.close()
        keeper, model = Keeper(path, resume=True), Saying(QUOTE_RIGHT)
        rerun(resumed, model=model, keeper=keeper, **more)
        keeper.close()
        return len(model.asked) // 2

    changed = {"behavior": "Quotes.", "calls": [{"tool": "quote"}]}
    assert asked_again(case()) == 0
    assert asked_again(case(title="another title", updatedAt=9)) == 0
    assert asked_again(case(expected=changed)) == 1
    assert asked_again(case(), tape="by_args") == 1
    assert asked_again(case(), tools="toolbox:office") == 1
    assert asked_again(case(), options={"temperature": 1}) == 1
    assert asked_again(case(), trials=3) == 2  # a trial is never another's


def test_errors_are_not_kept_and_without_resume_nothing_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "reruns.jsonl"
    down = ModelError("down", kind="connection")
    keeper = Keeper(path, resume=False)
    rerun(case(1), model=Saying(lambda messages: down), keeper=keeper)
    rerun(case(2), model=Saying(QUOTE_RIGHT), keeper=keeper)
    keeper.close()

    kept = [json.loads(line)["came"]["verdict"] for line in path.read_text().splitlines()]
    mode = path.stat().st_mode & 0o777
    Keeper(path, resume=False).close()

    assert (kept, mode, path.read_text()) == (["PASS"], 0o600, "")


def test_of_a_case_that_was_run_little_is_kept_however_much_it_says() -> None:
    said = [{"role": "user", "content": "x" * 20} for _ in range(200)]  # some 50 KiB of objects a case
    lines = [json.dumps(record(at, input={"messages": said})).encode() for at in range(1, 61)]
    shelf = Shelf(folder=Path.cwd(), environ={})
    asyncio.run(Rerun(shelf).run(plan(lines[:2]).to_run))  # what is made once is made
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        outcomes = asyncio.run(Rerun(shelf).run(plan(lines).to_run))
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()

    assert {outcome.verdict for outcome in outcomes} == {"INCONCLUSIVE"}
    assert kept / len(lines) < 4 * 1024


def test_a_line_that_turns_out_to_be_no_case_costs_itself_and_no_trial() -> None:
    broken = json.dumps(record(2, recorded=[{"tool": ""}])).encode()
    lines = [json.dumps(record(1)).encode(), broken, json.dumps(record(3)).encode()]
    seen: list[Progress] = []
    run = Rerun(Shelf(folder=Path.cwd(), environ={}), progress=seen.append)

    outcomes = asyncio.run(run.run([CaseLine(line=at, text=text) for at, text in enumerate(lines, 1)]))

    assert [(outcome.case_id, outcome.malformed) for outcome in outcomes] == [
        (1, False),
        (2, True),
        (3, False),
    ]
    assert (seen[-1].done, seen[-1].total) == (2, 2)
