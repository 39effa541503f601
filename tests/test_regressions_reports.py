"""Reports that stay readable whatever a record holds, and streams and exit codes that tell the truth."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopback import Loopback, Reply, closed_port
from markdown_it import MarkdownIt
from markdown_it.token import Token
from regression_lines import line

from quality_lab.regressions import FileSource, Report, Settings, check_cases, report_on
from quality_lab.regressions.report_json import json_document
from quality_lab.regressions.report_junit import junit_document
from quality_lab.regressions.report_markdown import escaped, markdown_page
from quality_lab.regressions.report_plain import failures_text

NOW = datetime(2026, 6, 1, 8, 0, 0, 123_987, tzinfo=UTC)


def report(*lines: bytes, **asked: Any) -> Report:
    return report_on(lines, Settings(source=FileSource(path="/lab/cases.jsonl"), **asked), now=NOW)


# ---- JUnit ----

HOSTILE = [  # a value, and what a parser reads of it
    ("]]>", "]]>"),
    ("</failure></testcase><testcase name='x'>", "</failure></testcase><testcase name='x'>"),
    ("<!-- -->", "<!-- -->"),
    ('"&quot;&#0;&#x1;<![CDATA[', '"&quot;&#0;&#x1;<![CDATA['),
    ("\x00\x08\x0b\x0c\x1f", "\\u0000\\u0008\\u000b\\u000c\\u001f"),
    ("\ufffe\uffff\udfff\ud800", "\\ufffe\\uffff\ufffd\ufffd"),
    ("\x7f\x85\x9f\u2028", "\x7f\x85\x9f\u2028"),
    ("a\r\nb\rc\n\nd", "a\n        b\nc\n        \n        d"),  # XML has one end of a line
    ("\U0001f469\u200d\U0001f527 \u202e", "\U0001f469\u200d\U0001f527 \u202e"),
]


def read_back(document: str) -> ElementTree.Element:
    """Return what an XML parser reads from the bytes of *document*."""
    return ElementTree.fromstring(document.encode("utf-8"))


@pytest.mark.parametrize(("value", "read"), HOSTILE)
def test_an_xml_parser_reads_back_any_value(value, read):
    suite = read_back(
        junit_document(report(line(toolName=value + "x", title=["deep", value]), line(label=value)))
    )

    assert (suite.tag, suite.attrib["tests"], suite.attrib["failures"]) == ("testsuite", "2", "2")
    assert [[child.tag for child in each] for each in suite] == [["failure"], ["failure"]]
    assert suite[1].attrib["name"] == "line 2 - case 41 - book_table"
    assert suite[1][0].text == (
        "\n        line=2\n        case=41\n        tool=book_table\n        path=label"
        "\n        expected=wrong_tool | missing_tool | bad_args"
        f"\n        actual={read}\n      "
    )


# Two halves of a character that meet in JSON are that character.
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=40).map(
    lambda text: json.loads(json.dumps(text))
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ANY_TEXT, ANY_TEXT)
def test_no_text_can_break_any_of_the_documents(tool, value):
    made = report(
        line(toolName=tool, label=value), line(toolName=tool), b"{" + value.encode("utf-8", "replace")
    )
    document = json.loads(json_document(made))
    suite = read_back(junit_document(made))
    page = tokens(markdown_page(made))

    assert len(document["results"]) == len(suite) == len(made.results)
    assert int(suite.attrib["failures"]) == len(made.failed)
    assert [token.type for token in page].count("table_open") == 1
    assert [token.type for token in page].count("tr_open") == 8
    bullets = len(made.failed) + sum(len(result.failures) for result in made.failed)
    assert [token.type for token in page].count("list_item_open") == bullets
    failures_text(made).encode("utf-8")


# ---- Markdown ----


def tokens(page: str) -> list[Token]:
    """Return what a Markdown reader with GitHub's tables and strike-through makes of *page*."""
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(page)


def shown(page: str) -> list[str]:
    """Return the text of each bullet as a reader sees it; anything that is not plain text is named."""
    return [
        "".join(
            child.content if child.type == "text" else f"<{child.type}>" for child in token.children or ()
        )
        for token in tokens(page)
        if token.type == "inline"
    ]


