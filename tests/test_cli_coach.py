"""`coach signals` and `coach suggest`, the latter against a server on the loopback interface."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from lab_builder import LabBuilder
from loopback import closed_port
from werkzeug import Request, Response

CARD = "4111 1111 1111 1111"
ANSWER = {
    "summary": "Ask in which currency.",
    "edits": {
        "stage_guidance": {"qualify": "Ask in which currency the amount is."},
        "tool_schemas": {"quote": {}},
    },
    "rationale": ["Both labels are about THB."],
}


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """Two faults on calls of the style calm, one of them with a card number; nothing against the style bold."""
    folder = tmp_path_factory.mktemp("home")
    built = LabBuilder(folder)
    for number in range(2):
        call = built.call(
            "quote", style="calm", conversation_id=str(number), arguments='{"password":"hunter2","n":1}'
        )
        built.label(
            call, "bad_args", "dana@example.com", note=f"paid with {CARD}" if number else "\x1b[2Jin THB"
        )
    built.label(built.call("quote", style="bold"), "good_reply")
    built.store()
    return folder


@pytest.fixture
def server(httpserver: Any) -> Any:
    """A server that answers with `content`, and keeps what it was asked."""
    httpserver.content = json.dumps(ANSWER)
    httpserver.bodies = []

    def handle(request: Request) -> Response:
        httpserver.bodies.append(request.get_json())
        message = {"role": "assistant", "content": httpserver.content}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        body = {"id": "r", "object": "chat.completion", "model": "m", "choices": choices, "usage": usage}
        return Response(json.dumps(body), content_type="application/json")

    httpserver.expect_request("/v1/chat/completions", method="POST").respond_with_handler(handle)
    return httpserver


def suggest(home: Path, server: Any, style: str = "calm", *more: object) -> Any:
    return run(
        "coach",
        "suggest",
        style,
        "--model",
        "m-1",
        "--base-url",
        server.url_for("/v1"),
        "--home",
        home,
        *more,
    )


def test_signals_are_a_question_as_any_other(home, tmp_path):
    as_json = run("coach", "signals", "calm", "--home", home, "--json")
    as_table = run("coach", "signals", "calm", "--home", home, "--limit", "1")
    none = run("coach", "signals", "bold", "--home", home, "--json")
    taken = run("coach", "signals", "calm", "--home", home, "--csv", tmp_path / "signals.csv")

    assert {"tool_name", "source", "label", "error", "note", "arguments", "result"} <= set(
        as_json.document[0]
    )
    assert len(as_json.document) == 2
    assert "1 more was not asked for" in as_table.out
    assert "\x1b" not in as_table.out + as_json.out
    assert (none.code, none.document, taken.code) == (0, [], 0)


def test_a_style_that_no_call_was_made_in_is_wrong_usage_and_told_with_those_there_are(home, server):
    for ran in (run("coach", "signals", "clam", "--home", home), suggest(home, server, "clam")):
        assert (ran.code, ran.out) == (2, "")
        assert "came 'clam'; there are calm, bold" in ran.err
    assert server.bodies == []
    assert run("coach", "signals", "calm", "--style", "calm", "--home", home).code == 2


def test_a_draft_is_shown_with_what_it_rests_on_and_what_was_left_out(home, server):
    ran = suggest(home, server)

    assert ran.code == 0
    assert "Guidance by stage:\n- qualify: Ask in which currency the amount is." in ran.out
    assert "- edits.tool_schemas is no part of a style" in ran.out
    assert "Rests on 2 labels, drafted by m-1" in ran.out
    assert "\x1b" not in ran.out


def test_a_draft_as_json_and_in_a_file_is_upstreams_shape_and_more(home, server, tmp_path):
    out = tmp_path / "draft.json"
    ran = suggest(home, server, "calm", "--json", "--out", out)

    assert ran.document == json.loads(out.read_text("utf-8"))
    assert ran.document["edits"] == {"stage_guidance": {"qualify": "Ask in which currency the amount is."}}
    assert (ran.document["summary"], ran.document["rationale"]) == (ANSWER["summary"], ANSWER["rationale"])
    assert ran.document["refused"][0]["path"] == "edits.tool_schemas"
    assert (ran.document["rests_on"]["sampleSize"], ran.document["rests_on"]["input_tokens"]) == (2, 7)


def test_what_goes_to_the_server_is_masked_and_names_no_reviewer(home, server, tmp_path):
    style = tmp_path / "style.txt"
    style.write_text(f"Never say {CARD}.", encoding="utf-8")
    suggest(home, server, "calm", "--style-file", style, "--skill", "haggle")

    (body,) = server.bodies
    material = json.loads(body["messages"][1]["content"].split("\n")[1])
    assert CARD not in json.dumps(body)
    assert "hunter2" not in json.dumps(body)
    assert "dana" not in json.dumps(body)
    assert material["style_text"].startswith("Never say [card-")
    assert material["skills"] == ["haggle"]
    assert {signal["note"][:16] for signal in material["signals"]} == {"\x1b[2Jin THB", "paid with [card-"}


def test_where_there_is_nothing_to_coach_on_no_server_is_asked_and_no_key_is_needed(home, server):
    ran = suggest(home, server, "bold")
    without_key = run("coach", "suggest", "bold", "--model", "openai:m", "--home", home, "--json")

    assert (ran.code, server.bodies) == (0, [])
    assert "Nothing to coach on" in ran.out
    assert (without_key.code, without_key.document["edits"]) == (0, {})


def test_filters_choose_what_a_draft_rests_on(home, server):
    assert suggest(home, server, "calm", "--since", "2030-01-01", "--json").document["edits"] == {}
    assert suggest(home, server, "calm", "--limit", "1", "--json").document["rests_on"]["sampleSize"] == 1


def test_a_draft_applies_nothing(home, server):
    before = sorted((path, path.stat().st_mtime_ns) for path in home.rglob("*") if path.name != ".mask-key")
    suggest(home, server)

    assert (
        sorted((path, path.stat().st_mtime_ns) for path in home.rglob("*") if path.name != ".mask-key")
        == before
    )


def test_an_answer_that_is_no_draft_is_4_and_kept(home, server, tmp_path):
    server.content = "Let me think about that."
    out = tmp_path / "draft.json"
    ran = suggest(home, server, "calm", "--out", out)

    assert (ran.code, ran.out) == (4, "")
    assert "m-1 gave no draft: wanted a JSON object" in ran.err
    assert json.loads(out.read_text("utf-8"))["rawOutput"] == "Let me think about that."


def test_a_server_that_is_not_there_is_4_and_a_model_without_one_is_2(home, tmp_path):
    nobody = f"http://127.0.0.1:{closed_port()}/v1"
    gone = run("coach", "suggest", "calm", "--model", "m-1", "--base-url", nobody, "--home", home)
    nowhere = run("coach", "suggest", "calm", "--model", "m-1", "--home", home)
    no_file = run(
        "coach", "suggest", "calm", "--model", "m-1", "--style-file", tmp_path / "none", "--home", home
    )

    assert (gone.code, gone.out) == (4, "")
    assert "could not be reached" in gone.err
    assert nowhere.code == 2
    assert no_file.code == 3
