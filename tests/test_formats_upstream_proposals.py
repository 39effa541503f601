"""Upstream's proposals: previews and tracked ones, kept whole, with the examples inside them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from file_reading import read, written
from test_formats_upstream_joined import CALL, LABEL

from quality_lab.records import TrackedProposal

TRACKED: dict[str, Any] = {
    "id": 12,
    "fingerprint": "routing_prompt_fix:llm_reply:check_slots:wrong_tool",
    "kind": "routing_prompt_fix",
    "status": "applied",
    "severity": "high",
    "title": "Clarify routing for check_slots",
    "toolName": "check_slots",
    "source": "llm_reply",
    "label": "wrong_tool",
    "feedbackCount": 6,
    "errorCount": 0,
    "lastFeedbackAt": 1780000100,
    "summary": "6 wrong_tool labels",
    "rationale": ["one"],
    "actionItems": [],
    "examples": [{"feedback": LABEL, "toolCall": CALL}],
    "createdAt": 1780000200,
    "updatedAt": 1780000300,
    "decidedAt": 1780000300,
    "decidedByAdminId": 3,
    "resolution": {"kind": "regression_case", "ref": "REG-41", "url": None, "note": None},
}


def test_a_tracked_proposal_is_kept_whole_and_gives_its_examples(tmp_path: Path) -> None:
    found = read(written(tmp_path, json.dumps({"items": [TRACKED]}, indent=1).encode()))

    (proposal,) = found.of(TrackedProposal)
    assert found.format == "quality_lab.proposals"
    assert json.loads(proposal.record) == TRACKED
    assert (proposal.key, proposal.fingerprint) == ("12", TRACKED["fingerprint"])
    assert (proposal.tool_name, proposal.source, proposal.label) == ("check_slots", "llm_reply", "wrong_tool")
    assert proposal.status == "applied"
    assert proposal.created_at == datetime(2026, 5, 28, 20, 30, tzinfo=UTC)
    assert proposal.updated_at == proposal.decided_at == datetime(2026, 5, 28, 20, 31, 40, tzinfo=UTC)
    assert [(call.key, call.seen_in) for call in found.calls] == [("7", "feedback")]
    assert [(label.key, label.label) for label in found.labels] == [("3", "wrong_tool")]
    assert found.notes.unknown_fields == {}


def test_a_preview_has_its_fingerprint_as_key_and_no_status(tmp_path: Path) -> None:
    own = ("status", "createdAt", "updatedAt", "decidedAt", "decidedByAdminId", "resolution")
    preview = {key: value for key, value in TRACKED.items() if key not in own}
    preview["id"] = preview["fingerprint"]

    (proposal,) = read(written(tmp_path, [preview])).of(TrackedProposal)

    assert (proposal.key, proposal.status, proposal.created_at) == (TRACKED["fingerprint"], None, None)


def test_a_damaged_example_costs_only_itself_and_is_counted(tmp_path: Path) -> None:
    damaged = {"feedback": {**LABEL, "id": "x"}, "toolCall": CALL}

    found = read(written(tmp_path, [{**TRACKED, "examples": [damaged, *TRACKED["examples"]]}]))

    assert len(found.of(TrackedProposal)) == len(found.labels) == len(found.calls) == 1
    assert found.notes.not_understood == {"examples[] of a proposal": 1}


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({"toolName": None}, ("toolName", "wanted string, got null")),
        ({"examples": {}}, ("examples", "wanted array, got object")),
        ({"updatedAt": "now"}, ("updatedAt", "wanted integer or null, got string")),
    ],
)
def test_a_wrong_type_is_a_reject(tmp_path: Path, change: dict[str, Any], broken: tuple[str, str]) -> None:
    assert read(written(tmp_path, [TRACKED, {**TRACKED, **change}])).broken == [(2, *broken)]


@pytest.mark.shared
def test_the_previews_of_the_golden_queries_are_read_with_all_their_examples(
    shared: Path, tmp_path: Path
) -> None:
    previews = examples = 0
    for path in sorted((shared / "golden" / "proposals" / "expected").glob("*.json")):
        for query in json.loads(path.read_text(encoding="utf-8")):
            if query["status"] != 200 or not query["body"]["items"]:
                continue
            found = read(written(tmp_path, json.dumps(query["body"]).encode()))
            wanted = query["body"]["items"]
            previews += len(wanted)
            examples += len(found.labels)
            assert [json.loads(one.record) for one in found.of(TrackedProposal)] == wanted
            assert [label.key for label in found.labels] == [
                str(example["feedback"]["id"]) for item in wanted for example in item["examples"]
            ]
            assert (found.broken, found.notes.unknown_fields, found.notes.not_understood) == ([], {}, {})

    assert previews > 400
    assert examples > previews
