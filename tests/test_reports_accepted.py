"""A run that was accepted is what later runs are compared with."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from lab_builder import MONDAY, LabBuilder

from quality_lab.lab import open_lab
from quality_lab.metrics.filters import Filters
from quality_lab.reports.accepted import accepted
from quality_lab.reports.quality import quality_page

RUN = "2026-05-04-quality"
FIGURES = {
    "calls_in_window": 400, "error_rate": 0.02, "error_low": 0.01, "error_high": 0.04,
    "reviewed_calls": 90, "judged_failure_rate": None, "judged_low": None, "judged_high": None,
}  # fmt: skip


def a_run(home: Path, name: str = RUN, *, ok: bool = True, **parameters: Any) -> None:
    folder = home / "reports" / name
    folder.mkdir(parents=True)
    summary = {
        "report": "quality", "generated_at": "2026-05-04T08:00:00Z", "ok": ok, "problem": None if ok else "no_data",
        "figures": FIGURES, "parameters": {"tool": [], "since": None, "title": "Quality"} | parameters,
    }  # fmt: skip
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A lab of 60 calls, a third of which failed, and as many good ones in the equal window before."""
    builder = LabBuilder(tmp_path / "home")
    builder.calls(60, created_at=MONDAY - timedelta(days=28))
    builder.calls(40, created_at=MONDAY)
    builder.calls(20, created_at=MONDAY, is_error=True, error_origin="flag")
    builder.store()
    return builder.home


def state(home: Path, **filters: Any) -> str:
    page = quality_page(open_lab(home), as_of=MONDAY + timedelta(days=1), **filters)
    return " ".join(page.note().lead).replace("\u00a0", " ")


def test_a_report_is_compared_with_the_accepted_run_once_there_is_one(home: Path) -> None:
    a_run(home)
    assert "0 % in the equal time before; that is beyond noise" in state(home)

    ran = run("--home", home, "report", "accept", RUN, "--json")

    assert (ran.code, ran.document["run"]) == (0, RUN)
    assert "Calls fail more often than before: 33 % (" in state(home)
    assert "2 % in the accepted report of 4 May; that is beyond noise" in state(home)
    page = quality_page(open_lab(home), as_of=MONDAY + timedelta(days=1))
    figures = page.note().figures
    # by hand: 0.33 - 0.02, whose interval leaves out zero as 0.33 is at least 0.22 and 0.02 at most 0.04
    assert (figures["error_rate_before"], figures["error_rate_changed"]) == (0.02, True)


def test_a_report_on_other_calls_is_not_compared_with_it(home: Path) -> None:
    a_run(home, tool=["pay"])
    assert run("--home", home, "report", "accept", RUN).code == 0

    assert "in the equal time before" in state(home)
    assert accepted(home / "reports", "quality", Filters.of(tool="pay")) is not None
    assert (
        accepted(home / "reports", "quality", Filters.of(tool="pay", since="7d")) is not None
    )  # the window may move
    assert accepted(home / "reports", "quality", Filters.of(tool=["pay", "book"])) is None
    assert accepted(home / "reports", "tool", Filters.of(tool="pay")) is None


def test_the_snapshot_outlives_its_run_and_is_replaced_by_the_next(home: Path) -> None:
    a_run(home)
    a_run(home, "newer")
    run("--home", home, "report", "accept", RUN)
    assert run("--home", home, "report", "prune", "--keep", "1", "--json").document == {"removed": []}

    (home / "reports" / RUN / "summary.json").unlink()
    kept = accepted(home / "reports", "quality", Filters())
    assert kept is not None
    assert (kept.run, kept.generated_at) == (RUN, datetime(2026, 5, 4, 8, tzinfo=UTC))

    run("--home", home, "report", "accept", "newer")
    newer = accepted(home / "reports", "quality", Filters())
    assert newer is not None
    assert newer.run == "newer"


def test_a_run_that_is_not_there_or_not_fine_is_not_accepted(home: Path) -> None:
    a_run(home, "bad", ok=False)

    missing = run("--home", home, "report", "accept", "nothing")
    bad = run("--home", home, "report", "accept", "bad")

    assert (missing.code, "`quality-lab report list` names them" in missing.err) == (2, True)
    assert (bad.code, "bad is not fine: no_data" in bad.err) == (1, True)
    assert not (home / "reports" / "accepted.json").exists()


def test_a_run_of_a_report_that_is_compared_with_nothing_is_not_accepted(home: Path) -> None:
    a_run(home)
    summary = home / "reports" / RUN / "summary.json"
    text = summary.read_text("utf-8")
    summary.write_text(text.replace('"report": "quality"', '"report": "coach-review"'), encoding="utf-8")
    assert text != summary.read_text("utf-8")

    ran = run("--home", home, "report", "accept", RUN)

    assert (ran.code, f"{RUN} is a coach-review report, which nothing is compared with" in ran.err) == (
        2,
        True,
    )
    assert "wanted a run of quality" in ran.err
    assert not (home / "reports" / "accepted.json").exists()


def test_a_snapshot_that_cannot_be_read_is_none(home: Path) -> None:
    (home / "reports").mkdir()
    for text in ("", "[]", '{"quality": 3}', '{"quality": {"parameters": {"tool": {"x": 1}}}}'):
        (home / "reports" / "accepted.json").write_text(text, encoding="utf-8")
        assert accepted(home / "reports", "quality", Filters()) is None
