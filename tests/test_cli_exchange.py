"""What goes over from and to the upstream API: everything once, nothing without a word, the token nowhere."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from command_line import Ran, run
from loopback import Loopback, Reply, closed_port
from quality_server import TOKEN, QualityServer, serving
from test_store_loading import trace

from quality_lab.errors import ServiceError, StoreBusy
from quality_lab.lab import open_lab
from quality_lab.lab.pulling import PullStopped, keep_rows
from quality_lab.quality_api import Patience
from quality_lab.quality_api.slices import Row
from quality_lab.store.rows import uid

HURRY = Patience(connect_s=1.0, read_s=0.5, total_s=5.0, tries=2, first_wait_s=0.01)
FINGERPRINT = "schema_fix:rag_reply:compute_exchange_quote:bad_args"


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("QUALITY_LAB_TOKEN", TOKEN)


@pytest.fixture
def server() -> Iterator[QualityServer]:
    held = QualityServer(calls=[trace(number, createdAt=1781000000 + number) for number in range(1, 5)])
    with serving(held):
        yield held


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def pull(home: Path, server: QualityServer, *more: object) -> Ran:
    return run("--home", home, "pull", "--api-base", server.base, "--json", *more)


def push(home: Path, server: QualityServer, *more: object) -> Ran:
    return run("--home", home, "push", "--api-base", server.base, "--reviewer", "dana", "--json", *more)


def said(number: int, on: int, label: str = "bad_args", **more: Any) -> dict[str, Any]:
    """Return a label that stands upstream."""
    plain = {"adminId": 3, "note": None, "createdAt": 1781000450}
    return {"id": number, "toolCallId": on, "label": label, **plain, **more}


def proposal(**more: Any) -> dict[str, Any]:
    """Return a proposal as upstream tracks it."""
    base = {
        "id": 12,
        "fingerprint": FINGERPRINT,
        "kind": "schema_fix",
        "status": "pending",
        "severity": "medium",
        "title": "Tighten args for compute_exchange_quote",
        "toolName": "compute_exchange_quote",
        "source": "rag_reply",
        "label": "bad_args",
        "feedbackCount": 1,
        "errorCount": 0,
        "lastFeedbackAt": 1781000450,
        "summary": "1 bad_args label",
        "rationale": [],
        "actionItems": [],
        "examples": [],
        "createdAt": 1781000500,
        "updatedAt": 1781000500,
        "decidedAt": None,
        "decidedByAdminId": None,
        "resolution": None,
    }
    return base | more


def case(number: int, **more: Any) -> dict[str, Any]:
    """Return a line of upstream's export of cases."""
    base: dict[str, Any] = {
        "recordType": "tool_call_regression_case",
        "id": number,
        "proposalId": None,
        "toolCallId": 1,
        "source": "tool_call_feedback",
        "toolName": "compute_exchange_quote",
        "label": "bad_args",
        "title": "REG: quotes",
        "input": {
            "source": "rag_reply",
            "toolName": "compute_exchange_quote",
            "args": {},
            "feedback": {"label": "bad_args", "note": None},
        },
        "expected": {"behavior": "asks", "proposalKind": "schema_fix", "actionItems": ["x"]},
        "context": {},
        "status": "active",
        "createdByAdminId": None,
        "createdAt": 1781003600,
        "updatedAt": 1781003600,
    }
    return base | more


def exports(home: Path) -> list[str]:
    """Return the names of what pulls wrote, without their times."""
    names = sorted(path.name for path in (home / "data" / "exports").iterdir())
    assert all(name.startswith("pulled-") for name in names)  # no draft is left behind
    return names


def journal(home: Path, shelf: str) -> list[dict[str, Any]]:
    path = home / "data" / "journal" / f"{shelf}.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


@pytest.fixture
def reviewed(home: Path, server: QualityServer) -> Path:
    """A home that pulled four calls."""
    assert pull(home, server).code == 0
    return home


def uid_of(number: int, tenant: str = "default") -> str:
    """Return the lab's uid of upstream's call *number*."""
    return str(UUID(uid(tenant, "quality_lab", str(number))))


def label(
    home: Path, number: int, word: str, *more: object, by: str = "dana", tenant: str = "default"
) -> dict[str, Any]:
    """Return the line that labels upstream's call *number*."""
    ran = run(
        *("--home", home, "label", uid_of(number, tenant), word),
        *("--reviewer", by, "--json", *more),
    )
    assert ran.code == 0, ran.err
    line: dict[str, Any] = ran.document
    return line


# ---- pull ----


def test_a_pull_writes_what_came_and_loads_it(home, server):
    server.labels = [said(512, on=1)]
    server.cases, server.proposals = [case(41), case(42, status="archived")], [proposal()]

    ran = pull(home, server)

    assert ran.code == 0
    assert [(one["what"], one["rows"], one["new"], one["requests"]) for one in ran.document["what"]] == [
        ("feedback", 1, 1, 1),
        ("cases", 2, 2, 1),
        ("calls", 4, 4, 1),
        ("proposals", 1, 1, 1),
    ]
    assert ran.document["possibly_truncated"] is False
    store = ran.document["load"]["store"]
    assert [store[name] for name in ("tool_calls", "feedback", "regression_cases", "proposals")] == [
        4,
        1,
        2,
        1,
    ]
    assert [name.split("-")[1] for name in exports(home)] == ["calls", "cases", "feedback", "proposals"]
    lines = (home / "data/exports" / exports(home)[0]).read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == server.calls


def test_what_came_before_is_in_no_second_file_and_changes_nothing(home, server):
    server.labels = [said(512, on=1)]
    pull(home, server)
    before, totals = exports(home), run("--home", home, "labels", "--json").document

    again = pull(home, server)

    assert [(one["new"], one["file"]) for one in again.document["what"]] == [(0, None)] * 4
    assert not any(again.document["load"]["totals"].values())
    assert again.document["load"]["files"] == []
    assert exports(home) == before
    assert run("--home", home, "labels", "--json").document == totals


