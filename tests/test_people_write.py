"""Who writes by a name that `data/people.toml` knows writes as the id, and stays one person."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Ran, run
from test_queue_drawn import a_lab

import quality_lab as ql
from quality_lab.jupyter import review


@pytest.fixture
def lab(tmp_path: Path) -> ql.Lab:
    lab = a_lab(tmp_path)
    (lab.home / "data" / "people.toml").write_text(
        '[people]\n3 = "Dana Ek"\n7 = "Kim"\n"kim@example.com" = "Kim"\n9 = "3"\n', encoding="utf-8"
    )
    return lab


def authors(lab: ql.Lab, shelf: str = "labels") -> list[str]:
    return [str(line["author"]) for line in lab.journal.lines(shelf)]


def say(lab: ql.Lab, verb: str, reviewer: str, *more: str) -> Ran:
    return run(verb, lab.calls()[0].call_uid, "bad_args", "--reviewer", reviewer, "--home", lab.home, *more)


@pytest.mark.parametrize("verb", ["label", "adjudicate"])
def test_a_name_that_one_id_has_is_written_as_that_id_and_that_is_said(lab, verb):
    by_name = say(lab, verb, "Dana Ek", "--json")
    by_id = say(lab, verb, "3")
    unknown = say(lab, verb, "Zoe")

    assert authors(lab) == ["3", "3", "Zoe"]
    assert by_name.document["author"] == "3"
    assert "Dana Ek is written as 3, in people.toml the id of that name" in by_name.err
    assert "is written as" not in by_id.err + unknown.err


def test_of_several_ids_the_one_that_wrote_last_is_taken_else_the_first_in_the_file(lab):
    first = say(lab, "label", "Kim")
    say(lab, "label", "kim@example.com")
    then = say(lab, "label", "Kim")

    assert authors(lab) == ["7", "kim@example.com", "kim@example.com"]
    assert (
        "Kim is written as 7, in people.toml of 7, kim@example.com the id that comes first there" in first.err
    )
    assert "the id that wrote in the journal last" in then.err


def test_an_id_goes_before_a_name_that_reads_the_same(lab):
    say(lab, "label", "3")  # the name of 9, and an id

    assert authors(lab) == ["3"]


def test_what_was_written_by_name_is_taken_back_by_name_or_id(lab):
    say(lab, "label", "Dana Ek")
    lab.journal.append("labels", dict.fromkeys(("label",), "other"), author="Dana Ek")  # before the file was
    newest, older = reversed([line["id"] for line in lab.journal.lines("labels")])

    undone = [
        run("undo", "--reviewer", name, "--home", lab.home, "--json").document for name in ("3", "Dana Ek")
    ]

    assert [(line["retracts"], line["author"]) for line in undone] == [(newest, "3"), (older, "3")]


def test_decisions_cases_and_reviews_by_name_are_the_ids(lab):
    for call in lab.calls()[:2]:
        lab.label(call.call_uid, "bad_args", reviewer="lee")
    lab.decide(lab.proposals()[0].id, "accept", reviewer="Dana Ek")
    lab.freeze(lab.calls(label="bad_args")[0].call_uid, reviewer="Dana Ek")
    shown = review(lab, lab.calls(limit=1), reviewer="Dana Ek")
    uid = shown.desk.call_uids[0]
    shown.desk.reply({"id": "1", "ask": "label", "uid": uid, "label": "other"})

    assert authors(lab, "decisions") == ["3"]
    assert set(authors(lab, "cases")) == {"3"}
    assert authors(lab)[-1] == "3"
    assert (shown.said, shown.state["reviewer"]) == ("A review of 1 call by Dana Ek.", "Dana Ek")


def test_a_queue_asks_each_person_once_by_id(lab):
    drawn = run(
        *("queue", "--size", 10, "--seed", 7, "--author", "Dana Ek", "--home", lab.home, "--json"),
        *("--reviewers", "Dana Ek,lee,3,lee", "--overlap", "0.2"),
    )
    again = lab.queue(size=10, seed=7, reviewers=["3", "lee"], overlap=0.2, author="3")
    [head] = [line for line in lab.journal.lines("queues") if line["record_type"] == "queue"]

    assert (head["author"], head["reviewers"]) == ("3", ["3", "lee"])
    assert {tuple(row["reviewers"]) for row in drawn.document} <= {
        ("3",),
        ("lee",),
        ("3", "lee"),
        ("lee", "3"),
    }
    assert "Dana Ek is named twice among the reviewers, and counted once" in drawn.err
    assert "lee is named twice among the reviewers, and counted once" in drawn.err
    assert "Dana Ek is written as 3" in drawn.err
    assert [call.call_uid for call in again] == [row["call_uid"] for row in json.loads(drawn.out)]


def test_one_person_named_twice_cannot_overlap(lab):
    alone = run("queue", "--size", 9, "--reviewers", "dana,dana", "--overlap", "0.2", "--home", lab.home)

    assert alone.code == 2
    assert not list(lab.journal.lines("queues"))
