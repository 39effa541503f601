"""`quality-lab doctor`."""

from __future__ import annotations

import click

from quality_lab.cli.options import example, with_lab
from quality_lab.cli.output import Output, with_output
from quality_lab.lab import Lab


@click.command(epilog=example("quality-lab doctor", "quality-lab doctor --no-kernel --json"))
@click.option(
    "--kernel/--no-kernel",
    default=True,
    show_default=True,
    help="Start the kernel that reports run in; takes some seconds.",
)
@with_output
@with_lab
def doctor(lab: Lab, kernel: bool, output: Output) -> int:
    """Say what is installed, what is missing and how to get it.

    Exits with 1 if something that is needed does not work.
    """
    checks = lab.doctor(kernel=kernel)
    output.show(checks)
    return 1 if any(check.required and check.state != "ok" for check in checks) else 0