def test_what_is_new_comes_in_a_file_of_its_own_and_a_case_that_changed_stands_as_it_is_now(home, server):
    server.cases = [case(41), case(42)]
    pull(home, server, "--what", "cases")
    server.cases[0] = case(41, status="archived", updatedAt=1781009000)

    again = pull(home, server, "--what", "cases")

    assert [(one["rows"], one["new"]) for one in again.document["what"]] == [(2, 1)]
    listed = run("--home", home, "cases", "list", "--status", "all", "--json").document
    assert {one["id"]: one["status"] for one in listed} == {41: "archived", 42: "active"}


def test_a_file_that_a_load_missed_is_loaded_by_the_next_pull(home, server):
    pull(home, server)
    (home / "data/quality.duckdb").unlink()

    again = pull(home, server)

    assert again.document["what"][2]["new"] == 0
    assert again.document["load"]["store"]["tool_calls"] == 4


def test_tenants_are_kept_apart(home, server):
    pull(home, server, "--tenant", "north/east")
    pull(home, server, "--tenant", "south")

    assert {name.split("@")[1] for name in exports(home)} == {"north%2Feast", "south"}
    calls = run("--home", home, "calls", "--tenant", "south", "--json").document
    assert len(calls) == 4
    assert len(run("--home", home, "calls", "--json").document) == 8

    (home / "data" / "quality.duckdb").unlink()
    run("--home", home, "load", home / "data" / "exports")  # as if it were all one tenant's
    pull(home, server, "--tenant", "south")
    assert len(run("--home", home, "calls", "--tenant", "south", "--json").document) == 4


def test_two_pulls_in_one_second_write_over_nothing(home):
    told = {"home": home, "tenant": "default", "now": datetime(2026, 6, 1, tzinfo=UTC)}
    first, second = (keep_rows([Row(text=f'{{"id":{n}}}', key=n)], "calls", **told) for n in (1, 2))

    assert [first.file.name, second.file.name] == exports(home)[::-1]
    assert [one.file.read_text() for one in (first, second)] == ['{"id":1}\n', '{"id":2}\n']


def test_the_prefix_of_the_base_is_kept_and_its_user_and_password_are_shown_nowhere(home):
    server = QualityServer(calls=[trace(1)], prefix="/eu/lab")
    with serving(server):
        base = server.base.replace("http://", "http://me:hunter2@") + "/?tenant=4#top"
        ran = run("--home", home, "pull", "--api-base", base, "--what", "calls", "--json")

    assert (ran.code, ran.document["api"]) == (0, server.base)
    assert "hunter2" not in ran.out + ran.err
    assert server.asked == [("GET", "/eu/lab/api/admin/quality/tool-calls?limit=1000")]


def test_more_than_a_page_comes_whole_where_the_filters_say_so(home):
    server = QualityServer()
    for number in range(1, 1501):
        source = "rag_reply" if number % 2 else "llm_reply"
        server.calls.append(
            trace(number, source=source, error=number % 4 == 0, createdAt=1781000000 + number)
        )
    with serving(server):
        ran = pull(home, server, "--what", "calls")

    (came,) = ran.document["what"]
    assert (came["rows"], came["new"], came["possibly_truncated"]) == (1500, 1500, False)
    assert [(one["filters"], one["full"]) for one in came["slices"]] == [
        ({}, True),
        *[({"source": name}, False) for name in ("rag_reply", "llm_reply", "admin_sim", "self_play")],
    ]
    assert ran.document["load"]["store"]["tool_calls"] == 1500
    assert "truncated" not in ran.err


def test_a_slice_that_stays_full_is_said_with_its_filters(home):
    rows = [trace(number, toolName="quote", createdAt=1781000000 + number) for number in range(1, 1101)]
    with serving(QualityServer(calls=rows)) as server:
        ran = pull(home, server, "--what", "calls")
        strict = pull(home, server, "--what", "calls", "--strict")

    (came,) = ran.document["what"]
    assert (ran.code, strict.code) == (0, 1)
    assert (came["rows"], came["possibly_truncated"], ran.document["possibly_truncated"]) == (
        1000,
        True,
        True,
    )
    full = [one["filters"] for one in came["slices"] if one["possibly_truncated"]]
    assert {"source": "rag_reply", "error": "false", "toolName": "quote"} in full
    assert {"conversationId": "977"} in full
    assert "calls: possibly truncated; 1,000 rows came" in ran.err
    assert "source rag_reply, error false, toolName quote: a full page of 1,000 rows" in ran.err


def test_conversations_that_labels_told_of_are_asked_for_when_a_page_is_full(home):
    rows = [trace(1, conversationId=5, createdAt=1780000000)]
    rows += [trace(n, conversationId=10 + n % 20, createdAt=1781000000 + n) for n in range(2, 1102)]
    server = QualityServer(calls=rows, labels=[said(1, on=1)])
    with serving(server):
        bounded = pull(home, server, "--what", "feedback,calls", "--most-requests", "9")
        assert len(server.asked) == 1 + 9
        ran = pull(home, server, "--what", "feedback,calls")

    assert bounded.document["what"][1]["possibly_truncated"]
    assert "tool-calls?conversationId=5&limit=1000" in server.reads
    calls = ran.document["what"][1]
    assert (calls["rows"], calls["possibly_truncated"]) == (1101, True)  # who knows of other conversations


@pytest.mark.parametrize("summary", [True, False])
def test_the_count_in_the_summary_proves_that_labels_are_whole(home, summary):
    rows = [trace(number, toolName="quote" if number > 900 else "pay") for number in range(1, 1201)]
    labels = [said(number, on=number, createdAt=1781000000 + number) for number in range(1, 1201)]
    with serving(QualityServer(calls=rows, labels=labels, summary=summary)) as server:
        ran = pull(home, server, "--what", "feedback")

    (came,) = ran.document["what"]
    assert (came["rows"], came["total"]) == (1200, 1200 if summary else None)
    assert came["possibly_truncated"] is not summary


