"""`quality-lab coverage`."""

from __future__ import annotations

from typing import Any

import click

from quality_lab.cli.options import example, with_filters, with_lab
from quality_lab.cli.output import Output, with_output
from quality_lab.lab import Lab


@click.command(epilog=example("quality-lab coverage --since 2026-06-01"))
@with_filters
@with_output
@with_lab
def coverage(lab: Lab, filters: dict[str, Any], output: Output) -> None:
    """Show how much of each tool reviewers have looked at."""
    output.show(lab.coverage(**filters), empty=lab.why_empty(**filters))
