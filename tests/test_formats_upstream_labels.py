"""Upstream's list of the labels on one call."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from file_reading import read, written

from quality_lab.records import Feedback

LABEL = {
    "id": 3,
    "toolCallId": 7,
    "adminId": 5,
    "label": "other",
    "note": "Cold tone",
    "createdAt": 1780000100,
}


def test_a_label_alone_names_its_call_and_knows_no_more(tmp_path: Path) -> None:
    found = read(written(tmp_path, json.dumps({"items": [LABEL]}).encode()))

    assert found.format == "quality_lab.labels"
    assert found.units[0].records == (
        Feedback(
            key_space="quality_lab",
            key="3",
            target_level="call",
            target_key_space="quality_lab",
            conversation_id=None,
            call_key="7",
            label="other",
            label_raw="other",
            author="5",
            note="Cold tone",
            created_at=datetime(2026, 5, 28, 20, 28, 20, tzinfo=UTC),
        ),
    )


def test_a_broken_label_is_a_reject(tmp_path: Path) -> None:
    found = read(written(tmp_path, [LABEL, {**LABEL, "toolCallId": "7"}]))

    assert found.broken == [(2, "toolCallId", "wanted integer, got string")]