def test_a_token_that_rows_send_back_stands_in_no_file(home, server):
    server.calls[0]["result"] = {"note": f"as {TOKEN} said", "card": "tok\u002dvery-secret-1"}
    server.calls[1]["toolName"] = TOKEN
    body = json.dumps({"items": server.calls}).replace(
        "tok-very-secret-1 said", "tok\\u002dvery-secret-1 said"
    )
    server.before = lambda method, target: (200, body.encode()) if "tool-calls?" in target else None

    ran = pull(home, server)

    held = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    assert ran.code == 0
    assert len(held) > 2
    assert b"secret-1" not in b"".join(held) + ran.out.encode() + ran.err.encode()


def test_a_token_that_is_a_word_of_the_data_changes_no_row(home, server, monkeypatch):
    monkeypatch.setattr("quality_server.TOKEN", "good")
    monkeypatch.setenv("QUALITY_LAB_TOKEN", "good")
    server.labels = [said(1, on=1, label="good_reply", note="good")]
    server.calls[0]["toolName"] = "goods"

    ran = pull(home, server)

    assert ran.code == 0
    assert {row["label"]: row["rows"] for row in run("--home", home, "labels", "--json").document}[
        "good_reply"
    ] == 1
    (feedback,) = home.glob("data/exports/pulled-feedback-*")
    kept = json.loads(feedback.read_text("utf-8"))
    assert kept == server.exported()[0]
    assert [one["masked"] for one in ran.document["what"]] == [0, 0, 0, 0]


def test_how_often_the_token_stood_in_rows_is_said(home, server):
    server.calls[0] |= {"toolName": f"{TOKEN}x", "result": {"a": f"line\n{TOKEN}", "b": [f"({TOKEN})"]}}

    ran = pull(home, server, "--what", "calls")

    (file,) = home.glob("data/exports/pulled-calls-*")
    kept = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    first = next(row for row in kept if row["id"] == server.calls[0]["id"])
    assert (first["toolName"], first["result"]) == (f"{TOKEN}x", {"a": "line\n***", "b": ["(***)"]})
    assert ran.document["what"][0]["masked"] == 2
    assert "calls: the API sent back the token in its rows, 2 times; it is *** there" in ran.err


@pytest.mark.parametrize(
    ("change", "code"), [({}, 0), ({"label": "great"}, 1), ({"label": 5}, 1), ({"feedbackCreatedAt": "x"}, 1)]
)
def test_strict_ends_in_1_where_rows_were_not_understood(home, server, change, code):
    server.labels = [said(1, on=1), said(2, on=2)]
    rows = server.exported()
    body = "".join(json.dumps(row | (change if at else {})) + "\n" for at, row in enumerate(rows)).encode()
    server.before = lambda method, target: (200, body) if "feedback/export" in target else None

    assert pull(home, server, "--strict").code == code
    assert pull(home.with_name("other"), server).code == 0


def test_hostile_rows_load_as_any_others_and_act_on_no_terminal(home, server):
    name = "\x1b[31m<script>\u202e"  # in a full page, so that it stands in what is said of slices
    server.calls = [trace(n, toolName=name, createdAt=1781000000 + n) for n in range(1, 1002)]
    server.before = lambda method, target: (
        (200, b'{"id":1,"recordType":"x\\u001b[2J"}\nnot json\x1b[2J\n') if "cases/export" in target else None
    )

    ran = run("--home", home, "pull", "--api-base", server.base, "--what", "calls,cases")

    shown = ran.out + ran.err + repr(open_lab(home).pull(server.base, token=TOKEN, what=["calls"]))
    assert "toolName \\x1b[31m<script>\\u202e: a full page" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert ran.code == 3  # cases that no format knows, in a file that was named


def test_who_was_forgotten_comes_back_in_no_file(home, server):
    server.calls[0] |= {"conversationId": 5, "contactId": 650}
    pull(home, server)
    run("--home", home, "forget", "--contact", "650", "--yes")
    for path in (home / "data" / "exports").iterdir():
        path.unlink()
    server.labels = [said(7, on=1), said(8, on=2)]
    joined = {"feedback": {"id": 7}, "toolCall": {"id": 1, "conversationId": 5, "contactId": 650}}
    server.proposals = [proposal(examples=[joined])]

    ran = pull(home, server)

    told = {one["what"]: (one["rows"], one["new"], one["forgotten"]) for one in ran.document["what"]}
    assert told == {"feedback": (2, 1, 1), "cases": (0, 0, 0), "calls": (4, 3, 1), "proposals": (1, 0, 1)}
    assert b"650" not in b"".join(path.read_bytes() for path in (home / "data" / "exports").iterdir())


def test_a_pull_of_exactly_a_hundred_rows_is_not_called_truncated_by_its_load(home):
    with serving(QualityServer(calls=[trace(number) for number in range(1, 101)])) as server:
        ran = run("--home", home, "pull", "--api-base", server.base)

    assert "100 loaded" in ran.out
    assert "truncated" not in ran.out


# ---- what can go wrong ----

HTML = (200, b"<!doctype html><title>Sign in</title>" + TOKEN.encode())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            (401, b'{"error":"auth: expired tok-very-secret-1"}'),
            '401 Unauthorized\nurl=.*\nbody={"error":"auth: exp',
        ),
        ((403, b'{"error":"quality write access requires superadmin"}'), "403 Forbidden"),
        ((404, b""), "404 Not Found"),
        (HTML, "wanted an object .*body=<!doctype html>"),
        ((200, b""), "wanted an object .*body=nothing"),
        ((200, b'{"items":[{"id"'), 'body={"items":'),
        ((500, b"x" * 5000), "500 Internal Server Error"),
    ],
)
def test_a_service_that_refuses_ends_in_4_and_leaves_nothing_behind(home, server, answer, words, monkeypatch):
    monkeypatch.setattr("quality_lab.quality_api.session.Patience", lambda: HURRY)
    server.before = lambda method, target: answer

    ran = pull(home, server, "--what", "calls")

    assert (ran.code, list(ran.document)) == (4, ["error"])
    assert re.search(words, ran.err, re.DOTALL), ran.err
    assert "tok-" not in ran.err
    assert len(ran.err) < 700
    assert not (home / "data" / "exports").exists()
    assert len(server.asked) == (2 if answer[0] == 500 else 1)


