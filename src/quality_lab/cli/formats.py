"""`quality-lab formats`."""

from __future__ import annotations

import textwrap

import click

from quality_lab.cli.options import example, with_unread_home
from quality_lab.cli.output import Output, width, with_output


@click.command(epilog=example("quality-lab formats", "quality-lab formats --json"))
@with_output
@with_unread_home
def formats(output: Output) -> None:
    """List what can be read, how each format is recognised, and what its keys are."""
    from quality_lab.lab import readable_formats

    known = readable_formats()
    if not output.as_table:
        output.show(known)
        return
    for one in known:
        print(f"{one.name}: {one.title}")
        for words in (one.recognised_by, f"Key: {one.key}"):
            print(textwrap.fill(words, width(), initial_indent="    ", subsequent_indent="    "))
