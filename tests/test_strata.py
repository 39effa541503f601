"""Weighted rates: right by hand and by independent oracles, and honest on populations whose rate is known."""

from __future__ import annotations

from math import ceil, floor, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from quality_lab.sampling import draw_number, sizes
from quality_lab.strata import Stratum, stratum_interval, unseen, weighted_rate


def stratum(calls: int, reviewed: int, hits: int, name: str = "rest") -> Stratum:
    return Stratum(name=name, calls=calls, reviewed=reviewed, hits=hits)


def test_a_rate_is_weighted_by_the_calls_of_each_stratum() -> None:
    found = weighted_rate([stratum(80, 40, 20, "error"), stratum(920, 60, 3)])

    assert found is not None
    assert found.value == pytest.approx(0.08 * 20 / 40 + 0.92 * 3 / 60)
    assert (found.calls, found.reviewed) == (1000, 100)


def test_a_stratum_has_the_score_interval_of_drawing_without_replacement() -> None:
    # the bounds are where (p - y/m)² = z² · p(1-p)/m · (N-m)/(N-1): hypergeometric variance, as a quadratic
    calls, reviewed, hits = 500, 120, 30
    z2 = stats.norm.ppf(0.975) ** 2 / reviewed * (calls - reviewed) / (calls - 1)
    rate = hits / reviewed
    roots = sorted(np.roots([1 + z2, -(2 * rate + z2), rate * rate]))

    low, high = stratum_interval(stratum(calls, reviewed, hits))
    assert (low * calls, high * calls) == (floor(roots[0] * calls), ceil(roots[1] * calls))


def test_a_stratum_of_which_little_was_drawn_has_wilson_s_interval() -> None:
    wanted = proportion_confint(12, 60, method="wilson")

    assert stratum_interval(stratum(10**12, 60, 12)) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(("reviewed", "hits"), [(20, 1), (20, 2), (80, 3)])
def test_for_few_hits_the_lower_bound_is_poisson_s_and_for_few_others_the_upper_one(reviewed, hits) -> None:
    poisson = stats.chi2.ppf(0.05, 2 * hits) / 2 / reviewed  # P(X >= hits) = 0.05 at this mean

    assert stratum_interval(stratum(10**12, reviewed, hits))[0] == pytest.approx(poisson, rel=1e-9)
    assert stratum_interval(stratum(10**12, reviewed, reviewed - hits))[1] == pytest.approx(
        1 - poisson, rel=1e-9
    )
    assert poisson < proportion_confint(hits, reviewed, method="wilson")[0]


def test_poisson_s_bound_comes_nearer_as_the_stratum_is_used_up() -> None:
    # 2 of 10,000 of 100,000: 20 - (20 - 3.5536) · sqrt(90,000 / 99,999) = 4.40 calls, rounded outward
    assert stratum_interval(stratum(100_000, 10_000, 2))[0] * 100_000 == pytest.approx(4)


def test_three_hits_of_twenty_are_not_few() -> None:
    wanted = proportion_confint(3, 20, method="wilson")

    assert stratum_interval(stratum(10**12, 20, 3)) == pytest.approx(wanted, rel=1e-9)


def test_the_strata_are_combined_by_squares_of_their_distances() -> None:
    parts = [stratum(300, 50, 20, "error"), stratum(700, 60, 12)]
    (low_1, high_1), (low_2, high_2) = map(stratum_interval, parts)

    found = weighted_rate(parts)

    assert found is not None
    value = 0.3 * 0.4 + 0.7 * 0.2
    assert found.low == pytest.approx(value - sqrt((0.3 * (0.4 - low_1)) ** 2 + (0.7 * (0.2 - low_2)) ** 2))
    assert found.high == pytest.approx(
        value + sqrt((0.3 * (high_1 - 0.4)) ** 2 + (0.7 * (high_2 - 0.2)) ** 2)
    )


def test_the_bounds_of_a_stratum_are_whole_calls_and_contradict_nothing_that_was_seen() -> None:
    # 9 of 10 were reviewed, 1 of them wrong: of all ten, one or two are. Without rounding it were 19.8 %.
    assert stratum_interval(stratum(10, 9, 1)) == (pytest.approx(0.1), pytest.approx(0.2))