def test_a_server_that_asks_to_wait_is_waited_for(home, server):
    with Loopback(
        Reply(status=429, headers={"Retry-After": "0"}),
        Reply(body=json.dumps({"items": server.calls}).encode()),
    ) as busy:
        pulled = open_lab(home).pull(busy.base, token=TOKEN, what=["calls"], patience=HURRY)

    assert (pulled.kinds[0].rows, len(busy.seen)) == (4, 2)


@pytest.mark.parametrize(
    "reply",
    [Reply(waits_s=30), Reply(body=b'{"items":[]}', cut_after=4), Reply(body=b"x" * 99, drips_s=0.2)],
    ids=["silent", "cut", "dripping"],
)
def test_a_server_that_stalls_or_breaks_off_ends_in_time(home, reply):
    patience = Patience(read_s=0.3, total_s=1.0, tries=2, first_wait_s=0.01)
    with Loopback(reply) as server, pytest.raises(ServiceError):
        open_lab(home).pull(server.base, token=TOKEN, what=["calls"], patience=patience)

    assert len(server.seen) >= 1


def test_a_server_that_is_not_there_ends_in_4(home):
    ran = run("--home", home, "push", "--api-base", f"http://127.0.0.1:{closed_port()}", "--json")
    assert (ran.code, ran.document["labels"]) == (0, [])  # nothing to send is nothing to ask

    with pytest.raises(ServiceError, match="could not be reached"):
        open_lab(home).pull(f"http://127.0.0.1:{closed_port()}", token=TOKEN, patience=HURRY)


def test_another_origin_gets_no_token_and_what_it_says_is_not_taken_for_the_api_s(home):
    with Loopback(Reply(status=401, body=b'{"error":"missing Authorization Bearer token"}')) as other:
        moved = Reply(status=307, headers={"Location": f"{other.base}/x"})
        with Loopback(moved) as server:
            ran = run("--home", home, "pull", "--api-base", server.base, "--what", "calls")

    assert ran.code == 4
    assert "authorization" in server.seen[0].headers
    assert "authorization" not in other.seen[0].headers


def test_what_came_whole_before_the_service_failed_is_kept_and_told(home, server):
    server.labels = [said(512, on=1)]
    server.before = lambda method, target: (403, b"no") if "tool-calls?" in target else None

    ran = pull(home, server)

    assert ran.code == 4
    assert [one["what"] for one in ran.document["what"]] == ["feedback", "cases"]
    assert ran.document["load"]["store"]["feedback"] == 1
    assert "calls could not be pulled" in ran.err
    with pytest.raises(PullStopped) as stopped:
        open_lab(home).pull(server.base, token=TOKEN)
    assert [one.what for one in stopped.value.pulled.kinds] == ["feedback", "cases"]


@pytest.mark.parametrize("verb", ["pull", "push"])
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--api-base", "lab.example.com"], "wanted an http or https URL"),
        ([], "--api-base"),
        (["--api-base", "http://127.0.0.1:1", "--token-env", "NO_SUCH_TOKEN"], "variable NO_SUCH_TOKEN"),
    ],
)
def test_wrong_usage_ends_in_2(home, verb, words, reason):
    ran = run("--home", home, verb, *words)

    assert (ran.code, ran.out) == (2, "")
    assert reason in ran.err


@pytest.mark.parametrize("what", ["labels", "", "calls,traces"])
def test_a_kind_that_is_none_is_wrong_usage(home, what):
    assert run("--home", home, "pull", "--api-base", "http://127.0.0.1:1", "--what", what).code == 2


# ---- push: labels ----


def test_a_label_is_read_sent_and_noted_and_the_next_push_changes_nothing(reviewed, server):
    line = label(reviewed, 1, "bad_args", "--note", "in baht")

    first = push(reviewed, server)
    after = [dict(one) for one in server.labels], journal(reviewed, "pushes")
    second = push(reviewed, server)

    assert server.wrote == [("tool-calls/1/feedback", {"label": "bad_args", "note": "in baht"})]
    assert [(one["done"], one["feedback_id"]) for one in first.document["labels"]] == [("sent", 9000)]
    (note,) = journal(reviewed, "pushes")
    assert (note["pushes"], note["feedback_id"], note["api"]) == (line["id"], 9000, server.base)
    assert [one["done"] for one in second.document["labels"]] == ["pushed_before"]
    assert (second.code, server.labels, journal(reviewed, "pushes")) == (0, *after)
    reads = server.reads[server.reads.index("tool-calls/1/feedback") :]
    assert reads == ["tool-calls/1/feedback"]  # read once before it was sent, and not again


def test_what_is_upstream_already_is_noted_and_not_sent(reviewed, server):
    label(reviewed, 1, "bad_args", "--note", " in baht ")
    server.labels = [said(7, on=1, note="in baht")]

    done = push(reviewed, server).document

    assert [(one["done"], one["feedback_id"]) for one in done["labels"]] == [("there_already", 7)]
    assert server.wrote == []
    assert journal(reviewed, "pushes")[0]["feedback_id"] == 7


def test_somebody_upstream_who_had_said_the_same_stays_a_reviewer_and_nothing_was_sent(reviewed, server):
    server.labels = [said(7, on=1, adminId=8)]
    pull(reviewed, server)
    line = label(reviewed, 1, "bad_args")
    push(reviewed, server)

    pull(reviewed, server)

    every, *_ = run("--home", reviewed, "agreement", "--json").document
    assert (every["calls"], every["reviewers"], every["agreed"]) == (1, 2, 1)
    assert [one["done"] for one in push(reviewed, server).document["labels"]] == ["pushed_before"]
    assert server.wrote == []
    assert run("--home", reviewed, "undo", line["id"]).code == 0  # nothing of it stands upstream


def test_two_reviewers_who_agree_are_two_labels_and_one_who_repeats_is_one(reviewed, server):
    label(reviewed, 1, "bad_args", by="dana")
    label(reviewed, 1, "bad_args", by="tomas")
    push(reviewed, server)
    label(reviewed, 1, "bad_args", by="dana")

    again = push(reviewed, server).document

    assert len(server.labels) == 2
    assert [one["done"] for one in again["labels"]] == ["pushed_before", "pushed_before", "there_already"]


