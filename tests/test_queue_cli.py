"""`quality-lab queue` as people type it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Ran, run
from test_queue_drawn import a_lab


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return a_lab(tmp_path).home


def queue(home: Path, *words: object) -> Ran:
    return run("queue", "--home", home, *words)


def draw(home: Path, *words: object) -> Ran:
    return queue(home, "--size", 10, "--seed", 7, "--reviewers", "dana, lee", "--author", "dana", *words)


def test_a_queue_is_drawn_and_says_who_reviews_what_with_what_probability(home: Path) -> None:
    drawn = draw(home, "--overlap", "0.2", "--json")

    assert drawn.code == 0
    rows = drawn.document
    assert len(rows) == 10
    assert {
        "call_uid",
        "conversation_id",
        "tool_name",
        "outcome",
        "stratum",
        "probability",
        "reviewers",
    } <= set(rows[0])
    assert sum(row["reviewers"] == ["dana", "lee"] for row in rows) == 2
    assert "dana: 0 of 6 done, 6 left" in drawn.err


def test_the_open_queue_shows_what_is_left_and_how_far_each_reviewer_is(home: Path) -> None:
    first, *others = draw(home, "--json").document
    run("label", first["call_uid"], "good_reply", "--reviewer", first["reviewers"][0], "--home", home)

    left = queue(home, "--json")
    table = queue(home)

    assert [row["call_uid"] for row in left.document] == [row["call_uid"] for row in others]
    assert len(queue(home, "--all", "--json").document) == 10
    assert f"{first['reviewers'][0]}: 1 of 5 done, 4 left" in table.out
    progress = run("queue", "progress", "--home", home, "--json").document
    assert [(row["reviewer"], row["asked"], row["left"]) for row in progress] == [
        (name, 5, 4 if name == first["reviewers"][0] else 5) for name in ("dana", "lee")
    ]


def test_queues_are_listed_and_weighed(home: Path) -> None:
    key = draw(home, "--json").document[0]["queue"]

    listed = run("queue", "list", "--home", home, "--json").document
    tools = run("queue", "failing-tools", key[:8], "--home", home, "--json").document
    labels = run("queue", "labels", "--home", home, "--json").document

    assert [(row["id"], row["calls"], row["drawn_from"], row["seed"]) for row in listed] == [(key, 10, 60, 7)]
    assert tools[0]["tool_name"] == "all tools"
    assert tools[0]["reason"] == "none_reviewed: error, rare, rest"
    assert [row["label"] for row in labels][-2:] == ["other", "disputed"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 1, "no queue was drawn"),
        (("--size", "1"), 2, "at least 3 calls"),
        (("--size", "5", "--strategy", "easy"), 2, "Invalid value for '--strategy'"),
        (("--size", "5", "--contact", "42"), 2, "not by contact"),
        (("--seed", "5"), 2, "drawn with a size"),
        (("--strategy", "errors"), 2, "--strategy: wanted with --size"),
        (("--size", "5", "--json", "list"), 2, "--size, --json: wanted after list"),
        (("--size", "5", "--tool", "nobody_calls_me"), 1, "no call is eligible"),
    ],
)
def test_what_cannot_be_drawn_has_its_exit_code(home: Path, words, code, said) -> None:
    ran = queue(home, *words)

    assert (ran.code, said in ran.err) == (code, True), ran.err


def test_where_no_queue_was_drawn_json_is_an_empty_list_and_that_may_be_fine(home: Path) -> None:
    bare, allowed = queue(home, "--json"), queue(home, "progress", "--json", "--allow-empty")

    assert (bare.code, bare.document) == (1, [])
    assert "no_data: no queue was drawn" in bare.err
    assert (allowed.code, allowed.document) == (0, [])


def test_a_question_without_an_answer_prints_one_document_all_the_same(tmp_path: Path) -> None:
    ran = run("--home", tmp_path, "disputes", "--json")

    assert (ran.code, ran.document) == (1, [])


def test_a_queue_that_asks_for_more_calls_than_there_are_says_how_many_there_are(home: Path) -> None:
    small = draw(home)
    run("undo", "--reviewer", "dana", "--home", home)
    drawn = queue(home, "--size", "100000", "--json")

    assert len(drawn.document) == 60
    assert "60 of the 100,000 calls asked for: that is all there is" in drawn.err
    assert "that is all there is" not in small.out + small.err
