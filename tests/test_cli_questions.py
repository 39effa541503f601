"""Every question on the command line: one document, the contract's keys, the filters, nothing to judge."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime
from pathlib import Path

import polars
import pytest
from command_line import run
from lab_builder import LabBuilder

HOSTILE = "\x1b[2Jgone\x9b1m\u202e<b>"
KEYS = {
    # as the contract of the command line states them
    "labels": "label rows calls reviewed_calls share low high last_at",
    "failing-tools": "tool_name calls conversations errors soft_errors gated rejected unknown empty_results "
    "error_rate error_low error_high reviewed coverage good_reply wrong_tool missing_tool bad_args other "
    "disputed judged_failure_rate judged_low judged_high rank_by last_at flags",
    "proposals": "id fingerprint kind severity state recurred tool_name source label feedback_count calls "
    "reviewed error_count rate low high impact last_at title summary rationale action_items signatures "
    "examples",
    "calls": "call_uid conversation_id turn cycle call_index tool_name arguments result outcome is_error "
    "error_text actor source style created_at labels file line",
    "coverage": "tool_name calls reviewed coverage reviewers reason",
    "trend": "period calls errors error_rate low high reviewed",
    "latency": "tool_name calls p50_ms p95_ms max_ms",
    "guards": "reason action rows conversations last_at",
    "definitions": "tool_name digest first_at last_at calls error_rate low high change",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """Twelve quotes, one of them labelled; one slow call that failed; a guard's row; hostile text in all."""
    folder = tmp_path_factory.mktemp("home")
    built = LabBuilder(folder)
    quotes = built.calls(12, arguments=json.dumps({"city": HOSTILE}, ensure_ascii=True))
    built.label(quotes[0], "bad_args", author=HOSTILE, note=HOSTILE)
    built.call(
        HOSTILE,
        conversation_id=HOSTILE,
        is_error=True,
        error_text=HOSTILE,
        latency_ms=1500.0,
        source="llm_reply",
    )
    built.guard(HOSTILE.replace('"', ""), conversation_id="c9", result=json.dumps({"reasons": [HOSTILE]}))
    built.store()
    return folder


@pytest.mark.parametrize("verb", KEYS)
def test_json_is_one_document_with_the_keys_of_the_contract_and_nothing_else(home, verb):
    ran = run(verb, "--home", home, "--json")

    assert ran.code == 0
    assert isinstance(ran.document, list)
    if verb != "definitions":
        assert set(KEYS[verb].split()) <= set(ran.document[0])


@pytest.mark.parametrize("verb", [*KEYS, "summary", "sources"])
def test_neither_table_nor_json_lets_trace_text_act_on_a_terminal(home, verb):
    for more in ([], ["--json"]):
        ran = run(verb, "--home", home, *more)

        assert ran.code == 0
        assert not {"\x1b", "\x9b", "\u202e"} & set(ran.out + ran.err)


def test_json_holds_the_very_text_that_came(home):
    calls = run("calls", "--home", home, "--json", "--outcome", "error").document

    assert [call["tool_name"] for call in calls] == [HOSTILE]


def test_the_home_may_stand_before_the_verb_or_after_it(home, tmp_path):
    assert run("--home", home, "failing-tools", "--json").document
    assert run("--home", tmp_path, "failing-tools", "--home", home, "--json").document


