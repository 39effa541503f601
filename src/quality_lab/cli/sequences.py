"""`quality-lab sequences`."""

from __future__ import annotations

from typing import Any

import click

from quality_lab.cli.options import example, with_filters, with_lab
from quality_lab.cli.output import Output, with_output
from quality_lab.lab import Lab


@click.command(epilog=example("quality-lab sequences --since 7d", "quality-lab sequences --cycle-limit 10"))
@click.option(
    "--cycle-limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Rounds that a turn may have.  [default: 4 for upstream's calls, unknown for others]",
)
@with_filters
@with_output
@with_lab
def sequences(lab: Lab, filters: dict[str, Any], output: Output, cycle_limit: int | None) -> None:
    """Show calls that repeat, retry unchanged, go in circles, or write where they should not have.

    \b
    repeated_call            the same call again, right after it had gone well
    repeated_after_error     the same call again, unchanged, right after it had failed
    repeated_after_gate      the same, right after the application had said "not now"
    ping_pong                two calls of two tools, and then the same two again
    cycle_limit              called in the last round that the loop allows
    write_after_failed_read  a write right after a read that had failed
    written_twice            the same write, done twice in one conversation

    The same means: one tool, and arguments that are equal as values. All but the last look within one turn. The
    share is of all calls of the tool that a trace export holds.
    """
    output.show(lab.sequences(cycle_limit=cycle_limit, **filters), empty=lab.why_empty(**filters))