@pytest.mark.parametrize(
    "value",
    [
        "*now* **now** _now_ __now__ ~~now~~ ~now~",
        "`code` ``code``",
        "<b>bold</b> <!-- gone <script>alert(1)</script>",
        "[link](https://example.com) ![picture](https://example.com/x.png) <https://example.com>",
        "&lt;b&gt; &amp; &#60; & ;",
        "| a | b |",
        "\\*not\\* \\",
        "a_b_c _d_ e_",
        "# 1. - > +",
        "snake_case and 2 * 3 * 4",
        '{"a":["b",{"__proto__":1}],"c":"d\\"e"}',
    ],
)
def test_markdown_shows_a_value_as_it_is(value):
    made = report(line(label=value))

    assert f"label: expected wrong_tool | missing_tool | bad_args; actual {value}" in shown(
        markdown_page(made)
    )


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("reserve_table", "reserve_table"),
        ("_x", "_x"),
        ('{"a":[1,"b"]} - (c) 1.5%', '{"a":[1,"b"]} - (c) 1.5%'),
        ("https://example.com www.example.com", "https\\://example.com www\\.example.com"),
        ("@octocat a@example.com", "\\@octocat a\\@example.com"),
        ("$x$", "\\$x\\$"),
        ("a\nb\r\nc\x1b[31m\x9b", "a\\nb\\r\\nc\\u001b[31m\\u009b"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\ud800", "\ufffd"),
    ],
)
def test_markdown_escapes_what_needs_it_and_nothing_else(value, written):
    assert escaped(value) == written


def test_a_value_with_lines_cannot_add_a_table_or_a_bullet():
    rows = "x\n\n| Metric | Count |\n|---|---:|\n| Failed | 0 |\n\n- line 9, case 9, tool fine"
    page = markdown_page(report(line(toolName=rows, label=rows)))

    assert [row for row in page.splitlines() if row.startswith("|")] == [
        "| Metric | Count |",
        "|---|---:|",
        *("| Total | 1 |", "| Passed | 0 |", "| Failed | 1 |", "| Skipped | 0 |"),
        *("| Active | 1 |", "| Archived | 0 |", "| Unsupported | 0 |"),
    ]
    assert [row for row in page.splitlines() if row.startswith("- ")] == [
        f"- line 1, case 41, tool {escaped(rows)}"
    ]


def test_the_page_names_twenty_cases_and_counts_the_rest():
    page = markdown_page(report(*[b"{}"] * 23))

    assert page.count("\n- line ") == 20
    assert page.endswith("\n- 3 more failed cases omitted from summary.\n")


# ---- JSON ----


def test_the_json_report_has_upstream_s_keys_in_upstream_s_order():
    made = report(line(), line(status="archived"), line(toolName="gone"), supported_tools=("book_table",))
    document = json.loads(json_document(made))

    assert list(document) == ["generatedAt", "metadata", "summary", "results"]
    assert document["generatedAt"] == "2026-06-01T08:00:00.123Z"
    assert document["metadata"] == {
        "source": "file",
        "filePath": "/lab/cases.jsonl",
        "supportedTools": ["book_table"],
    }
    assert list(document["summary"].items()) == [
        *(("total", 3), ("passed", 1), ("failed", 1), ("skipped", 1), ("active", 2), ("archived", 1)),
        *(("unsupported", 0), ("skipReasons", {"archived": 1})),
    ]
    assert [list(result) for result in document["results"]] == [
        ["line", "status", "recordStatus", "caseId", "toolName", "title", "failures"],
        ["line", "status", "recordStatus", "caseId", "toolName", "title", "skipReason", "failures"],
        ["line", "status", "recordStatus", "caseId", "toolName", "title", "failures"],
    ]


@settings(max_examples=100, deadline=None)
@given(ANY_TEXT, ANY_TEXT)
def test_the_json_report_holds_every_character(tool, value):
    made = report(line(toolName=tool + "x", label=[value]))
    (result,) = json.loads(json_document(made))["results"]

    assert result["toolName"] == tool + "x"
    assert json.loads(result["failures"][0]["actual"]) == [value]


# ---- values of any size ----


@pytest.mark.parametrize("depth", [900, 3_000, 100_000])
def test_nesting_has_no_bound(depth):
    deep = b"[" * depth + b'1.0,"\\ud800"' + b"]" * depth
    fine = line(context={"toolCall": {"result": "DEEP", "error": True}}).replace(b'"DEEP"', deep)
    wrong = line(title="DEEP").replace(b'"DEEP"', deep)
    passed, failed = check_cases([fine, wrong])

    assert passed.status == "passed"
    assert [failure.path for failure in failed.failures] == ["title"]
    assert failed.failures[0].actual == "[" * depth + '1,"\\ud800"' + "]" * depth


def test_a_number_of_any_length_is_the_double_that_javascript_reads():
    huge = b"9" * 10_000
    texts = (huge, b"-" + huge, b"1" + b"0" * 30, b"0." + b"0" * 400 + b"1", b"1e400", b"9007199254740993")
    lines = [line(id="NUMBER").replace(b'"NUMBER"', text) for text in texts]
    results = check_cases(lines)

    assert [result.case_id for result in results] == [None, None, 10**30, None, None, 9007199254740993]
    assert [failure.actual for result in results for failure in result.failures] == [
        "null",
        "null",
        "0",
        "null",
    ]
    document = json_document(report(*lines))
    assert re.findall(r'"caseId": (\S+),\n      "toolName"', document) == [
        *("null", "null", "1e+30", "null", "null", "9007199254740992")
    ]


