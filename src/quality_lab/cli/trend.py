"""`quality-lab trend`."""

from __future__ import annotations

from typing import Any, Literal

import click

from quality_lab.cli.options import example, with_filters, with_lab
from quality_lab.cli.output import Output, with_output
from quality_lab.lab import Lab


@click.command(epilog=example("quality-lab trend --every week --tz Europe/Berlin"))
@click.option(
    "--every",
    type=click.Choice(["day", "week"]),
    default="day",
    show_default=True,
    help="One row for each; weeks start on Monday.",
)
@with_filters
@with_output
@with_lab
def trend(lab: Lab, filters: dict[str, Any], output: Output, every: Literal["day", "week"]) -> None:
    """Show calls, errors and reviews over time."""
    output.show(lab.trend(every=every, **filters), empty=lab.why_empty(**filters))
