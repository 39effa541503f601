"""`quality-lab labels`."""

from __future__ import annotations

from typing import Any, Literal

import click

from quality_lab.cli.options import example, with_filters, with_lab
from quality_lab.cli.output import Output, with_output
from quality_lab.lab import Lab


@click.command(epilog=example("quality-lab labels", "quality-lab labels --by reviewer --since 7d"))
@click.option(
    "--by",
    type=click.Choice(["tool", "source", "error", "style", "reviewer", "week"]),
    help="Count within each of these.",
)
@with_filters
@with_output
@with_lab
def labels(
    lab: Lab,
    filters: dict[str, Any],
    output: Output,
    by: Literal["tool", "source", "error", "style", "reviewer", "week"] | None,
) -> None:
    """Count the labels that reviewers gave, and the share of reviewed calls that carry each."""
    output.show(lab.labels(by=by, **filters), empty=lab.why_empty(**filters))
