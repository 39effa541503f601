"""What holds of every case: found by trying many, against an oracle that tries every assignment there is."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as some

from quality_lab.matching import Run, judge_run, read_rules, recorded_calls
from quality_lab.matching.assignment import cheapest, largest

TOOLS = some.sampled_from(["look", "book", "pay"])
ARGS = some.dictionaries(some.sampled_from("xyz"), some.integers(0, 2), max_size=3)
RULE = some.one_of(
    some.integers(0, 2),
    some.just({"$any": True}),
    some.just({"$absent": True}),
    some.lists(some.integers(0, 2), min_size=1, max_size=2).map(lambda held: {"$one_of": held}),
    some.integers(0, 2).map(lambda held: {"$default": held}),
)
ENTRY = some.fixed_dictionaries(
    {"tool": TOOLS},
    optional={
        "args": some.dictionaries(some.sampled_from("xyz"), RULE, max_size=2),
        "args_mode": some.sampled_from(["subset", "exact"]),
        "must_succeed": some.booleans(),
    },
)
CALL = some.fixed_dictionaries({
    "tool": TOOLS, "args": ARGS, "cycle": some.integers(0, 2),
    "error": some.sampled_from([False, False, True]), "result": some.just({}),
})  # fmt: skip
CALLS = some.lists(CALL, max_size=4).map(lambda calls: sorted(calls, key=lambda call: call["cycle"]))
DEMANDING = ["exact", "in_order", "any_order", "unordered"]
MODES = some.sampled_from([*DEMANDING, "only_from"])


def verdict(expected: dict[str, Any], calls: Sequence[dict[str, Any]]) -> str:
    return judge_run(read_rules(expected), Run(calls=recorded_calls(calls))).verdict


# ---- the oracle: rules by their words, assignments by trying all of them ----


def value_fits(rule: Any, there: bool, value: Any) -> bool:
    if not isinstance(rule, dict):
        return there and value == rule
    [(name, operand)] = rule.items()
    if name == "$any":
        return there
    if name == "$absent":
        return not there
    if name == "$one_of":
        return there and value in operand
    return not there or value == operand  # $default


def call_fits(entry: dict[str, Any], call: dict[str, Any]) -> bool:
    if entry["tool"] != call["tool"] or (entry.get("must_succeed", True) and call["error"]):
        return False
    rules = entry.get("args")
    if rules is None:
        return True
    if entry.get("args_mode") == "exact" and set(call["args"]) - set(rules):
        return False
    return all(value_fits(rule, key in call["args"], call["args"].get(key)) for key, rule in rules.items())


def holds(mode: str, entries: list[dict[str, Any]], calls: list[dict[str, Any]]) -> bool:
    if mode == "only_from":
        return all(any(call_fits(entry, call) for entry in entries) for call in calls)
    if mode in ("exact", "unordered") and len(entries) != len(calls):
        return False
    for chosen in itertools.permutations(range(len(calls)), len(entries)):
        in_turn = [calls[at]["cycle"] for at in chosen]
        if mode in ("exact", "in_order") and in_turn != sorted(in_turn):
            continue
        if all(call_fits(entry, calls[at]) for entry, at in zip(entries, chosen, strict=True)):
            return True
    return False


@settings(max_examples=400, deadline=None)
@given(MODES, some.lists(ENTRY, min_size=1, max_size=4), CALLS)
def test_where_any_assignment_exists_it_is_found_and_where_none_does_none_is(
    mode: str, entries: list[dict[str, Any]], calls: list[dict[str, Any]]
) -> None:
    came = verdict({"mode": mode, "calls": entries}, calls)

    assert came == ("PASS" if holds(mode, entries, calls) else "FAIL")


@settings(max_examples=150, deadline=None)
@given(CALLS.filter(bool))
def test_a_trajectory_against_itself_passes_in_every_mode_that_demands_calls(
    calls: list[dict[str, Any]],
) -> None:
    entries = [
        {"tool": call["tool"], "args": call["args"], "args_mode": "exact", "must_succeed": not call["error"]}
        for call in calls
    ]

    assert {mode: verdict({"mode": mode, "calls": entries}, calls) for mode in DEMANDING} == dict.fromkeys(
        DEMANDING, "PASS"
    )
    assert verdict({"mode": "only_from", "calls": entries}, calls) == "PASS"


@settings(max_examples=150, deadline=None)
@given(
    some.sampled_from(["any_order", "unordered", "only_from"]),
    some.lists(ENTRY, min_size=1, max_size=4),
    CALLS,
    some.randoms(use_true_random=False),
)
def test_the_order_in_which_expectations_are_listed_changes_nothing(
    mode: str, entries: list[dict[str, Any]], calls: list[dict[str, Any]], random: Any
) -> None:
    shuffled = random.sample(entries, len(entries))

    assert verdict({"mode": mode, "calls": shuffled}, calls) == verdict(
        {"mode": mode, "calls": entries}, calls
    )


@settings(max_examples=100, deadline=None)
@given(some.sampled_from(DEMANDING), CALL, some.integers(2, 4))
def test_one_call_never_satisfies_two_entries(mode: str, call: dict[str, Any], wishes: int) -> None:
    entry = {"tool": call["tool"], "must_succeed": False}

    assert verdict({"mode": mode, "calls": [entry] * wishes}, [call]) == "FAIL"
    assert verdict({"mode": mode, "calls": [{**entry, "times": wishes}]}, [call]) == "FAIL"
    assert verdict({"mode": mode, "calls": [{**entry, "times": wishes}]}, [call] * wishes) == "PASS"


@settings(max_examples=150, deadline=None)
@given(MODES, some.lists(ENTRY, min_size=1, max_size=3), CALLS, some.integers(0, 4))
def test_an_unrelated_extra_call_changes_only_what_speaks_of_extras(
    mode: str, entries: list[dict[str, Any]], calls: list[dict[str, Any]], place: int
) -> None:
    at = min(place, len(calls))
    cycle = calls[at - 1]["cycle"] if at else 0
    extra = {"tool": "unrelated", "args": {}, "cycle": cycle, "error": False, "result": {}}

    before = verdict({"mode": mode, "calls": entries}, calls)
    after = verdict({"mode": mode, "calls": entries}, [*calls[:at], extra, *calls[at:]])

    assert after == (before if mode in ("any_order", "in_order") else "FAIL")


@settings(max_examples=200, deadline=None)
@given(MODES, some.lists(ENTRY, min_size=1, max_size=3), CALLS.filter(bool), some.integers(0, 3))
def test_a_call_whose_content_was_not_kept_passes_only_what_passes_whatever_it_was(
    mode: str, entries: list[dict[str, Any]], calls: list[dict[str, Any]], place: int
) -> None:
    at = place % len(calls)
    blind = [dict(call) for call in calls]
    del blind[at]["args"]
    possible = [{key: value for key, value in zip("xyz", values, strict=True) if value < 3}
                for values in itertools.product(range(4), repeat=3)]  # fmt: skip
    truths = {
        holds(mode, entries, [*calls[:at], {**calls[at], "args": args}, *calls[at + 1 :]])
        for args in possible
    }

    came = verdict({"mode": mode, "calls": entries}, blind)

    assert came != "PASS" or truths == {True}
    assert came != "FAIL" or truths == {False}


@settings(max_examples=200, deadline=None)
@given(some.integers(1, 5), some.integers(0, 2), some.randoms(use_true_random=False))
def test_the_cheapest_pairing_costs_no_more_than_any_other(rows: int, spare: int, random: Any) -> None:
    costs = [[random.randint(0, 6) for _ in range(rows + spare)] for _ in range(rows)]

    chosen = cheapest(costs)

    assert len(set(chosen)) == rows
    assert sum(costs[row][column] for row, column in enumerate(chosen)) == min(
        sum(costs[row][column] for row, column in enumerate(columns))
        for columns in itertools.permutations(range(rows + spare), rows)
    )


@settings(max_examples=200, deadline=None)
@given(some.lists(some.integers(0, 31), min_size=1, max_size=5))
def test_the_largest_pairing_is_as_large_as_any(masks: list[int]) -> None:
    pairs = [column for column in largest(masks) if column >= 0]
    best = max(
        sum(mask >> column & 1 for mask, column in zip(masks, columns, strict=False))
        for columns in itertools.permutations(range(5), len(masks))
    )

    assert len(set(pairs)) == len(pairs) == best
