"""Google ADK sessions: calls without ids, transfers that are no calls, confirmations denied."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from file_reading import json_texts, read, written
from hypothesis import given

from quality_lab.records import Conversation


def event(author: str, *parts: dict[str, Any], second: int = 0, **rest: Any) -> dict[str, Any]:
    """Return an event."""
    return {
        "id": f"e{second}", "author": author, "invocation_id": "i", "timestamp": 1777888800.5 + second,
        "content": {"role": "user" if author == "user" else "model", "parts": list(parts)}, **rest,
    }  # fmt: skip


def call(name: str, call_id: str | None = None, **args: Any) -> dict[str, Any]:
    """Return a part that calls a function."""
    return {
        "function_call": {"id": call_id, "name": name, "args": args},
        "text": None,
        "function_response": None,
    }


def response(name: str, value: Any, call_id: str | None = None) -> dict[str, Any]:
    """Return a part that holds a response."""
    return {"function_response": {"id": call_id, "name": name, "response": value}, "function_call": None}


def session(*events: dict[str, Any], **rest: Any) -> dict[str, Any]:
    """Return a session."""
    return {"id": "s", "app_name": "desk", "user_id": "u", "state": {}, "events": list(events), **rest}


HI = event("user", {"text": "Hi"})


def test_calls_without_ids_are_paired_by_name_and_order(tmp_path: Path) -> None:
    talk = session(
        HI,
        event("ann", {"text": "I look"}, call("look", n=1), call("look", n=2), call("buy"), second=1),
        event("ann", response("buy", {"ok": True}), *(response("look", {"n": n}) for n in (1, 2)), second=2),
        event("user", {"text": "And?"}, second=3), event("ann", call("look", n=3), second=4),
    )  # fmt: skip

    found = read(written(tmp_path, [talk]))

    assert (found.format, found.broken, found.notes.unknown_fields) == ("google_adk", [], {})
    assert [(c.key, c.arguments, c.result, c.turn) for c in found.calls] == [
        ("s#1.0", '{"n": 1}', '{"n": 1}', 0), ("s#1.1", '{"n": 2}', '{"n": 2}', 0),
        ("s#1.2", "{}", '{"ok": true}', 0), ("s#6.0", '{"n": 3}', None, 1),
    ]  # fmt: skip
    assert (found.calls[0].is_error, found.calls[0].latency_ms) == (None, 1000.0)
    assert found.calls[0].created_at == datetime(2026, 5, 4, 10, 0, 1, 500_000, tzinfo=UTC)
    assert [(m.role, m.text, m.name) for m in found.messages[:3]] == [
        ("user", "Hi", None), ("assistant", "I look", "ann"), ("tool", '{"ok": true}', "buy")
    ]  # fmt: skip
    assert found.notes.missing == {"call without result": 1}


def test_camel_case_is_the_same(tmp_path: Path) -> None:
    talk = {
        "id": "s", "appName": "desk", "userId": "u", "events": [
            HI,
            event("ann", {"functionCall": {"id": "c", "name": "look", "args": {}}}, second=1,
                  usageMetadata={"promptTokenCount": 7, "candidatesTokenCount": 3}, modelVersion="gem"),
            event("ann", {"functionResponse": {"id": "c", "name": "look", "response": {"error": "no"}}}),
        ],
    }  # fmt: skip

    found = read(written(tmp_path, [talk]))

    assert [(c.call_id, c.result, c.is_error, c.model) for c in found.calls] == [
        ("c", '{"error": "no"}', None, "gem")
    ]
    assert [(m.input_tokens, m.output_tokens) for m in found.messages if m.role == "assistant"] == [(7, 3)]


def test_a_transfer_is_no_call_and_a_sub_agent_s_calls_are_its_own(tmp_path: Path) -> None:
    talk = session(
        HI, event("ann", call("transfer_to_agent", "t", agent_name="bob"), second=1),
        event("ann", response("transfer_to_agent", {"result": None}, "t"), second=2),
        event("bob", call("look", "c"), second=3, branch="ann.bob"),
    )  # fmt: skip

    found = read(written(tmp_path, [talk]))

    assert [(c.tool_name, c.actor) for c in found.calls] == [("look", "sub_agent")]
    assert found.notes.not_understood == {"hand-off, which is no call of a tool": 1}


def test_a_person_s_no_in_a_confirmation_is_a_refusal_and_feedback(tmp_path: Path) -> None:
    talk = session(
        HI, event("ann", call("pay", "c", sum=5), second=1),
        event("ann", call("adk_request_confirmation", "q", originalFunctionCall={"id": "c"}), second=2),
        event("user", response("adk_request_confirmation", {"confirmed": False}, "q"), second=3),
        event("ann", response("pay", {"error": "This tool call is rejected."}, "c"), second=4),
    )  # fmt: skip

    found = read(written(tmp_path, [talk]))

    assert [(c.tool_name, c.person_refused) for c in found.calls] == [("pay", True)]
    assert [(no.call_key, no.author_kind, no.score) for no in found.labels] == [("s#1.0", "HUMAN", "false")]


def test_an_empty_session_is_a_conversation_and_parts_of_events_are_told_once(tmp_path: Path) -> None:
    partial = event("ann", {"text": "He"}, second=1, partial=True)

    empty, streamed = (
        read(written(tmp_path, [one]))
        for one in (session(), session(partial, event("ann", {"text": "Hello"}, second=2)))
    )

    assert (len(empty.of(Conversation)), empty.messages, empty.broken) == (1, [], [])
    assert [one.text for one in streamed.messages] == ["Hello"]
    assert streamed.notes.merged == {"part of an event that comes whole": 1}


@pytest.mark.parametrize(
    ("row", "path"),
    [(session(7), "events[0]"), (session(event("ann", {"function_call": {"args": {}}})),  # type: ignore[arg-type]  # on purpose
      "events[0].content.parts[0].function_call.name"), ({**session(), "id": None}, "id"),
     ({**session(), "events": None}, "events")],
)  # fmt: skip
def test_what_is_wrong_is_a_reject_with_its_path(tmp_path: Path, row: dict[str, Any], path: str) -> None:
    assert [(at, where) for at, where, _ in read(written(tmp_path, [session(HI), row])).broken] == [(2, path)]


@given(json_texts(), json_texts())
def test_arguments_and_results_come_out_as_they_went_in(
    tmp_path_factory: Any, arguments: str, content: str
) -> None:
    talk = session(HI, event("ann", call("look", x="ARGS")), event("ann", response("look", {"x": "RESULT"})))
    text = json.dumps(talk).replace('"ARGS"', arguments).replace('"RESULT"', content)

    (made,) = read(written(tmp_path_factory.mktemp("any"), text.encode())).calls

    assert (made.arguments, made.result) == (f'{{"x": {arguments}}}', f'{{"x": {content}}}')


def test_the_public_session_holds_what_was_counted_in_it(shared: Path) -> None:
    path = shared / "traces" / "google-adk" / "samples" / "customer-service__eval__sessions__123.session.json"
    value = json.loads(path.read_text(encoding="utf-8"))

    found = read(path)

    parts = [part for one in value["events"] for part in one["content"]["parts"]]
    asked = [part["function_call"] for part in parts if "function_call" in part]
    answered = [part["function_response"] for part in parts if "function_response" in part]
    assert (found.format, found.broken, found.notes.missing) == ("google_adk", [], {})
    assert [one.conversation_id for one in found.of(Conversation)] == [value["id"]]
    assert [(c.tool_name, json.loads(c.arguments or "")) for c in found.calls] == [
        (one["name"], one["args"]) for one in asked
    ]
    assert [(c.tool_name, json.loads(c.result or "")) for c in found.calls] == [
        (one["name"], one["response"]) for one in answered
    ]
    assert len(asked) == 6
