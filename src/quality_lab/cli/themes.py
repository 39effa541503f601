"""`quality-lab themes`."""

from __future__ import annotations

from typing import Any

import click

from quality_lab.cli.options import example, with_filters, with_lab
from quality_lab.cli.output import Output, with_output
from quality_lab.lab import Lab


@click.command(
    epilog=example(
        "quality-lab themes --label bad_args",
        "quality-lab themes --tool compute_exchange_quote --source rag_reply --label bad_args --json",
    )
)
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="How many.  [default: all]")
@with_filters
@with_output
@with_lab
def themes(lab: Lab, filters: dict[str, Any], output: Output, top: int | None) -> None:
    """Group what reviewers wrote beside their labels by theme, with examples.

    Notes are compared by their words alone, offline. It needs scikit-learn: pip install 'quality-lab[themes]'.
    """
    output.show(lab.themes(top=top, **filters), empty=lab.why_empty(**filters))
