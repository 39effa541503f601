"""Files in and out on the command line: load, what could not be read, exports, reports, the doctor."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import run
from lab_builder import LabBuilder

from quality_lab.cli.notices import reading_progress

GOOD = {
    "id": 1, "conversationId": 7, "contactId": None, "messageId": None, "outboundQueueId": None,
    "source": "rag_reply", "toolName": "book_tour", "args": {"city": "Phuket"}, "result": {"ok": True},
    "error": False, "cycle": 0, "toolCallIndex": 0, "latencyMs": None, "createdAt": 1781000120,
}  # fmt: skip  # one line of a file


@pytest.fixture
def traces(tmp_path) -> Path:
    """Two good lines, a broken one, one of the wrong type, and a blank one."""
    lines = [
        json.dumps(GOOD),
        json.dumps(GOOD | {"id": 2, "foo": 1}),
        '{"id": 3, "toolName',
        "",
        json.dumps(GOOD | {"error": "no"}),
    ]
    path = tmp_path / "traces.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_load_reports_each_line_in_the_shape_of_the_contract(traces, tmp_path):
    ran = run("load", traces, "--home", tmp_path / "home", "--json")
    (file,) = ran.document["files"]

    assert ran.code == 0
    assert {
        name: file[name] for name in ("path", "format", "status", "lines", "loaded", "rejected", "blank")
    } == {
        "path": str(traces),
        "format": "quality_lab.traces",
        "status": "loaded",
        "lines": 5,
        "loaded": 2,
        "rejected": 2,
        "blank": 1,
    }
    assert file["unknown_fields"] == {"foo": 1}
    assert file["possibly_truncated"] is False
    assert {"updated", "unchanged", "merged", "unmapped_labels", "not_understood"} <= set(file)
    assert ran.document["totals"]["tool_calls"] == ran.document["store"]["tool_calls"] == 2
    assert ran.document["seconds"] >= 0


def test_with_json_what_could_not_be_loaded_is_a_notice_on_stderr_as_well(traces, tmp_path):
    (tmp_path / "odd.json").write_text('{"foo": 1}')
    (tmp_path / "home").mkdir()

    ran = run("load", traces, tmp_path / "odd.json", tmp_path / "none", "--home", tmp_path / "home", "--json")

    unrecognised, missing = ran.err.splitlines()
    assert ran.code == 3
    assert [file["status"] for file in ran.document["files"]] == ["loaded", "unrecognised", "failed"]
    assert unrecognised.startswith(f"{tmp_path / 'odd.json'}: no format fits. Nearest are ")
    assert missing == f"{tmp_path / 'none'}: no such file or folder"


def test_load_tells_a_person_what_needs_a_look(traces, tmp_path):
    out = run("load", traces, "--home", tmp_path / "home").out.splitlines()

    assert out[0] == f"{traces}: quality_lab.traces, 5 lines: 2 loaded, 2 rejected, 1 blank"
    assert out[1] == "    fields that nobody knows: foo (1)"
    assert out[2] == "    why lines were rejected: quality-lab rejects"
    assert out[3].startswith("Brought 2 tool calls, 1 conversation and 2 rejected in ")


def test_rejects_of_a_file_that_was_never_loaded_say_so(traces, tmp_path):
    fine = tmp_path / "fine.jsonl"
    fine.write_text('{"messages": [{"role": "user", "content": "hi"}]}\n')
    run("load", traces, fine, "--home", tmp_path / "home")
    unknown = run("rejects", "wrong.jsonl", "--home", tmp_path / "home", "--json")
    known = run("rejects", fine, "--home", tmp_path / "home", "--json")

    assert (unknown.code, unknown.out) == (2, "")
    assert (known.code, known.document) == (0, [])
    assert "no file wrong.jsonl is behind this lab" in unknown.err
    assert known.err == ""


def test_rejects_name_file_line_field_and_reason(traces, tmp_path):
    run("load", traces, "--home", tmp_path / "home")
    rejects = run("rejects", traces, "--home", tmp_path / "home", "--json").document

    assert [(row["line"], row["path"]) for row in rejects] == [(3, ""), (5, "error")]
    assert set(rejects[0]) >= {"file", "line", "path", "reason", "text"}
    assert rejects[0]["text"] == '{"id": 3, "toolName'


def test_a_second_load_brings_nothing_and_strict_asks_for_a_clean_one(traces, tmp_path):
    home = ["--home", tmp_path / "home", "--json"]
    strict = run("load", traces, "--strict", *home)
    again = run("load", traces, *home)

    assert strict.code == 1
    assert again.code == 0
    assert again.document["files"][0]["status"] == "unchanged"
    assert again.document["totals"]["tool_calls"] == 0


def test_a_named_path_that_fails_is_3_and_one_inside_a_folder_is_a_notice(traces, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "letter.txt").write_text("Dear all,\n")
    traces.rename(folder / "traces.jsonl")
    home = ["--home", tmp_path / "home"]
    named = run("load", folder / "letter.txt", *home, "--json")
    inside = run("load", folder, *home, "--json")

    assert (named.code, named.document["files"][0]["status"]) == (3, "unrecognised")
    assert run("load", tmp_path / "missing.jsonl", *home).code == 3
    assert inside.code == 0
    assert [file["status"] for file in inside.document["files"]] == ["unrecognised", "loaded"]
    assert run("load", folder, *home, "--strict").code == 1


def test_an_unknown_format_is_wrong_usage(traces, tmp_path):
    ran = run("load", traces, "--format", "carrier_pigeon", "--home", tmp_path / "home")

    assert (ran.code, ran.out) == (2, "")
    assert "carrier_pigeon" in ran.err


def test_standard_input_is_a_file_like_any_other(traces, tmp_path):
    command = [sys.executable, "-m", "quality_lab", "load", "-", "--home", str(tmp_path / "home"), "--json"]
    ran = subprocess.run(command, input=traces.read_bytes(), capture_output=True, check=True)

    assert json.loads(ran.stdout)["totals"]["tool_calls"] == 2
    assert ran.stderr == b""


def test_sources_remember_digest_and_what_came(traces, tmp_path):
    run("load", traces, "--home", tmp_path / "home", "--tenant", "north")
    (source,) = run("sources", "--home", tmp_path / "home", "--json").document

    assert (source["path"], source["tenant"], source["loaded"], source["rejected"]) == (
        str(traces),
        "north",
        2,
        2,
    )
    assert len(source["digest"]) == 64


def test_formats_say_how_each_is_recognised_without_any_lab():
    known = {row["name"]: row for row in run("formats", "--json").document}

    assert {"quality_lab.traces", "quality_lab.feedback", "openai_chat", "tau_bench"} <= set(known)
    assert all(row["recognised_by"] and row["key"] for row in known.values())
    assert "Upstream's trace list" in run("formats").out


# ---- out ----


def test_an_export_goes_to_standard_output_alone_and_is_counted_on_stderr(traces, tmp_path):
    run("load", traces, "--home", tmp_path / "home")
    ran = run("export", "calls", "-", "--compat", "--home", tmp_path / "home")

    assert ran.code == 0
    assert [json.loads(line) for line in ran.out.splitlines()] == [GOOD | {"id": 2}, GOOD]
    assert ran.err == "2 calls written; all there are\n"


def test_an_export_to_a_file_is_one_document_on_stdout_if_asked(traces, tmp_path):
    run("load", traces, "--home", tmp_path / "home")
    home = ["--home", tmp_path / "home", "--json"]
    ran, both = run("export", "calls", tmp_path / "calls.jsonl", *home), run("export", "calls", "-", *home)

    assert ran.document == {"file": str(tmp_path / "calls.jsonl"), "rows": 2, "left_out": 0}
    assert (both.code, both.out) == (2, "")


def test_exports_to_files_and_tables(traces, tmp_path):
    run("load", traces, "--home", tmp_path / "home")
    home = ["--home", tmp_path / "home"]

    assert run("export", "calls", tmp_path / "calls.jsonl", *home).code == 0
    assert run("export", "feedback", tmp_path / "feedback.jsonl", "--compat", *home).code == 0
    assert (tmp_path / "feedback.jsonl").read_text() == ""
    assert len((tmp_path / "calls.jsonl").read_text().splitlines()) == 2
    written = run("export", "parquet", tmp_path / "tables", *home, "--json").document
    assert all(Path(path).is_file() for path in written)
    assert run("export", "calls", tmp_path / "no" / "folder", *home).code == 3


def test_a_home_that_cannot_be_made_is_3(traces):
    ran = run("load", traces, "--home", traces / "home")

    assert (ran.code, ran.out) == (3, "")
    assert "cannot be made" in ran.err


# ---- reports and the doctor ----


def test_a_report_that_is_not_there_and_a_parameter_that_is_not_declared_are_wrong_usage(tmp_path):
    unknown = run("report", "horoscope", "--home", tmp_path)
    strange = run("report", "quality", "-p", "sign=leo", "--home", tmp_path)
    broken = run("report", "quality", "-p", "leo", "--home", tmp_path)

    assert unknown.code == strange.code == broken.code == 2
    assert "there are coach-review, explore, meeting, quality" in unknown.err
    assert "no parameter sign; it has" in strange.err
    assert "-p wants KEY=VALUE, came 'leo'" in broken.err


def test_the_parameters_of_a_report_are_shown_with_their_defaults(tmp_path):
    shown = {
        row["name"]: row for row in run("report", "show", "quality", "--home", tmp_path, "--json").document
    }

    assert shown["tz"]["default"] == '"UTC"'
    assert {"home", "since", "until", "as_of"} <= set(shown)


def test_without_reports_the_list_is_empty_and_open_says_where_it_looked(tmp_path):
    listed, opened = (
        run("report", "list", "--home", tmp_path, "--json"),
        run("report", "open", "--home", tmp_path),
    )

    assert (listed.code, listed.document) == (0, [])
    assert opened.code == 3
    assert str(tmp_path / "reports") in opened.err
    named = run("report", "open", "2026-06-01-quality", "--home", tmp_path)
    assert (named.code, "report list" in named.err) == (2, True)


@pytest.mark.slow
def test_a_report_prints_its_folder_and_an_empty_window_is_1_with_the_folder_all_the_same(tmp_path):
    def report(
        *arguments: str,
    ) -> subprocess.CompletedProcess[str]:  # a process of its own, as cron starts it
        command = [
            sys.executable,
            "-m",
            "quality_lab",
            "--home",
            str(tmp_path),
            "report",
            "quality",
            *arguments,
        ]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    built = LabBuilder(tmp_path)
    built.calls(12)
    built.store()
    ran = report("--out", str(tmp_path / "out"), "--name", "week-22")
    empty = report("--since", "2030-01-01", "--json")
    folder = Path(ran.stdout.splitlines()[-1])

    assert (ran.returncode, ran.stdout) == (0, f"{folder}\n")
    assert folder.parent == tmp_path / "out"
    assert folder.name.endswith("-week-22")
    assert {path.name for path in folder.iterdir()} >= {
        "report.html",
        "report.ipynb",
        "summary.json",
        "summary.md",
    }
    assert (empty.returncode, json.loads(empty.stdout)["summary"]["ok"]) == (1, False)
    assert "no_data" in empty.stderr
    assert [row["ok"] for row in run("report", "list", "--home", tmp_path, "--json").document] == [False]


def test_the_doctor_is_fine_where_all_that_is_needed_works(tmp_path):
    ran = run("doctor", "--no-kernel", "--home", tmp_path, "--json")
    checks = {row["subject"]: row for row in ran.document}

    assert ran.code == 0
    assert checks["Python"]["state"] == "ok"
    assert checks["database"]["how"] == "quality-lab load PATH…"


def test_the_doctor_is_1_where_something_needed_is_broken(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "quality.duckdb").write_text(
        "no database at all, only a text that is long enough" * 9
    )

    assert run("doctor", "--no-kernel", "--home", tmp_path).code == 1


@pytest.mark.slow
def test_the_notebook_verb_hands_its_options_to_jupyterlab_on_the_homes_notebooks(tmp_path, repository):
    shipped = {path.name for path in (repository / "notebooks").glob("*.ipynb")}
    command = [sys.executable, "-m", "quality_lab", "notebook", "--version", "--home", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("4.")
    assert shipped >= {"explore.ipynb", "quality.ipynb"}
    assert {path.name for path in (tmp_path / "notebooks").iterdir()} == shipped


def test_notebooks_are_laid_out_and_ones_own_are_left_alone(tmp_path):
    import quality_lab as ql

    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "explore.ipynb").write_text("mine")
    folder = ql.open(tmp_path).notebooks()

    assert (folder / "explore.ipynb").read_text() == "mine"
    assert json.loads((folder / "quality.ipynb").read_text())["nbformat"] == 4


def test_a_booking_link_of_the_environment_is_told_of_where_it_wins(tmp_path, monkeypatch):
    monkeypatch.delenv("QUALITY_LAB_BOOKING_URL", raising=False)
    mine = ("https://book.example.com/us", "--home", tmp_path)
    plain = run("tools", "booking", "set", *mine)
    monkeypatch.setenv("QUALITY_LAB_BOOKING_URL", "https://other.example.com")
    beside = run("tools", "booking", "set", *mine)
    gone = run("tools", "booking", "delete", "--home", tmp_path, "--json")

    assert (plain.out, plain.err) == ("https://book.example.com/us\n", "")
    assert beside.err == "the environment has a link of its own, which wins: https://other.example.com\n"
    assert (gone.document, gone.err) == ({"enabled": False, "url": None}, beside.err)


@pytest.mark.parametrize(
    ("told", "shown"), [([], ""), ([("a.jsonl", 7)], "\r\x1b[2Ka.jsonl: 7 lines\r\x1b[2K")]
)
def test_the_line_of_progress_is_cleared_from_a_terminal_where_there_was_one(monkeypatch, told, shown):
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", terminal)

    with reading_progress() as progress:
        assert progress is not None
        for path, lines in told:
            progress(path, lines)

    assert terminal.getvalue() == shown


@pytest.mark.parametrize(
    ("target", "why"),
    [(".", "it is a folder"), ("traces.jsonl/x", "Not a directory"), ("none/x", "No such file or directory")],
)
@pytest.mark.parametrize("verb", [("export", "calls"), ("export", "proposals"), ("cases", "export")])
def test_an_export_into_what_is_no_file_is_3_and_says_why(traces, tmp_path, monkeypatch, verb, target, why):
    monkeypatch.chdir(tmp_path)

    ran = run(*verb, target, "--home", tmp_path / "home")

    assert (ran.code, ran.out) == (3, "")
    assert ran.err == f"quality-lab: cannot write {target}: {why}\n"
