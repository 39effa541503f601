"""The journal: whole lines, whoever writes at the same time and whatever ends the writer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from quality_lab.errors import OutputError, UsageError
from quality_lab.journal import Journal

WRITER = """
import sys
from pathlib import Path
from quality_lab import journal
journal.os.fsync = lambda descriptor: None  # the disk's patience is not what is tried here
book = journal.Journal(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    book.append("labels", {"record_type": "label", "number": number, "note": "x" * 500}, author=sys.argv[3])
"""

RUNS = """
import sys
from pathlib import Path
from quality_lab import journal
journal.os.fsync = lambda descriptor: None
book = journal.Journal(Path(sys.argv[1]))
for run in range(30):
    book.extend("verdicts", [{"run": f"{sys.argv[2]}{run}"} for _ in range(200)], author=None)
"""


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "data" / "journal")


def test_a_line_carries_an_id_a_time_and_its_author(journal: Journal) -> None:
    now = datetime(2026, 6, 1, 12, tzinfo=UTC)

    line = journal.append(
        "labels", {"record_type": "label", "label": "bad_args"}, author="dana@example.com", now=now
    )

    assert line["created_at"] == "2026-06-01T12:00:00.000000Z"
    assert line["author"] == "dana@example.com"
    assert len(line["id"]) == 32
    assert json.loads(journal.path("labels").read_text("utf-8")) == line


def test_a_line_after_half_a_line_starts_on_a_line_of_its_own(journal: Journal) -> None:
    journal.append("labels", {"label": "other"}, author=None)
    with journal.path("labels").open("ab") as file:
        file.write(b'{"record_type":"label","id":"ha')

    journal.append("labels", {"label": "bad_args"}, author=None)

    assert [line["label"] for line in journal.lines("labels")] == ["other", "bad_args"]
    assert journal.path("labels").read_bytes().count(b"\n") == 3


def test_a_line_that_is_taken_back_stays_and_is_named(journal: Journal) -> None:
    first = journal.append("labels", {"label": "other"}, author="dana@example.com")

    journal.retract(first["id"], author="dana@example.com")

    assert journal.retracted() == {first["id"]}
    assert [line["id"] for line in journal.lines("labels")] == [first["id"]]
    with pytest.raises(UsageError, match="already"):
        journal.retract(first["id"], author="dana@example.com")
    with pytest.raises(UsageError, match="no line"):
        journal.retract("nowhere", author="dana@example.com")


def test_the_latest_line_is_ones_own_and_still_stands(journal: Journal) -> None:
    kept = journal.append("labels", {"label": "other"}, author="dana@example.com")
    gone = journal.append("labels", {"label": "bad_args"}, author="dana@example.com")
    journal.append("labels", {"label": "good_reply"}, author="tomas@example.com")
    journal.retract(gone["id"], author="dana@example.com")

    latest = journal.latest(authors={"dana@example.com"})

    assert latest is not None
    assert latest["id"] == kept["id"]


def test_a_lone_surrogate_is_written_as_its_escape(journal: Journal) -> None:
    journal.append("labels", {"note": "cut \ud83d"}, author=None)

    assert [line["note"] for line in journal.lines("labels")] == ["cut \ud83d"]
    assert b"\\ud83d" in journal.path("labels").read_bytes()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")

    with pytest.raises(OutputError, match="journal"):
        Journal(tmp_path / "data" / "journal").append("labels", {}, author=None)


@pytest.mark.slow  # two processes and 20,000 lines
def test_two_processes_that_append_at_once_leave_whole_lines_only(journal: Journal) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(journal.folder), "10000", name])
        for name in ("a", "b")
    ]

    assert [writer.wait() for writer in writers] == [0, 0]

    raw = journal.path("labels").read_bytes().splitlines()
    lines = [json.loads(line) for line in raw]
    assert len(lines) == 20_000
    assert len({line["id"] for line in lines}) == 20_000
    for name in ("a", "b"):
        assert [line["number"] for line in lines if line["author"] == name] == list(range(10_000))


@pytest.mark.slow  # ten writers, each killed
def test_a_writer_that_is_killed_costs_its_own_line_at_most(journal: Journal) -> None:
    for round_ in range(10):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(journal.folder), "1000000", f"w{round_}"]
        )
        while not journal.path("labels").exists() or not any(
            line["author"] == f"w{round_}" for line in journal.lines("labels")
        ):
            time.sleep(0.02)
        time.sleep(0.01 * round_)
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()

    journal.append("labels", {"number": -1}, author="after")

    raw = [line for line in journal.path("labels").read_bytes().split(b"\n") if line]
    whole = list(journal.lines("labels"))
    assert len(raw) - len(whole) <= 10
    for round_ in range(10):
        numbers = [line["number"] for line in whole if line["author"] == f"w{round_}"]
        assert numbers == list(range(len(numbers)))
    assert whole[-1]["author"] == "after"


def test_many_lines_of_one_moment_stand_together_whoever_else_writes(journal: Journal) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", RUNS, str(journal.folder), name]) for name in ("a", "b")
    ]

    ended = [writer.wait(timeout=60) for writer in writers]

    lines = list(journal.lines("verdicts"))
    changes = sum(one["run"] != other["run"] for one, other in pairwise(lines))
    assert ended == [0, 0]
    assert len({line["id"] for line in lines}) == len(lines) == 2 * 30 * 200
    assert changes == 2 * 30 - 1
    assert len({line["created_at"] for line in lines if line["run"] == "a0"}) == 1


def test_no_entry_makes_no_file(journal: Journal) -> None:
    written = journal.extend("verdicts", [], author=None)

    assert written == []
    assert not journal.folder.exists()
