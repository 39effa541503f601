"""`quality-lab calls`."""

from __future__ import annotations

from typing import Any

import click

from quality_lab.cli.options import example, with_filters, with_lab
from quality_lab.cli.output import Output, with_output
from quality_lab.lab import Lab

SHOWN = 100  # on a terminal; what is taken away is everything


@click.command(
    epilog=example(
        "quality-lab calls --tool compute_exchange_quote --label bad_args",
        "quality-lab calls --outcome error --since 7d --json",
    )
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="At most so many.  [default: all, on a terminal 100]",
)
@with_filters
@with_output
@with_lab
def calls(lab: Lab, filters: dict[str, Any], output: Output, limit: int | None) -> None:
    """List single calls, newest first, with their labels and where they came from."""
    at_most = limit or (SHOWN if output.as_table else None)
    output.show(lab.calls(limit=at_most, **filters), empty=lab.why_empty(**filters))