def test_filters_are_handed_on(home):
    def tools(*filters: str) -> list[str]:
        return [row["tool_name"] for row in run("failing-tools", "--home", home, "--json", *filters).document]

    assert tools("--source", "llm_reply") == [HOSTILE]
    assert tools("--error") == [HOSTILE]
    assert tools("--no-error") == ["compute_exchange_quote"]
    assert len(tools("--tool", "compute_exchange_quote", "--tool", HOSTILE)) == 2
    assert tools("--until", "2026-06-01", "--allow-empty") == []
    assert len(tools("--since", "7d", "--as-of", "2026-06-03")) == 2


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--since", "yesterday"], "yesterday"),
        (["--tz", "Mars/Olympus"], "Mars/Olympus"),
        (["--label", "lovely"], "lovely"),
        (["--outcome", "fine"], "fine"),
        (["--actor", "cat"], "cat"),
        (["--time", "noon"], "noon"),
        (["--since", "2026-06-02", "--until", "2026-06-01"], "before it begins"),
        (["--top", "0"], "0"),
        (["--by", "luck"], "luck"),
    ],
)
def test_a_wrong_filter_is_wrong_usage_and_says_what_came(home, wrong, said):
    ran = run("failing-tools", "--home", home, "--json", *wrong)

    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


@pytest.mark.parametrize("verb", [verb for verb in KEYS if verb != "proposals"])
def test_an_empty_window_is_1_and_no_data_unless_allowed(home, verb):
    window = ["--home", home, "--since", "2030-01-01", "--json"]
    ran, allowed = run(verb, *window), run(verb, *window, "--allow-empty")

    assert ran.code == 1
    assert "no_data: no call and no label lies in what was asked for (since 2030-01-01)" in ran.err
    assert isinstance(ran.document, list)
    assert (allowed.code, allowed.out) == (0, ran.out)


@pytest.mark.parametrize("verb", [verb for verb in KEYS if verb != "guards"])
def test_a_reviewer_whom_nobody_knows_is_no_data_and_is_named(home, verb):
    asked = [verb, "--home", home, "--json", "--reviewer", "nobody"]
    ran, allowed = run(*asked), run(*asked, "--allow-empty")

    assert (ran.code, allowed.code) == (1, 0)
    assert "no_data: no label by nobody lies in this lab" in ran.err
    assert isinstance(ran.document, list)


def test_a_reviewer_who_said_nothing_in_the_window_is_known_all_the_same(home):
    asked = ["labels", "--home", home, "--reviewer", HOSTILE]

    assert run(*asked, "--label", "other").code == 0
    assert run(*asked, "--source", "llm_reply").code == 0
    assert run(*asked, "--reviewer", "nobody").code == 0


def test_an_empty_lab_says_where_it_looked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run("failing-tools")

    assert ran.code == 1
    assert f"{tmp_path}/data/quality.duckdb" in ran.err
    assert "neither it nor one above has a data/" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_csv_and_parquet_take_the_rows_away_and_leave_stdout_empty(home, tmp_path):
    to_csv, to_parquet = tmp_path / "calls.csv", tmp_path / "calls.parquet"
    ran = run("calls", "--home", home, "--csv", to_csv, "--parquet", to_parquet)

    assert (ran.code, ran.out) == (0, "")
    with to_csv.open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 13
    assert polars.read_parquet(to_parquet).schema["created_at"] == polars.Datetime("us", "UTC")


