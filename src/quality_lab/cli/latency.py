"""`quality-lab latency`."""

from __future__ import annotations

from typing import Any

import click

from quality_lab.cli.options import example, with_filters, with_lab
from quality_lab.cli.output import Output, with_output
from quality_lab.lab import Lab


@click.command(epilog=example("quality-lab latency --source web_chat"))
@with_filters
@with_output
@with_lab
def latency(lab: Lab, filters: dict[str, Any], output: Output) -> None:
    """Show how long calls took, tool by tool, where the traces say."""
    output.show(lab.latency(**filters), empty=lab.why_empty(**filters))
