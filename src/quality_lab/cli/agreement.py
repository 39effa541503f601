"""`quality-lab agreement`, `disputes` and `confusion`: what reviewers say together."""

from __future__ import annotations

from typing import Any, Literal

import click

from quality_lab.cli.options import example, with_filters, with_lab
from quality_lab.cli.output import Output, with_output
from quality_lab.lab import Lab


@click.command(epilog=example("quality-lab agreement", "quality-lab agreement --by guide --since 2026-05-01"))
@click.option(
    "--by",
    type=click.Choice(["tool", "guide", "pair"]),
    help="A row for each tool, version of the labelling guide, or pair of reviewers.",
)
@with_filters
@with_output
@with_lab
def agreement(
    lab: Lab, filters: dict[str, Any], output: Output, by: Literal["tool", "guide", "pair"] | None
) -> None:
    """Show how far reviewers agree beyond chance: Cohen's kappa and Krippendorff's alpha.

    Over calls that at least two reviewers labelled, with 95 % intervals. The first row is about all five labels,
    the others about each against the rest. Where all said the same there is no variation to measure, and no
    value.
    """
    output.show(lab.agreement(by=by, **filters), empty=lab.why_empty(**filters))


@click.command(epilog=example("quality-lab disputes --since 7d", "quality-lab disputes --settled --json"))
@click.option("--settled", is_flag=True, help="After the open ones, those that an adjudication settled.")
@with_filters
@with_output
@with_lab
def disputes(lab: Lab, filters: dict[str, Any], output: Output, settled: bool) -> None:
    """List the calls on which no label has a majority, and who said what.

    `quality-lab adjudicate CALL LABEL` settles one.
    """
    output.show(lab.disputes(settled=settled, **filters), empty=lab.why_empty(**filters))


@click.command(epilog=example("quality-lab confusion --source rag_reply", "quality-lab confusion --json"))
@with_filters
@with_output
@with_lab
def confusion(lab: Lab, filters: dict[str, Any], output: Output) -> None:
    """Show which tool was called in place of which, as reviewers say, and how much alike the two are.

    A reviewer names the right tool with `quality-lab label CALL wrong_tool --expected-tool NAME`. The share is of
    the reviewed calls of the tool that was called.
    """
    output.show(lab.confusion(**filters), empty=lab.why_empty(**filters))
