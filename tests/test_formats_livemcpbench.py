"""LiveMCPBench runs: the tool behind the dispatcher, errors by text, cut results, a person's verdict."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from file_reading import json_texts, read, written
from hypothesis import given

from quality_lab.records import Conversation


def run(*messages: dict[str, Any], **rest: Any) -> dict[str, Any]:
    """Return a run with these messages."""
    return {"task_id": "t-1", "Question": "Q", "messages": list(messages), "task_success": "success", **rest}


def asks(name: str, arguments: str) -> dict[str, Any]:
    """Return an assistant's message with one call."""
    call = {"id": "a", "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def answers(content: str) -> dict[str, Any]:
    """Return a tool's message."""
    return {"role": "tool", "tool_call_id": "a", "content": content}


USER = {"role": "user", "content": "Do it"}
SHOW = '{"server_name": "charts", "tool_name": "draw", "params": {"x": 1.10}}'
FINE = "meta=None content=[TextContent(type='text', text='ok', annotations=None)] isError=False"


def test_the_dispatcher_s_real_tool_and_its_server_are_kept_beside_it(tmp_path: Path) -> None:
    found = read(
        written(tmp_path, [run(USER, asks("execute-tool", SHOW), answers(FINE), asks("route", "{}"))])
    )

    dispatched, routed = found.calls
    assert found.format == "livemcpbench"
    assert (dispatched.tool_name, dispatched.wrapped_tool, dispatched.tool_server) == (
        "execute-tool", "draw", "charts",
    )  # fmt: skip
    assert (dispatched.arguments, dispatched.arguments_state) == (SHOW, "json_string")
    assert (routed.tool_name, routed.wrapped_tool, routed.tool_server) == ("route", None, None)


def test_errors_are_told_by_the_end_of_the_text_and_a_cut_text_tells_nothing(tmp_path: Path) -> None:
    failed, late, fine, cut, plain = (
        read(written(tmp_path, [run(USER, asks("route", "{}"), answers(text))])).calls[0]
        for text in (
            FINE.replace("False", "True"),
            "Tool call timed out.",
            FINE,
            FINE[:40],
            "isError=True, they say",
        )
    )

    assert (failed.is_error, failed.error_origin, failed.error_kind) == (None, "text", None)
    assert (late.is_error, late.error_origin, late.error_kind) == (None, "text", "timeout")
    assert (fine.is_error, fine.error_origin, fine.result_state) == (False, None, "present")
    assert (cut.is_error, cut.error_origin, cut.result_state) == (None, None, "truncated")
    assert (plain.is_error, plain.result) == (False, '"isError=True, they say"')


def test_a_person_s_verdict_is_about_the_run_and_no_label_of_its_calls(tmp_path: Path) -> None:
    found = read(written(tmp_path, [run(USER, asks("route", "{}"), answers(FINE)), run(USER)]))

    verdict = found.labels[0]
    assert (verdict.target_level, verdict.call_key, verdict.author_kind) == ("conversation", None, "HUMAN")
    assert (verdict.name, verdict.label, verdict.label_raw) == ("task_success", None, "success")
    assert found.notes.unmapped_labels == {"success": 2}
    assert read(written(tmp_path, [run(USER, task_success=None, **{"Annotator Metadata": {}})])).labels == []


@given(json_texts())
def test_arguments_come_out_as_they_went_in(tmp_path_factory: Any, arguments: str) -> None:
    path = written(tmp_path_factory.mktemp("any"), [run(USER, asks("execute-tool", arguments))])

    (call,) = read(path).calls

    assert call.arguments == arguments


def test_the_public_file_holds_what_was_counted_in_it(shared: Path) -> None:
    path = shared / "traces" / "livemcpbench" / "human-annotation.json"
    runs = json.loads(path.read_text(encoding="utf-8"))

    found = read(path)

    messages = [message for one in runs for message in one["messages"]]
    asked = [call["function"] for message in messages for call in message.get("tool_calls") or ()]
    texts = [message["content"] for message in messages if message["role"] == "tool"]
    failed = sum(text.endswith("isError=True") or text == "Tool call timed out." for text in texts)
    cut = sum("isError=" not in text[-14:] and text != "Tool call timed out." for text in texts)
    inner = [
        json.loads(call["arguments"])["tool_name"] if call["name"] == "execute-tool" else None
        for call in asked
    ]
    assert (found.format, found.broken, found.notes.unknown_fields) == ("livemcpbench", [], {})
    assert len({talk.conversation_id for talk in found.of(Conversation)}) == len(runs) == 95
    assert len({call.key for call in found.calls}) == len(asked) == 814
    assert sum(call.error_origin == "text" for call in found.calls) == failed == 28
    assert sum(call.result_state == "truncated" for call in found.calls) == cut == 60
    assert [call.wrapped_tool for call in found.calls] == inner
    assert sum(name is not None for name in inner) == 531
    assert [call.arguments for call in found.calls] == [call["arguments"] for call in asked]
    assert [json.loads(call.result or "") for call in found.calls] == texts
    assert Counter(one.label_raw for one in found.labels) == {"success": 67, "failure": 28}
