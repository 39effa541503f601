"""The look that all figures share: a title that is a sentence, few lines, and names that are only read."""

from __future__ import annotations

import textwrap
from datetime import date
from html import escape
from typing import TYPE_CHECKING

from quality_lab.answers import visible
from quality_lab.answers.words import percent_range
from quality_lab.reports.light_imports import load_plotly
from quality_lab.reports.palette import INK, LINE, PAGE, QUIET

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif'
ROW = 27  # pixels of a bar or a dot with its name
_LONGEST_NAME = 34
_LINE = 22  # pixels of a line of the title


def new_figure(title: str, *, height: int, legend: bool = True) -> Figure:
    """Return an empty figure that has the look; *height* is that of what lies under title and legend."""
    load_plotly()
    from plotly.graph_objects import Figure

    figure = Figure()
    dress(figure, title, height=height, legend=legend)
    return figure


def dress(figure: Figure, title: str, *, height: int, legend: bool = True, above: int = 0) -> None:
    """Give a figure its look: the title as a sentence at the left, the legend beneath it, no chart junk.

    *above* are pixels between legend and plot, for panels with titles of their own.
    """
    axis = {
        "gridcolor": LINE, "linecolor": LINE, "zerolinecolor": LINE, "zeroline": False, "automargin": True,
        "ticks": "", "tickfont": {"color": INK, "size": 13}, "title": {"font": {"color": QUIET, "size": 13}},
    }  # fmt: skip  # an axis reads as two lines
    wrapped = textwrap.wrap(title, 92) or [""]
    heading = _LINE * len(wrapped) + 12
    top = heading + (_LINE + 4 if legend else 0) + above
    whole = top + height + 46
    figure.layout.template = {
        "layout": {"xaxis": axis, "yaxis": axis}
    }  # in place of plotly's, not on top of it
    figure.update_layout(
        title={
            "text": "<br>".join(wrapped), "x": 0, "xref": "container", "xanchor": "left", "y": 1,
            "yref": "container", "yanchor": "top", "pad": {"t": 6 + _LINE * (len(wrapped) - 1), "l": 2},
            "font": {"size": 15, "color": INK, "weight": 600},
        },
        font={"family": FONT, "size": 13, "color": INK},
        height=whole,
        margin={"l": 10, "r": 14, "t": top, "b": 46},
        paper_bgcolor=PAGE,
        plot_bgcolor=PAGE,
        showlegend=legend,
        legend={
            "orientation": "h", "x": 0, "xref": "container", "xanchor": "left", "yref": "container",
            "y": 1 - (heading - 2) / whole, "yanchor": "top", "traceorder": "normal",
            "font": {"size": 13, "color": QUIET}, "itemclick": False, "itemdoubleclick": False,
        },
        hoverlabel={"font": {"family": FONT, "size": 13}, "align": "left"},
        dragmode=False,
    )  # fmt: skip  # the layout reads by its groups
    figure.update_xaxes(fixedrange=True)
    figure.update_yaxes(fixedrange=True)


def name_of(text: str, *, longest: int = _LONGEST_NAME) -> str:
    """Return a name from a trace for plotly to show: never as markup, cut in the middle where it is long.

    >>> name_of("<b>quote</b>")
    '&lt;b&gt;quote&lt;/b&gt;'
    """
    shown = visible(text)
    if len(shown) > longest:
        keep = (longest - 1) // 2
        shown = f"{shown[:keep]}…{shown[-keep:]}"
    return escape(shown, quote=False)


def day_of(iso: str) -> str:
    """Return a day as it stands on an axis.

    >>> day_of("2026-05-04")
    '4 May'
    """
    day = date.fromisoformat(iso)
    return f"{day.day} {day:%b}"


def interval(low: float | None, high: float | None) -> str:
    """Return an interval in brackets, or nothing where there is none."""
    return "" if low is None or high is None else f" ({percent_range(low, high)})"
