"""The one place where what happened becomes an exit code.

0    done and fine
1    the thing that was checked is not fine, or there was nothing to judge
2    wrong usage
3    input that cannot be used, a database that cannot be opened, an output that cannot be written
4    a service could not be reached, refused, or the budget ended
130  interrupted
141  the reader of standard output went away, as with `| head`: what a shell says of any program that this ends

With --json, whatever ends with 1, 3 or 4 and has printed no document yet prints one: what went wrong.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, TextIO, cast

import click

from quality_lab.answers import visible
from quality_lab.errors import QualityLabError

PROGRAM = "quality-lab"
COMPLETING = "_QUALITY_LAB_COMPLETE"  # set by a shell that asks for completions
USAGE = 2
UNWRITABLE = 3
INTERRUPTED = 130
UNREAD = 141  # 128 and the number of SIGPIPE


def run(arguments: Sequence[str] | None) -> NoReturn:
    """Run the program on *arguments* and leave with the code of what happened; messages go to stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a character shows its escape
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _code_of(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        code = UNREAD
    if code in (UNWRITABLE, UNREAD):
        _let_go_of_stdout()
    sys.exit(code)


class _Watched:
    """Standard output, and whether nothing was written to it yet."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.untouched = True

    def write(self, text: str) -> int:
        """Write *text* on."""
        self.untouched = self.untouched and not text
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _code_of(arguments: Sequence[str] | None) -> int:
    from quality_lab.cli.program import program

    given = sys.argv[1:] if arguments is None else arguments
    out = _Watched(sys.stdout)

    def failed(error: Exception, code: int) -> int:
        print(f"{PROGRAM}: {visible(str(error), keep=chr(10))}", file=sys.stderr)
        if code != USAGE and asks_for_json(given):
            with contextlib.redirect_stdout(cast(TextIO, out)):
                print_error(error)
        return code

    try:
        with contextlib.redirect_stdout(cast(TextIO, out)):
            returned = program.main(arguments, prog_name=PROGRAM, standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except click.ClickException as error:  # all of them are wrong usage here
        error.show()
        return USAGE
    except QualityLabError as error:
        return failed(error, error.exit_code)
    except (
        SystemExit
    ) as ended:  # click leaves by itself after a completion, and when the reader of stdout has gone
        return int(ended.code or 0) if COMPLETING in os.environ else UNREAD
    except BrokenPipeError:
        return UNREAD
    except OSError as error:
        return failed(error, UNWRITABLE)
    return returned if isinstance(returned, int) else 0


def asks_for_json(arguments: Sequence[str]) -> bool:
    """Return whether one document is wanted on standard output."""
    options = list(arguments)
    return "--json" in (options[: options.index("--")] if "--" in options else options)


def print_error(error: Exception) -> None:
    """Print the one document of a command that gave none: the kind of error, and what it says."""
    from quality_lab.cli.output import print_json

    if not getattr(sys.stdout, "untouched", False):
        return
    with contextlib.suppress(OSError):  # an output that takes nothing takes no word on that either
        print_json({"error": {"kind": type(error).__name__, "message": str(error)}})


def _let_go_of_stdout() -> None:
    """See to it that nothing left in a buffer is written, and fails again, when Python shuts down."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
