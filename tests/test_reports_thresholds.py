"""What a scheduled report fails on: figures held against limits, rates by their lower bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from lab_builder import LabBuilder
from notebook_maker import code, write_template

from quality_lab.errors import UsageError
from quality_lab.lab import open_lab
from quality_lab.reports import coach_review_page, quality_page, tool_page
from quality_lab.reports.known_figures import KNOWN_FIGURES
from quality_lab.reports.thresholds import check, read_threshold

FIGURES: dict[str, Any] = {
    "calls_in_window": 400,
    "hours_since_newest_call": 36.5,
    "error_rate": 0.3, "error_low": 0.18, "error_high": 0.45,
    "judged_failure_rate": 0.5, "judged_low": 0.25, "judged_high": 0.75,
    "coverage": 0.2,
    "latency": None,
    "error_rate_changed": True,
    "since": "2026-06-01T00:00:00Z",
}  # fmt: skip
TOOLS = {
    "pay": {"calls": 9, "error_rate": 0.9, "error_low": 0.6, "error_high": 1.0},
    "a > b@c": {"calls": 1, "error_rate": None, "error_low": None, "error_high": None},
}


def failed(expression: str) -> bool:
    (one,) = check([read_threshold(expression)], FIGURES, TOOLS)
    return one.failed


@pytest.mark.parametrize(
    ("expression", "fails"),
    [
        ("calls_in_window<400", False),
        ("calls_in_window<=400", True),
        ("calls_in_window>=400", True),
        (" hours_since_newest_call > 36 ", True),
        ("hours_since_newest_call>36.5", False),
        ("error_rate>0.2", False),  # 0.3, and at least 0.18
        ("error_rate>0.17", True),
        ("error_rate>17%", True),
        ("error_rate.point>0.2", True),
        ("error_rate.point > 30 %", False),
        ("judged_failure_rate>0.24", True),  # its bounds are called judged_low and judged_high
        ("judged_failure_rate>0.26", False),
        ("coverage<0.25", True),  # a share without bounds
        ("error_rate@pay>0.59", True),
        ("error_rate@pay>0.6", False),
        ("error_rate.point@pay>0.8", True),
        ("calls@a > b@c<2", True),  # a tool may be called anything
        ("error_rate_changed>0", True),
        ("calls_in_window>-1", True),
    ],
)
def test_a_figure_is_held_against_a_limit_and_a_rate_by_its_lower_bound(expression: str, fails: bool) -> None:
    assert failed(expression) is fails


@pytest.mark.parametrize(
    "expression", ["latency>1", "latency<1", "error_rate@a > b@c>0.5", "calls@never_called>1"]
)
def test_a_figure_that_is_null_fails_whichever_way_it_is_compared(expression: str) -> None:
    (one,) = check([read_threshold(expression)], FIGURES, TOOLS)

    assert (one.failed, one.value) == (True, None)
    assert "is not known" in (one.why or "")


def test_what_was_compared_is_said() -> None:
    low, point = check(
        [read_threshold("error_rate@pay>0.5"), read_threshold("error_rate.point>0.2")], FIGURES, TOOLS
    )

    assert (low.compared, low.value, low.limit, low.tool) == ("low", 0.6, 0.5, "pay")
    assert low.why == "error_rate of pay is at least 60 %: > 50 %"
    assert (point.compared, point.value, point.why) == ("point", 0.3, "error_rate is 30 %: > 20 %")


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("error_rte>0.2", "no figure 'error_rte'; it has calls_in_window, coverage"),
        ("coverage@pay>0.2", "no figure 'coverage' of single tools; it has calls, error_high"),
        ("since>1", "no number"),
    ],
)
def test_a_figure_that_is_not_there_is_wrong_usage(expression: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        failed(expression)


@pytest.mark.parametrize(
    "expression", ["", "error_rate", "error_rate>", ">0.2", "error_rate>x", "a>1;b>2", "error_rate=0.2"]
)
def test_what_is_no_threshold_is_refused_before_anything_runs(expression: str, tmp_path: Path) -> None:
    ran = run("--home", tmp_path, "report", "quality", "--fail-on", expression)

    assert (ran.code, "wanted FIGURE[@TOOL] OP NUMBER" in ran.err) == (2, True)
    assert not (tmp_path / "reports").exists()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a report whose figures are known."""
    builder = LabBuilder(tmp_path_factory.mktemp("home"))
    builder.calls(3)
    builder.store()
    figures = "calls_in_window=3, error_rate=0.3, error_low=0.2, error_high=0.4, p95=None"
    says = f"from quality_lab import reports\nreports.note({figures}, tools={{'pay': {{'calls': 2}}}})"
    write_template(builder.home, "says", code("home = None\nas_of = None", tags=("parameters",)), code(says))
    return builder.home


