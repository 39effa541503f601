"""Two runs side by side, against oracles that know statistics better."""

from __future__ import annotations

from typing import Any

import pytest

from quality_lab.replay import compare, weighted_pass_rate
from quality_lab.replay.comparison import Judged, detectable_difference, mcnemar, paired_interval


def judged(*verdicts: Any, tool: str = "pay", label: str = "bad_args", first: int = 1) -> list[Judged]:
    return [
        Judged(case_id=at, tool=tool, label=label, verdict=verdict)
        for at, verdict in enumerate(verdicts, first)
    ]


@pytest.mark.parametrize("fixed", range(9))
@pytest.mark.parametrize("broken", [0, 1, 5, 12])
def test_mcnemar_is_the_exact_binomial_test_on_the_cases_that_changed(fixed: int, broken: int) -> None:
    from scipy.stats import binomtest

    wanted = binomtest(fixed, fixed + broken, 0.5).pvalue if fixed + broken else 1.0

    assert mcnemar(fixed, broken) == pytest.approx(wanted)


def test_the_interval_is_bonett_and_price_s() -> None:
    # by hand: 9/42 and 2/42, their difference 1/6, its variance (11/42 - 1/36) / 42
    assert paired_interval(8, 1, 40) == pytest.approx((1 / 6 - 0.146336, 1 / 6 + 0.146336), abs=1e-5)


def test_the_difference_that_could_have_been_seen_is_seen_four_times_out_of_five() -> None:
    import random

    dice, pairs = random.Random(5), 200
    changed = 40
    difference = detectable_difference(changed, pairs)
    share = (changed + 1) / (pairs + 2)
    up = (share + difference) / 2
    seen = 0
    for _ in range(600):
        draws = [dice.random() for _ in range(pairs)]
        fixed = sum(draw < up for draw in draws)
        broken = sum(up <= draw < share for draw in draws)
        seen += mcnemar(fixed, broken) < 0.05

    assert 0.7 < seen / 600 < 0.9  # the exact test is a little shy


def test_only_cases_that_both_runs_decided_are_compared() -> None:
    before = judged("FAIL", "FAIL", "PASS", "PASS", "ERROR", "FAIL", "PASS")
    after = judged("PASS", "FAIL", "PASS", "FAIL", "PASS", "INCONCLUSIVE") + judged("PASS", first=50)

    came = compare(before, after)

    assert (came.pairs, came.fixed, came.broken, came.both_pass, came.both_fail) == (4, 1, 1, 1, 1)
    assert (came.undecided, came.only_before, came.only_after) == (2, 1, 1)
    assert (came.fixed_cases, came.broken_cases) == ((1,), (4,))
    assert (came.difference, came.p, came.verdict) == (0.0, 1.0, "no change beyond noise")


def test_a_change_is_called_one_only_beyond_noise_and_told_by_tool_and_label() -> None:
    before = judged(*["FAIL"] * 8) + judged("PASS", tool="look", label="wrong_tool", first=20)
    after = judged(*["PASS"] * 8) + judged("FAIL", tool="look", label="wrong_tool", first=20)

    came = compare(before, after)

    assert came.verdict == "better beyond noise"
    assert came.by_tool["pay"].fixed == 8
    assert came.by_label["wrong_tool"].broken == 1
    assert came.by_tool["look"].verdict == "no change beyond noise"
    assert compare(after, before).verdict == "worse beyond noise"
    assert compare([], after).verdict.startswith("nothing to compare")


def test_a_suite_is_weighted_by_what_happens_and_says_what_it_does_not_cover() -> None:
    cases = judged("PASS", "FAIL") + judged("PASS", tool="look", label="wrong_tool", first=9)
    occurrences = {("pay", "bad_args"): 30.0, ("look", "wrong_tool"): 10.0, ("book", "bad_args"): 60.0,
                   ("ask", "bad_args"): 0.0}  # fmt: skip

    came = weighted_pass_rate(cases, occurrences)

    assert came.pass_rate == pytest.approx((30 * 0.5 + 10 * 1) / 40)
    assert came.covered == pytest.approx(0.4)
    assert came.without_case == (("book", "bad_args"), ("ask", "bad_args"))
    assert weighted_pass_rate([], occurrences).pass_rate is None


def test_cases_of_two_tenants_with_one_id_are_two_cases() -> None:
    def run_of(north: Any, south: Any) -> list[Judged]:
        return [
            Judged(case_id=7, tenant=tenant, tool="pay", label="bad_args", verdict=verdict)
            for tenant, verdict in (("north", north), ("default", south))
        ]

    came = compare(run_of("FAIL", "PASS"), run_of("PASS", "FAIL"))

    assert (came.pairs, came.fixed_cases, came.broken_cases) == (2, ("7 of north",), (7,))
