"""A case out of a proposal, against what upstream made of the same one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quality_lab.cases.from_proposal import CaseRefused, case_from_proposal, resolution_of
from quality_lab.regressions import check_cases


@pytest.mark.shared
def test_every_stored_proposal_gives_upstreams_record_or_its_refusal(shared: Path) -> None:
    vectors = json.loads((shared / "golden/proposals/cases.json").read_text(encoding="utf-8"))
    refused, made = 0, 0
    for vector in vectors:
        try:
            came: Any = _made(vector)
        except CaseRefused as refusal:
            came = str(refusal)

        wanted = vector.get("error") or vector["record"]
        assert json.dumps(came) == json.dumps(wanted)  # the order of the keys too
        refused, made = refused + ("error" in vector), made + ("record" in vector)

    assert (len(vectors), refused, made) == (50, 11, 39)


@pytest.mark.shared
def test_the_runner_says_of_each_record_what_upstreams_runner_says(shared: Path) -> None:
    vectors = json.loads((shared / "golden/proposals/cases.json").read_text(encoding="utf-8"))
    checked = 0
    for vector in vectors:
        if "record" not in vector:
            continue
        [result] = check_cases([json.dumps(_made(vector)).encode()])

        failures = [(each.path, each.expected, each.actual) for each in result.failures]
        wanted = [(each["path"], each["expected"], each["actual"]) for each in vector["check"]["failures"]]
        assert (result.status, failures) == (vector["check"]["status"], wanted)
        checked += 1

    assert checked == 39


def test_a_blank_title_is_no_title_and_a_case_names_itself_in_the_resolution() -> None:
    record = case_from_proposal(_proposal(), {"title": " \u00a0"}, case_id=41, now=1781003600)

    assert record["title"] == "REG: Quotes in baht"
    assert resolution_of(record) == {
        "kind": "regression_case",
        "ref": "REG-41",
        "url": None,
        "note": "REG: Quotes in baht",
    }


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"title": "t" * 241}, "title must be at most 240 characters"),
        ({"title": "🚲" * 121}, "title must be at most 240 characters"),
        ({"expectedBehavior": "b" * 2001}, "expectedBehavior must be at most 2000 characters"),
        ({"exampleIndex": 0.5}, "invalid exampleIndex"),
        ({"exampleIndex": {}}, "invalid exampleIndex"),
        ({"exampleIndex": True}, "exampleIndex out of range"),
        ({"exampleIndex": ["0x1"]}, "exampleIndex out of range"),
    ],
)
def test_a_request_that_upstream_refuses_is_refused_in_its_words(body: dict[str, Any], said: str) -> None:
    with pytest.raises(CaseRefused) as refusal:
        case_from_proposal(_proposal(), body, case_id=1, now=1)

    assert str(refusal.value) == said


def test_a_label_that_asks_for_nothing_makes_no_case() -> None:
    praised = {**_proposal(), "label": "good_reply"}

    with pytest.raises(CaseRefused, match="^proposal label is not actionable$"):
        case_from_proposal(praised, {}, case_id=1, now=1)


def _made(vector: dict[str, Any]) -> dict[str, Any]:
    return case_from_proposal(
        vector["proposal"],
        vector["body"],
        case_id=vector.get("caseId", 1),
        now=vector.get("now", 1),
        admin_id=vector.get("adminId"),
    )


def _proposal() -> dict[str, Any]:
    return {
        "id": 12, "fingerprint": "schema_fix:rag_reply:quote:bad_args", "kind": "schema_fix",
        "title": "Quotes in baht", "toolName": "quote", "source": "rag_reply", "label": "bad_args",
        "summary": "", "rationale": [], "actionItems": [],
        "examples": [{"feedback": {"label": "good_reply"}, "toolCall": {"toolName": "quote"}}],
    }  # fmt: skip