def test_a_word_that_settles_a_dispute_is_a_label_of_its_own(reviewed, server):
    label(reviewed, 1, "bad_args", by="dana")
    call = uid_of(1)
    run("--home", reviewed, "adjudicate", call, "good_reply", "--reviewer", "dana")

    push(reviewed, server)

    assert [one["label"] for one in server.labels] == ["bad_args", "good_reply"]


def test_who_settles_what_they_said_themselves_says_it_once(reviewed, server):
    label(reviewed, 1, "bad_args", by="dana")
    run("--home", reviewed, "adjudicate", uid_of(1), "bad_args", "--reviewer", "dana")

    done = push(reviewed, server).document

    assert [one["done"] for one in done["labels"]] == ["sent", "there_already"]
    assert len(server.labels) == 1


def test_a_change_of_mind_is_sent_and_what_it_replaced_is_not(reviewed, server):
    label(reviewed, 1, "other")
    label(reviewed, 1, "bad_args")

    first = push(reviewed, server).document
    label(reviewed, 1, "other")
    push(reviewed, server)
    label(reviewed, 1, "bad_args")
    push(reviewed, server)

    assert first["not_sent"] == {"a later label of the same reviewer replaced it": 1}
    assert [one["label"] for one in server.labels] == ["bad_args", "other", "bad_args"]


def test_secrets_in_notes_go_as_stand_ins(reviewed, server):
    label(reviewed, 1, "bad_args", "--note", "card 4111 1111 1111 1111")

    label(reviewed, 2, "other", "--note", "\x1b[31mred")
    shown = run("--home", reviewed, "push", "--api-base", server.base, "--dry-run")
    push(reviewed, server)

    body = server.wrote[0][1]
    assert body["note"].startswith("card [card-")
    assert body["note"] in shown.out
    assert "other on call 2: \\x1b[31mred" in shown.out
    assert "4111" not in shown.out


def test_a_dry_run_sends_and_notes_nothing(reviewed, server):
    label(reviewed, 1, "bad_args")
    server.proposals = [proposal()]

    ran = push(reviewed, server, "--dry-run")

    assert [(one["done"], one["tool_call_id"]) for one in ran.document["labels"]] == [("to_send", "1")]
    assert {method for method, _ in server.asked} == {"GET"}
    assert journal(reviewed, "pushes") == []


def test_what_is_not_sent_is_counted_with_its_reason(reviewed, server):
    taken = label(reviewed, 1, "other")
    run("--home", reviewed, "undo", taken["id"], "--reviewer", "dana")
    label(reviewed, 2, "other", "--note", "n" * 2001)
    head = {"record_type": "label", "created_at": "2026-06-10T08:00:00Z", "author": "dana"}
    lines = [
        {"id": "a", "label": "other", "author_kind": "LLM", "call": {"tool_call_id": 3}},
        {"id": "b", "label": "sarcasm", "call": {"tool_call_id": 3}},
        {
            "id": "c",
            "label": "other",
            "conversation": {"format": "quality_lab.traces", "conversation_id": "977"},
        },
        {"id": "d", "label": "other", "call": {"call_uid": "0" * 32}},
        {"id": "e", "label": "other", "call": {"format": "openai.chat", "key": "c/1/0"}},
        {"id": "f", "label": "other", "tenant": "north", "call": {"tool_call_id": 3}},
        {"id": "g", "label": "other", "call": {"tool_call_id": 999}},
        {"id": "h", "label": "other", "call": {"tool_call_id": "../cases"}},
        {"id": "i", "label": "Bad Args", "call": {"key_space": "quality_lab", "key": "4"}},
    ]
    with (reviewed / "data/journal/labels.jsonl").open("a") as shelf:
        shelf.writelines(json.dumps(head | line) + "\n" for line in lines)

    ran = push(reviewed, server)

    assert ran.document["not_sent"] == {
        "it was taken back": 1,
        "note must be a string up to 2000 characters": 1,
        "no person gave it": 1,
        "it is none of the five labels": 1,
        "it is about no single call": 1,
        "its call is not in this lab": 1,
        "upstream does not know its call": 2,
        "its call is another tenant's": 1,
        'upstream answers 404: {"error": "tool call not found"}': 1,
    }
    assert server.wrote == [("tool-calls/4/feedback", {"label": "bad_args"})]
    assert ran.code == 1  # for the call that upstream does not know
    assert [one["line"] for one in ran.document["labels"] if one["refused"]] == ["g"]
    shown = run("--home", reviewed, "push", "--api-base", server.base).out
    assert "not sent, 1: no person gave it" in shown


def test_labels_go_to_their_own_tenant(home, server):
    pull(home, server, "--tenant", "north")
    label(home, 1, "bad_args", tenant="north")

    assert push(home, server).document["not_sent"] == {"its call is another tenant's": 1}
    assert push(home, server, "--tenant", "north").document["counts"]["labels"]["sent"] == 1
    assert journal(home, "pushes")[0]["tenant"] == "north"


def test_another_api_knows_nothing_of_what_was_pushed_here(reviewed, server):
    label(reviewed, 1, "bad_args")
    push(reviewed, server)

    with serving(QualityServer(calls=server.calls)) as other:
        push(reviewed, other)

    assert [len(one.labels) for one in (server, other)] == [1, 1]


def test_a_label_that_was_pushed_cannot_be_taken_back_and_undo_says_why(reviewed, server):
    line = label(reviewed, 1, "bad_args")
    push(reviewed, server)
    (note,) = journal(reviewed, "pushes")

    last, named, noted = (
        run("--home", reviewed, "undo", *words, "--reviewer", "dana")
        for words in ([], [line["id"]], [note["id"]])
    )

    assert [one.code for one in (last, named, noted)] == [2, 2, 2]
    assert f"was pushed: it is label 9000 at {server.base}, where nothing can be taken back" in named.err
    assert last.err == named.err
    assert "cannot be taken back" in noted.err
    assert journal(reviewed, "retractions") == []
    labels = {one["label"]: one["rows"] for one in run("--home", reviewed, "labels", "--json").document}
    assert labels["bad_args"] == 1


