"""`quality-lab rejects`."""

from __future__ import annotations

import click

from quality_lab.cli.options import example, with_lab
from quality_lab.cli.output import Output, with_output
from quality_lab.lab import Lab


@click.command(epilog=example("quality-lab rejects", "quality-lab rejects exports/feedback.jsonl --json"))
@click.argument("path", required=False)
@with_output
@with_lab
def rejects(lab: Lab, path: str | None, output: Output) -> None:
    """List the lines that could not be read (of the file PATH alone), with line, field and reason."""
    output.show(lab.rejects(path))
