"""The report on one tool: how its calls end, what failures say, how it is called, and what reviewers say of it."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from lab_builder import MONDAY, LabBuilder
from test_reports_quality import FAILED, Lab, html_of, words_of

import quality_lab as ql
from quality_lab.errors import UnknownName
from quality_lab.metrics.filters import Filters
from quality_lab.metrics.signs.reviews import ArgumentValue
from quality_lab.metrics.signs.shares import weekly_outcomes
from quality_lab.records import Conversation, ToolDefinition
from quality_lab.reports import figures, quality_page, tool_page
from quality_lab.reports.tool.facts import Told, arguments
from quality_lab.store import Store

PARTS = (*("head", "over_time", "failures", "turned_away", "arguments", "labels", "offered", "definitions"),)
TRUTH = json.loads((Path(__file__).parents[1] / "data" / "demo" / "truth.json").read_text("utf-8"))


def page_of(builder: LabBuilder, **given: Any) -> Any:
    return tool_page(Lab(builder.store()), **{"as_of": "2026-07-01", **given})


def test_the_demo_s_quotes_are_told_as_its_truth_has_them() -> None:
    page = tool_page(ql.open_demo(), tool="compute_exchange_quote", as_of="2026-06-01")

    drift = TRUTH["plot_facts"]["args_drift"]
    in_baht = sum(drift[when]["target_thb"] for when in ("before", "after"))
    wrong = sum(drift[when]["bad_args"] for when in ("before", "after"))
    calls = TRUTH["tools"]["compute_exchange_quote"]["calls"]
    assert (calls, in_baht, wrong) == (111, 36, 11)
    called, head, ends = (words_of(part) for part in (page.arguments(), page.head(), page.over_time()))
    assert f'"source_amount" {calls - in_baht} {wrong} of' in called
    assert f'"target_thb" {in_baht} 0 of' in called
    assert "called with the wrong amountMode" in head
    assert "raised an error 1 0.9 % said no in the result 4 3.6 %" in ends
    assert page.note().figures["tool"] == "compute_exchange_quote"


def test_other_tools_do_not_count_and_none_of_their_findings_is_told(tmp_path: Path) -> None:
    builder = LabBuilder(tmp_path)
    builder.calls(30, "look")
    builder.calls(30, "pay", error_text="declined", **FAILED)

    page = page_of(builder, tool="look")

    assert page.findings == []
    assert "30 in 30 conversations" in words_of(page.head())
    assert "No call failed." in words_of(page.failures())
    assert [one.tool_name for one in page_of(builder, tool="pay").findings] == ["pay"]


def test_without_a_name_the_tool_that_fails_worst_is_told_of(tmp_path: Path) -> None:
    builder = LabBuilder(tmp_path)
    builder.calls(30, "look")
    builder.calls(30, "pay", error_text="declined", **FAILED)

    page = page_of(builder)

    why = "No tool was named, so this is on pay, the first of failing-tools: 30 of its 30 calls failed."
    assert page.tool == "pay"
    assert why in words_of(page.head())
    assert page.note().figures["picked"] == why
    assert page_of(builder, tool="pay").picked is None


def test_a_tool_that_was_never_called_and_two_tools_are_wrong_usage(tmp_path: Path) -> None:
    builder = LabBuilder(tmp_path)
    builder.calls(3, "look")

    with pytest.raises(UnknownName, match="no call of a tool jump is in this lab; there are look"):
        page_of(builder, tool="jump").head()
    with pytest.raises(ql.UsageError, match="one tool"):
        page_of(builder, tool=["look", "jump"])


def test_failures_are_counted_by_their_words_without_what_changes(tmp_path: Path) -> None:
    builder = LabBuilder(tmp_path)
    for number in range(3):
        builder.call("pay", error_text=f"no order {number}", **FAILED)
    builder.call("pay", error_text="declined", **FAILED)

    said = words_of(page_of(builder, tool="pay").failures())

    assert "no order <n> 3 declined 1" in said
    assert "The newest of them" in said
    assert "Two more" in said


def test_an_argument_of_few_values_is_told_by_them_and_another_by_its_looks() -> None:
    rows = [
        ArgumentValue(
            call_uid=str(number),
            created_at=None,
            arguments=json.dumps({"mode": "a" if number < 15 else "b", "day": f"2026-05-{number + 1:02d}"}),
            verdict="bad_args" if number < 2 else "good_reply" if number < 6 else None,
        )
        for number in range(20)
    ]

    day, mode = arguments(rows)

    assert (mode.path, mode.calls, mode.values) == ("$.mode", 20, 2)
    assert mode.told == [Told('"a"', 15, 6, 2), Told('"b"', 5, 0, 0)]
    assert (day.path, day.values, day.told) == ("$.day", 20, [Told("9999-99-99", 20, 6, 2)])


def test_each_definition_stands_with_what_changed_and_how_its_calls_fared(tmp_path: Path) -> None:
    builder = LabBuilder(tmp_path)
    builder.add(
        ToolDefinition(digest="d1", name="pay", description="Pays.", parameters='{"type":"object"}'),
        Conversation(key_space="quality_lab", conversation_id="c1", offered=("d1",)),
    )
    for _ in range(12):
        builder.call("pay", tool_definition="d1")

    said = words_of(page_of(builder, tool="pay").offered())

    assert "the first that is known 12 0 %" in said
    assert said.endswith("What the model is told now Pays.")


def test_every_part_of_an_empty_lab_shows_itself(tmp_path: Path) -> None:
    page = tool_page(Lab(Store(tmp_path)))

    assert all(words_of(getattr(page, name)()) for name in PARTS)
    assert (page.tool, page.note().figures["calls_in_window"]) == (None, 0)


def test_text_from_traces_is_never_markup_in_any_part(tmp_path: Path) -> None:
    hostile = "<img src=x onerror=alert(1)></td></style><script>x</script>\u202e\x1b[31m"
    builder = LabBuilder(tmp_path)
    for call in builder.calls(
        12, hostile, arguments=json.dumps({hostile: hostile}), result=json.dumps(hostile)
    ):
        builder.label(call, "bad_args", hostile, note=hostile)
    builder.calls(5, hostile, result=json.dumps({"ok": False, "needsOperator": True, "reason": hostile}))
    builder.calls(5, hostile, error_text=hostile, **FAILED)
    builder.add(ToolDefinition(digest="d", name=hostile, description=hostile, parameters="{}"))
    page = page_of(builder, tool=hostile)

    for name in PARTS:
        html = html_of(getattr(page, name)())
        assert not [bad for bad in ("<img", "<script", "\u202e", "\x1b") if bad in html], name
    assert "&lt;img src=x onerror=alert(1)&gt;" in html_of(page.head())


def test_a_password_among_the_values_is_masked_by_its_name_unless_that_is_not_wanted(tmp_path: Path) -> None:
    builder = LabBuilder(tmp_path)
    builder.call("pay", arguments='{"password":"hunter2"}')
    store = builder.store()

    masked, unmasked = (
        words_of(tool_page(Lab(store), tool="pay", as_of="2026-07-01", unmasked=flag).arguments())
        for flag in (False, True)
    )

    assert "hunter2" not in masked
    assert "[secret-" in masked
    assert '"hunter2" 1 not reviewed' in unmasked


@pytest.mark.slow
def test_the_command_writes_its_page_and_its_figures(repository: Path, tmp_path: Path) -> None:
    story = repository / "data" / "demo"
    run("load", story / "exports", story / "journal", "--home", tmp_path)

    made = run(
        "report", "tool", "-p", "tool=check_slots", "--as-of", "2026-06-01", "--home", tmp_path, "--json"
    )
    before = sorted((tmp_path / "reports").iterdir())
    unknown = run("report", "tool", "-p", "tool=jump", "--home", tmp_path)
    picked = run("report", "tool", "--as-of", "2026-06-01", "--home", tmp_path)

    assert made.code == 0, made.err
    assert made.document["summary"]["figures"]["tool"] == "check_slots"
    assert made.document["summary"]["tools"]["check_slots"]["empty_results"] == 13
    assert [one["kind"] for one in made.document["summary"]["findings"]] == ["swallowed"]
    assert "check_slots" in Path(made.document["html"]).read_text("utf-8")
    assert (unknown.code, "report tool: no call of a tool jump is in this lab" in unknown.err) == (2, True)
    assert "cell" not in unknown.err
    assert before == [
        one for one in sorted((tmp_path / "reports").iterdir()) if str(one) != picked.out.strip()
    ]
    assert (
        "No tool was named, so this is on verify_exchange_payment, the first of failing-tools:" in picked.err
    )


def test_the_help_of_reports_names_the_report_on_one_tool_with_an_example() -> None:
    for words in (("report", "--help"), ("report", "run", "--help"), ("report", "tool", "--help")):
        said = run(*words).out
        assert "tool (" in said
        assert "quality-lab report tool -p tool=" in said


def test_where_nothing_stands_out_no_title_says_that_the_tool_grew_worse(tmp_path: Path) -> None:
    builder = LabBuilder(tmp_path)
    for week, failed in ((0, 1), (1, 3)):
        at = MONDAY + timedelta(weeks=week)
        builder.calls(10 - failed, "pay", created_at=at)
        builder.calls(failed, "pay", created_at=at, error_text="declined", **FAILED)

    page = page_of(builder, tool="pay")

    figure = next(one for one in page.over_time().parts if hasattr(one, "layout"))
    assert page.findings == []
    assert "What went wrong, week by week" in figure.layout.title.text
    whole = quality_page(Lab(page._store), as_of="2026-07-01")
    (of_all,) = [one for one in whole.over_time().parts if hasattr(one, "layout")]
    assert (whole.findings, "grew" in of_all.layout.title.text) == ([], False)
    rows = weekly_outcomes(page._store, filters=Filters())
    assert "pay grew worse: 10 % of its calls" in figures.over_time(rows).layout.title.text
