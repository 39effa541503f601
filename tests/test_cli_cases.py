"""`quality-lab cases` as people and programs call it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import run


def record(**more: Any) -> dict[str, Any]:
    """A case that upstream takes too: asked in baht, quoted in dollars, and forbidden to."""
    return {
        "recordType": "tool_call_regression_case", "id": 41, "proposalId": None, "toolCallId": None,
        "source": "tool_call_feedback", "toolName": "quote", "label": "bad_args", "title": "Quotes in baht",
        "input": {"toolName": "quote", "args": {"mode": "source"}, "feedback": {"label": "bad_args"}},
        "expected": {"behavior": "Quotes in baht.", "calls": [{"tool": "quote", "args": {"mode": "target"}}]},
        "recorded": [{"tool": "quote", "args": {"mode": "source"}, "result": {"sum": 1}, "error": False}],
        "context": {}, "status": "active", "createdByAdminId": None,
        "createdAt": 1781003600, "updatedAt": 1781003600, **more,
    }  # fmt: skip


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records), encoding="utf-8")
    return path


RIGHT = [{"tool": "quote", "args": {"mode": "target"}}]
WRONG = [{"tool": "quote", "args": {"mode": "source"}, "result": {}}]


def test_a_red_case_whose_correction_passes_is_fine(tmp_path: Path) -> None:
    file = write(tmp_path / "cases.jsonl", record(corrected=RIGHT))

    ran = run("cases", "check", file, "--json")

    assert ran.code == 0
    assert ran.document == [
        {
            "id": 41,
            "line": 1,
            "shape": [],
            "recorded": "FAIL",
            "corrected": "PASS",
            "proof": "red",
            "reasons": ['call 1, calls[0] equals, args.mode: expected "target"; got "source"'],
        }
    ]


@pytest.mark.parametrize(
    ("changes", "recorded", "corrected", "proof"),
    [
        ({"corrected": WRONG}, "FAIL", "FAIL", "red"),
        ({"recorded": RIGHT, "corrected": RIGHT}, "INCONCLUSIVE", "PASS", "unprovable"),
        ({"recorded": [{**RIGHT[0], "result": {}}]}, "PASS", None, "not_red"),
        ({"recorded": [], "context": {}}, "FAIL", None, "red"),
        ({"expected": {"behavior": "Quotes in baht."}}, "INCONCLUSIVE", None, "unprovable"),
        ({"expected": {"behavior": "x", "mode": "precision"}}, "ERROR", None, "unprovable"),
        ({"provenance": {"label": "good_reply"}}, "FAIL", None, "not_red"),
        (
            {"provenance": {"label": "good_reply"}, "recorded": [{**RIGHT[0], "result": {}}]},
            "PASS",
            None,
            "red",
        ),
    ],
)
def test_proof_says_whether_the_case_catches_its_fault(
    tmp_path: Path, changes: dict[str, Any], recorded: str, corrected: str | None, proof: str
) -> None:
    file = write(tmp_path / "cases.jsonl", record(**changes))

    ran = run("cases", "check", file, "--json")

    [case] = ran.document
    assert (case["recorded"], case["corrected"], case["proof"]) == (recorded, corrected, proof)
    assert ran.code == (0 if proof == "red" and corrected in (None, "PASS") else 1)


def test_a_record_that_upstream_refuses_is_malformed_and_never_judged(tmp_path: Path) -> None:
    file = write(tmp_path / "cases.jsonl", record(createdAt=0, recorded=[{"args": {}}]), "no case")
    with file.open("a", encoding="utf-8") as more:
        more.write("# a comment\n\n{oops\n")

    ran = run("cases", "check", file, "--json")

    assert ran.code == 1
    assert [(case["line"], case["recorded"]) for case in ran.document] == [
        (1, "ERROR"),
        (2, "ERROR"),
        (5, "ERROR"),
    ]
    assert ran.document[0]["shape"] == [
        "createdAt: wanted positive integer epoch seconds, got 0",
        "recorded[0].tool: wanted the name of a tool, got absent",
    ]


def test_numbers_of_a_case_are_those_that_were_written(tmp_path: Path) -> None:
    text = (
        json.dumps(record())
        .replace('"target"', "0.10000000000000000001")
        .replace('"source"}, "r', '0.1}, "r')
    )
    file = tmp_path / "cases.jsonl"
    file.write_text(text, encoding="utf-8")

    [case] = run("cases", "check", file, "--json").document

    assert case["reasons"] == ["call 1, calls[0] equals, args.mode: expected 0.10000000000000000001; got 0.1"]


def test_people_are_told_in_lines_and_hostile_text_stays_text(tmp_path: Path) -> None:
    hostile = [{"tool": "quote", "args": {"mode": "\x1b[31mred"}, "result": {}}]
    file = write(tmp_path / "cases.jsonl", record(recorded=hostile))

    ran = run("cases", "check", file)

    assert ran.code == 0
    assert "line 1, case 41: red, recorded FAIL (fine)" in ran.out
    assert "1 cases, 1 fine, 0 not" in ran.out
    assert "\x1b" not in ran.out


def test_no_case_is_nothing_to_judge_and_no_file_cannot_be_read(tmp_path: Path) -> None:
    empty = write(tmp_path / "empty.jsonl")

    assert run("cases", "check", empty, "--json").code == 1
    assert run("cases", "check", tmp_path / "missing.jsonl").code == 3
    assert run("cases", "check").code == 2


@pytest.mark.shared
def test_the_command_gives_every_vector_its_verdict(shared: Path) -> None:
    lines = (shared / "golden/cases/verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    wanted = {row["id"]: row["verdict"] for row in map(json.loads, lines)}

    ran = run("cases", "check", shared / "golden/cases/cases.jsonl", "--json")

    assert {case["id"]: case["recorded"] for case in ran.document} == wanted
    assert len(wanted) == 58
    assert ran.code == 1
