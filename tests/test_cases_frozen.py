"""Cases frozen from real failing calls catch their fault, and let through what should have been done.

The answers in `frozen_answers.json` were worked out by hand, from what each client asked for and from what
the file says would have been right. For each there is the same answer put otherwise (other order of keys, defaults
spelt out, 250.0 for 250) and the same fault with other values.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from command_line import run

import quality_lab
from quality_lab.json_text import compact
from quality_lab.lab import Lab, open_lab
from quality_lab.matching.calls import Run, recorded_calls
from quality_lab.matching.case import Case, read_case

pytestmark = pytest.mark.slow  # each freeze is a load of its own

ANSWERS = json.loads(Path(__file__).with_name("frozen_answers.json").read_text(encoding="utf-8"))
TRACES = "traces/tau-bench/gpt-4o-airline.json"


@dataclass(frozen=True)
class FrozenLab:
    """The lab with its cases, in the order of the answers."""

    lab: Lab
    cases: list[dict[str, Any]]


def call_at(lab: Lab, run_name: str, position: int) -> str:
    """Return the uid of the call that stands at *position* of a run, written task/trial."""
    [found] = lab.sql(
        "select cast(call_uid as varchar(36)) as uid from tool_calls "
        "where starts_with(conversation_id, $run || '/') and message_position = $position",
        run=run_name,
        position=position,
    )["uid"]
    return str(found)


@pytest.fixture(scope="module")
def frozen(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> FrozenLab:
    """A lab of the airline's runs in which each of the answers became a case."""
    lab = open_lab(tmp_path_factory.mktemp("airline"))
    lab.load(shared / TRACES)
    cases = [
        lab.freeze(
            call_at(lab, answer["run"], answer["position"]),
            label=answer["label"],
            expected_tool=answer.get("expected_tool"),
            expected_arguments=answer.get("expected"),
            expect=answer["why"],
            reviewer="dana@example.com",
        ).record
        for answer in ANSWERS
    ]
    return FrozenLab(lab, cases)


def verdict(case: Case, tool: str, args: Any) -> str:
    """Return the verdict on one call made in place of those that were recorded."""
    return case.judge(Run(calls=recorded_calls([{"tool": tool, "args": args}], as_wanted=True))).verdict


def test_every_case_is_red_and_its_correction_green(frozen: FrozenLab) -> None:
    rows = {row.id: row for row in frozen.lab.cases()}

    assert len(frozen.cases) == len(rows) == 24
    assert Counter(case["toolName"] for case in frozen.cases) == {
        "book_reservation": 12,
        "update_reservation_flights": 12,
    }
    assert [(row.proof, row.recorded, row.corrected) for row in rows.values()] == [
        ("red", "FAIL", "PASS")
    ] * 24


def test_the_right_answer_put_otherwise_passes(frozen: FrozenLab) -> None:
    verdicts = [
        verdict(read_case(case), answer.get("expected_tool", answer["tool"]), answer["otherwise"])
        for case, answer in zip(frozen.cases, ANSWERS, strict=True)
    ]

    assert verdicts == ["PASS"] * 24


def test_the_same_fault_with_other_values_fails(frozen: FrozenLab) -> None:
    verdicts = [
        verdict(read_case(case), answer["tool"], answer["still_wrong"])
        for case, answer in zip(frozen.cases, ANSWERS, strict=True)
    ]

    assert verdicts == ["FAIL"] * 24
    recorded = [case["input"]["args"] for case in frozen.cases]
    assert [answer["why"] for answer in ANSWERS if answer["still_wrong"] in recorded] == []


def test_the_conversation_ends_with_what_is_to_be_answered(frozen: FrozenLab, shared: Path) -> None:
    runs = json.loads((shared / TRACES).read_text(encoding="utf-8"))
    for case, answer in zip(frozen.cases, ANSWERS, strict=True):
        task, trial = map(int, answer["run"].split("/"))
        [one] = [run for run in runs if (run["task_id"], run["trial"]) == (task, trial)]
        before = one["traj"][: answer["position"]]
        while before[-1]["role"] != "user":  # what the agent did in this turn is what the case is about
            before.pop()
        told = case["input"]["messages"]

        assert [said["role"] for said in told] == [said["role"] for said in before]
        assert told[-1] == {"role": "user", "content": before[-1]["content"]}
        asked = {call["id"] for said in told for call in said.get("tool_calls", ())}
        assert [said["tool_call_id"] for said in told if said["role"] == "tool"] == sorted(
            asked, key=[call["id"] for said in told for call in said.get("tool_calls", ())].index
        )


def test_a_turn_that_put_itself_right_proves_nothing(frozen: FrozenLab) -> None:
    right = ANSWERS[[answer["run"] for answer in ANSWERS].index("3/0")]["expected"]

    case = frozen.lab.freeze(
        call_at(frozen.lab, "3/3", 34),
        label="bad_args",
        expected_arguments=right,
        reviewer="dana@example.com",
    )
    frozen.lab.archive_case(case.id, reviewer="dana@example.com")

    assert (case.proof, case.corrected) == ("not_red", "PASS")


def test_the_cases_go_out_and_are_fine_wherever_they_come_to(frozen: FrozenLab, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.jsonl", tmp_path / "theirs.jsonl"
    frozen.lab.export_cases(ours)
    frozen.lab.export_cases(theirs, compat=True)

    checked = run("cases", "check", ours, "--json")
    upstream = run("regressions", "--file", theirs, "--json")

    assert (checked.code, len(checked.document)) == (0, 24)
    assert upstream.code == 0
    assert upstream.document["summary"]["passed"] == 24
    assert run("regressions", "--file", ours).code == 0


def test_what_is_frozen_under_one_key_is_exact(frozen: FrozenLab) -> None:
    stored = {row.id: compact(frozen.lab.case(row.id)) for row in frozen.lab.cases()}

    assert stored == {case["id"]: compact(case) for case in frozen.cases}


def test_quotes_of_the_demo_in_the_wrong_direction_are_caught_and_those_in_the_right_one_pass() -> None:
    lab = quality_lab.open_demo()
    calls = [
        (row, args)
        for row in lab.calls(label="bad_args", tool="compute_exchange_quote")
        if (args := json.loads(row.arguments or "{}"))["amountMode"] == "source_amount"
    ][:6]
    lines = []
    for row, args in calls:  # the clients named an amount in baht
        right = {"asset": args["asset"], "amount": args["amount"], "amountMode": "target_thb"}
        made = lab.freeze(
            row.call_uid,
            label="bad_args",
            expected_arguments=right,
            reviewer="dana@example.com",
            again=True,
        )
        lines.append(made.line["id"])
        case = read_case(made.record)
        otherwise = {"network": "TRC20", **dict(reversed(right.items())), "amount": float(args["amount"])}
        still_wrong = {**args, "amount": args["amount"] + 1000}

        assert (made.proof, made.corrected) == ("red", "PASS")
        assert verdict(case, row.tool_name, otherwise) == "PASS"
        assert verdict(case, row.tool_name, still_wrong) == "FAIL"

    assert len(calls) == 6
    for line in lines:
        lab.undo(line, reviewer="dana@example.com")
    left = [row for row in lab.cases(status="all") if row.tool_name == "compute_exchange_quote"]
    assert max(row.id for row in left) < 2**31  # upstream's own
