"""The desk at which proposals are decided: messages of a browser in, decisions and state out."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from lab_builder import LabBuilder

import quality_lab as ql
from quality_lab.journal import Journal
from quality_lab.jupyter import decide
from quality_lab.jupyter.decide_desk import DecideDesk

DANA = "dana@example.com"


class Browser:
    """What a page says to a desk, and what it gets."""

    def __init__(self, desk: DecideDesk) -> None:
        self.desk = desk
        self._ids: Iterator[int] = itertools.count()

    def ask(self, what: str, **more: Any) -> dict[str, Any]:
        return self.desk.reply({"id": str(next(self._ids)), "ask": what, **more})

    def states(self) -> list[str]:
        return [item["state"] for item in self.desk.state()["items"]]


@pytest.fixture
def lab(tmp_path) -> ql.Lab:
    builder = LabBuilder(tmp_path)
    for number, call in enumerate(builder.calls(5, "pay", arguments='{"amount":1}')):
        builder.label(call, "bad_args", note=f"note {number}")
    for call in builder.calls(2, "look_up"):
        builder.label(call, "wrong_tool")
    builder.store()
    return ql.open(tmp_path)


@pytest.fixture
def browser(lab) -> Browser:
    return Browser(DecideDesk(lab, [one.id for one in lab.proposals()], decider=DANA))


def worst(browser: Browser) -> str:
    return str(browser.desk.state()["items"][0]["id"])


def test_a_decision_is_one_line_of_the_journal_with_all_that_was_said(lab, browser):
    reply = browser.ask(
        "decide",
        proposal=worst(browser),
        action="apply",
        kind="pull_request",
        ref="PR 41",
        url="https://example.com/41",
        owner="tomas",
        due="2026-07-01",
        expect="under 5 %",
        note=" at last ",
    )

    (line,) = lab.journal.lines("decisions")
    given = {
        name: line[name] for name in ("action", "kind", "ref", "url", "owner", "due", "expectation", "note")
    }
    assert reply["ok"]
    assert given == {
        "action": "apply",
        "kind": "pull_request",
        "ref": "PR 41",
        "url": "https://example.com/41",
        "owner": "tomas",
        "due": "2026-07-01",
        "expectation": "under 5 %",
        "note": "at last",
    }
    assert line["author"] == DANA
    assert browser.states() == ["applied", "pending"]
    assert [one["action"] for one in reply["card"]["decisions"]] == ["apply"]


def test_a_decision_in_a_cell_says_what_was_decided_and_that_its_expectation_cannot_be_measured(lab):
    said = lab.decide(lab.proposals()[0].id, "accept", expect="blah", reviewer=DANA)

    assert str(said).startswith(
        f"accept, by {DANA}: line {said.line['id']} of the journal; the expectation is kept"
    )
    assert "cannot be measured" in said._repr_html_()


def test_an_expectation_that_cannot_be_measured_is_kept_and_remarked_on_at_once(lab, browser):
    unread = browser.ask("decide", proposal=worst(browser), action="accept", expect="blah")
    far = browser.ask("decide", proposal=worst(browser), action="accept", expect="from 18 % to under 5 %")
    fits = browser.ask("decide", proposal=worst(browser), action="accept", expect="under 5 %")

    form = "bad_args from 100 % to under 50 % by 1 March"  # five of five calls were judged bad_args
    assert [line["expectation"] for line in lab.journal.lines("decisions")] == [
        *("blah", "from 18 % to under 5 %", "under 5 %"),
    ]
    assert "cannot be measured" in unread["remark"]
    assert form in unread["remark"]
    assert "says from 18 %, and measured now is 100 %" in far["remark"]
    assert fits["remark"] is None
    assert [one["expect"] for one in browser.desk.state()["items"]] == [
        form,
        "wrong_tool from 100 % to under 50 % by 1 March",
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"action": "apply"}, "to apply takes a kind, and a ref or a url"),
        ({"action": "apply", "kind": "other"}, "to apply takes a kind, and a ref or a url"),
        ({"action": "apply", "kind": "other", "url": "javascript:alert(1)"}, "http(s) URL"),
        ({"action": "accept", "due": "soon"}, "due: wanted a day"),
        ({"action": "shrug"}, "wanted one of accept, apply"),
        ({}, "wanted one of accept, apply"),
    ],
)
def test_what_the_library_refuses_is_told_in_its_words_and_nothing_is_written(lab, browser, given, said):
    reply = browser.ask("decide", proposal=worst(browser), **given)

    assert (reply["ok"], reply["refused"]) == (False, True)
    assert said in reply["error"]
    assert list(lab.journal.lines("decisions")) == []
    assert browser.states() == ["pending", "pending"]


def test_a_card_tells_three_examples_as_the_exchanges_they_were(browser):
    card = browser.ask("card", proposal=worst(browser))["card"]

    assert len(card["examples"]) == 3
    assert card["more"] == 2
    kinds = [[step["kind"] for step in one["steps"]] for one in card["examples"]]
    assert kinds == [["called", "labelled"]] * 3
    assert {one["steps"][0]["arguments"] for one in card["examples"]} == {'{"amount": 1}'}
    assert all(one["steps"][1]["text"].startswith("note ") for one in card["examples"])


def test_a_case_is_made_of_the_example_that_was_pointed_at_and_undo_takes_back_both_lines(lab, browser):
    proposal = worst(browser)
    second = browser.ask("card", proposal=proposal)["card"]["examples"][1]["uid"]

    made = browser.ask("case", proposal=proposal, uid=second, expect="an amount above 10")
    (case,) = lab.cases()
    states = browser.states()
    taken = browser.ask("undo")

    assert made["ok"]
    assert case.id == made["case"]
    assert case.call_uid == second
    assert made["card"]["decisions"][-1]["words"][:2] == [
        ["kind", "regression case"],
        ["ref", f"REG-{case.id}"],
    ]
    assert states == ["applied", "pending"]
    assert taken["ok"]
    assert browser.states() == ["pending", "pending"]
    assert len(lab.cases()) == 0


HOLDER = (
    "import sys, time, duckdb; held = duckdb.connect(sys.argv[1]); print('held', flush=True); time.sleep(60)"
)


def test_a_database_that_another_process_takes_once_the_case_is_written_leaves_no_case_without_its_decision(
    lab, monkeypatch
):
    hurried = ql.open(lab.home, wait_s=0.2)
    browser = Browser(DecideDesk(hurried, [one.id for one in lab.proposals()], decider=DANA))
    proposal = worst(browser)
    uid = browser.ask("card", proposal=proposal)["card"]["examples"][0]["uid"]
    append = Journal.append
    holders: list[subprocess.Popen[bytes]] = []

    def appended(journal: Journal, shelf: str, *arguments: Any, **named: Any) -> dict[str, Any]:
        line = append(journal, shelf, *arguments, **named)
        if not holders:
            holding = [sys.executable, "-c", HOLDER, str(lab.store.database)]
            holders.append(subprocess.Popen(holding, stdout=subprocess.PIPE))
            assert holders[0].stdout is not None
            holders[0].stdout.readline()
        return line

    monkeypatch.setattr(Journal, "append", appended)
    asked = {"id": "c7", "ask": "case", "proposal": proposal, "uid": uid}
    made = browser.desk.reply(asked)
    again = browser.desk.reply(asked)
    for holder in holders:
        with holder:
            holder.kill()
    browser.ask("ping", proposal=proposal)
    (case,) = lab.cases()
    states = browser.states()
    taken = browser.ask("undo")

    assert (len(holders), made["ok"], made["case"]) == (1, True, case.id)
    assert made["notice"] == "the lab knows it with the next load"
    assert again == made
    (decision,) = lab.journal.lines("decisions")
    assert decision["ref"] == f"REG-{case.id}"
    assert states == ["applied", "pending"]
    assert taken["ok"]
    assert browser.states() == ["pending", "pending"]
    assert len(lab.cases()) == 0


def test_the_same_case_is_not_made_twice(lab, browser):
    proposal = worst(browser)
    uid = browser.ask("card", proposal=proposal)["card"]["examples"][0]["uid"]

    browser.ask("case", proposal=proposal, uid=uid)
    again = browser.ask("case", proposal=proposal, uid=uid)

    assert again["refused"]
    assert "it is here already" in again["error"]
    assert len(lab.cases()) == 1


def test_undo_takes_back_the_decisions_of_this_page_and_no_other(lab, browser):
    proposal = worst(browser)
    lab.decide(proposal, "accept", reviewer=DANA)

    nothing = browser.ask("undo")
    browser.ask("decide", proposal=proposal, action="dismiss")
    taken = browser.ask("undo")

    assert nothing["error"] == "nothing was decided here that could be taken back"
    assert taken["proposal"] == proposal
    assert browser.states()[0] == "accepted"


def test_a_page_may_hold_some_proposals_alone(lab):
    rows = lab.proposals()

    widget = decide(lab, [rows[1], rows[1].id], reviewer=DANA)

    assert [item["id"] for item in widget.state["items"]] == [rows[1].id]
    assert widget.said == f"Decisions on 1 proposal by {DANA}."
    assert widget.desk.reply({"id": "1", "ask": "card", "proposal": rows[0].id})["refused"]


def test_a_lab_without_proposals_has_an_empty_page(tmp_path):
    assert decide(ql.open(tmp_path), reviewer=DANA).state["items"] == []


def test_no_trace_text_but_names_is_kept_in_the_widget(lab):
    widget = decide(lab, reviewer=DANA)

    kept = json.dumps(widget.get_state(), default=str)

    assert "pay" in kept
    assert "note 1" not in kept


def test_anothers_decision_shows_on_the_next_ping(lab, browser):
    proposal = worst(browser)
    quiet = browser.ask("ping", proposal=proposal)
    lab.decide(proposal, "dismiss", reviewer="kim@example.com")

    news = browser.ask("ping", proposal=proposal)

    assert "card" not in quiet
    assert news["card"]["decisions"][0]["who"] == "kim@example.com"
    assert browser.states()[0] == "dismissed"
