"""Kappa and alpha: equal to scikit-learn and statsmodels, to the literature, and to their definitions."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa
from statsmodels.stats.proportion import proportion_confint

from quality_lab.agreement import Rating, cohen_kappa, krippendorff_alpha, mean_kappa
from quality_lab.labels import FIVE

DIGITS = 1e-10


def ratings(said: dict[str, str], *, per_conversation: int = 1) -> list[Rating]:
    """Return ratings from what each reviewer said of the calls in order; `.` is nothing."""
    return [
        Rating(f"call {place}", f"chat {place // per_conversation}", reviewer, value)
        for reviewer, values in said.items()
        for place, value in enumerate(values.replace(" ", ""))
        if value != "."
    ]


def drawn(seed: int, *, calls: int, reviewers: int, silent: float = 0.0) -> list[Rating]:
    """Return ratings that agree in part; calls of one conversation come in threes."""
    chance = np.random.default_rng(seed)
    truth = chance.choice(5, size=calls, p=(0.5, 0.1, 0.1, 0.25, 0.05))
    return [
        Rating(f"{call}", f"chat {call // 3}", f"r{reviewer}", FIVE[value])
        for call in range(calls)
        for reviewer in range(reviewers)
        for value in [truth[call] if chance.random() < 0.6 else chance.choice(5)]
        if chance.random() >= silent
    ]


def pairs_of(rated: list[Rating], one: str, other: str) -> list[tuple[str, str]]:
    by = {(rating.rater, rating.unit): rating.value for rating in rated}
    return [
        (by[one, unit], by[other, unit])
        for unit in sorted({rating.unit for rating in rated})
        if (one, unit) in by and (other, unit) in by
    ]


@pytest.mark.parametrize("seed", range(12))
def test_kappa_of_two_is_scikit_learns_and_its_interval_statsmodels(seed):
    pairs = pairs_of(drawn(seed, calls=20 + 15 * seed, reviewers=2), "r0", "r1")
    table = np.zeros((5, 5))
    for one, other in pairs:
        table[FIVE.index(one), FIVE.index(other)] += 1
    oracle = cohens_kappa(table)

    found = cohen_kappa(pairs)

    assert found.value == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)), abs=DIGITS)
    assert found.low == pytest.approx(oracle.kappa_low, abs=DIGITS)
    assert found.high == pytest.approx(oracle.kappa_upp, abs=DIGITS)


def test_kappa_of_a_table_worked_out_by_hand():
    said = {("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15}

    found = cohen_kappa(Counter(said).elements())

    # observed (20 + 15) / 50 = 0.7, by chance 0.5 · 0.6 + 0.5 · 0.4 = 0.5
    assert found.value == pytest.approx(0.4, abs=DIGITS)
    assert cohen_kappa((other, one) for one, other in Counter(said).elements()) == found


@pytest.mark.parametrize(
    ("said", "alpha"),
    [
        ({"meg": "0100000010", "owen": "1110010000"}, 0.095),
        ({"ben": "aabbdcccedda", "gerry": "babbbccceddd"}, 0.692),
        (
            {
                "a": "1 2 3 3 2 1 4 1 2 . . .",
                "b": "1 2 3 3 2 2 4 1 2 5 . 3",
                "c": ". 3 3 3 2 3 4 2 2 5 1 .",
                "d": "1 2 3 3 2 4 4 1 2 5 1 .",
            },
            0.743,
        ),
    ],
    ids=["binary", "nominal", "four observers, some silent"],
)
def test_alpha_is_that_of_krippendorffs_own_examples(said, alpha):
    assert krippendorff_alpha(ratings(said)).value == pytest.approx(alpha, abs=0.0005)


@pytest.mark.parametrize("seed", range(6))
def test_alpha_where_all_spoke_is_fleiss_kappa_of_statsmodels_less_the_bias_of_small_samples(seed):
    calls, reviewers = 12 + 10 * seed, 2 + seed % 4
    rated = drawn(seed, calls=calls, reviewers=reviewers)
    table = np.zeros((calls, 5))
    for rating in rated:
        table[int(rating.unit), FIVE.index(rating.value)] += 1
    n = calls * reviewers

    alpha = krippendorff_alpha(rated).value

    assert alpha == pytest.approx(1 - (1 - fleiss_kappa(table)) * (n - 1) / n, abs=DIGITS)


def jackknife(statistic, rated: list[Rating]) -> tuple[float, float]:
    """Return the bounds by the book: leave a conversation out, ask again, and take scipy's quantile."""
    spoke = Counter(rating.unit for rating in rated)
    chats = sorted({rating.cluster for rating in rated if spoke[rating.unit] > 1})
    values = [statistic([rating for rating in rated if rating.cluster != chat]).value for chat in chats]
    c = len(values)
    reach = stats.t.ppf(0.975, c - 1) * sqrt((c - 1) ** 2 / c * np.var(values, ddof=1))
    middle = statistic(rated).value
    return max(-1.0, middle - reach), min(1.0, middle + reach)


@pytest.mark.parametrize("statistic", [krippendorff_alpha, mean_kappa])
@pytest.mark.parametrize("silent", [0.0, 0.3])
def test_bounds_come_from_leaving_out_one_conversation_after_the_other(statistic, silent):
    rated = drawn(5, calls=60, reviewers=3, silent=silent)

    found = statistic(rated)

    assert (found.low, found.high) == pytest.approx(jackknife(statistic, rated), abs=DIGITS)


