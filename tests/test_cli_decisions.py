"""Decisions about proposals, on the command line: lines of the journal whose fold is the proposal's state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Ran, run
from lab_builder import MONDAY, LabBuilder

from quality_lab.lab import open_lab


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A lab with one complaint about one tool: a call of Monday morning, and one that nobody dated."""
    lab = LabBuilder(tmp_path / "home")
    lab.label(lab.call("pay"), "bad_args")
    lab.store()
    return lab.home


def decide(home: Path, *words: object) -> Ran:
    [one] = run("--home", home, "proposals", "--json").document
    return run(
        "--home", home, "proposals", "decide", one["id"], *words, "--reviewer", "dana@example.com", "--json"
    )


def state(home: Path) -> tuple[str, bool]:
    [one] = run("--home", home, "proposals", "--json").document
    return one["state"], one["recurred"]


def later_call(home: Path) -> None:
    """Load a complaint about a call that was made at nine on that Monday."""
    file = home.parent / "later.jsonl"
    at = int(MONDAY.timestamp()) + 3600
    line = {
        "id": 9, "toolCallId": 7, "adminId": 3, "label": "bad_args", "note": None, "feedbackCreatedAt": at + 60,
        "conversationId": 5, "contactId": None, "messageId": None, "outboundQueueId": None, "source": "rag_reply",
        "toolName": "pay", "args": {}, "result": {}, "error": False, "cycle": 0, "toolCallIndex": 0,
        "latencyMs": None, "toolCallCreatedAt": at,
    }  # fmt: skip
    file.write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert run("--home", home, "load", file).code == 0


def test_a_decision_is_a_line_of_the_journal_and_the_state_from_now_on(home: Path) -> None:
    assert state(home) == ("pending", False)

    said = decide(home, "accept", "--owner", "tomas", "--due", "2026-06-15", "--expect", "under 5 %")

    assert said.code == 0
    assert state(home) == ("accepted", False)
    [line] = [
        json.loads(text) for text in (home / "data/journal/decisions.jsonl").read_text("utf-8").splitlines()
    ]
    assert (line["record_type"], line["fingerprint"], line["action"]) == (
        "decision",
        "schema_fix:rag_reply:pay:bad_args",
        "accept",
    )
    assert (line["owner"], line["due"], line["expectation"]) == ("tomas", "2026-06-15", "under 5 %")


def test_an_expectation_that_cannot_be_measured_is_taken_and_remarked_on(home: Path) -> None:
    unread = decide(home, "accept", "--expect", "blah")
    read = decide(home, "accept", "--expect", "under 5 %")

    assert (unread.code, unread.document["expectation"]) == (0, "blah")
    assert (
        'the expectation is kept, but cannot be measured: it names no limit such as "under 5 %"' in unread.err
    )
    assert 'one that can is "bad_args from 100 % to under 50 % by 1 March"' in unread.err
    assert (read.code, "expectation" in read.err) == (0, False)


def test_a_fault_on_a_call_made_after_the_decision_took_effect_has_recurred(home: Path) -> None:
    applied = ("apply", "--kind", "pull_request", "--ref", "PR-1", "--effective-at", "2026-06-01T08:30:00Z")
    decide(home, *applied)
    assert state(home) == ("applied", False)

    later_call(home)

    assert state(home) == ("applied", True)


def test_the_last_decision_stands_and_reopening_wipes_it(home: Path) -> None:
    decide(home, "dismiss", "--note", "compliance wants it")
    assert state(home)[0] == "dismissed"
    decide(home, "close")
    assert state(home)[0] == "closed"

    decide(home, "reopen")

    assert state(home) == ("pending", False)
    shown = run("--home", home, "proposals", "show", "schema_fix:rag_reply:pay:bad_args", "--json").document
    assert [one["action"] for one in shown["decisions"]] == ["dismiss", "close", "reopen"]
    assert [one["seen"] for one in shown["decisions"]] == [
        None,
        *(one["key"] for one in shown["decisions"][:2]),
    ]
    assert (shown["decided_at"], shown["flags"].count("decided_twice")) == (None, 0)


def test_a_decision_that_is_taken_back_leaves_the_one_before(home: Path) -> None:
    decide(home, "accept")
    last = decide(home, "dismiss").document

    assert run("--home", home, "undo", last["id"]).code == 0

    assert state(home)[0] == "accepted"


def test_two_decisions_on_the_same_state_are_flagged_and_the_later_stands(home: Path) -> None:
    decide(home, "accept")
    path = home / "data/journal/decisions.jsonl"
    [mine] = [json.loads(text) for text in path.read_text("utf-8").splitlines()]
    theirs = {**mine, "id": "f" * 32, "created_at": "2099-01-01T00:00:00Z", "action": "dismiss"}
    with path.open("a", encoding="utf-8") as file:  # as a merge of two journals leaves it
        file.write(json.dumps(theirs) + "\n")
    open_lab(home).load()

    [one] = run("--home", home, "proposals", "--json").document
    assert (one["state"], "decided_twice" in one["flags"]) == ("dismissed", True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("apply",), "a kind, and a ref or a url"),
        (("apply", "--kind", "pull_request"), "a kind, and a ref or a url"),
        (("apply", "--kind", "magic", "--ref", "x"), "magic"),
        (("accept", "--url", "ftp://example.com"), "http(s) URL"),
        (("accept", "--due", "soon"), "due: wanted a day"),
        (("accept", "--effective-at", "soon"), "effective-at: wanted a time"),
        (("forget",), "forget"),
    ],
)
def test_a_decision_that_cannot_be_is_wrong_usage(home: Path, words: tuple[str, ...], told: str) -> None:
    refused = decide(home, *words)

    assert (refused.code, told in refused.err) == (2, True)
    assert not (home / "data/journal/decisions.jsonl").exists()


def test_a_proposal_is_shown_with_its_reasons_and_an_unknown_one_is_not(home: Path) -> None:
    decide(home, "accept", "--owner", "tomas")
    shown = run("--home", home, "proposals", "show", "schema_fix:rag_reply:pay:bad_args")

    assert shown.code == 0
    assert all(words in shown.out for words in ("accepted", "To do:", "tomas"))
    assert run("--home", home, "proposals", "show", "nothing").code == 2


def test_a_proposal_that_upstream_tracks_is_decided_by_its_id(tmp_path: Path, repository: Path) -> None:
    demo = tmp_path / "demo"
    run("--home", demo, "load", repository / "data/demo/exports")

    def states() -> dict[str, Any]:
        rows = run("--home", demo, "proposals", "--json").document
        return {row["fingerprint"].split(":", 2)[2]: (row["state"], row["recurred"]) for row in rows}

    assert states()["compute_exchange_quote:bad_args"] == ("applied", True)

    assert run("--home", demo, "proposals", "decide", "12", "reopen").code == 0

    assert states()["compute_exchange_quote:bad_args"] == ("pending", False)
    assert states()["check_exchange_verification:wrong_tool"][0] == "dismissed"