# ---- streams and exit codes ----


def written(folder: Path, *lines: bytes) -> str:
    path = folder / "cases.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return str(path)


@pytest.mark.parametrize(
    ("lines", "flags", "code"),
    [
        ([line()], [], 0),
        ([b"# nothing to check", b""], [], 0),
        ([line(status="archived", input=None)], [], 0),
        ([line(toolName="gone")], ["--tools", "book_table", "--skip-unsupported"], 0),
        ([line(toolName="gone")], ["--tools", "book_table"], 1),
        ([line(status="archived", input=None)], ["--include-archived"], 1),
        ([line(), b"oops"], [], 1),
        ([line()], ["--out-md", "."], 3),
        ([line()], ["--limit", "0"], 2),
        ([line()], ["--rerun-everything"], 2),
    ],
)
def test_the_exit_code_says_what_happened(tmp_path, lines, flags, code):
    assert run("regressions", "--file", written(tmp_path, *lines), *flags).code == code


def test_a_missing_file_is_3_and_leaves_no_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run("regressions", "--out-json", "r.json")

    assert (ran.code, ran.out, list(tmp_path.iterdir())) == (3, "", [])
    assert ran.err == (
        f"Error: wanted to read {tmp_path}/tool-call-regression-cases.jsonl, got: No such file or directory\n"
    )


def test_a_service_that_refuses_or_is_not_there_is_4_and_leaves_no_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QUALITY_LAB_TOKEN", "tok-1234")
    with Loopback(Reply(status=401)) as server:
        refused = run("regressions", "--api-base", server.base, "--out-json", "r.json")
    gone = run("regressions", "--api-base", f"http://127.0.0.1:{closed_port()}", "--out-json", "r.json")

    assert (refused.code, gone.code) == (4, 4)
    assert (refused.out, gone.out, list(tmp_path.iterdir())) == ("", "", [])


def test_wrong_usage_says_why_on_stderr_and_how_on_stdout():
    ran = run("regressions", "--nope", "--help")

    assert (ran.code, ran.err) == (2, "unknown argument: --nope\n")
    assert ran.out == run("regressions", "-h").out
    assert "--skip-unsupported" in ran.out


@pytest.mark.parametrize("argument", ["--", "-", "--homes", "--file=x --json", "\udcff"])
def test_no_argument_is_swallowed_by_the_command_line_around(argument):
    ran = run("regressions", argument) if "=" not in argument else run("regressions", "x", argument)

    assert ran.code == 2
    assert ran.err.startswith("unknown argument: ")


def test_an_interrupt_while_the_server_keeps_us_waiting_is_130(tmp_path):
    with Loopback(Reply(waits_s=30)) as server:
        command = [sys.executable, "-m", "quality_lab", "regressions", "--api-base", server.base]
        surroundings = {**os.environ, "QUALITY_LAB_TOKEN": "tok-1234", "no_proxy": "127.0.0.1"}
        process = subprocess.Popen(
            command, cwd=tmp_path, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        while not server.seen and process.poll() is None:
            pass
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)

    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err


def on_a_terminal(*arguments: str, folder: Path, **env: str) -> str:
    """Return what a command shows on a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "quality_lab", "regressions", *arguments]
    process = subprocess.Popen(
        command, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, **env}
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # the process has closed its end
            break
        if not piece:
            break
        seen += piece
    process.wait(timeout=20)
    os.close(ours)
    return seen.decode("utf-8")


def test_nothing_in_a_record_acts_on_a_terminal(tmp_path):
    written(tmp_path, line(label="red \x1b[31m \x9b \u202e", toolName="a\nline=2"))
    plain = on_a_terminal("--file", "cases.jsonl", folder=tmp_path)
    document = on_a_terminal("--file", "cases.jsonl", "--json", folder=tmp_path)

    assert "actual=red \\x1b[31m \\x9b \\u202e" in plain
    assert [seen for seen in plain + document if not seen.isprintable() and seen not in "\r\n"] == []
    assert json.loads(document)["results"][0]["failures"][0]["actual"] == "red \x1b[31m \x9b \u202e"


def test_a_full_page_is_said_where_a_person_is_watching_and_nowhere_else(tmp_path, monkeypatch):
    monkeypatch.setenv("QUALITY_LAB_TOKEN", "tok-1234")
    with Loopback(Reply(body=line() + b"\n" + line() + b"\n")) as server:
        full = on_a_terminal("--api-base", server.base, "--limit", "2", folder=tmp_path)
        more = on_a_terminal("--api-base", server.base, "--limit", "3", folder=tmp_path)
        piped = run("regressions", "--api-base", server.base, "--limit", "2")

    assert "there may be more" in full
    assert "there may be more" not in more
    assert (piped.code, piped.err) == (0, "")
