"""`quality-lab definitions`."""

from __future__ import annotations

from typing import Any

import click

from quality_lab.cli.options import example, with_filters, with_lab
from quality_lab.cli.output import Output, with_output
from quality_lab.lab import Lab


@click.command(epilog=example("quality-lab definitions --tool get_transfer_options"))
@with_filters
@with_output
@with_lab
def definitions(lab: Lab, filters: dict[str, Any], output: Output) -> None:
    """Show the definitions under which tools were offered, what changed, and how calls fared under each."""
    output.show(lab.definitions(**filters), empty=lab.why_empty(**filters))
