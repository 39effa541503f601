"""Upstream's feedback export: one line is one label and the call that it is about."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from file_reading import json_texts, read, written
from hypothesis import given

from quality_lab.records import Feedback, ToolCall

LINE: dict[str, Any] = {
    "id": 512,
    "toolCallId": 4031,
    "adminId": 3,
    "label": "bad_args",
    "note": "Client asked in THB",
    "feedbackCreatedAt": 1781000450,
    "conversationId": 977,
    "contactId": 650,
    "messageId": None,
    "outboundQueueId": None,
    "source": "rag_reply",
    "toolName": "compute_exchange_quote",
    "args": {"amount": 15000},
    "result": {"amountToThb": 489000},
    "error": False,
    "cycle": 0,
    "toolCallIndex": 1,
    "latencyMs": None,
    "toolCallCreatedAt": 1781000120,
}


def test_a_line_is_a_call_seen_in_feedback_and_a_label_on_it(tmp_path: Path) -> None:
    found = read(written(tmp_path, [LINE]))

    assert found.format == "quality_lab.feedback"
    assert found.units[0].records == (
        ToolCall(
            key_space="quality_lab",
            key="4031",
            conversation_id="977",
            tool_name="compute_exchange_quote",
            cycle=0,
            call_index=1,
            arguments='{"amount": 15000}',
            result='{"amountToThb": 489000}',
            is_error=False,
            source="rag_reply",
            created_at=datetime(2026, 6, 9, 10, 15, 20, tzinfo=UTC),
            seen_in="feedback",
            contact_id="650",
        ),
        Feedback(
            key_space="quality_lab",
            key="512",
            target_level="call",
            target_key_space="quality_lab",
            conversation_id="977",
            call_key="4031",
            label="bad_args",
            label_raw="bad_args",
            author_kind="HUMAN",
            author="3",
            note="Client asked in THB",
            created_at=datetime(2026, 6, 9, 10, 20, 50, tzinfo=UTC),
            source="rag_reply",
            tool_name="compute_exchange_quote",
        ),
    )


@pytest.mark.parametrize(
    ("text", "label", "unmapped"),
    [
        ("Bad Args", "bad_args", {}),
        ("wrong-tool", "wrong_tool", {}),
        ("Did not invoke tool", None, {"Did not invoke tool": 1}),
        ("", None, {"": 1}),
    ],
)
def test_a_label_is_folded_or_kept_as_it_came_and_counted(
    tmp_path: Path, text: str, label: str | None, unmapped: dict[str, int]
) -> None:
    found = read(written(tmp_path, [{**LINE, "label": text}]))

    assert (found.labels[0].label, found.labels[0].label_raw) == (label, text)
    assert found.notes.unmapped_labels == unmapped


def test_an_unknown_reviewer_and_no_note_stay_unknown(tmp_path: Path) -> None:
    (label,) = read(written(tmp_path, [{**LINE, "adminId": None, "note": None}])).labels

    assert (label.author, label.note) == (None, None)


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({"label": None}, ("label", "wanted string, got null")),
        ({"label": 7}, ("label", "wanted string, got integer")),
        ({"note": 5}, ("note", "wanted string or null, got integer")),
        ({"conversationId": None}, ("conversationId", "wanted integer, got null")),
        (
            {"feedbackCreatedAt": 10**20},
            ("feedbackCreatedAt", "wanted seconds since 1970, got 100000000000000000000"),
        ),
    ],
)
def test_a_wrong_type_is_a_reject(tmp_path: Path, change: dict[str, Any], broken: tuple[str, str]) -> None:
    found = read(written(tmp_path, [LINE, {**LINE, **change}]))

    assert found.broken == [(2, *broken)]
    assert len(found.labels) == len(found.calls) == 1


@given(json_texts(), json_texts().filter(lambda text: not text.startswith('"')))
def test_result_and_arguments_come_out_as_they_went_in(
    tmp_path_factory: pytest.TempPathFactory, result: str, arguments: str
) -> None:
    text = json.dumps({**LINE, "args": "ARGS", "result": "RESULT"})
    text = text.replace('"ARGS"', arguments).replace('"RESULT"', result)

    (call,) = read(written(tmp_path_factory.mktemp("any"), text.encode())).calls

    assert (call.arguments, call.result) == (arguments, result)


def test_a_lone_surrogate_in_a_note_is_shown_as_its_escape(tmp_path: Path) -> None:
    line = json.dumps(LINE).replace("Client asked in THB", "half \\ud83d of \\u0000 \\ud83d\\ude00")

    (label,) = read(written(tmp_path, line.encode())).labels

    assert label.note == "half \\ud83d of \0 \N{GRINNING FACE}"


@pytest.mark.shared
def test_all_rows_of_the_golden_sets_are_read(shared: Path) -> None:
    rows = labels = 0
    for path in sorted((shared / "golden" / "proposals" / "sets").glob("*.jsonl")):
        wanted = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
        if not wanted:
            continue
        found = read(path)
        rows += len(wanted)
        labels += len(found.labels)
        for line, call, label in zip(wanted, found.calls, found.labels, strict=True):
            assert found.format == "quality_lab.feedback"
            assert (call.key, call.tool_name, call.source) == (
                str(line["toolCallId"]),
                line["toolName"],
                line["source"],
            )
            assert (label.key, label.label_raw, label.note) == (str(line["id"]), line["label"], line["note"])
            assert json.loads(call.result or "") == line["result"]
            assert call.arguments is not None
            written_args = json.loads(call.arguments)
            assert (written_args if call.arguments_state != "json_string" else call.arguments) == line["args"]

    assert (rows, labels) == (2396, 2396)
