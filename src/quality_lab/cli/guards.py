"""`quality-lab guards`."""

from __future__ import annotations

from typing import Any

import click

from quality_lab.cli.options import example, with_filters, with_lab
from quality_lab.cli.output import Output, with_output
from quality_lab.lab import Lab


@click.command(epilog=example("quality-lab guards --since 7d"))
@with_filters
@with_output
@with_lab
def guards(lab: Lab, filters: dict[str, Any], output: Output) -> None:
    """Count what guards stopped; guard rows are no calls and stand in no rate."""
    stopped = lab.guards(**filters)
    output.show(stopped, empty=None if stopped else lab.why_empty(**filters))
