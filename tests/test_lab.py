"""The front door: where a home is found, what it takes in, what it lets out again."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import polars
import pytest
from lab_builder import LabBuilder

import quality_lab as ql
from quality_lab.lab.home import find_home

MADE_AT = datetime(2026, 6, 9, 10, 15, 20, tzinfo=UTC)  # 1781000120 in epoch seconds


@pytest.fixture
def lab(tmp_path) -> ql.Lab:
    """Two conversations: a quote that a reviewer disliked, told in words; a search that nobody looked at."""
    built = LabBuilder(tmp_path)
    built.message("system", "Be brief.", position=0)
    built.message("user", "15000 baht, please", position=1)
    quote = built.call(arguments='{"amount": 15000.00}', created_at=MADE_AT, message_position=2)
    built.message("tool", '{"ok":true}', position=3, call_id="x")
    built.message("assistant", "Here you are.", position=4)
    built.label(quote, "bad_args", author="3", note="THB, not USDT")
    built.call(
        "search_cars", conversation_id="c2", source="llm_reply", is_error=True, result='{"error":"down"}'
    )
    built.guard("unbacked_quote", conversation_id="c2")
    built.store()
    return ql.open(tmp_path)


# ---- the home ----


def test_the_home_is_the_one_named_before_the_variable_before_the_nearest_data_folder(tmp_path):
    deep = tmp_path / "project" / "notebooks" / "deep"
    deep.mkdir(parents=True)
    (tmp_path / "project" / "data").mkdir()
    variable = {"QUALITY_LAB_HOME": str(tmp_path / "elsewhere")}

    assert find_home(tmp_path, environment=variable, start=deep).path == tmp_path
    assert find_home(None, environment=variable, start=deep).path == tmp_path / "elsewhere"
    assert find_home(None, environment={}, start=deep).path == tmp_path / "project"
    assert find_home(None, environment={"QUALITY_LAB_HOME": ""}, start=deep).path == tmp_path / "project"


def test_without_any_data_folder_the_home_is_here_and_says_so(tmp_path):
    home = find_home(None, environment={}, start=tmp_path)

    assert home.path == tmp_path
    assert "neither it nor one above has a data/" in home.found


def test_a_home_that_is_a_file_is_wrong_usage(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(ql.UsageError, match="is to be a folder"):
        find_home(tmp_path / "file", environment={}, start=tmp_path)


def test_opening_makes_nothing_and_an_empty_lab_says_where_it_looked(tmp_path):
    lab = ql.open(tmp_path / "new")

    assert not (tmp_path / "new").exists()
    assert len(lab.failing_tools()) == 0
    assert lab.why_empty() == (
        f"nothing was loaded yet; the lab is {tmp_path}/new/data/quality.duckdb; its home is as named"
    )
    assert not (tmp_path / "new").exists()


# ---- names ----


def test_every_exported_name_is_there_and_importing_reads_none_of_their_rooms():
    code = "import sys, quality_lab as ql; print(*[m for m in sys.modules if m.startswith('quality_lab.')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert loaded.split() == []
    assert all(getattr(ql, name) is not None for name in ql.__all__)
    assert ql.__version__.count(".") == 2


def test_a_name_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(AttributeError, match="has no attribute 'opn'; it has Answer, .*open"):
        _ = ql.opn


# ---- questions ----


def test_every_question_answers_about_the_same_calls(lab):
    assert [(row.tool_name, row.calls) for row in lab.failing_tools()] == [
        ("compute_exchange_quote", 1),  # judged wrong in one of one, as the other failed in one of one
        ("search_cars", 1),
    ]
    assert {row.label: row.calls for row in lab.labels() if row.rows} == {"bad_args": 1}
    assert [row.labels for row in lab.calls(tool="compute_exchange_quote")] == [("bad_args",)]
    assert {row.tool_name: row.reviewed for row in lab.coverage()} == {
        "search_cars": 0,
        "compute_exchange_quote": 1,
    }
    assert [(row.reason, row.rows) for row in lab.guards()] == [("unbacked_quote", 1)]
    assert len(lab.latency()) == 0
    assert sum(row.calls for row in lab.trend(every="week")) == 2


def test_filters_pick_calls_and_an_unknown_one_is_wrong_usage(lab):
    assert [row.tool_name for row in lab.failing_tools(source="llm_reply")] == ["search_cars"]
    assert len(lab.calls(since="2026-06-09", until="2026-06-10")) == 1
    with pytest.raises(ql.UsageError, match="no filter 'sauce'"):
        lab.calls(sauce="llm_reply")


def test_why_empty_speaks_only_where_neither_calls_nor_labels_lie(lab):
    assert lab.why_empty() is None
    assert lab.why_empty(label="other") is None  # labels never change what there is to judge
    assert lab.why_empty(tool=["a", "b"], since="7d") == (
        "no call and no label lies in what was asked for (tool a or b, since 7d)"
    )


def test_a_call_shows_what_was_asked_what_came_back_and_what_was_said_of_it(lab):
    (call,) = lab.calls(tool="compute_exchange_quote")
    shown = lab.call(call.call_uid)

    assert [(step.kind, step.who) for step in shown.steps] == [
        ("said", "user"),
        ("called", "compute_exchange_quote"),
        ("labelled", "3"),
        ("said", "assistant"),
    ]
    assert shown.steps[1].arguments == '{"amount": 15000.00}'
    assert shown.steps[2].text == "THB, not USDT"


def test_a_conversation_tells_each_result_once(lab):
    told = lab.conversation("c1")

    assert [step.who for step in told.steps] == ["system", "user", "compute_exchange_quote", "3", "assistant"]
    assert len(told.answer) == 6  # the tool's message stays among the rows


def test_a_call_that_is_not_here_is_no_data(lab):
    with pytest.raises(ql.UsageError, match="came 'nothing'"):
        lab.call("nothing")


def test_own_sql_reads_the_lab_and_can_neither_change_it_nor_reach_outside(lab, tmp_path):
    asked = lab.sql("select tool_name from tool_calls where outcome = $outcome", outcome="error")

    assert asked["tool_name"].to_list() == ["search_cars"]
    for refused in (
        "delete from tool_calls",
        f"copy tool_calls to '{tmp_path}/stolen.csv'",
        f"select * from read_text('{Path(__file__)}')",
        "set enable_external_access = true",
        "selec",
    ):
        with pytest.raises(ql.UsageError, match="this SQL"):
            lab.sql(refused)
    assert lab.totals()["tool_calls"] == 2


# ---- taking away ----

UPSTREAM_CALL = (
    '{"id":4031,"conversationId":977,"contactId":650,"messageId":null,"outboundQueueId":null,'
    '"source":"rag_reply","toolName":"compute_exchange_quote",'
    '"args":{"amount":15000.00,"note":"two  blanks","big":12345678901234567890123456},'
    '"result":{"rate":32.60,"display":"\\u0e3f"},"error":false,"cycle":1,"toolCallIndex":2,"latencyMs":null,'
    '"createdAt":1781000120}'
)
UPSTREAM_LABEL = (
    '{"id":512,"toolCallId":4031,"adminId":3,"label":"bad_args","note":"THB \\"exactly\\"",'
    '"feedbackCreatedAt":1781000450,"conversationId":977,"contactId":650,"messageId":null,'
    '"outboundQueueId":null,"source":"rag_reply","toolName":"compute_exchange_quote",'
    '"args":{"amount":15000.00,"note":"two  blanks","big":12345678901234567890123456},'
    '"result":{"rate":32.60,"display":"\\u0e3f"},"error":false,"cycle":1,"toolCallIndex":2,"latencyMs":null,'
    '"toolCallCreatedAt":1781000120}'
)


def test_an_export_in_upstreams_words_is_the_line_that_came(tmp_path):
    (tmp_path / "traces.jsonl").write_text(UPSTREAM_CALL + "\n")
    (tmp_path / "feedback.jsonl").write_text(UPSTREAM_LABEL + "\n")
    lab = ql.open(tmp_path)
    lab.load(tmp_path / "traces.jsonl", tmp_path / "feedback.jsonl")

    lab.export("calls", tmp_path / "out-calls", compat=True)
    lab.export("feedback", tmp_path / "out-feedback", compat=True)

    assert (tmp_path / "out-calls").read_text() == UPSTREAM_CALL + "\n"
    assert (tmp_path / "out-feedback").read_text() == UPSTREAM_LABEL + "\n"


TABLES = {
    "tool_calls": "select * exclude (source_id, line) from tool_calls order by call_uid",
    "feedback": "select * exclude (source_id, line) from feedback order by feedback_uid",
}


def tables(lab: ql.Lab) -> dict[str, polars.DataFrame]:
    return {name: lab.sql(sql) for name, sql in TABLES.items()}


def test_an_export_of_the_demo_loads_back_to_the_same_tables(repository, tmp_path):
    lab = ql.open(tmp_path / "first")
    exports = repository / "data" / "demo" / "exports"
    lab.load(exports / "tool-calls-first-weeks.json", exports / "tool-calls-last-weeks.jsonl")
    lab.load(exports / "tool-call-feedback.jsonl")
    calls = lab.export("calls", tmp_path / "calls.jsonl", compat=True)
    labels = lab.export("feedback", tmp_path / "feedback.jsonl", compat=True)
    again = ql.open(tmp_path / "second")
    report = again.load(tmp_path / "calls.jsonl", tmp_path / "feedback.jsonl")

    assert [file.rejected for file in report.files] == [0, 0]
    assert (calls.left_out, labels.left_out) == (0, 0)
    assert calls.rows > 400
    for name, table in tables(lab).items():
        assert table.equals(tables(again)[name]), name


def test_an_export_says_how_much_its_record_cannot_hold(tmp_path):
    built = LabBuilder(tmp_path)
    built.call()
    built.label(built.call("search_cars", key_space="openai_chat", key="chat:0"), "good_reply")
    built.store()
    lab = ql.open(tmp_path)

    calls = lab.export("calls", tmp_path / "calls.jsonl", compat=True)
    labels = lab.export("feedback", tmp_path / "feedback.jsonl", compat=True)

    assert (calls.rows, calls.left_out) == (1, 1)
    assert (labels.rows, labels.left_out) == (0, 1)
    assert (tmp_path / "feedback.jsonl").read_text() == ""


def test_an_export_of_several_tenants_wants_one_named(tmp_path):
    for tenant in ("north", "south"):
        built = LabBuilder(tmp_path, tenant=tenant)
        built.call()
        built.store()
    lab = ql.open(tmp_path)

    with pytest.raises(ql.UsageError, match="there are north, south: name one with --tenant"):
        lab.export("calls", tmp_path / "calls.jsonl")
    assert lab.export("calls", tmp_path / "calls.jsonl", tenant="north").rows == 1


def test_an_export_that_cannot_be_written_leaves_nothing_behind(lab, tmp_path):
    target = tmp_path / "folder"
    target.mkdir()

    with pytest.raises(ql.QualityLabError, match="cannot write"):
        lab.export("calls", target)
    assert list(tmp_path.glob(".folder-*")) == []


def test_parquet_holds_each_table_with_ids_as_text(lab, tmp_path):
    written = lab.export_parquet(tmp_path / "tables")
    calls = polars.read_parquet(tmp_path / "tables" / "tool_calls.parquet")

    assert {path.stem for path in written} >= {"tool_calls", "feedback", "messages", "sources"}
    assert calls.schema["call_uid"] == polars.String
    assert sorted(calls["tool_name"]) == ["compute_exchange_quote", "exchange_response_guard", "search_cars"]


# ---- the doctor ----


def test_the_doctor_names_what_is_missing_and_how_to_get_it_and_never_a_key(lab, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("PATH", "")
    checks = {check.subject: check for check in lab.doctor(kernel=False)}

    assert checks["duckdb"].state == "ok"
    assert checks["chromium"].state == "missing"
    assert checks["chromium"].how == "apt-get install chromium"
    assert checks["OPENAI_API_KEY"].found == "set"
    assert checks["database"].found.startswith("2 tool calls, 4 messages, 1 feedback")
    assert "sk-very-secret" not in json.dumps(lab.doctor(kernel=False).records())


def test_the_doctor_tells_a_damaged_database_from_none(tmp_path):
    lab = ql.open(tmp_path)
    assert {check.subject: check.state for check in lab.doctor(kernel=False)}["database"] == "missing"
    lab.store.database.parent.mkdir()
    lab.store.database.write_text("this is no database, however long one looks at it")
    (broken,) = [check for check in lab.doctor(kernel=False) if check.subject == "database"]

    assert (broken.state, broken.how) == ("broken", "quality-lab load --rebuild")


@pytest.mark.slow
def test_the_doctor_starts_the_kernel_that_reports_run_in(lab):
    (kernel,) = [check for check in lab.doctor() if check.subject == "report kernel"]

    assert kernel.state == "ok"
    assert Path(kernel.found).samefile(sys.executable)