def test_a_label_that_comes_back_from_upstream_counts_once_and_keeps_its_reviewer(reviewed, server):
    label(reviewed, 1, "bad_args", "--expected-tool", "quote")
    server.labels = [said(7, on=2, label="other")]
    push(reviewed, server)

    pull(reviewed, server)

    labels = {one["label"]: one["rows"] for one in run("--home", reviewed, "labels", "--json").document}
    assert (labels["bad_args"], labels["other"]) == (1, 1)
    by_dana = run("--home", reviewed, "labels", "--reviewer", "dana", "--json").document
    assert sum(one["rows"] for one in by_dana) == 1
    told = [step.kind for step in open_lab(reviewed).conversation("977").steps]
    assert told.count("labelled") == 2
    assert [step.who for step in open_lab(reviewed).call(uid_of(1)).steps][1:] == ["dana"]
    compat = run("--home", reviewed, "summary", "--compat", "--json").document
    assert compat["totals"]["total"] == 2  # upstream's own document counts what upstream counts
    rebuilt = run("--home", reviewed, "load", "--rebuild", "--json")
    assert rebuilt.code == 0
    assert {
        one["label"]: one["rows"] for one in run("--home", reviewed, "labels", "--json").document
    } == labels


def test_a_review_that_comes_back_is_no_second_reviewer_s(reviewed, server):
    queue = ("queue", "--home", reviewed)
    run(*queue, "--size", 4, "--seed", 1, "--reviewers", "dana,lee", "--overlap", 1, "--author", "dana")
    for number in range(1, 5):
        label(reviewed, number, "other")
    before = run("queue", "progress", "--home", reviewed, "--json").document
    push(reviewed, server)

    pull(reviewed, server)

    assert {row["reviewer"]: row["left"] for row in before} == {"dana": 0, "lee": 4}
    assert run("queue", "progress", "--home", reviewed, "--json").document == before


def test_a_dispute_that_comes_back_from_upstream_is_not_looked_at_again_by_that(reviewed, server):
    label(reviewed, 1, "bad_args", by="dana")
    label(reviewed, 1, "other", by="lee")
    words = ("--size", 4, "--seed", 1, "--strategy", "disputed", "--author", "dana")
    assert run("queue", "--home", reviewed, *words).code == 0
    server.now = int(datetime.now(UTC).timestamp()) + 60
    push(reviewed, server)

    pull(reviewed, server)

    (queue,) = run("queue", "list", "--home", reviewed, "--json").document
    assert (queue["calls"], queue["reviewed"]) == (4, 0)


def test_notes_of_pushes_load_by_the_one_door_and_are_understood(reviewed, server):
    label(reviewed, 1, "bad_args")
    push(reviewed, server)

    report = run("--home", reviewed, "load", reviewed / "data/journal/pushes.jsonl", "--json").document

    (file,) = [one for one in report["files"] if one["path"].endswith("pushes.jsonl")]
    assert (file["format"], file["rejected"]) == ("quality_lab.journal", 0)
    assert (file["unknown_fields"], file["not_understood"]) == ({}, {})
    assert run("--home", reviewed, "rejects", "--json").document == []


def test_forget_takes_the_notes_of_pushes_out_too(reviewed, server):
    label(reviewed, 1, "bad_args")
    push(reviewed, server)
    pull(reviewed, server)

    done = run("--home", reviewed, "forget", "--conversation", "977", "--yes", "--json")

    assert done.code == 0
    assert journal(reviewed, "pushes") == journal(reviewed, "labels") == []
    assert open_lab(reviewed).sql("select count(*) as n from retractions")["n"][0] == 0


# ---- push: what can go wrong ----


def test_a_refusal_that_every_label_would_meet_ends_in_4_with_what_was_sent(reviewed, server):
    label(reviewed, 1, "bad_args")
    label(reviewed, 2, "bad_args")
    refusal = (403, b'{"error":"quality write access requires superadmin"}')
    server.before = lambda method, target: (
        refusal if target.endswith("/2/feedback") and method == "POST" else None
    )

    ran = push(reviewed, server)

    assert ran.code == 4
    assert [one["done"] for one in ran.document["labels"]] == ["sent", "not_sent"]
    assert ran.document["not_sent"] == {"the push stopped: Quality API write failed: 403 Forbidden": 1}
    assert "quality write access requires superadmin" in ran.err
    server.before = lambda method, target: None
    assert [one["done"] for one in push(reviewed, server).document["labels"]] == ["pushed_before", "sent"]


def test_an_answer_that_was_lost_is_looked_for_and_not_sent_again(reviewed, server):
    label(reviewed, 1, "bad_args")
    label(reviewed, 2, "other")

    def lose() -> None:
        raise ConnectionError

    server.after_write = lose
    done = push(reviewed, server).document

    assert [one["done"] for one in done["labels"]] == ["sent", "sent"]
    assert [path for path, _ in server.wrote] == ["tool-calls/1/feedback", "tool-calls/2/feedback"]
    assert [one["feedback_id"] for one in journal(reviewed, "pushes")] == [9000, 9001]


@pytest.mark.parametrize(
    "answer", [(500, b"oops"), (502, b""), (201, b"<html>"), (201, b'{"feedback":{"id":"x"}}')]
)
def test_a_write_of_which_nobody_knows_is_left_to_the_next_push(reviewed, server, answer):
    label(reviewed, 1, "bad_args")
    server.before = lambda method, target: answer if method == "POST" else None

    ran = push(reviewed, server)

    assert (ran.code, [one["done"] for one in ran.document["labels"]]) == (4, ["not_sent"])
    assert [method for method, _ in server.asked].count("POST") == 1
    assert journal(reviewed, "pushes") == []
    server.before = lambda method, target: None
    assert push(reviewed, server).document["counts"]["labels"]["sent"] == 1


_PUSH = "import sys; from quality_lab.cli import main; main(sys.argv[1:])"


