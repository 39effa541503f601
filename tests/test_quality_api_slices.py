"""A full page is asked for again in parts: nothing is lost without a word, nothing comes twice, no end is missed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality_lab.quality_api.slices import Filter, Gathered, Plan, Row, gather

LABELS = ("good", "bad")
LIMIT = 3
CLOSED = Plan(limit=LIMIT, filters=(Filter(name="label", values=LABELS),))
PLAN = Plan(limit=LIMIT, filters=(*CLOSED.filters, Filter(name="tool")))
WITH_TALKS = Plan(limit=LIMIT, filters=(*PLAN.filters, Filter(name="talk", alone=True)))

Thing = tuple[str, str, str]  # label, tool, talk


def asking(things: Sequence[Thing]) -> Callable[[Mapping[str, str]], list[Row]]:
    """Return an API that holds *things*, the last of them the newest, and gives the newest three that fit."""

    def ask(filters: Mapping[str, str]) -> list[Row]:
        found = []
        for key, (label, tool, talk) in reversed(list(enumerate(things))):
            known = {"label": label, "tool": tool, "talk": talk}
            if all(known[name] == value for name, value in filters.items()):
                found.append(Row(text=str(key), key=key, names={"tool": tool, "talk": talk}))
        return found[:LIMIT]

    return ask


def keys(gathered: Gathered) -> list[int | str]:
    return [row.key for row in gathered.rows]


things = st.lists(
    st.tuples(st.sampled_from(LABELS), st.sampled_from("abcd"), st.sampled_from("xyz")), max_size=30
)


@given(things)
def test_what_is_not_called_truncated_is_whole_and_no_row_comes_twice(held):
    for plan in (CLOSED, PLAN, WITH_TALKS):
        came = gather(asking(held), plan)

        assert len(set(keys(came))) == len(came.rows)
        assert came.possibly_truncated or sorted(keys(came)) == list(range(len(held)))


@given(things)
def test_a_slice_that_is_asked_for_is_asked_for_once(held):
    asked: list[Mapping[str, str]] = []
    ask = asking(held)

    gather(lambda filters: asked.append(dict(filters)) or ask(filters), WITH_TALKS)  # type: ignore[func-returns-value]  # append gives None on purpose

    assert len({tuple(sorted(filters.items())) for filters in asked}) == len(asked)


def test_a_page_that_is_not_full_is_all_there_is():
    came = gather(asking([("good", "a", "x")] * 2), WITH_TALKS)

    assert (len(came.rows), len(came.slices), came.possibly_truncated) == (2, 1, False)


def test_an_exactly_full_page_is_asked_for_in_parts_which_make_it_whole():
    came = gather(asking([("good", "a", "x"), ("bad", "a", "x"), ("bad", "b", "x")]), PLAN)

    assert [one.filters for one in came.slices] == [(), (("label", "good"),), (("label", "bad"),)]
    assert (len(came.rows), came.possibly_truncated) == (3, False)


def test_a_part_that_is_full_makes_the_whole_possibly_truncated_and_is_named():
    came = gather(asking([("bad", "a", "x")] * 4 + [("good", "a", "x")]), CLOSED)

    assert came.possibly_truncated
    assert [str(one) for one in came.full_to_the_end()] == ["no filter", "label bad"]
    assert len(came.rows) == 4


def test_learned_values_bring_more_yet_prove_nothing():
    came = gather(asking([("bad", "old", "x")] + [("bad", "a", "x"), ("bad", "b", "x")] * 2), PLAN)

    assert sorted(keys(came)) == [1, 2, 3, 4]  # nobody told of the tool `old`
    assert came.possibly_truncated


def test_values_that_were_met_elsewhere_are_asked_for_too():
    held = [("bad", "old", "x")] + [("bad", "a", "x"), ("bad", "b", "x")] * 2

    assert sorted(keys(gather(asking(held), PLAN, learned={"tool": {"old"}}))) == [0, 1, 2, 3, 4]


def test_what_a_part_teaches_leads_further():
    old = [("bad", "b", "y"), ("bad", "b", "x")]
    newest = [("bad", "a", "z"), ("bad", "a", "z"), ("bad", "a", "x")]  # a full page, which knows no `b`

    came = gather(asking(old + newest), WITH_TALKS)  # the talk x tells of b, and the slice of b of the talk y

    assert sorted(keys(came)) == [0, 1, 2, 3, 4]


def test_a_conversation_is_asked_for_whole():
    held = [("good", "b", "x"), *[("bad", "a", "x")] * 4, ("bad", "a", "y")]

    came = gather(asking(held), WITH_TALKS)

    assert {row.names["tool"] for row in came.rows} == {"a", "b"}
    assert (("talk", "x"),) in [one.filters for one in came.slices]


@pytest.mark.parametrize(("total", "truncated"), [(4, False), (5, True), (None, True)])
def test_a_count_of_the_api_proves_what_parts_cannot(total, truncated):
    held = [("bad", "a", "x"), ("bad", "b", "x")] * 2
    asked = []

    came = gather(asking(held), PLAN, overview=lambda: (asked.append(1) or total, {"c"}))  # type: ignore[func-returns-value]  # append gives None on purpose

    assert came.possibly_truncated is truncated
    assert came.learned["tool"] == {"a", "b", "c"}
    assert len(asked) == 1


def test_the_requests_are_bounded_and_that_is_said():
    came = gather(asking([("bad", "a", "x"), ("good", "b", "y")] * 9), WITH_TALKS, most_requests=4)

    assert (len(came.slices), came.stopped, came.possibly_truncated) == (4, True, True)


def test_an_api_that_heeds_no_filter_is_not_asked_on_and_on():
    page = asking([("bad", "a", "x"), ("good", "b", "y"), ("bad", "c", "z")])({})
    rows = [Row(text=row.text, key=row.key, names={**row.names, "label": "bad"}) for row in page]

    came = gather(lambda _: rows, WITH_TALKS)

    assert [(str(one), one.heeded) for one in came.slices] == [
        ("no filter", True),
        ("label good", False),
        ("label bad", True),
        *[(f"label bad, tool {tool}", False) for tool in "abc"],
    ]
    assert (len(came.rows), came.possibly_truncated) == (3, True)


def test_of_a_row_that_came_changed_the_later_stands():
    pages = iter([[Row(text=f"v{n}", key=7) for n in range(3)], [Row(text="newest", key=7)], []])

    came = gather(lambda _: next(pages), CLOSED)

    assert [row.text for row in came.rows] == ["newest"]