def test_a_stratum_that_nobody_reviewed_leaves_no_rate_and_is_named() -> None:
    parts = [stratum(80, 0, 0, "error"), stratum(20, 5, 1), stratum(0, 0, 0, "rare")]

    assert weighted_rate(parts) is None
    assert unseen(parts) == ["error"]
    assert weighted_rate([]) is None


@st.composite
def some_strata(draw: st.DrawFn) -> list[Stratum]:
    found = []
    for place in range(draw(st.integers(1, 4))):
        calls = draw(st.integers(1, 400))
        reviewed = draw(st.integers(1, calls))
        found.append(stratum(calls, reviewed, draw(st.integers(0, reviewed)), f"s{place}"))
    return found


@given(some_strata())
def test_a_weighted_rate_lies_in_its_interval_and_that_within_what_can_be(parts: list[Stratum]) -> None:
    found = weighted_rate(parts)

    assert found is not None
    total = sum(one.calls for one in parts)
    least = sum(one.hits for one in parts) / total
    most = 1 - sum(one.reviewed - one.hits for one in parts) / total
    assert least - 1e-12 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= most + 1e-12


@given(some_strata())
def test_where_every_call_is_reviewed_the_rate_is_certain(parts: list[Stratum]) -> None:
    whole = [stratum(one.reviewed, one.reviewed, one.hits, one.name) for one in parts]

    found = weighted_rate(whole)

    assert found is not None
    rate = sum(one.hits for one in whole) / sum(one.calls for one in whole)
    assert (found.low, found.value, found.high) == (pytest.approx(rate),) * 3


@given(some_strata())
def test_what_is_no_hit_has_the_mirrored_interval(parts: list[Stratum]) -> None:
    found = weighted_rate(parts)
    other = weighted_rate(
        [stratum(one.calls, one.reviewed, one.reviewed - one.hits, one.name) for one in parts]
    )

    assert found is not None
    assert other is not None
    assert (found.low, found.high) == (pytest.approx(1 - other.high), pytest.approx(1 - other.low))


CALLS, ERRORS, SEEDS = 2_000, 80, 2_000
SETTINGS = [(rate, size) for rate in (0.02, 0.05, 0.15) for size in (100, 200, 400)]


@pytest.fixture(scope="module")
def simulated() -> dict[tuple[float, int], dict[str, float]]:
    """What errors-first queues say of populations with 4 % errors, 70 % of which are judged bad; for each
    rate of bad calls among the others and each size of the queue: coverage, and the rates on average.
    """
    sums = {setting: np.zeros(4) for setting in SETTINGS}
    for seed in range(SEEDS):
        by_number = sorted(range(CALLS), key=lambda call: draw_number(seed, str(call)))
        errors = [call for call in by_number if call < ERRORS]
        others = [call for call in by_number if call >= ERRORS]
        for rate in (0.02, 0.05, 0.15):
            chance = np.random.default_rng([seed, round(rate * 100)]).random(CALLS)
            bad = np.where(np.arange(CALLS) < ERRORS, chance < 0.7, chance < rate)
            for size in (100, 200, 400):
                taken = sizes({"error": ERRORS, "rest": CALLS - ERRORS}, size, first=["error"])
                hits = int(bad[errors[: taken["error"]]].sum()), int(bad[others[: taken["rest"]]].sum())
                found = weighted_rate(
                    [
                        stratum(ERRORS, taken["error"], hits[0], "error"),
                        stratum(CALLS - ERRORS, taken["rest"], hits[1]),
                    ]
                )
                assert found is not None
                truth = bad.mean()
                covered = found.low - 1e-12 <= truth <= found.high + 1e-12
                sums[rate, size] += (covered, truth, sum(hits) / size, found.value)
    names = ("coverage", "truth", "raw", "weighted")
    return {setting: dict(zip(names, total / SEEDS, strict=True)) for setting, total in sums.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "size"), SETTINGS)
def test_the_weighted_interval_covers_the_rate_of_all_calls_and_the_raw_rate_is_far_off(
    simulated, rate, size
) -> None:
    found = simulated[rate, size]

    assert found["coverage"] >= 0.935
    assert found["weighted"] == pytest.approx(found["truth"], abs=0.004)
    assert found["raw"] > 1.4 * found["truth"]
