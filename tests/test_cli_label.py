"""What a person says on the command line counts at once, stays in the journal, and can be taken back."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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


HOLDER = (
    "import sys, duckdb; held = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.readline()"
)


@contextmanager
def held(home: Path) -> Iterator[int]:
    """Let another process hold the database meanwhile; yield its number."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(home / "data" / "quality.duckdb")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield holder.pid
        holder.kill()


@pytest.mark.parametrize("verb", ["label", "adjudicate"])
def test_with_a_whole_uid_and_a_tenant_a_held_database_does_not_keep_a_label_from_being_written(
    home: Path, tmp_path: Path, verb: str
) -> None:
    file = write(tmp_path / "north.jsonl", trace(9))
    run("--home", home, "load", file, "--tenant", "north")
    [north] = run("--home", home, "calls", "--tenant", "north", "--json").document
    call = north["call_uid"]
    words = ("--reviewer", "dana", "--tenant", "north", "--wait", "0.2", "--json")

    with held(home) as holder:
        said = run("--home", home, verb, call.replace("-", ""), "bad_args", *words)
    before = run("--home", home, "calls", "--label", "bad_args", "--json").document
    run("--home", home, "load", file, "--tenant", "north")

    assert (said.code, said.document["in_lab"]) == (0, False)
    assert "safe in the journal; the next load brings it" in said.err
    assert f"process {holder}" in said.err
    [line] = journal(home)
    assert (line["tenant"], line["call"]) == ("north", {"call_uid": call})
    assert before == []
    assert [
        row["call_uid"] for row in run("--home", home, "calls", "--label", "bad_args", "--json").document
    ] == [call]


def test_that_a_line_waits_for_the_next_load_is_said_once(home: Path) -> None:
    run("--home", home, "label", first_call(home), "bad_args", "--reviewer", "dana")

    with held(home):
        undone = run("--home", home, "undo", "--reviewer", "dana", "--wait", "0.1")

    assert (undone.code, undone.out) == (0, "")
    assert undone.err.count("the next load brings it") == 1
    assert undone.err.splitlines()[-1].startswith("retraction of ")


@pytest.mark.parametrize("tenant", [[], ["--tenant", "default"]], ids=["no tenant", "a beginning"])
def test_a_call_that_cannot_be_looked_up_in_a_held_database_gets_no_label_and_is_told_why(
    home: Path, tenant: list[str]
) -> None:
    call = first_call(home)

    with held(home) as holder:
        said = run("--home", home, "label", call[:20] if tenant else call, "other", *tenant, "--wait", "0.2")

    assert said.code == 3
    assert "nothing was written, as the call cannot be looked up" in said.err
    assert f"process {holder}" in said.err
    assert not (home / "data/journal/labels.jsonl").exists()


def test_a_label_on_a_call_of_another_tenant_than_named_is_refused(home: Path) -> None:
    said = run("--home", home, "label", first_call(home), "other", "--tenant", "north")

    assert said.code == 2
    assert "is one of default" in said.err
    assert not (home / "data/journal/labels.jsonl").exists()
