"""`quality-lab failing-tools`."""

from __future__ import annotations

from typing import Any, Literal

import click

from quality_lab.cli.options import example, with_filters, with_lab
from quality_lab.cli.output import Output, with_output
from quality_lab.lab import Lab


@click.command(
    "failing-tools",
    epilog=example(
        "quality-lab failing-tools", "quality-lab failing-tools --by impact --since 7d --csv worst.csv"
    ),
)
@click.option(
    "--by",
    type=click.Choice(["rate", "labels", "impact"]),
    default="rate",
    show_default=True,
    help="rate: the larger lower bound of error rate and judged failure rate; labels: as upstream ranks; "
    "impact: that bound times calls a week.",
)
@click.option(
    "--top", type=click.IntRange(min=1), metavar="N", default=25, show_default=True, help="How many."
)
@with_filters
@with_output
@with_lab
def failing_tools(
    lab: Lab, filters: dict[str, Any], output: Output, by: Literal["rate", "labels", "impact"], top: int
) -> None:
    """Rank tools by how often they fail, each rate with its interval and what it rests on."""
    output.show(lab.failing_tools(by=by, top=top, **filters), empty=lab.why_empty(**filters))
