"""The one place where what happened becomes an exit code.

0    done and fine
1    the thing that was checked is not fine, or there was nothing to judge
2    wrong usage
3    input that cannot be used, a database that cannot be opened, an output that cannot be written
4    a service could not be reached, refused, or the budget ended
130  interrupted
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from quality_lab.answers import visible
from quality_lab.errors import QualityLabError

PROGRAM = "quality-lab"
COMPLETING = "_QUALITY_LAB_COMPLETE"  # set by a shell that asks for completions
UNWRITABLE = 3
INTERRUPTED = 130


def run(arguments: Sequence[str] | None) -> NoReturn:
    """Run the program on *arguments* and leave with the code of what happened; messages go to stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a character shows its escape
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _code_of(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        code = UNWRITABLE
    if code == UNWRITABLE:
        _let_go_of_stdout()
    sys.exit(code)


def _code_of(arguments: Sequence[str] | None) -> int:
    from quality_lab.cli.program import program

    try:
        returned = program.main(arguments, prog_name=PROGRAM, standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except click.ClickException as error:  # all of them are wrong usage here
        error.show()
        return 2
    except QualityLabError as error:
        print(f"{PROGRAM}: {visible(str(error), keep=chr(10))}", file=sys.stderr)
        return error.exit_code
    except (
        SystemExit
    ) as ended:  # click leaves by itself after a completion, and when the reader of stdout has gone
        return int(ended.code or 0) if COMPLETING in os.environ else UNWRITABLE
    except BrokenPipeError:
        return UNWRITABLE
    except OSError as error:
        print(f"{PROGRAM}: {visible(str(error))}", file=sys.stderr)
        return UNWRITABLE
    return returned if isinstance(returned, int) else 0


def _let_go_of_stdout() -> None:
    """See to it that nothing left in a buffer is written, and fails again, when Python shuts down."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
