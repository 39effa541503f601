"""`quality-lab regressions --rerun` as people and programs call it, with a model on a loopback server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from command_line import Ran, run
from loopback import closed_port
from replaying import definition, record
from werkzeug import Request, Response

PATH = "/v1/chat/completions"
Answer = Callable[[dict[str, Any]], dict[str, Any]]


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records), encoding="utf-8")
    return path


def says(content: str) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def wants(name: str, args: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(args)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": function}],
    }


def quoting(mode: str) -> Answer:
    """A model that quotes by *mode*, then says so."""

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        told = any(message["role"] == "tool" for message in body["messages"])
        return says("done") if told else wants("quote", {"mode": mode})

    return answer


@pytest.fixture
def server(httpserver: Any) -> Any:
    """A server whose model is set by `server.model`; it keeps the bodies it was asked with."""
    httpserver.model = quoting("target")
    httpserver.bodies = []

    def handle(request: Request) -> Response:
        body = request.get_json()
        httpserver.bodies.append(body)
        message = httpserver.model(body)
        if isinstance(message, Response):
            return message
        document = {
            "id": "r", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 3},
        }  # fmt: skip
        return Response(json.dumps(document), content_type="application/json")

    httpserver.expect_request(PATH, method="POST").respond_with_handler(handle)
    return httpserver


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QUALITY_LAB_HOME", str(tmp_path))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return tmp_path


def rerun(home: Path, server: Any, *arguments: object) -> Ran:
    return run(
        "regressions", "--rerun", "--file", home / "cases.jsonl", "--model", "m",
        "--base-url", server.url_for("/v1"), *arguments,
    )  # fmt: skip


def test_a_model_that_does_it_right_passes_in_every_report(home: Path, server: Any) -> None:
    write(home / "cases.jsonl", record(1), record(2, status="archived"), record(3, input={"messages": []}))

    ran = rerun(
        home, server, "--json", "--out-junit", "out/r.xml", "--out-md", "out/r.md", "--out-json", "out/r.json"
    )

    results = ran.document["results"]
    assert ran.code == 0
    assert [(each["status"], each.get("verdict"), each.get("skipReason")) for each in results] == [
        ("passed", "PASS", None),
        ("skipped", None, "archived"),
        ("skipped", "INCONCLUSIVE", "inconclusive"),
    ]
    assert results[2]["reason"].startswith("no_messages")
    assert results[0]["checks"] == [{"name": "calls", "status": "pass", "reason": None, "failures": []}]
    assert results[0]["evidence"]["grades"] == {"recorded": 1}
    assert results[0]["usage"] == {"input_tokens": 22, "output_tokens": 6}
    assert [trial["verdict"] for trial in results[0]["trials"]] == ["PASS"]
    assert {"total": 3, "passed": 1, "failed": 0, "skipped": 2}.items() <= ran.document["summary"].items()
    assert json.loads((home / "out/r.json").read_text()) == ran.document
    assert "| 1 | 1 | quote | PASS |" in (home / "out/r.md").read_text()
    suite = ElementTree.parse(home / "out/r.xml").getroot()
    assert [case.find("skipped") is not None for case in suite] == [False, True, True]


def test_a_failure_names_call_rule_path_and_values(home: Path, server: Any) -> None:
    server.model = quoting("source")
    write(home / "cases.jsonl", record(1))

    ran = rerun(home, server, "--json", "--out-junit", "r.xml")

    assert ran.code == 1
    [result] = ran.document["results"]
    assert (result["status"], result["verdict"]) == ("failed", "FAIL")
    assert result["failures"] == [
        {
            "line": 1,
            "caseId": 1,
            "toolName": "quote",
            "path": "call 1: args.mode",
            "expected": '"target" (calls[0] equals)',
            "actual": '"source"',
        }
    ]
    suite = ElementTree.parse(home / "r.xml").getroot()
    assert suite.find("testcase/failure") is not None


def test_a_server_that_is_down_is_an_error_with_exit_4(home: Path) -> None:
    write(home / "cases.jsonl", record(1), record(2))

    ran = run(
        "regressions", "--rerun", "--file", "cases.jsonl", "--model", "m", "--json", "--out-junit", "r.xml",
        "--base-url", f"http://127.0.0.1:{closed_port()}/v1",
    )  # fmt: skip

    assert ran.code == 4
    assert [(each["status"], each["verdict"]) for each in ran.document["results"]] == [
        ("failed", "ERROR")
    ] * 2
    suite = ElementTree.parse(home / "r.xml").getroot()
    assert (suite.get("errors"), suite.get("failures")) == ("2", "0")
    assert len(suite.findall("testcase/error")) == 2
    assert suite.findall("testcase/failure") == []


@pytest.mark.parametrize(
    ("cases", "arguments", "code"),
    [
        ([record(1)], [], 0),
        ([record(1), record(2, input={"messages": []})], [], 0),
        ([record(1), record(2, input={"messages": []})], ["--strict"], 1),
        ([record(1, input={"messages": []})], [], 1),
        ([record(1), record(2, expected={"behavior": "x", "mode": "precision"})], [], 1),
        ([record(1), record(2, createdAt=0)], [], 1),
        ([], [], 1),
        ([record(1, status="archived")], [], 1),
        ([record(1, status="archived")], ["--include-archived"], 0),
        ([record(1)], ["--tools", "other", "--skip-unsupported"], 1),
        ([record(1)], ["--tape", "sideways"], 2),
        ([record(1)], ["--trials", "0"], 2),
        ([record(1)], ["--allow-live", "write"], 2),
        ([record(1)], ["--budget-usd", "-1"], 2),
        ([record(1)], ["--no-such-flag"], 2),
        ([record(1)], ["--tools-from", "nothing-here"], 2),
        ([record(1)], ["--tools-from", "missing.json"], 3),
        ([record(1)], ["--baseline", "missing.json"], 3),
        ([record(1)], ["--out-json", "cases.jsonl/x.json"], 3),
    ],
)
def test_exit_codes_are_those_of_the_contract(
    home: Path, server: Any, cases: list[Any], arguments: list[str], code: int
) -> None:
    write(home / "cases.jsonl", *cases)

    assert rerun(home, server, *arguments).code == code


def test_a_flaky_case_is_1_and_pass_hat_is_told(home: Path, server: Any) -> None:
    started = iter(["target", "source", "target", "target"])
    modes: dict[int, str] = {}

    def model(body: dict[str, Any]) -> dict[str, Any]:
        if len(body["messages"]) == 1:
            modes[0] = next(started)
        return quoting(modes[0])(body)

    server.model = model
    write(home / "cases.jsonl", record(1))

    ran = rerun(home, server, "--trials", "4", "--concurrency", "1", "--json")

    [result] = ran.document["results"]
    assert (ran.code, result["verdict"], result["stability"]) == (1, "FAIL", "flaky")
    assert result["reason"].startswith("flaky: 3 of 4")
    assert result["passHat"] == {"1": 0.75, "2": 0.5, "3": 0.25, "4": 0.0}


def test_an_irreversible_tool_is_refused_named_and_keeps_the_case_from_passing(
    home: Path, server: Any
) -> None:
    (home / "my_tools.py").write_text(
        "from pathlib import Path\n"
        "from quality_lab.toolloop import Tool\n"
        "def pay(args, context):\n"
        "    Path('it-ran').touch()\n"
        "    return {'ok': True}\n"
        "TOOLS = [Tool(name='pay', description='Pays.', execute=pay)]\n"
    )
    server.model = lambda body: says("done") if len(body["messages"]) > 1 else wants("pay", {})
    expected = {"behavior": "Pays.", "calls": [{"tool": "pay"}]}
    write(home / "cases.jsonl", record(1, toolName="pay", expected=expected, recorded=[],
                                       input={"toolName": "pay", "tools": []}))  # fmt: skip

    ran = rerun(home, server, "--tools-from", "my_tools:TOOLS", "--allow-live", "read", "--json")

    [result] = ran.document["results"]
    assert not (home / "it-ran").exists()
    assert (result["verdict"], result["evidence"]["refused"]) == ("INCONCLUSIVE", ["pay"])
    assert "pay cannot be undone" in result["evidence"]["notes"][0]
    assert server.bodies[0]["tools"][0]["function"]["name"] == "pay"


def test_the_recorded_model_needs_no_server(home: Path) -> None:
    stricter = definition("quote", {"mode": {"enum": ["target"]}})
    write(home / "cases.jsonl", record(1, input={"tools": [stricter]}), record(2))

    ran = run("regressions", "--rerun", "--file", "cases.jsonl", "--json")

    assert ran.code == 0
    assert [each["reason"].split(":")[0] for each in ran.document["results"]] == [
        "refused_today",
        "recorded_model_cannot_show_fix",
    ]


def test_a_tool_that_is_not_on_the_list_is_refused_in_a_rerun(home: Path) -> None:
    write(home / "cases.jsonl", record(1))

    ran = run("regressions", "--rerun", "--file", "cases.jsonl", "--tools", "book", "--json")

    assert [each["verdict"] for each in ran.document["results"]] == ["PASS"]


def test_two_runs_are_compared_case_by_case(home: Path, server: Any) -> None:
    write(home / "cases.jsonl", *(record(at) for at in range(1, 9)))
    server.model = quoting("source")
    rerun(home, server, "--out-json", "before.json")
    server.model = quoting("target")

    ran = rerun(home, server, "--baseline", "before.json", "--json", "--out-md", "now.md")

    told = ran.document["comparison"]
    assert (told["fixed"], told["broken"], told["pairs"]) == (8, 0, 8)
    assert told["p"] == pytest.approx(2 / 2**8)
    assert told["verdict"] == "better beyond noise"
    assert told["by_tool"]["quote"]["fixed"] == 8
    assert told["by_label"]["bad_args"]["fixed"] == 8
    assert "better beyond noise" in (home / "now.md").read_text()
    plain = write(home / "plain.json", {"results": [{"caseId": 1, "status": "passed"}]})
    assert rerun(home, server, "--baseline", plain).code == 3


def test_a_run_that_was_killed_goes_on_without_a_case_twice_or_lost(home: Path, server: Any) -> None:
    def slow(body: dict[str, Any]) -> dict[str, Any]:
        time.sleep(0.05)
        return quoting("target")(body)

    server.model = slow
    write(home / "cases.jsonl", *(record(at) for at in range(1, 13)))
    command = [
        sys.executable, "-m", "quality_lab", "regressions", "--rerun", "--file", "cases.jsonl",
        "--model", "m", "--base-url", server.url_for("/v1"), "--concurrency", "1",
    ]  # fmt: skip
    killed = subprocess.Popen(command, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    kept = home / "data/reruns.jsonl"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not (kept.exists() and kept.read_bytes().count(b"\n") >= 4):
        time.sleep(0.02)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    done = kept.read_bytes().count(b"\n")
    before = len(server.bodies)

    ran = rerun(home, server, "--resume", "--json")

    asked_anew = {body["messages"][0]["content"] for body in server.bodies[before:]}
    assert ran.code == 0
    assert 4 <= done < 12
    assert ran.document["summary"]["keptTrials"] == done
    assert len(asked_anew) == 12 - done
    assert [each["caseId"] for each in ran.document["results"]] == list(range(1, 13))


def test_a_judge_is_heard_beside_its_agreement_and_does_not_decide_unmeasured(
    home: Path, server: Any
) -> None:
    def model(body: dict[str, Any]) -> dict[str, Any]:
        if body["model"] == "judge":
            return says('{"reason": "It quoted in baht.", "verdict": "pass"}')
        return quoting("target")(body)

    server.model = model
    write(home / "cases.jsonl", record(1, expected={"behavior": "Quotes in baht."}))

    ran = rerun(home, server, "--judge", "judge", "--json")

    [result] = ran.document["results"]
    assert (ran.code, result["verdict"]) == (1, "INCONCLUSIVE")
    assert result["reason"].startswith("judge_not_measured")
    assert (ran.document["judge"]["gates"], ran.document["judge"]["agreement"]["n"]) == (False, 1)


def test_no_key_reaches_a_report(home: Path, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    write(home / "cases.jsonl", record(1))

    ran = rerun(home, server, "--json")

    assert server.log[0][0].headers["Authorization"] == "Bearer sk-very-secret"
    assert "sk-very-secret" not in ran.out + ran.err + (home / "data/reruns.jsonl").read_text()


@pytest.mark.parametrize("place", ["refusal", "page", "long", "answer", "call"])
def test_a_key_that_a_model_s_server_sends_back_is_shown_nowhere(
    home: Path, server: Any, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    key = "sk-very-secret-1234"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    write(home / "cases.jsonl", record(1))
    refused = json.dumps({"error": {"message": f"no such key: {key}"}})
    server.model = lambda _body: {
        "refusal": Response(refused, status=401, content_type="application/json"),
        "page": Response(f"<p>{key}</p>", status=403, content_type="text/html"),
        "long": Response("x " * 112 + key, status=403, content_type="text/plain"),  # where an excerpt ends
        "answer": says(f"I was called with {key}."),
        "call": wants("quote", {"mode": key}),
    }[place]

    ran = rerun(home, server, "--json", "--out-md", "r.md", "--out-junit", "r.xml", "--out-json", "r.json")

    kept = [home / name for name in ("r.md", "r.xml", "r.json", "data/reruns.jsonl")]
    shown = ran.out + ran.err + "".join(path.read_text() for path in kept)
    assert server.log[0][0].headers["Authorization"] == f"Bearer {key}"
    assert "sk-very" not in shown
    assert "***" in shown or place == "long"


def test_a_key_that_is_a_word_leaves_the_words_of_an_answer_alone(
    home: Path, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "quote")
    write(home / "cases.jsonl", record(1))

    assert rerun(home, server, "--json").document["results"][0]["verdict"] == "PASS"


def test_a_model_without_a_server_or_a_key_is_wrong_usage(home: Path) -> None:
    write(home / "cases.jsonl", record(1))

    for model in ("m", "openai:m"):
        ran = run("regressions", "--rerun", "--file", "cases.jsonl", "--model", model)
        assert (ran.code, "needs" in ran.err) == (2, True)


def test_without_a_file_the_lab_s_active_red_cases_are_run(home: Path) -> None:
    exported = write(
        home / "exported.jsonl",
        record(1, input={"tools": [definition("quote", {"mode": {"enum": ["target"]}})]}),
        record(2, recorded=[{"tool": "quote", "args": {"mode": "target"}, "result": 1}]),  # not red
        record(3, status="archived"),
    )
    assert run("load", exported).code == 0

    ran = run("regressions", "--rerun", "--json")

    assert [(each["caseId"], each["verdict"]) for each in ran.document["results"]] == [(1, "PASS")]
    assert ran.code == 0


def test_hostile_text_stays_text(home: Path, server: Any) -> None:
    server.model = lambda body: (
        says("\x1b[31m<script>") if len(body["messages"]) > 1 else wants("quote", {"mode": "\x1b[2J|x"})
    )
    write(home / "cases.jsonl", record(1))

    ran = rerun(home, server, "--out-md", "r.md", "--out-junit", "r.xml")

    assert ran.code == 1
    ElementTree.parse(home / "r.xml")
    assert "\x1b" not in (home / "r.md").read_text() + (home / "r.xml").read_text()


def test_the_budget_stops_the_run_and_exits_with_4(home: Path, server: Any) -> None:
    write(home / "cases.jsonl", *(record(at) for at in range(1, 6)))

    ran = run(
        "regressions", "--rerun", "--file", "cases.jsonl", "--model", "gpt-4o-mini", "--base-url",
        server.url_for("/v1"), "--budget-usd", "0.000001", "--concurrency", "1", "--json",
    )  # fmt: skip

    results = ran.document["results"]
    assert ran.code == 4
    assert [each["verdict"] for each in results] == ["PASS", "ERROR", "ERROR", "ERROR", "ERROR"]
    assert results[1]["reason"].startswith("budget_reached: 0.000007 of 0.000001 dollars")
    assert ran.document["summary"]["spentUsd"] == pytest.approx(22 * 0.15e-6 + 6 * 0.6e-6)
    assert len(server.bodies) == 2


def test_a_budget_for_a_model_without_a_price_or_a_server_that_counts_nothing_cannot_be_kept(
    home: Path, server: Any
) -> None:
    write(home / "cases.jsonl", record(1), record(2))

    def without_usage(body: dict[str, Any]) -> Any:
        choices = [{"index": 0, "message": quoting("target")(body), "finish_reason": "stop"}]
        return Response(json.dumps({"choices": choices}), content_type="application/json")

    unknown = rerun(home, server, "--budget-usd", "1")
    asked = len(server.bodies)
    server.model = without_usage
    uncounted = run(
        "regressions", "--rerun", "--file", "cases.jsonl", "--model", "gpt-4o-mini", "--base-url",
        server.url_for("/v1"), "--budget-usd", "1", "--concurrency", "1", "--json",
    )  # fmt: skip

    assert (unknown.code, "no price of it is known" in unknown.err, asked) == (2, True, 0)
    assert uncounted.code == 4
    assert uncounted.document["results"][1]["reason"].startswith("usage_unknown")


@pytest.mark.parametrize("content", ["", "[]", "[" * 100_000], ids=["empty", "list", "deep"])
def test_a_baseline_that_is_no_report_is_3(home: Path, content: str) -> None:
    write(home / "cases.jsonl", record(1))
    (home / "before.json").write_text(content)

    ran = run("regressions", "--rerun", "--file", home / "cases.jsonl", "--baseline", "before.json")

    assert (ran.code, ran.out) == (3, "")
    assert "before.json is no report of a re-run" in ran.err


def test_a_line_that_is_no_case_is_told_of_as_unknown(home: Path) -> None:
    (home / "cases.jsonl").write_text("no case\n", encoding="utf-8")

    ran = run("regressions", "--rerun", "--file", home / "cases.jsonl")

    assert ran.code == 1
    assert ran.err.splitlines()[-1].startswith("line 1, case unknown, unknown: ERROR, malformed_case: $: ")


def test_help_is_help_and_no_case_is_said_to_be_none(home: Path) -> None:
    helped, empty = run("regressions", "--rerun", "--help"), run("regressions", "--rerun")

    assert (helped.code, "--budget-usd" in helped.out) == (0, True)
    assert (empty.code, "no_data: there is no case to run among the active red ones" in empty.err) == (
        1,
        True,
    )


def test_cases_behind_an_api_are_run_again_and_its_token_is_never_shown(
    home: Path, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUALITY_LAB_TOKEN", "tok-very-secret")
    lines = "".join(f"{json.dumps(each)}\n" for each in (record(1), record(2, title="echo tok-very-secret")))
    server.expect_request("/api/admin/quality/tool-call-regression-cases/export.jsonl").respond_with_data(
        lines, content_type="application/x-ndjson"
    )

    ran = run(
        "regressions", "--rerun", "--api-base", server.url_for(""), "--model", "m", "--base-url",
        server.url_for("/v1"), "--json",
    )  # fmt: skip

    assert ran.code == 0
    assert [(each["caseId"], each["verdict"]) for each in ran.document["results"]] == [
        (1, "PASS"),
        (2, "PASS"),
    ]
    assert ran.document["metadata"]["source"] == "api"
    assert "tok-very-secret" not in ran.out + ran.err + (home / "data/reruns.jsonl").read_text()
