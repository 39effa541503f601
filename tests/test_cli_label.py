"""What a person says on the command line counts at once, stays in the journal, and can be taken back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run
from test_store_loading import trace, write

from quality_lab.lab import open_lab
from quality_lab.store.rows import uid


@pytest.fixture
def home(tmp_path: Path) -> Path:
    where = tmp_path / "home"
    assert run("--home", where, "load", write(tmp_path / "traces.jsonl", trace(1), trace(2))).code == 0
    return where


def first_call(home: Path) -> str:
    return str(run("--home", home, "calls", "--json").document[0]["call_uid"])


def journal(home: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (home / "data/journal/labels.jsonl").read_text("utf-8").splitlines()]


def test_a_label_counts_at_once_and_stands_in_the_journal(home: Path) -> None:
    call = first_call(home)

    said = run(
        "--home",
        home,
        "label",
        call,
        "Bad args",
        "--note",
        "in baht",
        "--reviewer",
        "dana@example.com",
        "--json",
    )

    assert said.code == 0
    assert said.document["in_lab"] is True
    assert [
        row["labels"] for row in run("--home", home, "calls", "--label", "bad_args", "--json").document
    ] == [["bad_args"]]
    [line] = journal(home)
    assert (line["label"], line["note"], line["author"]) == ("bad_args", "in baht", "dana@example.com")


def test_a_label_that_is_taken_back_no_longer_counts_and_stays_in_the_journal(home: Path) -> None:
    run("--home", home, "label", first_call(home), "other", "--reviewer", "dana@example.com")

    undone = run("--home", home, "undo", "--reviewer", "dana@example.com")

    assert undone.code == 0
    assert len(journal(home)) == 1
    assert run("--home", home, "calls", "--label", "other", "--json").document == []
    again = run("--home", home, "undo", "--reviewer", "dana@example.com")
    assert (again.code, "no line by dana@example.com" in again.err) == (2, True)


def test_an_adjudication_settles_a_dispute(home: Path) -> None:
    call = first_call(home)
    run("--home", home, "label", call, "bad_args", "--reviewer", "dana@example.com")
    run("--home", home, "label", call, "good_reply", "--reviewer", "tomas@example.com")
    disputed = run("--home", home, "labels", "--json").document[-1]
    assert (disputed["label"], disputed["calls"]) == ("disputed", 1)

    run("--home", home, "adjudicate", call, "bad_args", "--reviewer", "priya@example.com")

    assert run("--home", home, "labels", "--json").document[-1]["calls"] == 0
    [tool] = run("--home", home, "failing-tools", "--json").document
    assert (tool["reviewed"], tool["judged_failure_rate"]) == (1, 1.0)


def test_expected_arguments_keep_every_digit(home: Path) -> None:
    written = '{"amount": 12345678901234567890.120}'
    run("--home", home, "label", first_call(home), "bad_args", "--expected-args", written)

    with open_lab(home).store.question() as connection:
        assert connection.execute("select expected_arguments from feedback").fetchall() == [(written,)]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("wrong",), 2, "good_reply, wrong_tool, missing_tool, bad_args, other"),
        (("bad_args", "--expected-args", "[1]"), 2, "wanted a JSON object"),
        (("bad_args", "--expected-args", "{"), 2, "wanted a JSON object"),
    ],
)
def test_a_label_that_cannot_be_is_refused_and_nothing_is_written(home, arguments, code, words):
    ended = run("--home", home, "label", first_call(home), *arguments)

    assert (ended.code, words in ended.err) == (code, True)
    assert not (home / "data/journal/labels.jsonl").exists()


def test_a_call_that_nobody_knows_is_refused(home: Path) -> None:
    ended = run("--home", home, "label", "ffff", "other")

    assert ended.code == 2
    assert "wanted the uid of a call" in ended.err


def test_a_label_on_a_call_that_comes_later_finds_its_call(home: Path, tmp_path: Path) -> None:
    later = uid("default", "quality_lab", "3")
    assert run("--home", home, "label", later, "wrong_tool").code == 0

    run("--home", home, "load", write(tmp_path / "late.jsonl", trace(3)))

    [row] = run("--home", home, "calls", "--label", "wrong_tool", "--json").document
    assert row["call_uid"].replace("-", "") == later


def test_a_label_lies_in_the_tenant_of_its_call(tmp_path: Path) -> None:
    home = tmp_path / "home"
    file = write(tmp_path / "traces.jsonl", trace(1))
    run("--home", home, "load", file, "--tenant", "north")
    run("--home", home, "load", file)
    [north] = run("--home", home, "calls", "--tenant", "north", "--json").document

    run("--home", home, "label", north["call_uid"], "bad_args")

    def labelled(tenant: str) -> int:
        rows = run("--home", home, "labels", "--tenant", tenant, "--json").document
        return int(sum(row["calls"] for row in rows if row["label"] == "bad_args"))

    assert [line.get("tenant") for line in journal(home)] == ["north"]
    assert (labelled("north"), labelled("default")) == (1, 0)
    exported = run("--home", home, "export", "feedback", "-", "--tenant", "north").out
    assert json.loads(exported)["label"] == "bad_args"
    assert run("--home", home, "export", "feedback", "-", "--tenant", "default").out == ""