def test_a_dash_sends_the_csv_to_stdout_where_json_cannot_go_too(home, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    ran = run("failing-tools", "--home", home, "--csv", "-")
    both = run("failing-tools", "--home", home, "--csv", "-", "--json")

    assert (ran.code, ran.err) == (0, "")
    assert len(list(csv.DictReader(ran.out.splitlines()))) == 2
    assert (both.code, both.out) == (2, "")
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_cannot_be_written_is_3(home, tmp_path):
    ran = run("calls", "--home", home, "--csv", tmp_path / "no" / "such" / "folder.csv")

    assert ran.code == 3
    assert "cannot write" in ran.err


def test_a_database_that_is_none_is_3_and_says_how_to_mend_it(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "quality.duckdb").write_text("not a database, but a sentence of some length" * 9)
    ran = run("failing-tools", "--home", tmp_path)

    assert (ran.code, ran.out) == (3, "")
    assert "quality-lab load --rebuild" in ran.err


def test_a_conversation_is_told_in_order_and_an_unknown_one_is_wrong_usage(home):
    told = run("conversation", "compute_exchange_quote-1", "--home", home)
    rows = run("conversation", "compute_exchange_quote-1", "--home", home, "--json").document
    unknown = run("conversation", "nobody", "--home", home, "--json")

    assert told.out.splitlines()[1].startswith("  calls compute_exchange_quote: ok")
    assert [row["kind"] for row in rows] == ["call", "label"]
    assert (unknown.code, unknown.out) == (2, "")
    assert "nothing is known of a conversation nobody" in unknown.err
    allowed = run("conversation", "nobody", "--home", home, "--json", "--allow-empty")
    assert (allowed.code, allowed.document) == (0, [])


def test_the_summary_holds_totals_and_the_first_rows_of_each_question(home):
    document = run("summary", "--home", home, "--json").document

    assert document["totals"]["tool_calls"] == 13
    assert {row["tool_name"] for row in document["failing_tools"]} == {HOSTILE, "compute_exchange_quote"}
    assert set(document) == {
        "totals", "labels", "failing_tools", "proposals", "calls", "coverage", "trend", "agreement", "confusion",
        "sequences", "guards", "definitions", "latency",
    }  # fmt: skip  # the questions of the command line, all of them
    newest = run("calls", "--home", home, "--json").document[:5]
    assert [row["call_uid"] for row in document["calls"]] == [row["call_uid"] for row in newest]


def test_compat_documents_are_upstreams_and_know_its_filters_only(home):
    summary = run("summary", "--home", home, "--compat")
    preview = run("proposals", "--home", home, "--compat", "--limit", "5", "--tool", "compute_exchange_quote")
    wrong = run("summary", "--home", home, "--compat", "--style", "calm")

    assert summary.document["totals"]["badArgs"] == 1
    assert [item["feedbackCount"] for item in preview.document["items"]] == [1]
    assert (wrong.code, wrong.out) == (2, "")
    assert "style" in wrong.err


def test_a_limit_is_for_compat_alone_and_within_upstreams_bounds(home):
    assert run("summary", "--home", home, "--limit", "3").code == 2
    assert run("summary", "--home", home, "--compat", "--limit", "201").code == 2
    assert run("proposals", "--home", home, "--compat", "--limit", "501").code == 2


def test_a_feedback_export_alone_gives_no_rate_and_says_why(tmp_path):
    built = LabBuilder(tmp_path)
    call = built.call(seen_in="feedback")
    built.label(call, "bad_args")
    built.store()
    ran = run("failing-tools", "--home", tmp_path, "--json")
    (row,) = ran.document

    assert (row["calls"], row["error_rate"], row["coverage"]) == (None, None, None)
    assert "no_trace_export" in row["flags"]
    assert "no_trace_export" in ran.err


@pytest.mark.shared
def test_a_public_file_gives_the_numbers_that_are_known_of_it(shared, tmp_path):
    path = shared / "traces" / "tau-bench" / "gpt-4o-airline.json"
    loaded = run("load", path, "--home", tmp_path, "--json").document
    tools = run("failing-tools", "--home", tmp_path, "--json").document
    calls = run("calls", "--home", tmp_path, "--json").document
    failed = {row["tool_name"]: (row["errors"], row["calls"]) for row in tools}

    assert {
        name: loaded["totals"][name] for name in ("conversations", "tool_calls", "messages", "rejected")
    } == {
        "conversations": 200,
        "tool_calls": 1164,
        "messages": 5308,
        "rejected": 0,
    }
    assert tools[0]["tool_name"] == "book_reservation"
    assert failed["book_reservation"] == (30, 53)
    assert failed["update_reservation_flights"] == (42, 104)
    assert sum(errors for errors, _ in failed.values()) == 73
    assert len(calls) == 1164


def test_times_are_iso_8601_with_z(home):
    (row,) = run("failing-tools", "--home", home, "--json", "--source", "llm_reply").document

    assert datetime.fromisoformat(row["last_at"]) == datetime(2026, 6, 1, 8, tzinfo=UTC)
    assert row["last_at"].endswith("Z")
