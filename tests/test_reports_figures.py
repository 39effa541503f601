"""Figures say in their title what they show, draw what is known, and are left out where that is nothing."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from lab_builder import MONDAY, LabBuilder

from quality_lab.metrics.coverage import coverage
from quality_lab.metrics.failing_tools import failing_tools
from quality_lab.metrics.filters import Filters
from quality_lab.metrics.label_counts import label_counts
from quality_lab.metrics.signs.shares import weekly_outcomes
from quality_lab.reports import figures
from quality_lab.reports.palette import DARK_FOR_LIGHT
from quality_lab.store import Store

HOSTILE = "<b onclick=x>quote</b>\u202e<a href='javascript:x'>"
FAILED = {"is_error": True, "error_origin": "flag"}


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Store:
    """Two weeks: `a` fails 2 of 20, then 8 of 20; `b` never does; `c` has two calls; one name is hostile."""
    builder = LabBuilder(tmp_path_factory.mktemp("home"))
    for week, failing in enumerate((2, 8)):
        at = MONDAY + timedelta(weeks=week)
        builder.calls(20 - failing, "a", created_at=at)
        builder.calls(failing, "a", created_at=at, **FAILED)
        builder.calls(15, "b", created_at=at)
    builder.calls(2, "c", **FAILED)
    builder.calls(12, HOSTILE)
    for call in builder.calls(12, "b"):
        builder.label(call, "bad_args")
    builder.label(builder.calls(1, "a")[0], "good_reply")
    return builder.store()


def title(figure: Any) -> str:
    return figure.layout.title.text.replace("<br>", " ")


def test_failing_tools_are_dots_in_the_order_of_the_table(store):
    rows = failing_tools(store, filters=Filters())

    figure = figures.failing_tools(rows)

    # a: 10 of 41 failed, b: 12 of 12 judged wrong, c: 2 of 2 failed, the hostile one: 0 of 12
    assert [row.tool_name for row in rows] == ["b", "c", "a", HOSTILE]
    failed, judged = figure.data
    assert list(failed.y) == [0, 2, 3]  # c rests on two calls and is said, not drawn
    assert [round(x, 3) for x in failed.x] == [0, round(10 / 41, 3), 0]
    assert list(judged.x) == [1.0]
    assert [note.text for note in figure.layout.annotations] == ["not enough data (2 calls)"]
    assert title(figure).startswith("b is judged wrong most: 100 % (")
    assert title(figure).endswith("of its 12 reviewed calls")
    assert figure.layout.xaxis.title.text == "share of calls, with its 95 % interval"


def test_intervals_reach_from_the_lower_to_the_upper_bound(store):
    rows = failing_tools(store, filters=Filters(tool=("a",)))

    (dots,) = figures.failing_tools(rows).data[:1]

    assert dots.x[0] + dots.error_x.array[0] == pytest.approx(rows[0].error_high)
    assert dots.x[0] - dots.error_x.arrayminus[0] == pytest.approx(rows[0].error_low)
    assert "10 of" not in dots.hovertext[0]
    assert re.fullmatch(r"a<br>24 % \(\d+ to \d+ %\) of 41 calls", dots.hovertext[0])


def test_weeks_stand_in_panels_on_one_axis_and_the_title_says_what_grew(store):
    figure = figures.over_time(weekly_outcomes(store, filters=Filters()))

    panels = [note.text for note in figure.layout.annotations]
    assert panels == ["b", "a", "c"]  # most trouble first: 12 judged wrong, 10 failed, 2 failed
    assert title(figure) == (
        "a grew worst: 9.5 % of its calls in trouble in the first half of these weeks, 40 % in the second"
    )
    assert {axis.matches for axis in figure.select_yaxes()} == {None, "y"}
    bars = [trace for trace in figure.data if trace.name == "failed" and trace.xaxis == "x2"]
    assert [round(value, 3) for value in bars[0].y] == [round(2 / 21, 3), 0.4]


def test_labels_are_counted_with_their_share(store):
    figure = figures.labels(label_counts(store, filters=Filters()))

    bars = figure.data[0]
    assert dict(zip(bars.y, bars.x, strict=True)) == {
        "good reply": 1,
        "wrong tool": 0,
        "missing tool": 0,
        "bad args": 12,
        "other": 0,
        "disputed": 0,
    }
    assert title(figure) == (
        "1 of 13 reviewed calls carry good_reply; the most frequent fault is bad_args (12)"
    )


def test_coverage_shows_where_nobody_has_looked(store):
    figure = figures.coverage(coverage(store, filters=Filters()))

    reviewed, unseen = figure.data
    assert list(reviewed.x) == [12, 1, 0, 0]  # b 42 calls, a 41, the hostile one 12, c 2
    assert list(unseen.x) == [30, 40, 12, 2]
    assert title(figure) == (
        "Reviewers looked at 13 of 97 calls (13 %), and at none of 2 tools with 14 calls"
    )


def test_names_from_traces_are_never_markup(store):
    rows = failing_tools(store, filters=Filters())
    drawn = [
        figures.failing_tools(rows),
        figures.coverage(coverage(store, filters=Filters())),
        figures.failing_tools(failing_tools(store, filters=Filters(tool=(HOSTILE,)))),
    ]

    for figure in drawn:
        written = json.dumps(json.loads(figure.to_json()), ensure_ascii=False)
        assert re.search(r"<(?!br>)", written) is None
        assert "\u202e" not in written
    assert "&lt;b onclick=x" in drawn[0].layout.yaxis.ticktext[3]


def test_a_figure_that_would_show_nothing_is_not_drawn(tmp_path):
    nothing = Store(tmp_path)
    few = LabBuilder(tmp_path / "few")
    few.calls(3)
    one_week = few.store()

    assert figures.failing_tools(failing_tools(nothing)) is None
    assert figures.over_time(weekly_outcomes(nothing, filters=Filters())) is None
    assert figures.labels(label_counts(nothing)) is None
    assert figures.coverage(coverage(nothing)) is None
    assert figures.failing_tools(failing_tools(one_week)) is None
    assert figures.over_time(weekly_outcomes(one_week, filters=Filters())) is None


def test_every_colour_has_a_partner_for_the_dark_and_a_figure_uses_seven_at_most(store):
    drawn = [
        figures.failing_tools(failing_tools(store, filters=Filters())),
        figures.over_time(weekly_outcomes(store, filters=Filters())),
        figures.labels(label_counts(store, filters=Filters())),
        figures.coverage(coverage(store, filters=Filters())),
    ]

    for figure in drawn:
        everywhere = set(re.findall(r"#[0-9a-f]{6}", figure.to_json()))
        marks = set(re.findall(r"#[0-9a-f]{6}", str([trace.marker.color for trace in figure.data])))
        assert everywhere <= set(DARK_FOR_LIGHT)
        assert 1 <= len(marks) <= 7
