"""Upstream's joined examples: label and call as two objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from file_reading import json_texts, read, written
from hypothesis import given

CALL: dict[str, Any] = {
    "id": 7,
    "conversationId": 12,
    "contactId": None,
    "messageId": None,
    "outboundQueueId": None,
    "source": "llm_reply",
    "toolName": "check_slots",
    "args": {"date": "2026-05-09"},
    "result": [],
    "error": True,
    "cycle": 0,
    "toolCallIndex": 0,
    "latencyMs": 12.5,
    "createdAt": 1780000000,
}
LABEL: dict[str, Any] = {
    "id": 3,
    "toolCallId": 7,
    "adminId": 5,
    "label": "wrong_tool",
    "note": None,
    "createdAt": 1780000100,
}


def test_an_example_is_a_call_seen_in_feedback_and_its_label(tmp_path: Path) -> None:
    found = read(written(tmp_path, [{"feedback": LABEL, "toolCall": CALL}]))

    (call,), (label,) = found.calls, found.labels
    assert found.format == "quality_lab.joined"
    assert (call.key, call.conversation_id, call.seen_in, call.latency_ms) == ("7", "12", "feedback", 12.5)
    assert (label.key, label.call_key, label.conversation_id, label.label) == ("3", "7", "12", "wrong_tool")
    assert (label.source, label.tool_name, label.author) == ("llm_reply", "check_slots", "5")


@pytest.mark.parametrize(
    ("part", "change", "path", "reason"),
    [
        ("toolCall", {"cycle": "0"}, "toolCall.cycle", "wanted integer, got string"),
        ("feedback", {"id": None}, "feedback.id", "wanted integer, got null"),
        ("feedback", {"toolCallId": 8}, "feedback.toolCallId", "wanted 7, the id of its toolCall, got 8"),
        ("toolCall", {"createdAt": 10**15}, "toolCall.createdAt", f"wanted seconds since 1970, got {10**15}"),
    ],
)
def test_the_path_of_what_is_wrong_leads_into_the_object(
    tmp_path: Path, part: str, change: dict[str, Any], path: str, reason: str
) -> None:
    example = {"feedback": LABEL, "toolCall": CALL}

    found = read(written(tmp_path, [example, {**example, part: {**example[part], **change}}]))

    assert found.broken == [(2, path, reason)]


def test_unknown_fields_are_counted_under_their_path(tmp_path: Path) -> None:
    example = {"feedback": {**LABEL, "mood": 1}, "toolCall": {**CALL, "shard": 2}, "seen": True}

    assert read(written(tmp_path, [example])).notes.unknown_fields == {
        "seen": 1, "feedback.mood": 1, "toolCall.shard": 1
    }  # fmt: skip


@given(json_texts())
def test_a_result_comes_out_as_it_went_in(tmp_path_factory: pytest.TempPathFactory, result: str) -> None:
    text = json.dumps({"feedback": LABEL, "toolCall": {**CALL, "result": "RESULT"}}).replace(
        '"RESULT"', result
    )

    (call,) = read(written(tmp_path_factory.mktemp("any"), text.encode())).calls

    assert call.result == result
