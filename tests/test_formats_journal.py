"""The journal: labels that name their call as their writer knew it, and lines that take lines back."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from file_reading import json_texts, lines, read, written
from hypothesis import given

from quality_lab.records import Feedback, Retraction, SetAside

LABEL: dict[str, Any] = {
    "record_type": "label",
    "id": "8d7cfe9d230542a2d4aef363",
    "created_at": "2026-05-04T08:19:35Z",
    "author": "dana@example.com",
    "author_kind": "HUMAN",
    "call": {"format": "openai_chat", "conversation_id": "chat-0001", "message": 4, "index": 1},
    "label": "wrong_tool",
    "note": "Nice and short.",
    "guide_version": "2026-05",
    "expected_tool": "check_slots",
    "expected_arguments": {"date": "2026-05-09"},
    "adjudication": True,
}
WAYS = "wanted tool_call_id, call_uid, key, or conversation_id with message and index"


def test_a_label_is_read_with_all_that_the_reviewer_gave(tmp_path: Path) -> None:
    found = read(written(tmp_path, [LABEL]))

    assert found.format == "quality_lab.journal"
    assert found.units[0].records == (
        Feedback(
            key_space="journal",
            key="8d7cfe9d230542a2d4aef363",
            target_level="call",
            target_key_space="openai_chat",
            conversation_id="chat-0001",
            call_key="chat-0001#4.1",
            label="wrong_tool",
            label_raw="wrong_tool",
            author_kind="HUMAN",
            author="dana@example.com",
            note="Nice and short.",
            created_at=datetime(2026, 5, 4, 8, 19, 35, tzinfo=UTC),
            guide_version="2026-05",
            expected_tool="check_slots",
            expected_arguments='{"date": "2026-05-09"}',
            adjudication=True,
        ),
    )


@pytest.mark.parametrize(
    ("call", "target"),
    [
        ({"tool_call_id": 4031}, ("quality_lab", "4031", None)),
        ({"tool_call_id": "4031"}, ("quality_lab", "4031", None)),
        ({"call_uid": f"AB12{'-0' * 28}"}, ("call_uid", f"ab12{'0' * 28}", None)),
        ({"key_space": "quality_lab", "key": "7"}, ("quality_lab", "7", None)),
        ({"format": "quality_lab.traces", "key": "7"}, ("quality_lab", "7", None)),
        (
            {"format": "tau_bench", "conversation_id": "0/1/ab", "message": 9, "index": 0},
            ("tau_bench", "0/1/ab#9.0", "0/1/ab"),
        ),
    ],
)
def test_a_call_may_be_named_in_every_way(
    tmp_path: Path, call: dict[str, Any], target: tuple[str, str, str]
) -> None:
    (label,) = read(written(tmp_path, [{**LABEL, "call": call}])).labels

    assert (label.target_key_space, label.call_key, label.conversation_id) == target


@pytest.mark.parametrize(("turn", "level"), [(None, "conversation"), (2, "turn")])
def test_a_label_may_be_about_a_conversation_or_a_turn(tmp_path: Path, turn: int | None, level: str) -> None:
    about = {"format": "openai_chat", "conversation_id": "chat-0001", "turn": turn}
    line = {key: value for key, value in LABEL.items() if key != "call"}

    (label,) = read(written(tmp_path, [{**line, "conversation": about}])).labels

    assert (label.target_level, label.turn, label.call_key) == (level, turn, None)
    assert (label.target_key_space, label.conversation_id) == ("openai_chat", "chat-0001")


def test_a_score_needs_no_label(tmp_path: Path) -> None:
    (score,) = read(written(tmp_path, [{**LABEL, "label": None, "name": "tone", "score": 0.80}])).labels

    assert (score.label, score.label_raw, score.name, score.score) == (None, None, "tone", "0.8")


def test_a_retraction_is_read_and_an_unknown_kind_is_kept_and_counted(tmp_path: Path) -> None:
    taken_back = {
        "record_type": "retraction",
        "id": "r1",
        "retracts": LABEL["id"],
        "author": "dana@example.com",
    }

    found = read(written(tmp_path, lines(LABEL, taken_back, {"record_type": "reminder", "id": "v1", "n": 1})))

    assert found.of(Retraction) == [Retraction(key="r1", retracts=LABEL["id"], author="dana@example.com")]
    assert [aside.kind for aside in found.of(SetAside)] == ["reminder"]
    assert (found.notes.not_understood, found.broken) == ({"reminder": 1}, [])


@pytest.mark.parametrize(
    ("change", "path", "reason"),
    [
        ({"call": None}, "call", "wanted a call or a conversation that the label is about"),
        ({"call": {"format": "openai_chat"}}, "call", WAYS),
        ({"call": {"key": "7"}}, "call.format", "wanted the format whose ids these are"),
        ({"call": {"call_uid": "xyz"}}, "call.call_uid", "wanted 32 hex digits, got 'xyz'"),
        (
            {"call": {"tool_call_id": 4.5}},
            "call.tool_call_id",
            "wanted integer or string or null, got number",
        ),
        ({"call": 7}, "call", "wanted object, got integer"),
        ({"label": None}, "label", "wanted a label or a score"),
        ({"author_kind": "ROBOT"}, "author_kind", "Invalid enum value 'ROBOT'"),
        ({"created_at": "yesterday"}, "created_at", "wanted an ISO 8601 time, got 'yesterday'"),
        ({"id": 5}, "id", "wanted string, got integer"),
    ],
)
def test_what_is_wrong_is_a_reject_with_its_path(
    tmp_path: Path, change: dict[str, Any], path: str, reason: str
) -> None:
    assert read(written(tmp_path, [LABEL, {**LABEL, **change}])).broken == [(2, path, reason)]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-05-04T10:19:35+02:00", datetime(2026, 5, 4, 8, 19, 35, tzinfo=UTC)),
        ("2026-05-04T08:19:35", datetime(2026, 5, 4, 8, 19, 35, tzinfo=UTC)),
        ("2026-05-04", datetime(2026, 5, 4, tzinfo=UTC)),
    ],
)
def test_times_come_out_in_utc(tmp_path: Path, text: str, moment: datetime) -> None:
    assert read(written(tmp_path, [{**LABEL, "created_at": text}])).labels[0].created_at == moment


@given(json_texts().filter(lambda text: text.startswith(("{", "["))))
def test_expected_arguments_come_out_as_they_went_in(
    tmp_path_factory: pytest.TempPathFactory, arguments: str
) -> None:
    text = json.dumps({**LABEL, "expected_arguments": "ARGS"}).replace('"ARGS"', arguments)

    (label,) = read(written(tmp_path_factory.mktemp("any"), text.encode())).labels

    assert label.expected_arguments == arguments


def test_the_demo_s_journal_points_at_calls_of_its_web_chat(repository: Path) -> None:
    demo = repository / "data" / "demo"

    labels = read(demo / "journal" / "labels.jsonl")
    chats = read(demo / "exports" / "web-chat.jsonl")

    assert len(labels.labels) > 20
    assert {label.call_key for label in labels.labels} <= {call.key for call in chats.calls}
