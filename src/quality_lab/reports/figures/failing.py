"""Failing tools as dots with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quality_lab.answers.words import number, percent
from quality_lab.reports.figures.look import ROW, interval, name_of, new_figure
from quality_lab.reports.palette import ACCENT, QUIET, WARN

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from quality_lab.metrics.failing_tools import FailingTool

LEAST = 10  # calls: below that an interval says less than the words "not enough data"


@dataclass(frozen=True, slots=True)
class _Dot:
    place: int  # the row, from the top
    name: str
    value: float
    low: float
    high: float
    calls: int


def failing_tools(rows: Sequence[FailingTool], *, top: int = 12) -> Figure | None:
    """Return a dot and an interval for each of the *top* rows, in their order; None where no rate is known.

    Dots grow with the calls they rest on. How many calls failed, and how many of the reviewed ones were
    judged wrong, are two marks on one axis. A rate over fewer than ten calls is not drawn but said.
    """
    shown = [row for row in rows[:top] if row.error_rate is not None or row.judged_failure_rate is not None]
    failed = [dot for place, row in enumerate(shown) if (dot := _failed(place, row))]
    judged = [dot for place, row in enumerate(shown) if (dot := _judged(place, row))]
    if not any(dot.calls >= LEAST for dot in (*failed, *judged)):
        return None
    figure = new_figure(title_of_worst(shown), height=14 + ROW * len(shown))
    _add(figure, failed, "failed, of its calls", "calls", ACCENT, "circle", 0.0)
    _add(figure, judged, "judged wrong, of the reviewed calls", "reviewed calls", WARN, "diamond", 0.25)
    drawn = {dot.place for dot in (*failed, *judged) if dot.calls >= LEAST}
    for place, row in enumerate(shown):
        if place not in drawn:
            known = next((dot.calls for dot in failed if dot.place == place), None)
            few = f"{row.reviewed} reviewed" if known is None else f"{known} call{'' if known == 1 else 's'}"
            figure.add_annotation(
                x=0, y=place, text=f"not enough data ({few})", showarrow=False,
                xanchor="left", xshift=6, font={"color": QUIET, "size": 12},
            )  # fmt: skip  # one note, two lines
    figure.update_yaxes(
        tickvals=list(range(len(shown))),
        ticktext=[name_of(row.tool_name) for row in shown],
        ticklabelstandoff=8,
        range=[len(shown) - 0.4, -0.6],
        showgrid=False,
    )
    figure.update_xaxes(title="share of calls, with its 95 % interval", tickformat=".0%", rangemode="tozero")
    return figure


def title_of_worst(rows: Sequence[FailingTool]) -> str:
    """Return the first of the rows that rests on enough calls, as a sentence."""
    for row in rows:
        name = name_of(row.tool_name, longest=60)
        failed, judged = _failed(0, row), _judged(0, row)
        if judged and judged.calls >= LEAST and judged.low > (row.error_low or 0.0):
            share = f"{percent(judged.value)}{interval(judged.low, judged.high)}"
            return f"{name} is judged wrong most: {share} of its {judged.calls:,} reviewed calls"
        if failed and failed.calls >= LEAST and failed.value:
            share = f"{percent(failed.value)}{interval(failed.low, failed.high)}"
            return f"{name} fails most: {share} of its {failed.calls:,} calls"
    return "No tool with enough calls has failed"


def _failed(place: int, row: FailingTool) -> _Dot | None:
    if row.error_rate is None or row.error_low is None or row.error_high is None:
        return None
    known = (row.calls or 0) - (row.unknown or 0) - (row.rejected or 0)
    return _Dot(place, name_of(row.tool_name), row.error_rate, row.error_low, row.error_high, known)


def _judged(place: int, row: FailingTool) -> _Dot | None:
    if row.judged_failure_rate is None or row.judged_low is None or row.judged_high is None:
        return None
    name = name_of(row.tool_name)
    return _Dot(place, name, row.judged_failure_rate, row.judged_low, row.judged_high, row.reviewed)


def _add(
    figure: Figure, dots: Sequence[_Dot], legend: str, of: str, colour: str, symbol: str, shift: float
) -> None:
    enough = [dot for dot in dots if dot.calls >= LEAST]
    if not enough:
        return
    most = max(dot.calls for dot in enough)
    figure.add_scatter(
        name=legend,
        x=[dot.value for dot in enough],
        y=[dot.place + shift for dot in enough],
        mode="markers",
        cliponaxis=False,
        marker={
            "color": colour,
            "symbol": symbol,
            "opacity": 1,
            "size": [8 + 10 * (dot.calls / most) ** 0.5 for dot in enough],
            "line": {"width": 0},
        },
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [dot.high - dot.value for dot in enough],
            "arrayminus": [dot.value - dot.low for dot in enough],
            "color": colour,
            "thickness": 1.6,
            "width": 0,
        },
        hovertext=[
            f"{dot.name}<br>{percent(dot.value)}{interval(dot.low, dot.high)} of {number(dot.calls)} {of}"
            for dot in enough
        ],
        hoverinfo="text",
    )
