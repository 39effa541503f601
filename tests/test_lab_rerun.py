"""Re-runs from Python: awaited, answered in rows, with the whole report behind them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from replaying import QUOTE_RIGHT, QUOTE_WRONG, Saying, record

import quality_lab as ql


@pytest.fixture
def lab(tmp_path: Path) -> Any:
    return ql.open(tmp_path)


def test_records_are_run_again_with_a_model_of_one_s_own(lab: Any) -> None:
    came = asyncio.run(
        lab.rerun([record(1), record(2, status="archived")], model=Saying(QUOTE_RIGHT), trials=2)
    )

    [row] = came
    assert (row.case_id, row.verdict, row.stability, row.trials, row.passed) == (
        1,
        "PASS",
        "stable_pass",
        2,
        2,
    )
    assert row.evidence == "recorded"
    assert came.title == "Re-run: PASS 1, FAIL 0, INCONCLUSIVE 0, ERROR 0"
    assert came.report.exit_code(strict=True) == 0
    assert "stable_pass" in came._repr_html_()


def test_a_file_is_run_again_and_compared_with_a_report_of_before(lab: Any, tmp_path: Path) -> None:
    file, before = tmp_path / "cases.jsonl", tmp_path / "before.json"
    file.write_text("".join(f"{json.dumps(record(at))}\n" for at in range(1, 8)))

    first = asyncio.run(lab.rerun(file, model=Saying(QUOTE_WRONG)))
    before.write_text(json.dumps(first.report.as_json()))
    second = asyncio.run(lab.rerun(str(file), model=Saying(QUOTE_RIGHT), baseline=before))

    assert second.report.comparison.fixed == 7
    assert second.notes[0].startswith("better beyond noise")


def test_it_can_be_awaited_where_a_loop_is_running_already(lab: Any) -> None:
    async def cell() -> Any:
        return await lab.rerun([record(1)])

    assert asyncio.run(cell())[0].verdict == "INCONCLUSIVE"


def test_an_empty_lab_has_nothing_to_run(lab: Any) -> None:
    came = asyncio.run(lab.rerun())

    assert (list(came), came.report.exit_code(strict=False)) == ([], 1)


def test_what_cannot_be_read_or_asked_is_said_before_anything_runs(lab: Any, tmp_path: Path) -> None:
    with pytest.raises(ql.InputError):
        asyncio.run(lab.rerun(tmp_path / "missing.jsonl"))
    with pytest.raises(ql.UsageError):
        asyncio.run(lab.rerun([record(1)], model="m"))
    with pytest.raises(ql.UsageError, match="a budget needs"):
        asyncio.run(lab.rerun([record(1)], model=Saying(QUOTE_RIGHT), budget_usd=1))