def test_a_push_that_is_killed_between_sending_and_noting_does_not_double(reviewed, server):
    label(reviewed, 1, "bad_args", by="dana")
    label(reviewed, 1, "bad_args", by="tomas")
    arrived, never = threading.Event(), threading.Event()

    def hold() -> None:
        arrived.set()
        never.wait(600)

    server.after_write = hold
    words = ("--home", reviewed, "push", "--api-base", server.base, "--reviewer", "dana")
    child = subprocess.Popen(
        [sys.executable, "-c", _PUSH, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        while not arrived.wait(0.05):
            assert child.poll() is None, child.stdout and child.stdout.read()
        child.send_signal(signal.SIGKILL)
        assert child.wait(60) == -signal.SIGKILL
    finally:
        child.kill()
        child.communicate()
        never.set()
    assert (len(server.labels), journal(reviewed, "pushes")) == (1, [])

    server.after_write = lambda: None
    second = push(reviewed, server).document
    third = push(reviewed, server).document

    assert [one["done"] for one in second["labels"]] == ["there_already", "sent"]
    assert [one["feedback_id"] for one in second["labels"]] == [9000, 9001]
    assert len(server.labels) == 2
    assert [one["done"] for one in third["labels"]] == ["pushed_before", "pushed_before"]


def test_two_pushes_at_once_are_one_after_the_other(reviewed, server):
    label(reviewed, 1, "bad_args")
    arrived, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        arrived.set()
        go_on.wait(60)

    server.after_write = hold
    first = threading.Thread(target=lambda: open_lab(reviewed).push(server.base, token=TOKEN))
    first.start()
    try:
        assert arrived.wait(60)
        with pytest.raises(StoreBusy, match="another push"):
            open_lab(reviewed, wait_s=0.2).push(server.base, token=TOKEN)
    finally:
        go_on.set()
        first.join(60)

    assert len(server.labels) == 1


# ---- push: decisions ----


@pytest.fixture
def decided(home: Path, server: QualityServer) -> Path:
    """A home that pulled a proposal which upstream tracks, and the label that it groups."""
    server.labels, server.proposals = [said(512, on=1)], [proposal()]
    assert pull(home, server).code == 0
    return home


def decide(home: Path, *words: object) -> dict[str, Any]:
    ran = run("--home", home, "proposals", "decide", "12", *words, "--reviewer", "dana", "--json")
    assert ran.code == 0, ran.err
    line: dict[str, Any] = ran.document
    return line


def test_a_decision_becomes_the_state_upstream_and_the_next_push_changes_nothing(decided, server):
    line = decide(
        decided, "apply", "--kind", "pull_request", "--ref", "PR-7", "--note", "card 4111111111111111"
    )

    first = push(decided, server).document["decisions"]
    second = push(decided, server).document["decisions"]

    ((path, body),) = server.wrote
    assert path == "tool-call-feedback/improvement-proposals/12/status"
    assert (body["status"], body["resolution"]["ref"]) == ("applied", "PR-7")
    assert body["resolution"]["note"].startswith("card [card-")
    assert "url" not in body["resolution"]
    assert [one["done"] for one in (*first, *second)] == ["sent", "pushed_before"]
    (note,) = journal(decided, "pushes")
    assert (note["pushes"], note["proposal_id"], note["sent"]) == (line["id"], 12, body)


@pytest.mark.parametrize(
    ("steps", "status", "ref"),
    [
        ([["accept"]], "pending", None),
        ([["dismiss", "--note", "on purpose"]], "dismissed", None),
        ([["apply", "--kind", "other", "--ref", "a"], ["close"]], "applied", "a"),
        ([["apply", "--kind", "other", "--ref", "a"], ["reopen"]], "pending", None),
        ([["close", "--kind", "pull_request", "--ref", "PR-9"]], "applied", "PR-9"),
        ([["close"]], "applied", "closed without a reference"),
    ],
)
def test_states_here_are_mapped_to_those_upstream(decided, server, steps, status, ref):
    for step in steps:
        decide(decided, *step)

    push(decided, server)

    (there,) = server.proposals
    assert there["status"] == status
    assert (there["resolution"] or {}).get("ref") == ref


def test_a_state_that_upstream_would_refuse_is_not_sent(decided, server):
    line = {
        "record_type": "decision",
        "id": "by-hand",
        "created_at": "2026-06-20T08:00:00Z",
        "author": "dana",
    }
    line |= {"fingerprint": FINGERPRINT, "action": "apply", "kind": "pull_request"}
    shelf = decided / "data" / "journal" / "decisions.jsonl"
    shelf.parent.mkdir(parents=True, exist_ok=True)
    shelf.write_text(json.dumps(line) + "\n")

    done = push(decided, server).document

    assert server.wrote == []
    assert done["not_sent"] == {"resolution with kind and ref or url is required when applying a proposal": 1}


def told(home: Path) -> list[tuple[str, str | None]]:
    """Return action and author of what is known to be decided about the proposal."""
    return [(line.action, line.author) for line in open_lab(home).decisions("12")]


def test_a_decision_that_comes_back_keeps_its_person_and_the_day_from_which_it_holds(decided, server):
    day = "2026-06-05T00:00:00Z"
    decide(decided, "apply", "--kind", "pull_request", "--ref", "PR-7", "--effective-at", day)
    before = run("--home", decided, "proposals", "effect", "12", "--json").document
    server.now = int(datetime.now(UTC).timestamp()) + 60
    push(decided, server)

    server.proposals[0]["decidedByAdminId"] = server.admin
    pull(decided, server)

    after = run("--home", decided, "proposals", "effect", "12", "--json").document
    assert after == before
    assert after["changed_at"] == day
    assert told(decided) == [("apply", "dana")]
    assert open_lab(decided).proposal("12")[0].state == "applied"
    (row,) = open_lab(decided).followed()
    assert (row.author, row.decided_at is not None, row.effect.changed_at.day) == ("dana", True, 5)
    assert run("--home", decided, "load", "--rebuild").code == 0
    assert told(decided) == [("apply", "dana")]


def test_what_upstream_decides_otherwise_after_a_push_is_a_decision_of_its_own(decided, server):
    decide(decided, "apply", "--kind", "pull_request", "--ref", "PR-7")
    server.now = int(datetime.now(UTC).timestamp()) + 60
    push(decided, server)
    other = {"kind": "pull_request", "ref": "PR-8", "url": None, "note": None}
    server.proposals[0] |= {"resolution": other, "decidedByAdminId": 5, "updatedAt": server.now + 1}

    pull(decided, server)

    assert told(decided) == [("apply", "dana"), ("apply", "5")]


def test_the_same_state_that_upstream_gives_again_after_a_reopening_is_a_decision_of_its_own(decided, server):
    words = ("apply", "--kind", "pull_request", "--ref", "PR-7")
    decide(decided, *words)
    push(decided, server)
    applied = dict(server.proposals[0])
    decide(decided, "reopen")
    push(decided, server)
    later = int(datetime.now(UTC).timestamp()) + 60
    server.proposals[0] |= applied | {"decidedByAdminId": 5, "decidedAt": later, "updatedAt": later}

    pull(decided, server)

    assert told(decided) == [("apply", "dana"), ("reopen", "dana"), ("apply", "5")]


def test_a_push_of_a_decision_that_died_before_it_was_noted_comes_back_as_ours(decided, server):
    decide(decided, "apply", "--kind", "pull_request", "--ref", "PR-7")
    server.now = int(datetime.now(UTC).timestamp()) + 60
    push(decided, server)
    (decided / "data/journal/pushes.jsonl").unlink()

    done = push(decided, server).document["decisions"]
    pull(decided, server)

    assert [one["done"] for one in done] == ["there_already"]
    assert told(decided) == [("apply", "dana")]


def test_a_decision_that_was_taken_back_here_after_it_was_pushed_is_what_upstream_says(decided, server):
    line = decide(decided, "dismiss")
    push(decided, server)
    server.proposals[0]["decidedByAdminId"] = 3
    pull(decided, server)

    assert run("--home", decided, "undo", line["id"], "--reviewer", "dana").code == 0

    assert told(decided) == [("dismiss", "3")]


def test_closing_what_upstream_applied_keeps_what_it_was_applied_with(home, server):
    told = {"kind": "pull_request", "ref": "PR-1", "url": None, "note": None}
    server.labels = [said(512, on=1)]
    server.proposals = [proposal(status="applied", resolution=told, decidedAt=1781000600)]
    pull(home, server)
    decide(home, "close")

    done = push(home, server).document["decisions"]

    assert (server.wrote, [one["done"] for one in done]) == ([], ["there_already"])


def test_a_later_word_upstream_stays_and_one_that_came_from_here_does_not_count_as_such(decided, server):
    decide(decided, "dismiss")
    server.now = 4_000_000_000  # upstream's clock is ahead of every decision here
    push(decided, server)
    decide(decided, "apply", "--kind", "other", "--ref", "a")
    push(decided, server)
    assert server.proposals[0]["status"] == "applied"

    server.proposals[0] |= {"status": "dismissed", "resolution": None, "decidedAt": 4_000_000_001}
    changed = push(decided, server).document
    decide(decided, "apply", "--kind", "other", "--ref", "b")
    later = push(decided, server).document

    assert changed["not_sent"] == {"its proposal was changed upstream after it was pushed": 1}
    assert later["not_sent"] == {"upstream decided otherwise later": 1}
    assert server.proposals[0]["status"] == "dismissed"


def test_a_decision_that_is_taken_back_after_it_was_pushed_says_how_to_say_so(decided, server):
    line = decide(decided, "dismiss")
    push(decided, server)
    assert run("--home", decided, "undo", line["id"], "--reviewer", "dana").code == 0

    done = push(decided, server).document
    decide(decided, "reopen")
    push(decided, server)

    assert list(done["not_sent"]) == [
        "it was taken back after it was pushed; decide `reopen` to say so upstream"
    ]
    assert server.proposals[0]["status"] == "pending"


def test_a_proposal_that_upstream_does_not_track_is_told(decided, server):
    decide(decided, "dismiss")
    server.proposals = []

    assert push(decided, server).document["not_sent"] == {"upstream does not track the proposal": 1}


def test_a_refused_decision_ends_in_4_and_is_told_as_not_sent(decided, server):
    line = decide(decided, "dismiss")
    server.before = lambda method, target: (403, b"no") if method == "PATCH" else None

    ran = push(decided, server)

    (told,) = ran.document["decisions"]
    assert (ran.code, told["line"], told["proposal_id"], told["done"]) == (4, line["id"], 12, "not_sent")
    assert told["reason"] == "the push stopped: Quality API write failed: 403 Forbidden"


@pytest.mark.parametrize("answer", [(403, b'{"error":"no"}'), (500, b"down")])
def test_what_waits_when_the_service_refuses_everything_is_counted_as_not_sent(decided, server, answer):
    decide(decided, "dismiss")
    for number in (1, 2, 3):
        label(decided, number, "other")
    server.before = lambda method, target: answer

    words = ("--home", decided, "push", "--api-base", server.base)
    shown, told = run(*words), run(*words, "--json")

    assert (shown.code, told.code) == (4, 4)
    assert "labels: 3 not sent" in shown.out
    assert "decisions: 1 not sent" in shown.out
    assert f"not sent, 4: the push stopped: Quality API export failed: {answer[0]}" in shown.out
    assert [one["done"] for one in told.document["labels"] + told.document["decisions"]] == ["not_sent"] * 4
    assert server.wrote == []


def test_a_server_that_knows_none_of_the_calls_is_no_success(reviewed, server):
    label(reviewed, 1, "bad_args")
    label(reviewed, 2, "bad_args")
    server.calls = []

    ran = push(reviewed, server)

    assert ran.code == 1
    assert [(one["done"], one["refused"]) for one in ran.document["labels"]] == [("not_sent", True)] * 2
    assert ran.document["not_sent"] == {'upstream answers 404: {"error": "tool call not found"}': 2}