def test_kappa_of_several_is_the_mean_over_pairs_by_the_calls_that_both_labelled():
    rated = drawn(8, calls=50, reviewers=4, silent=0.4)
    shared = [pairs_of(rated, one, other) for one, other in combinations(["r0", "r1", "r2", "r3"], 2)]

    found = mean_kappa(rated)

    kappas = [cohen_kappa_score(*zip(*pairs, strict=True)) for pairs in shared]
    assert found.value == pytest.approx(
        np.average(kappas, weights=[len(pairs) for pairs in shared]), abs=DIGITS
    )
    assert found.pairs == 6


def test_a_pair_without_variation_is_left_out_of_the_mean():
    rated = [
        *ratings({"a": "xxyy", "b": "xxyx"}),
        *(Rating(f"more {n}", f"m{n}", who, "x") for n in range(3) for who in "bc"),
    ]

    found = mean_kappa(rated)

    assert found.value == pytest.approx(cohen_kappa_score(list("xxyy"), list("xxyx")), abs=DIGITS)
    assert found.pairs == 1


@pytest.mark.parametrize("said", [{"a": "xxx", "b": "xxx"}, {"a": "xxx", "b": "xxx", "c": "x.x"}])
def test_without_variation_nothing_is_known(said):
    for statistic in (mean_kappa, krippendorff_alpha):
        found = statistic(ratings(said))

        assert (found.value, found.low, found.high, found.reason) == (None, None, None, "no_variation")


@pytest.mark.parametrize("said", [{}, {"a": "xy"}, {"a": "xy..", "b": "..xy"}])
def test_without_a_call_that_two_labelled_nothing_is_known(said):
    for statistic in (mean_kappa, krippendorff_alpha):
        assert statistic(ratings(said)).reason == "no_pairs"


def test_reviewers_whom_nobody_knows_count_in_alpha_and_cannot_count_in_kappa():
    named = ratings({"a": "xyxxy", "b": "xyxyy"})
    unnamed = [Rating(rating.unit, rating.cluster, None, rating.value) for rating in named]

    assert krippendorff_alpha(unnamed).value == krippendorff_alpha(named).value
    assert mean_kappa(unnamed).reason == "unnamed_reviewers"


def test_where_nobody_disagrees_the_lower_bound_is_what_wilson_allows():
    said = {"a": "xxxxyyyyyx", "b": "xxxxyyyyyx"}
    lowest = proportion_confint(10, 10, method="wilson")[0]

    kappa, alpha = mean_kappa(ratings(said)), krippendorff_alpha(ratings(said))

    assert (kappa.value, kappa.high, alpha.value, alpha.high) == (1, 1, 1, 1)
    assert kappa.low == pytest.approx(1 - (1 - lowest) / 0.5, abs=DIGITS)  # by chance ½, with five of each
    assert alpha.low == pytest.approx(1 - (1 - lowest) / (1 - 2 * 10 * 9 / (20 * 19)), abs=DIGITS)


def test_where_one_reviewer_never_varies_there_is_no_interval():
    found = cohen_kappa([("x", "x"), ("x", "y"), ("x", "x")])

    assert (found.value, found.low, found.high) == (0, None, None)


def test_where_all_variation_is_in_one_conversation_there_is_no_interval():
    rated = [
        Rating(unit, chat, reviewer, value)
        for unit, chat, said in (
            ("1", "long", "xx"),
            ("2", "long", "xx"),
            ("3", "short", "xx"),
            ("4", "odd", "yy"),
            ("5", "odd", "yx"),
        )
        for reviewer, value in zip("ab", said, strict=True)
    ]

    found = krippendorff_alpha(rated)

    assert found.value is not None
    assert (found.low, found.high) == (None, None)


said_of_a_call = st.dictionaries(st.sampled_from("abcd"), st.sampled_from("xyz"), min_size=1)


@given(st.lists(said_of_a_call, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_neither_order_nor_names_matter_and_nothing_is_above_one(calls, random):
    rated = [
        Rating(str(place), str(place // 2), who, value)
        for place, said in enumerate(calls)
        for who, value in said.items()
    ]
    other_names = str.maketrans("abcdxyz", "dcbazxy")
    renamed = [
        Rating(
            rating.unit,
            rating.cluster,
            rating.rater.translate(other_names),
            rating.value.translate(other_names),
        )
        for rating in rated
    ]
    random.shuffle(renamed)

    for statistic in (mean_kappa, krippendorff_alpha):
        found, again = statistic(rated), statistic(renamed)

        assert found.reason == again.reason
        assert (found.value, found.low, found.high) == pytest.approx(
            (again.value, again.low, again.high), abs=1e-9
        )
        assert found.value is None or -1 <= found.value <= 1
        assert found.low is None or -1 <= found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize(("calls", "follows"), [(30, 0.6), (60, 0.6), (60, 0.8), (150, 0.8)])
def test_the_interval_of_alpha_covers_the_alpha_of_the_population(calls, follows):
    truth = np.array((0.5, 0.1, 0.1, 0.25, 0.05))
    given_truth = follows * np.eye(5) + (1 - follows) / 5
    agree, margins = truth @ (given_truth**2).sum(axis=1), truth @ given_truth
    alpha = 1 - (1 - agree) / (1 - (margins**2).sum())
    chance = np.random.default_rng(7)
    covered = 0
    for _ in range(400):
        truths = chance.choice(5, size=calls, p=truth)
        values = np.where(chance.random((3, calls)) < follows, truths, chance.choice(5, size=(3, calls)))
        silent = chance.random((3, calls)) < 0.3
        found = krippendorff_alpha(
            Rating(str(call), str(call), str(reviewer), int(values[reviewer, call]))
            for call in range(calls)
            for reviewer in range(3)
            if not silent[reviewer, call]
        )
        covered += found.low <= alpha <= found.high

    assert 0.92 <= covered / 400 <= 0.98
