"""The one place where what happened becomes an exit code.

0    done and fine
1    the thing that was checked is not fine, or there was nothing to judge
2    wrong usage
3    input that cannot be used, a database that cannot be opened, an output that cannot be written
4    a service could not be reached, refused, or the budget ended
130  interrupted
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from quality_lab.answers import visible
from quality_lab.errors import QualityLabError

UNWRITABLE = 3
INTERRUPTED = 130


def run(arguments: Sequence[str] | None) -> NoReturn:
    """Run the program on *arguments* and leave with the code of what happened; messages go to stderr."""
    from quality_lab.cli.program import program

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a character shows its escape, and goes on
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _code_of(program, arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read has gone; what is left in the buffers must not raise again when Python shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = UNWRITABLE
    sys.exit(code)


def _code_of(program: click.Command, arguments: Sequence[str] | None) -> int:
    try:
        returned = program.main(arguments, prog_name="quality-lab", standalone_mode=False)
    except click.Abort:  # click's name for an interrupt
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except click.ClickException as error:  # wrong usage is 2; so is a file option that names no file
        error.show()
        return 2
    except QualityLabError as error:
        print(f"quality-lab: {visible(str(error), keep=chr(10))}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"quality-lab: {visible(str(error))}", file=sys.stderr)
        return UNWRITABLE
    return returned if isinstance(returned, int) else 0
