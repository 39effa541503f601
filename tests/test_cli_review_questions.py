"""agreement, disputes, confusion and sequences on the command line: the contract's keys, filters, nothing to judge."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from command_line import run
from lab_builder import LabBuilder

HOSTILE = "\x1b[2Jgone\x9b1m\u202e<b>"
KEYS = {
    # as the contract of the command line states them
    "agreement": "label calls reviewers kappa kappa_low kappa_high alpha alpha_low alpha_high disputed",
    "confusion": "called expected calls share low high similarity",
    "sequences": "rule tool_name calls conversations examples",
    "disputes": "call_uid tool_name conversation_id says settled_as reviewers opinions",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A tool that is called twice over; one call on which two hostile reviewers disagree."""
    folder = tmp_path_factory.mktemp("home")
    built = LabBuilder(folder)
    call = built.call(HOSTILE, conversation_id=HOSTILE)
    built.call(HOSTILE, conversation_id=HOSTILE)
    built.label(call, "wrong_tool", author=HOSTILE, note=HOSTILE, expected_tool=f"not {HOSTILE}")
    built.label(call, "good_reply", author="bob", guide_version=HOSTILE)
    built.store()
    return folder


@pytest.mark.parametrize("verb", KEYS)
def test_json_is_one_document_with_the_keys_of_the_contract_and_nothing_else(home, verb):
    ran = run(verb, "--home", home, "--json")

    assert ran.code == 0
    assert set(KEYS[verb].split()) <= set(ran.document[0])


@pytest.mark.parametrize(
    "words", [*([verb] for verb in KEYS), ["agreement", "--by", "pair"], ["agreement", "--by", "guide"]]
)
def test_neither_table_nor_json_lets_trace_text_act_on_a_terminal(home, words):
    for more in ([], ["--json"]):
        ran = run(*words, "--home", home, *more)

        assert ran.code == 0
        assert not {"\x1b", "\x9b", "\u202e"} & set(ran.out + ran.err)


@pytest.mark.parametrize("verb", KEYS)
def test_filters_are_handed_on_and_rows_taken_away(home, verb, tmp_path):
    nothing = run(verb, "--home", home, "--tool", "no such tool", "--json", "--allow-empty").document
    ran = run(verb, "--home", home, "--csv", tmp_path / "rows.csv", "--parquet", tmp_path / "rows.parquet")

    assert all(row["calls"] == 0 for row in nothing)
    assert (ran.code, ran.out) == (0, "")
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == (6 if verb == "agreement" else 1)
    assert (tmp_path / "rows.parquet").stat().st_size > 0


@pytest.mark.parametrize("verb", KEYS)
def test_an_empty_window_is_1_and_no_data_unless_allowed(home, verb):
    ran = run(verb, "--home", home, "--since", "2030-01-01", "--json")

    assert ran.code == 1
    assert "no_data" in ran.err
    assert isinstance(ran.document, list)
    assert run(verb, "--home", home, "--since", "2030-01-01", "--allow-empty").code == 0


@pytest.mark.parametrize("wrong", [["agreement", "--by", "luck"], ["sequences", "--cycle-limit", "0"]])
def test_wrong_usage_is_2(home, wrong):
    assert run(*wrong, "--home", home).code == 2


def test_a_cycle_limit_is_handed_on(home):
    rules = [row["rule"] for row in run("sequences", "--home", home, "--json", "--cycle-limit", "1").document]

    assert rules == ["repeated_call"]  # these calls do not say in which round they were made


def test_what_two_people_say_is_a_dispute_until_it_is_settled(tmp_path):
    built = LabBuilder(tmp_path)
    built.calls(2, "get_tour")
    built.store()
    one, other = (row["call_uid"] for row in run("calls", "--home", tmp_path, "--json").document)

    def say(verb: str, call: str, label: str, reviewer: str, *more: str) -> None:
        assert run(verb, call, label, "--reviewer", reviewer, "--home", tmp_path, *more).code == 0

    say("label", one, "wrong_tool", "anna", "--expected-tool", "get_tours", "--guide", "2")
    say("label", one, "good_reply", "bob", "--guide", "2")
    say("label", other, "good_reply", "anna", "--guide", "2")
    say("label", other, "good_reply", "bob", "--guide", "1")

    by_guide = run("agreement", "--by", "guide", "--home", tmp_path, "--json").document
    assert [(row["group"], row["calls"], row["disputed"]) for row in by_guide] == [("2", 1, 1)]
    assert [row["call_uid"] for row in run("disputes", "--home", tmp_path, "--json").document] == [one]

    say("adjudicate", one, "wrong_tool", "carla")

    (settled,) = run("disputes", "--settled", "--home", tmp_path, "--json").document
    (confused,) = run("confusion", "--home", tmp_path, "--json").document
    assert run("disputes", "--home", tmp_path, "--json").document == []
    assert (settled["settled_as"], settled["reviewers"]) == ("wrong_tool", 2)
    assert (confused["called"], confused["expected"], confused["calls"]) == ("get_tour", "get_tours", 1)
    assert confused["name_similarity"] == pytest.approx(2 * 7 / 15)  # gettour, gettours
