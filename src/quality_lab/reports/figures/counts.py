"""Labels as counts, and coverage against volume: plain bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from quality_lab.answers.words import number, percent
from quality_lab.reports.figures.look import ROW, interval, name_of, new_figure
from quality_lab.reports.palette import ACCENT, ACCENT_SOFT, QUIET, SERIES, WARN

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from quality_lab.metrics.label_counts import LabelCount

_COLOURS = {"good_reply": ACCENT, "other": QUIET, "unmapped": QUIET, "disputed": SERIES[2]}
_FAULTS = ("wrong_tool", "missing_tool", "bad_args")


class Covered(Protocol):
    """A row that knows a tool's calls and how many of them were reviewed."""

    @property
    def tool_name(self) -> str: ...
    @property
    def calls(self) -> int | None: ...
    @property
    def reviewed(self) -> int: ...


def labels(rows: Sequence[LabelCount]) -> Figure | None:
    """Return how many calls carry each label; None where nobody labelled anything."""
    shown = [row for row in rows if row.label != "unmapped" or row.rows]
    if not any(row.rows for row in shown):
        return None
    figure = new_figure(title_of_labels(shown), height=14 + ROW * len(shown), legend=False)
    figure.add_bar(
        orientation="h",
        y=[row.label.replace("_", " ") for row in shown],
        x=[row.calls for row in shown],
        marker={"color": [_COLOURS.get(row.label, WARN) for row in shown], "line": {"width": 0}},
        text=[
            f" {row.calls:,}" + ("" if row.share is None else f"  ({percent(row.share)})") for row in shown
        ],
        textposition="outside",
        textfont={"color": QUIET},
        cliponaxis=False,
        hovertext=[_label_hover(row) for row in shown],
        hoverinfo="text",
    )
    figure.update_yaxes(autorange="reversed", showgrid=False, ticklabelstandoff=6)
    figure.update_xaxes(
        title="calls that carry the label", range=[0, 1.18 * max(row.calls for row in shown) or 1]
    )
    figure.update_layout(bargap=0.35)
    return figure


def coverage(rows: Sequence[Covered], *, top: int = 15) -> Figure | None:
    """Return how many of each tool's calls somebody looked at, the most called first; None without calls."""
    known = sorted(_known(rows), key=lambda row: (-row[1], row[0]))
    shown = known[:top]
    if not shown:
        return None
    names = [name_of(name) for name, _, _ in shown]
    figure = new_figure(title_of_coverage(known), height=14 + ROW * len(shown))
    for label, counts, colour in (
        ("reviewed", [reviewed for _, _, reviewed in shown], ACCENT),
        ("not looked at", [calls - reviewed for _, calls, reviewed in shown], ACCENT_SOFT),
    ):
        figure.add_bar(
            orientation="h",
            name=label,
            y=list(range(len(shown))),
            x=counts,
            marker={"color": colour, "line": {"width": 0}},
            hovertext=[f"{name}: {number(n)} {label}" for name, n in zip(names, counts, strict=True)],
            hoverinfo="text",
        )
    for place, (_, calls, reviewed) in enumerate(shown):
        figure.add_annotation(
            x=calls, y=place, text=f"{reviewed:,} of {calls:,}", showarrow=False, xanchor="left", xshift=5,
            font={"color": QUIET, "size": 12},
        )  # fmt: skip  # one note, two lines
    figure.update_yaxes(
        tickvals=list(range(len(shown))),
        ticktext=names,
        range=[len(shown) - 0.4, -0.6],
        showgrid=False,
        ticklabelstandoff=6,
    )
    figure.update_xaxes(title="calls", range=[0, 1.18 * shown[0][1]])
    figure.update_layout(barmode="stack", bargap=0.35)
    return figure


def title_of_labels(rows: Sequence[LabelCount]) -> str:
    """Return what the labels say, as a sentence."""
    reviewed = max((row.reviewed_calls for row in rows), default=0)
    good = next((row.calls for row in rows if row.label == "good_reply"), 0)
    begin = f"{good:,} of {reviewed:,} reviewed calls carry good_reply"
    worst = max((row for row in rows if row.label in _FAULTS), key=lambda row: row.calls, default=None)
    if worst is None or not worst.calls:
        return f"{begin}, and none a fault"
    return f"{begin}; the most frequent fault is {worst.label} ({worst.calls:,})"


def title_of_coverage(rows: Sequence[tuple[str, int, int]]) -> str:
    """Return where nobody has looked, as a sentence; a row is a tool's name, its calls, the reviewed ones."""
    calls, seen = sum(row[1] for row in rows), sum(row[2] for row in rows)
    if not seen:
        return f"Nobody has looked at any of the {calls:,} calls"
    unseen = [row for row in rows if not row[2]]
    begin = f"Reviewers looked at {seen:,} of {calls:,} calls ({percent(seen / calls)})"
    if not unseen:
        return f"{begin}, and at some of every tool"
    if len(unseen) == 1:
        return f"{begin}, and at none of {name_of(unseen[0][0], longest=60)}"
    return f"{begin}, and at none of {len(unseen)} tools with {sum(row[1] for row in unseen):,} calls"


def _known(rows: Sequence[Covered]) -> list[tuple[str, int, int]]:
    return [(row.tool_name, row.calls, min(row.reviewed, row.calls)) for row in rows if row.calls]


def _label_hover(row: LabelCount) -> str:
    words = f"{row.label}: on {number(row.calls)} calls, given {number(row.rows)} times"
    if row.share is None:
        return words
    return f"{words}<br>{percent(row.share)}{interval(row.low, row.high)} of the reviewed calls"
