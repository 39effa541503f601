"""`quality-lab sources`."""

from __future__ import annotations

import click

from quality_lab.cli.options import example, with_lab
from quality_lab.cli.output import Output, with_output
from quality_lab.lab import Lab


@click.command(epilog=example("quality-lab sources", "quality-lab sources --json"))
@with_output
@with_lab
def sources(lab: Lab, output: Output) -> None:
    """List the files behind the lab, their digests and what they brought."""
    output.show(lab.sources())
