"""What went wrong week by week, a small panel for each tool, all on one axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from quality_lab.answers.words import percent
from quality_lab.reports.figures.look import day_of, dress, name_of
from quality_lab.reports.light_imports import load_plotly
from quality_lab.reports.palette import ACCENT, INK, SERIES, WARN

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from quality_lab.metrics.signs.shares import WeeklyOutcome

_MOST_PANELS = 6
_LEAST_REVIEWED = 5  # in a week, for a point on the line
_LEAST_CALLS = 8  # in a half of the weeks, to speak of a change
_PARTS = (
    ("failed", "failed", WARN),
    ("turned away", "gated", SERIES[2]),
    ("came back empty", "empty", ACCENT),
)

PLAIN_TITLE = "What went wrong, week by week"

Weeks = Mapping[str, "WeeklyOutcome"]  # by the week's Monday


def over_time(rows: Sequence[WeeklyOutcome], *, stands_out: bool = True) -> Figure | None:
    """Return a panel for each of the six tools with most trouble: what went wrong, week by week.

    Trouble is calls that failed, were turned away, or came back empty, and reviewed calls judged wrong. None
    where fewer than two weeks are known, or nothing went wrong. Where nothing *stands_out* beyond noise, the title
    speaks of no change.
    """
    weeks = sorted({row.week for row in rows})
    by_tool: dict[str, dict[str, WeeklyOutcome]] = {}
    for row in rows:
        by_tool.setdefault(row.tool_name, {})[row.week] = row
    shown = sorted(
        (tool for tool in by_tool if _trouble(by_tool[tool].values())),
        key=lambda tool: (-_trouble(by_tool[tool].values()), tool),
    )[:_MOST_PANELS]
    if len(weeks) < 2 or not shown:
        return None
    load_plotly()
    from plotly.subplots import make_subplots

    columns = min(3, len(shown))
    lines = -(-len(shown) // columns)
    figure = make_subplots(
        rows=lines,
        cols=columns,
        shared_yaxes="all",
        subplot_titles=[name_of(tool) for tool in shown],
        vertical_spacing=0.3 / lines,
        horizontal_spacing=0.04,
    )
    for place, tool in enumerate(shown):
        some = [by_tool[tool].get(week) for week in weeks]
        _add_bars(figure, some, weeks, place // columns + 1, place % columns + 1, first=place == 0)
        _add_judged(figure, some, weeks, place // columns + 1, place % columns + 1)
    title = title_of_change(by_tool, shown, weeks) if stands_out else PLAIN_TITLE
    dress(figure, title, height=160 * lines, above=28)
    figure.update_layout(barmode="stack", bargap=0.35)
    figure.update_yaxes(tickformat=".0%", rangemode="tozero", nticks=5, showticklabels=False)
    figure.update_yaxes(title="share of calls", showticklabels=True, col=1)
    figure.update_xaxes(
        type="category", tickvals=_few(weeks), ticktext=[day_of(w) for w in _few(weeks)], showgrid=False
    )
    figure.update_xaxes(title="week from", row=lines)
    for place, annotation in enumerate(figure.layout.annotations[: len(shown)]):
        axis = figure.get_subplot(place // columns + 1, place % columns + 1).xaxis
        annotation.update(x=axis.domain[0], xanchor="left", font={"size": 13, "color": INK, "weight": 600})
    return figure


def title_of_change(by_tool: Mapping[str, Weeks], shown: Iterable[str], weeks: Sequence[str]) -> str:
    """Return the tool whose trouble grew most from the first half of the weeks to the second."""
    half = len(weeks) // 2
    best: tuple[float, str, float, float] | None = None
    for tool in shown:
        early, late = (
            [by_tool[tool][week] for week in some if week in by_tool[tool]]
            for some in (weeks[:half], weeks[-half:])
        )
        for value in ("calls", "reviewed"):
            (was, n_was), (became, n_became) = _share(early, of=value), _share(late, of=value)
            if min(n_was, n_became) >= _LEAST_CALLS and (best is None or became - was > best[0]):
                best = (became - was, f"{name_of(tool, longest=60)}'s {value}", was, became)
    if best is None or best[0] < 0.05:
        return PLAIN_TITLE
    _, whose, was, became = best
    tool, _, value = whose.rpartition("'s ")
    trouble = "judged wrong" if value == "reviewed" else "in trouble"
    some = "reviewed calls" if value == "reviewed" else "calls"
    grew = "grew worst" if len(by_tool) > 1 else "grew worse"
    return (
        f"{tool} {grew}: {percent(was)} of its {some} {trouble} in the first half of these weeks, "
        f"{percent(became)} in the second"
    )


def _share(rows: Sequence[WeeklyOutcome], *, of: str) -> tuple[float, int]:
    if of == "reviewed":
        hits, total = sum(row.judged_wrong for row in rows), sum(row.reviewed for row in rows)
    else:
        hits, total = sum(row.failed + row.gated + row.empty for row in rows), sum(row.calls for row in rows)
    return (hits / total if total else 0.0), total


def _trouble(rows: Iterable[WeeklyOutcome]) -> int:
    return sum(row.failed + row.gated + row.empty + row.judged_wrong for row in rows)


def _few(weeks: Sequence[str]) -> list[str]:
    """Return at most six of the weeks, evenly apart, for the axis."""
    return list(weeks[:: -(-len(weeks) // 6)])


def _add_bars(
    figure: Figure,
    some: Sequence[WeeklyOutcome | None],
    weeks: Sequence[str],
    line: int,
    column: int,
    *,
    first: bool,
) -> None:
    for label, part, colour in _PARTS:
        figure.add_bar(
            row=line,
            col=column,
            name=label,
            legendgroup=label,
            showlegend=first,
            x=list(weeks),
            y=[getattr(row, part) / row.calls if row else None for row in some],
            marker={"color": colour, "line": {"width": 0}},
            hovertext=[f"{label}: {getattr(row, part)} of {row.calls} calls" if row else "" for row in some],
            hoverinfo="text",
        )


def _add_judged(
    figure: Figure, some: Sequence[WeeklyOutcome | None], weeks: Sequence[str], line: int, column: int
) -> None:
    enough = [row if row and row.reviewed >= _LEAST_REVIEWED else None for row in some]
    if not any(row and row.judged_wrong for row in enough):
        return
    figure.add_scatter(
        row=line,
        col=column,
        name="judged wrong, of the reviewed",
        legendgroup="judged",
        showlegend=not any(trace.legendgroup == "judged" for trace in figure.data),
        x=list(weeks),
        y=[row.judged_wrong / row.reviewed if row else None for row in enough],
        mode="lines+markers",
        cliponaxis=False,
        line={"color": INK, "width": 1.5},
        marker={"symbol": "diamond", "size": 8, "color": INK},
        hovertext=[
            f"judged wrong: {row.judged_wrong} of {row.reviewed} reviewed calls" if row else ""
            for row in enough
        ],
        hoverinfo="text",
    )
