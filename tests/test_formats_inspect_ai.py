"""Inspect AI logs: archives and files, calls and their events as one, error types, attachments, scores."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import zstandard
from file_reading import json_texts, read, written
from hypothesis import given

from quality_lab import formats
from quality_lab.errors import InputError
from quality_lab.records import Conversation

HEADER = {
    "version": 2, "status": "success",
    "eval": {"run_id": "R", "task": "t", "model": "m", "created": "2026-05-04T10:00:00+00:00"},
}  # fmt: skip


def asks(*calls: dict[str, Any], **rest: Any) -> dict[str, Any]:
    """Return a message of the model."""
    return {"role": "assistant", "content": "I look", "source": "generate", "tool_calls": list(calls), **rest}


def call(call_id: str, function: str = "bash", **arguments: Any) -> dict[str, Any]:
    """Return a call."""
    return {"id": call_id, "function": function, "arguments": arguments, "type": "function"}


def gives(call_id: str, content: Any, **rest: Any) -> dict[str, Any]:
    """Return a result."""
    return {"role": "tool", "tool_call_id": call_id, "function": "bash", "content": content, **rest}


def happened(call_id: str, **rest: Any) -> dict[str, Any]:
    """Return the event of a tool that worked for a quarter of a second."""
    return {
        "event": "tool", "id": call_id, "function": "bash", "arguments": {}, "result": "ok",
        "timestamp": "2026-05-04T12:00:01+02:00", "completed": "2026-05-04T12:00:03+02:00",
        "working_time": 0.25, "events": [], **rest,
    }  # fmt: skip


def sample(*messages: Any, **rest: Any) -> dict[str, Any]:
    """Return a sample."""
    return {
        "id": 7,
        "epoch": 2,
        "input": "x",
        "target": "y",
        "messages": list(messages),
        "scores": {},
        **rest,
    }


def archive(members: dict[str, Any], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive with these members as JSON."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as made:
        for name, value in members.items():
            made.writestr(name, json.dumps(value))
    return held.getvalue()


USER = {"role": "user", "content": "Find it"}


@pytest.mark.parametrize("shape", ["archive", "stored archive", "file", "crashed archive"])
def test_a_log_is_the_same_as_an_archive_and_as_a_file(tmp_path: Path, shape: str) -> None:
    one = sample(USER, asks(call("a", cmd="ls")), gives("a", "bin"), events=[happened("a")])
    content = {
        "archive": archive({"header.json": HEADER, "samples/7_epoch_2.json": one, "summaries.json": []}),
        "stored archive": archive({"header.json": HEADER, "samples/7.json": one}, zipfile.ZIP_STORED),
        "file": json.dumps({**HEADER, "samples": [one]}, indent=1).encode(),
        "crashed archive": archive({"samples/7_epoch_2.json": one, "_journal/start.json": HEADER}),
    }[shape]

    found = read(written(tmp_path, content, "log.eval"))

    (made,), (talk,) = found.calls, found.of(Conversation)
    assert (found.format, found.broken, found.notes.unknown_fields) == ("inspect_ai", [], {})
    assert (made.key, made.tool_name, made.result, made.is_error) == ("R/7/2#1.0", "bash", '"bin"', False)
    assert json.loads(made.arguments or "") == {"cmd": "ls"}
    assert (made.created_at, made.latency_ms) == (datetime(2026, 5, 4, 10, 0, 1, tzinfo=UTC), 250.0)
    assert (talk.conversation_id, talk.model) == ("R/7/2", "m")
    assert found.notes.merged == {"event of a call": 1}


def test_an_archive_packed_with_zstd_is_read_and_a_damaged_one_says_so(tmp_path: Path) -> None:
    one = sample(USER, asks(call("a", cmd="ls" * 500)), gives("a", "bin"))
    plain = archive({"header.json": HEADER, "samples/7.json": one}, zipfile.ZIP_STORED)
    text = json.dumps(one).encode()
    packed = zstandard.ZstdCompressor().compress(text)
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_STORED) as made:
        made.writestr("header.json", json.dumps(HEADER))
        made.writestr("samples/7.json", packed)
    content = bytearray(held.getvalue())
    local = content.find(b"PK\x03\x04", 1)
    central = content.rfind(b"PK\x01\x02")
    content[local + 8 : local + 10] = content[central + 10 : central + 12] = (93).to_bytes(2, "little")
    damaged = plain.replace(b'"epoch": 2', b'"epoch": 3', 1)  # its checksum no longer fits

    packed_calls = read(written(tmp_path, bytes(content))).calls
    found = read(written(tmp_path, damaged))

    assert [json.loads(one.result or "") for one in packed_calls] == ["bin"]
    assert [(path, "the archive is damaged at samples/7.json" in why) for _, path, why in found.broken][
        -1:
    ] == [("", True)]
    assert found.notes.truncated_input
    with pytest.raises(InputError, match="a zip archive"):
        formats.recognise(written(tmp_path, archive({"a.json": {}})))


def test_errors_have_their_kinds_and_a_limit_leaves_the_last_call_open(tmp_path: Path) -> None:
    late = {"type": "timeout", "message": "Too slow"}
    long = {"type": "output_limit", "message": "Too long"}
    one = sample(
        USER, asks(call("a"), call("b"), call("c")),
        gives("a", "", error=late), gives("b", "cut", error=long), asks(call("d")),
    )  # fmt: skip

    found = read(written(tmp_path, [{**HEADER, "samples": [one]}]))

    assert [(c.call_id, c.is_error, c.error_kind, c.error_text, c.result_state) for c in found.calls] == [
        ("a", True, "timeout", "Too slow", "present"), ("b", True, "output_limit", "Too long", "truncated"),
        ("c", None, None, None, "absent"), ("d", None, None, None, "not_captured"),
    ]  # fmt: skip
    assert found.calls[0].error_origin == "exception"
    assert found.notes.missing == {"call without result": 2}


def test_texts_that_are_kept_apart_are_put_back(tmp_path: Path) -> None:
    mark = "0123456789abcdef0123456789abcdef"
    apart = f"attachment://{mark}"
    one = sample(USER, asks(call("a", cmd=apart)), gives("a", apart), attachments={mark: "long\ntext"})

    (made,) = read(written(tmp_path, [{**HEADER, "samples": [one]}])).calls

    assert (json.loads(made.arguments or ""), json.loads(made.result or "")) == (
        {"cmd": "long\ntext"},
        "long\ntext",
    )


def test_calls_in_events_alone_are_a_sub_agent_s(tmp_path: Path) -> None:
    inner = happened("deep", function="look", error={"type": "permission", "message": "No"})
    one = sample(USER, asks(call("a")), gives("a", "ok"), events=[happened("a", events=[inner])])

    found = read(written(tmp_path, [{**HEADER, "samples": [one]}]))

    assert [(c.tool_name, c.actor, c.is_error, c.error_kind, c.turn) for c in found.calls] == [
        ("bash", "model", False, None, 0), ("look", "sub_agent", True, "permission", None)
    ]  # fmt: skip


def test_a_person_s_rejection_is_a_refusal_and_an_automatic_one_is_an_error(tmp_path: Path) -> None:
    error = {"type": "approval", "message": "rejected"}
    no = {"event": "approval", "approver": "human", "decision": "reject", "explanation": "Too bold",
          "call": call("a"), "timestamp": "2026-05-04T10:00:00Z"}  # fmt: skip
    one = sample(
        USER, asks(call("a"), call("b")), gives("a", "", error=error), gives("b", "", error=error),
        events=[no, {**no, "approver": "auto", "call": call("b")}],
    )  # fmt: skip

    found = read(written(tmp_path, [{**HEADER, "samples": [one]}]))

    assert [(c.person_refused, c.is_error, c.error_kind) for c in found.calls] == [
        (True, None, "approval"), (False, True, "approval")
    ]  # fmt: skip
    assert [(one.note, one.author_kind, one.call_key) for one in found.labels] == [
        ("Too bold", "HUMAN", found.calls[0].key)
    ]


def test_scores_are_about_the_sample_by_who_gave_them(tmp_path: Path) -> None:
    scores = {
        "includes": {"value": "I", "answer": "x", "explanation": "No flag"},
        "model_graded_qa": {"value": 0.50, "metadata": {"grading": []}}, "empty": {"value": None},
    }  # fmt: skip

    found = read(written(tmp_path, [{**HEADER, "samples": [sample(USER, scores=scores)]}]))

    assert [(one.name, one.score, one.author_kind, one.note, one.target_level) for one in found.labels] == [
        ("includes", '"I"', "CODE", "No flag", "conversation"),
        ("model_graded_qa", "0.5", "LLM", None, "conversation"),
    ]


def test_a_broken_sample_costs_only_itself(tmp_path: Path) -> None:
    log = {
        **HEADER,
        "samples": [sample(USER), {"epoch": 1, "messages": []}, sample(7, id=8), sample({}, id=9)],
    }

    found = read(written(tmp_path, [log]))

    assert len(found.of(Conversation)) == 1
    assert [path for _, path, _ in found.broken] == ["id", "messages[0]", "messages[0].role"]


@given(json_texts(), json_texts())
def test_arguments_and_results_come_out_as_they_went_in(
    tmp_path_factory: Any, arguments: str, content: str
) -> None:
    log = {**HEADER, "samples": [sample(USER, asks(call("a", x="ARGS")), gives("a", "RESULT"))]}
    text = json.dumps(log).replace('"ARGS"', arguments).replace('"RESULT"', content)

    (made,) = read(written(tmp_path_factory.mktemp("any"), text.encode())).calls

    assert (made.arguments, made.result) == (f'{{"x": {arguments}}}', content)


@pytest.mark.parametrize(
    ("name", "samples", "calls", "failed"),
    [("docent-log", 15, 121, 6), ("log_message_deduplication", 1, 5, 0)],
)
def test_public_archives_hold_what_was_counted_in_them(
    shared: Path, name: str, samples: int, calls: int, failed: int
) -> None:
    path = shared / "traces" / "inspect-ai" / f"{name}.eval"
    with zipfile.ZipFile(path) as held:
        values = [json.loads(held.read(one)) for one in held.namelist() if one.startswith("samples/")]

    found = read(path)

    messages = [message for value in values for message in value["messages"]]
    asked = [one for message in messages for one in message.get("tool_calls") or ()]
    results = [message for message in messages if message["role"] == "tool"]
    answered = [one for one in found.calls if one.result_state == "present"]
    assert (found.format, found.broken, found.notes.unknown_fields) == ("inspect_ai", [], {})
    assert len({one.conversation_id for one in found.of(Conversation)}) == len(values) == samples
    assert len({one.key for one in found.calls}) == len(asked) == calls
    assert sum(bool(one.is_error) for one in found.calls) == failed
    assert failed == sum(message.get("error") is not None for message in results)
    assert [(c.call_id, c.tool_name, json.loads(c.arguments or "")) for c in found.calls] == [
        (one["id"], one["function"], one["arguments"]) for one in asked
    ]
    assert Counter(json.loads(one.result or "") for one in answered) == Counter(
        message["content"] for message in results
    )
    assert len(found.labels) == sum(len(value["scores"]) for value in values)
    assert len(found.notes.merged) == 1


def test_the_public_file_of_errors_holds_results_without_calls(shared: Path) -> None:
    found = read(shared / "traces" / "inspect-ai" / "log_tool_call_error.json")

    assert (found.format, len(found.of(Conversation)), found.calls) == ("inspect_ai", 1, [])
    assert found.notes.missing == {"result without call": 11}
