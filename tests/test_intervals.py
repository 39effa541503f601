"""Intervals against scipy and statsmodels, and against what they promise: to hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from quality_lab.intervals import Rate, Sums, design_effect, effective_n, rate, t_quantile, wilson


def sums_of(hits: list[int], calls: list[int]) -> Sums:
    return Sums(
        n=sum(calls),
        y=sum(hits),
        conversations=len(calls),
        yy=sum(y * y for y in hits),
        ym=sum(y * m for y, m in zip(hits, calls, strict=True)),
        mm=sum(m * m for m in calls),
    )


@pytest.mark.parametrize(
    ("k", "n"), [(0, 1), (1, 1), (3, 40), (30, 53), (42, 104), (1, 100_000), (7, 7), (999, 1000)]
)
def test_wilson_agrees_with_statsmodels_to_ten_digits(k, n):
    low, high = wilson(k, n)

    expected_low, expected_high = proportion_confint(k, n, alpha=0.05, method="wilson")
    assert low == pytest.approx(expected_low, abs=1e-11)
    assert high == pytest.approx(expected_high, abs=1e-11)


@pytest.mark.parametrize(
    "df", [1, 2, 3, 5, 9, 11, 29, 119, 500, 999, 999.5, 1000, 1001, 5000, 200_000, 10_000_000]
)
@pytest.mark.parametrize("p", [0.6, 0.9, 0.975, 0.995])
def test_the_t_quantile_agrees_with_scipy_to_ten_digits(p, df):
    assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-10)


def test_the_t_quantile_is_odd_around_a_half():
    assert t_quantile(0.5, 7) == 0
    assert t_quantile(0.025, 7) == pytest.approx(-t_quantile(0.975, 7), rel=1e-14)


@pytest.mark.parametrize(("p", "df"), [(0, 5), (1, 5), (0.9, 0), (0.9, -1), (0.9, float("inf"))])
def test_a_quantile_that_does_not_exist_is_refused(p, df):
    with pytest.raises(ValueError, match="0 < p < 1"):
        t_quantile(p, df)


def test_an_interval_over_nothing_is_refused():
    with pytest.raises(ValueError, match="n=0"):
        wilson(0, 0)


def test_a_rate_over_no_call_is_none():
    assert rate(Sums(n=0, y=0, conversations=0, yy=0, ym=0, mm=0)) is None


def test_the_design_effect_is_the_one_of_the_definition_worked_out_by_hand():
    # 12 conversations of 5 calls: in six of them everything fails, in six nothing. p = 1/2,
    # every (y_c - p·m_c)² is 6.25, so deff = 12/11 · 75 / (60/4) = 60/11.
    sums = sums_of([5] * 6 + [0] * 6, [5] * 12)

    assert design_effect(sums) == pytest.approx(60 / 11, rel=1e-14)
    assert effective_n(sums) == pytest.approx(
        11 * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 11)) ** 2, rel=1e-12
    )


def test_calls_of_conversations_of_their_own_have_no_design_effect():
    sums = sums_of([1] * 10 + [0] * 30, [1] * 40)

    assert design_effect(sums) == pytest.approx(40 / 39, rel=1e-14)


def test_calls_that_are_more_even_than_chance_are_not_worth_more_than_they_are():
    assert design_effect(sums_of([1] * 20, [2] * 20)) == 1


@pytest.mark.parametrize("hit", [0, 3])
def test_where_nothing_or_everything_fails_the_design_effect_is_one_and_t_still_pays(hit):
    sums = sums_of([hit] * 12, [3] * 12)

    assert design_effect(sums) == 1
    assert effective_n(sums) == pytest.approx(
        36 * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 11)) ** 2, rel=1e-12
    )


def test_under_ten_conversations_the_plain_interval_stands_and_is_marked():
    nine = rate(sums_of([5] * 3 + [0] * 6, [5] * 9))
    ten = rate(sums_of([5] * 3 + [0] * 7, [5] * 10))

    assert nine is not None
    assert ten is not None
    assert (nine.few, nine.n_eff, (nine.low, nine.high)) == (True, 45, wilson(15, 45))
    assert not ten.few
    assert ten.n_eff < 50


def test_one_conversation_alone_still_has_a_rate():
    assert rate(sums_of([2], [8])) == Rate(
        value=0.25, low=wilson(2, 8)[0], high=wilson(2, 8)[1], n=8, n_eff=8.0, conversations=1, few=True
    )


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50)), min_size=1, max_size=60))
def test_an_interval_holds_its_rate_and_effective_n_never_exceeds_n(pairs):
    sums = sums_of([min(y, m) for y, m in pairs], [m for _, m in pairs])
    found = rate(sums)

    assert found is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert 0 < found.n_eff <= found.n


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=2, max_size=40))
def test_the_sums_give_the_same_design_effect_as_the_conversations_one_by_one(pairs):
    hits, calls = [min(y, m) for y, m in pairs], [m for _, m in pairs]
    n, y, c = sum(calls), sum(hits), len(calls)

    found = design_effect(sums_of(hits, calls))

    if y in (0, n):
        assert found == 1
    else:
        p = y / n
        scatter = sum((k - p * m) ** 2 for k, m in zip(hits, calls, strict=True))
        assert found == pytest.approx(max(1, c / (c - 1) * scatter / (n * p * (1 - p))), rel=1e-9)


@pytest.mark.parametrize("truth", [0.2, 0.5])
@pytest.mark.parametrize("conversations", [12, 30, 120])
def test_intervals_hold_the_truth_often_enough_where_calls_of_a_conversation_resemble_each_other(
    conversations, truth
):
    alike, calls, seeds = 0.3, 5, 2000  # intra-conversation correlation of beta-binomial calls
    a, b = truth * (1 - alike) / alike, (1 - truth) * (1 - alike) / alike
    held = 0
    for seed in range(seeds):
        chance = np.random.default_rng(seed)
        hits = chance.binomial(calls, chance.beta(a, b, conversations)).astype(int).tolist()
        found = rate(sums_of(hits, [calls] * conversations))
        assert found is not None
        held += found.low <= truth <= found.high

    assert held / seeds >= 0.935
