"""Regression cases, upstream's and our own: kept whole, with the call that each was made from."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from file_reading import json_texts, lines, read, written
from hypothesis import given

from quality_lab.records import RegressionCase, ToolCall

CASE: dict[str, Any] = {
    "recordType": "tool_call_regression_case",
    "id": 41,
    "proposalId": 12,
    "toolCallId": 4031,
    "source": "tool_call_feedback",
    "toolName": "compute_exchange_quote",
    "label": "bad_args",
    "title": "REG: Tighten args",
    "input": {
        "source": "rag_reply",
        "toolName": "compute_exchange_quote",
        "args": {"amount": 15000},
        "feedback": {"label": "bad_args", "note": None},
    },
    "expected": {"behavior": "Uses target_thb.", "proposalKind": "schema_fix", "actionItems": []},
    "context": {
        "exampleIndex": 0,
        "feedback": {"id": 512, "createdAt": 1781000450},
        "toolCall": {
            "id": 4031,
            "conversationId": 977,
            "contactId": 650,
            "messageId": None,
            "outboundQueueId": None,
            "result": {"amountToThb": 489000},
            "error": False,
            "cycle": 0,
            "toolCallIndex": 2,
            "latencyMs": None,
            "createdAt": 1781000120,
        },
    },
    "status": "active",
    "createdByAdminId": 3,
    "createdAt": 1781003600,
    "updatedAt": 1781003601,
}


def with_call(**change: Any) -> dict[str, Any]:
    """Return the case with a changed call in its context."""
    return {**CASE, "context": {"toolCall": {**CASE["context"]["toolCall"], **change}}}


def test_a_case_is_kept_whole_with_the_call_it_was_made_from(tmp_path: Path) -> None:
    found = read(written(tmp_path, [CASE]))

    assert found.format == "quality_lab.regression_cases"
    assert found.units[0].records == (
        RegressionCase(
            key="41",
            record=json.dumps(CASE),
            tool_name="compute_exchange_quote",
            label="bad_args",
            title="REG: Tighten args",
            status="active",
            proposal_id="12",
            call_key="4031",
            created_at=datetime(2026, 6, 9, 11, 13, 20, tzinfo=UTC),
            updated_at=datetime(2026, 6, 9, 11, 13, 21, tzinfo=UTC),
        ),
        ToolCall(
            key_space="quality_lab",
            key="4031",
            conversation_id="977",
            tool_name="compute_exchange_quote",
            cycle=0,
            call_index=2,
            arguments='{"amount": 15000}',
            result='{"amountToThb": 489000}',
            is_error=False,
            source="rag_reply",
            created_at=datetime(2026, 6, 9, 10, 15, 20, tzinfo=UTC),
            seen_in="case",
            contact_id="650",
        ),
    )


def test_the_list_of_the_endpoint_is_read_without_record_types(tmp_path: Path) -> None:
    listed = {key: value for key, value in CASE.items() if key != "recordType"}

    found = read(written(tmp_path, json.dumps({"items": [listed]}).encode()))

    assert found.format == "quality_lab.regression_cases"
    assert [case.key for case in found.of(RegressionCase)] == ["41"]


@pytest.mark.parametrize(
    ("case", "key", "noted"),
    [
        ({**CASE, "context": {}}, "4031", {}),
        ({**CASE, "context": {}, "toolCallId": None}, None, {}),
        (with_call(id=None), "4031", {}),
        (with_call(conversationId=None), "4031", {"context.toolCall of a case": 1}),
        (with_call(error="no"), "4031", {"context.toolCall of a case": 1}),
        ({**CASE, "context": [], "input": 3}, "4031", {"context.toolCall of a case": 1}),
    ],
)
def test_a_case_that_does_not_tell_its_call_is_a_case_all_the_same(
    tmp_path: Path, case: dict[str, Any], key: str | None, noted: dict[str, int]
) -> None:
    found = read(written(tmp_path, [case]))

    assert [one.call_key for one in found.of(RegressionCase)] == [key]
    assert (found.calls, found.notes.not_understood, found.broken) == ([], noted, [])


def test_what_a_damaged_example_left_null_stays_unknown(tmp_path: Path) -> None:
    (call,) = read(
        written(tmp_path, [with_call(error=None, cycle=None, toolCallIndex=None, createdAt=None)])
    ).calls

    assert (call.is_error, call.cycle, call.call_index, call.created_at) == (None, None, None, None)


def test_our_own_keys_are_known_and_remarks_are_blank(tmp_path: Path) -> None:
    own = {**CASE, "recorded": [], "corrected": [], "tape": [], "provenance": {"proof": "red"}, "mood": 1}

    found = read(written(tmp_path, lines(own, b"# kept since March", b"")))

    assert found.notes.unknown_fields == {"mood": 1}
    assert [(unit.line, unit.blank) for unit in found.units] == [(1, False), (2, True), (3, True)]


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({"id": "41"}, ("id", "wanted integer, got string")),
        ({"label": None}, ("label", "wanted string, got null")),
        ({"proposalId": 1.5}, ("proposalId", "wanted integer or null, got number")),
    ],
)
def test_a_wrong_type_is_a_reject(tmp_path: Path, change: dict[str, Any], broken: tuple[str, str]) -> None:
    assert read(written(tmp_path, [CASE, {**CASE, **change}])).broken == [(2, *broken)]


@given(json_texts().filter(lambda text: not text.startswith('"')), json_texts())
def test_values_come_out_as_they_went_in(
    tmp_path_factory: pytest.TempPathFactory, arguments: str, result: str
) -> None:
    text = json.dumps({**with_call(result="RESULT"), "input": {"args": "ARGS"}})
    text = text.replace('"ARGS"', arguments).replace('"RESULT"', result)

    found = read(written(tmp_path_factory.mktemp("any"), text.encode()))

    assert [case.record for case in found.of(RegressionCase)] == [text]
    assert [(call.arguments, call.result) for call in found.calls] == [(arguments, result)]


@pytest.mark.shared
def test_the_golden_cases_are_all_read_whole(shared: Path) -> None:
    path = shared / "golden" / "cases" / "cases.jsonl"

    found = read(path)

    wanted = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    assert [json.loads(case.record) for case in found.of(RegressionCase)] == wanted
    assert len(wanted) == 58
    assert (found.broken, found.notes.unknown_fields) == ([], {})