@pytest.mark.parametrize(
    ("given", "code_", "told"),
    [
        (("error_rate>0.25", "calls@pay>2"), 0, None),
        (("error_rate>0.25", "error_rate.point>0.25"), 1, "threshold passed: error_rate is 30 %: > 25 %"),
        (("p95>1",), 1, "p95 is not known"),
    ],
)
def test_a_run_that_passes_a_threshold_is_written_and_not_fine(
    home: Path, given: tuple[str, ...], code_: int, told: str | None
) -> None:
    options = [word for one in given for word in ("--fail-on", one)]

    ran = run("--home", home, "report", "says", *options, "--json")

    assert ran.code == code_
    assert told is None or told in ran.err
    summary = json.loads((Path(ran.document["folder"]) / "summary.json").read_text(encoding="utf-8"))
    assert summary["ok"] is (code_ == 0)
    assert [one["expression"] for one in summary["thresholds"]] == list(given)
    assert any(one["failed"] for one in summary["thresholds"]) is (code_ == 1)
    assert told is None or told in (Path(ran.document["folder"]) / "summary.md").read_text(
        encoding="utf-8"
    ).replace("\\", "").replace("&gt;", ">")


def test_a_threshold_on_a_figure_that_the_report_does_not_have_leaves_no_folder(
    home: Path, tmp_path: Path
) -> None:
    ran = run("--home", home, "report", "says", "--fail-on", "nonsense>1", "--out", tmp_path / "out")

    assert (ran.code, "no figure 'nonsense'; it has calls_in_window" in ran.err) == (2, True)
    assert list((tmp_path / "out").glob("*")) == []


def test_a_figure_that_a_shipped_report_never_has_is_refused_before_it_runs(
    home: Path, tmp_path: Path
) -> None:
    ran = run("--home", home, "report", "quality", "--fail-on", "error_rte>0.2", "--out", tmp_path / "out")

    assert (ran.code, "no figure 'error_rte'; it has calls_in_window" in ran.err) == (2, True)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "page"),
    [("quality", quality_page), ("coach-review", coach_review_page), ("tool", tool_page)],
)
def test_the_figures_that_are_known_beforehand_are_those_a_report_hands_over(
    home: Path, tmp_path: Path, name: str, page: Any
) -> None:
    for lab in (open_lab(home), open_lab(tmp_path)):
        assert set(page(lab, as_of="2026-06-30").note().figures) == KNOWN_FIGURES[name]


# ---- what is kept ----


def a_run(shelf: Path, name: str, report: str, day: int, *, minutes: bool = False) -> None:
    folder = shelf / name
    folder.mkdir(parents=True)
    summary = {"report": report, "generated_at": f"2026-06-{day:02}T08:00:00Z", "ok": True}
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    if minutes:
        (folder / "minutes.json").write_text("{}", encoding="utf-8")


def test_of_each_report_the_newest_runs_are_kept_and_all_that_hold_minutes(tmp_path: Path) -> None:
    shelf = tmp_path / "reports"
    for day in (1, 2, 3):
        a_run(shelf, f"q{day}", "quality", day)
        a_run(shelf, f"c{day}", "coach-review", day, minutes=day == 1)
    (shelf / "notes").mkdir()  # somebody's own

    ran = run("--home", tmp_path, "report", "prune", "--keep", "1", "--json")

    assert ran.code == 0
    assert {Path(one).name for one in ran.document["removed"]} == {"q1", "q2", "c2"}
    assert {path.name for path in shelf.iterdir() if path.is_dir()} == {"q3", "c1", "c3", "notes"}
    index = (shelf / "index.html").read_text(encoding="utf-8")
    assert ("q3" in index, "q2" in index) == (True, False)
    assert run("--home", tmp_path, "report", "prune", "--keep", "1", "--json").document == {"removed": []}
    assert run("--home", tmp_path, "report", "prune", "--keep", "0").code == 2
    with pytest.raises(UsageError, match="keep at least one"):
        open_lab(tmp_path).prune_reports(keep=0)
