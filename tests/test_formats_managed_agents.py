"""Managed Agents events: calls of three kinds, a person's deny as feedback, sent events told once."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from file_reading import json_texts, read, written
from hypothesis import given

from quality_lab.records import Conversation

SESSION = {
    "type": "session", "id": "sesn_1", "environment_id": "env_1", "status": "idle",
    "agent": {"id": "agent_1", "model": {"id": "claude-x", "speed": "standard"}},
}  # fmt: skip


def event(kind: str, number: int, **rest: Any) -> dict[str, Any]:
    """Return an event of the tenth hour."""
    return {"type": kind, "id": f"sevt_{number}", "processed_at": f"2026-05-04T10:00:{number:02d}Z", **rest}


def text(words: str) -> list[dict[str, str]]:
    """Return content that is text."""
    return [{"type": "text", "text": words}]


USE = event(
    "agent.mcp_tool_use", 3, name="pay", input={"sum": 5}, mcp_server_name="bank", evaluated_permission="ask"
)
DENY = event("user.tool_confirmation", 4, tool_use_id="sevt_3", result="deny", deny_message="Too dear")
ECHO = event(
    "agent.mcp_tool_result", 5, mcp_tool_use_id="sevt_3", is_error=True, content=text("rejected: Too dear")
)


def test_a_person_s_deny_is_a_refusal_and_feedback_with_the_reason_and_no_error(tmp_path: Path) -> None:
    events = [SESSION, event("user.message", 1, content=text("Pay")), USE, DENY, ECHO]

    found = read(written(tmp_path, events))

    (call,), (no,), (talk,) = found.calls, found.labels, found.of(Conversation)
    assert (found.format, found.broken) == ("managed_agents", [])
    assert (call.key, call.tool_name, call.tool_server) == ("sesn_1#sevt_3", "pay", "bank")
    assert (call.person_refused, call.is_error, call.error_origin) == (True, None, None)
    assert json.loads(call.result or "") == text("rejected: Too dear")
    assert (no.author_kind, no.note, no.call_key, no.label) == ("HUMAN", "Too dear", call.key, None)
    assert (no.name, no.score, no.created_at) == (
        "approval", "false", datetime(2026, 5, 4, 10, 0, 4, tzinfo=UTC)
    )  # fmt: skip
    assert (talk.model, talk.started_at, talk.ended_at) == (
        "claude-x",
        datetime(2026, 5, 4, 10, 0, 1, tzinfo=UTC),
        datetime(2026, 5, 4, 10, 0, 5, tzinfo=UTC),
    )


def test_calls_of_all_three_kinds_are_paired_with_their_results(tmp_path: Path) -> None:
    events = [
        SESSION,
        event("agent.tool_use", 1, name="fetch", input={}),
        event("agent.custom_tool_use", 2, name="look", input={"a": 1}),
        event("agent.mcp_tool_use", 3, name="tide", input={}, mcp_server_name="sea"),
        event("user.custom_tool_result", 4, custom_tool_use_id="sevt_2", content=text("seen"), is_error=True),
        event("agent.tool_result", 5, tool_use_id="sevt_1", content=text("page"), is_error=False),
    ]

    found = read(written(tmp_path, events))

    assert [(c.tool_name, c.is_error, c.error_text, c.result_state, c.latency_ms) for c in found.calls] == [
        ("fetch", False, None, "present", 4000.0),
        ("look", True, "seen", "present", 2000.0),
        ("tide", None, None, "not_captured", None),
    ]
    assert [call.index_in_cycle for call in found.calls] == [0, 1, 2]
    assert found.notes.missing == {"call without result": 1}


def test_what_a_client_sent_is_told_once_though_it_comes_back(tmp_path: Path) -> None:
    sent = {"type": "user.message", "content": text("Pay")}
    confirmed = {
        "type": "user.tool_confirmation",
        "tool_use_id": "sevt_3",
        "result": "deny",
        "deny_message": "No",
    }
    rows = [
        ["client.create", SESSION],
        ["client.events.send", ["sesn_1", {"events": [sent]}]],
        ["client.events.stream", event("user.message", 1, content=text("Pay"))],
        ["client.events.stream", USE],
        ["client.events.send", ["sesn_1", {"events": [confirmed]}]],
        ["client.events.stream", ECHO],
    ]

    found = read(written(tmp_path, rows))

    assert [one.text for one in found.messages if one.role == "user"] == ["Pay"]
    assert [(no.note, no.call_key) for no in found.labels] == [("No", "sesn_1#sevt_3")]
    assert [(call.person_refused, call.is_error) for call in found.calls] == [(True, None)]
    assert found.notes.merged == {"event that was sent and came back": 1}


def test_a_page_of_events_and_events_read_twice_are_told_once(tmp_path: Path) -> None:
    page = {"data": [SESSION, USE, DENY, ECHO], "next_page": None}

    found = read(written(tmp_path, [page, page]))

    assert (len(found.calls), len(found.labels), found.broken) == (1, 1, [])
    assert found.notes.merged == {"event written again": 3}


def test_events_of_a_session_that_nothing_names_go_by_the_first_of_them(tmp_path: Path) -> None:
    found = read(written(tmp_path, [USE, DENY, ECHO]))

    assert [call.key for call in found.calls] == ["session-of-sevt_3#sevt_3"]


def test_usage_is_laid_beside_the_model_s_message_and_unknown_events_are_counted(tmp_path: Path) -> None:
    events = [
        SESSION,
        event("agent.message", 1, content=text("I look")),
        event("span.model_request_end", 2, model_usage={"input_tokens": 2, "output_tokens": 116}),
        event("agent.dreams", 3),
    ]

    found = read(written(tmp_path, events))

    assert [(m.role, m.text, m.input_tokens, m.output_tokens) for m in found.messages] == [
        ("assistant", "I look", 2, 116)
    ]  # fmt: skip
    assert found.notes.not_understood == {"agent.dreams": 1}


@pytest.mark.parametrize(
    ("row", "path"),
    [({"a": 1}, ""), (7, ""), ({**USE, "name": None, "id": "x"}, "name"),
     ({**USE, "processed_at": "noon", "id": "y"}, "processed_at")],
)  # fmt: skip
def test_what_is_wrong_is_a_reject_with_its_path(tmp_path: Path, row: Any, path: str) -> None:
    assert [(line, where) for line, where, _ in read(written(tmp_path, [SESSION, USE, row])).broken] == [
        (3, path)
    ]


@given(json_texts(), json_texts())
def test_arguments_and_results_come_out_as_they_went_in(
    tmp_path_factory: Any, arguments: str, content: str
) -> None:
    rows = [{**USE, "input": {"x": "ARGS"}}, {**ECHO, "content": "RESULT"}]
    lines = "\n".join(map(json.dumps, rows)).replace('"ARGS"', arguments).replace('"RESULT"', content)

    (call,) = read(written(tmp_path_factory.mktemp("any"), lines.encode())).calls

    assert (call.arguments, call.result) == (f'{{"x": {arguments}}}', content)


def test_the_public_recording_holds_a_rejected_call_and_one_that_ran(shared: Path) -> None:
    path = shared / "traces" / "langsmith" / "anthropic_managed_mcp_tools_reject.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    found = read(path)

    streamed = [row[1] for row in rows if row[0].endswith(".stream")]
    uses = [one for one in streamed if one["type"].endswith("tool_use")]
    denied = [one for one in streamed if one["type"] == "user.tool_confirmation"]
    assert (found.format, found.broken, found.notes.missing) == ("managed_agents", [], {})
    assert [(call.call_id, json.loads(call.arguments or "")) for call in found.calls] == [
        (one["id"], one["input"]) for one in uses
    ]
    assert [call.person_refused for call in found.calls] == [True, False]
    assert [call.is_error for call in found.calls] == [None, False]
    assert [(no.note, no.call_key) for no in found.labels] == [
        (one["deny_message"], f"{found.calls[0].conversation_id}#{one['tool_use_id']}") for one in denied
    ]
    assert len(denied) == 1
    assert len(found.units) == len(rows)
