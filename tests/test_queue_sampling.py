"""How many calls are drawn of each stratum, in what order, and who is asked: rules for every frame."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from quality_lab.errors import UsageError
from quality_lab.sampling import FLOOR, assigned, draw_number, in_order, rare_tools, sizes

NAMES = ("disputed", "error", "rare", "rest")
frames = st.dictionaries(st.sampled_from(NAMES), st.integers(1, 5_000), min_size=1)


@given(frames, st.integers(4, 600), st.lists(st.sampled_from(NAMES), unique=True))
def test_probabilities_sum_to_the_size_and_none_is_below_a_fifth_of_a_plain_draw(frame, size, first) -> None:
    taken = sizes(frame, size, first=first)

    total = sum(frame.values())
    probabilities = {name: Fraction(taken[name], count) for name, count in frame.items()}
    assert sum(probabilities[name] * count for name, count in frame.items()) == min(size, total)
    assert all(0 < probability <= 1 for probability in probabilities.values())
    assert all(probability >= FLOOR * min(size, total) / total for probability in probabilities.values())


@given(frames, st.integers(4, 600))
def test_what_a_strategy_prefers_is_used_up_before_the_rest_gets_more_than_its_floor(frame, size) -> None:
    taken = sizes(frame, size, first=["error"])

    floor = ceil(FLOOR * size)
    if taken.get("error", 0) < frame.get("error", 0):
        total = sum(frame.values())
        others = {name: count for name, count in frame.items() if name != "error"}
        assert {name: taken[name] for name in others} == {
            name: ceil(Fraction(floor * count, total)) for name, count in others.items()
        }


def test_equal_parts_go_to_what_is_preferred_and_what_one_cannot_take_to_the_others() -> None:
    # floor 8: 1 + 1 + 1 + 8 by rounding up, so 29 are left; disputed has but 4 more, the others share 25
    taken = sizes({"disputed": 5, "error": 80, "rare": 50, "rest": 1920}, 40, first=NAMES[:3])

    assert taken == {"disputed": 5, "error": 14, "rare": 13, "rest": 8}


def test_fewer_calls_than_strata_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 2 calls, one for each of error, rest; came 1"):
        sizes({"error": 3, "rest": 9}, 1, first=["error"])


def test_the_numbers_of_calls_are_even_and_independent_of_the_purpose() -> None:
    numbers = [int(draw_number(7, str(call)), 16) / 16**32 for call in range(5_000)]
    others = [int(draw_number(7, str(call), "who"), 16) / 16**32 for call in range(5_000)]

    assert stats.kstest(numbers, "uniform").pvalue > 0.01
    assert abs(stats.pearsonr(numbers, others).statistic) < 0.05


def test_the_number_of_a_call_is_the_md5_that_sql_makes() -> None:
    # md5 of "7:draw:0a0b", by md5sum
    assert draw_number(7, "0a-0b") == "382397c62bef490af330cb4d9fd6c2ec"


@given(
    st.dictionaries(
        st.sampled_from(NAMES), st.lists(st.uuids().map(str), min_size=1, unique=True), min_size=1
    ),
    st.data(),
)
def test_whoever_stops_early_leaves_about_the_same_part_of_each_stratum(drawn, data) -> None:
    order = in_order(drawn)
    stop = data.draw(st.integers(0, len(order)))

    reviewed = Counter(stratum for stratum, _ in order[:stop])
    assert sorted(order) == sorted((name, uid) for name, calls in drawn.items() for uid in calls)
    for name, calls in drawn.items():
        assert [uid for stratum, uid in order if stratum == name] == calls
        assert abs(reviewed[name] - len(calls) * stop / len(order)) <= len(drawn)


def test_a_stratum_of_one_call_stands_in_the_middle_and_ties_go_by_the_order_of_strata() -> None:
    # the middles of equal parts: error at 1/2; rest at 1/6, 3/6 and 5/6
    order = in_order({"error": ["a"], "rest": ["b", "c", "d"]})

    assert [uid for _, uid in order] == ["b", "a", "c", "d"]


people = st.lists(st.sampled_from(["dana", "lee", "priya", "tomas"]), min_size=2, unique=True)


@given(st.lists(st.uuids().map(str), unique=True, max_size=80), people, st.floats(0, 1), st.integers(0, 9))
def test_calls_are_shared_evenly_and_the_overlap_goes_to_pairs(calls, reviewers, overlap, seed) -> None:
    asked = assigned(calls, reviewers, seed=seed, overlap=overlap)

    assert set(asked) == set(calls)
    twice = [names for names in asked.values() if len(names) == 2]
    assert abs(len(twice) - overlap * len(calls)) <= 0.5 + 1e-9
    assert all(len(set(names)) == len(names) for names in asked.values())
    singles = Counter(names[0] for names in asked.values() if len(names) == 1)
    pairs = Counter(twice)
    for counts, every in ((singles, reviewers), (pairs, list(combinations(reviewers, 2)))):
        if counts:
            assert max(counts.values()) - min(counts[one] for one in every) <= 1
    assert assigned(sorted(calls), reviewers, seed=seed, overlap=overlap) == asked


@given(
    calls=st.lists(st.uuids().map(str), max_size=30, unique=True),
    reviewers=st.lists(st.sampled_from("abcde"), min_size=1, max_size=5, unique=True),
    overlap=st.floats(0, 1),
    seed=st.integers(0, 99),
    data=st.data(),
)
def test_nobody_is_asked_of_a_call_they_spoke_of_where_somebody_else_can_be(
    calls, reviewers, overlap, seed, data
) -> None:
    overlap = overlap if len(reviewers) > 1 else 0
    spoke = {uid: data.draw(st.lists(st.sampled_from(reviewers), unique=True)) for uid in calls[::2]}

    plain = assigned(calls, reviewers, seed=seed, overlap=overlap)
    found = assigned(calls, reviewers, seed=seed, overlap=overlap, spoke=spoke)

    for uid, asked in found.items():
        fresh = [one for one in reviewers if one not in spoke.get(uid, ())]
        assert len(set(asked)) == len(asked) == len(plain[uid])
        assert len(set(asked) & set(fresh)) == min(len(asked), len(fresh))


def test_who_spoke_of_a_call_swaps_it_for_another_and_everybody_keeps_as_many() -> None:
    calls = [f"{number:032x}" for number in range(20)]
    plain = assigned(calls, ["dana", "lee"], seed=7, overlap=0)
    danas = [uid for uid in calls if plain[uid] == ("dana",)][:4]

    found = assigned(calls, ["dana", "lee"], seed=7, overlap=0, spoke=dict.fromkeys(danas, ["dana"]))

    assert {found[uid] for uid in danas} == {("lee",)}
    assert Counter(asked for (asked,) in found.values()) == {"dana": 10, "lee": 10}


def test_rare_tools_have_a_tenth_of_the_calls_at_most() -> None:
    assert rare_tools({"quote": 90, "a": 5, "b": 5}) == ("a", "b")
    assert rare_tools({"quote": 90, "a": 5, "b": 6}) == ("a",)
    assert rare_tools({"quote": 8, "pay": 8}) == ()
    assert rare_tools({}) == ()
