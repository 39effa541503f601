"""The command line: one thin command a verb, each calling one function of the library."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code; *arguments* default to those of the process."""
    from quality_lab.cli.exits import run

    run(arguments)
