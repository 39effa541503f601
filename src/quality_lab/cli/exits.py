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
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, TextIO, cast

import click

from quality_lab.answers import visible
from quality_lab.errors import OutputError, QualityLabError

PROGRAM = "quality-lab"
COMPLETING = "_QUALITY_LAB_COMPLETE"  # set by a shell that asks for completions
USAGE = 2
UNWRITABLE = 3
INTERRUPTED = 130
UNREAD = 141  # 128 and the number of SIGPIPE


def run(arguments: Sequence[str] | None) -> NoReturn:
    """Run the program on *arguments* and leave with the code of what happened; messages go to stderr."""
    _open_what_is_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a character shows its escape
            stream.reconfigure(errors="backslashreplace")
    code = UNWRITABLE
    try:
        code = _code_of(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        code = UNREAD
    except OSError as error:  # an answer that fits the buffer meets a full disk only here
        if code != UNWRITABLE:  # else it was said
            print(f"{PROGRAM}: {_unwritten(error)}", file=sys.stderr)
        code = UNWRITABLE
    if code in (UNWRITABLE, UNREAD):
        _let_go_of_stdout()
    sys.exit(code)


def _open_what_is_closed() -> None:
    """Put something in the place of streams that the caller closed: Python leaves nothing there.

    What is told on a closed standard error goes nowhere, and not to standard output; standard output stays
    unwritable. Either way no file that is opened later takes their number.
    """
    for name, descriptor, mode in (("stdout", 1, "r"), ("stderr", 2, "w")):
        if getattr(sys, name) is None:
            nowhere = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115  # open while we run
            if nowhere.fileno() != descriptor:
                os.dup2(nowhere.fileno(), descriptor)
            setattr(sys, name, nowhere)


def _unwritten(error: OSError) -> str:
    return f"standard output cannot be written: {error.strerror or 'it is closed'}"


@contextlib.contextmanager
def _said_where() -> Iterator[None]:
    """Raise OutputError where standard output takes nothing, though somebody reads it."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(_unwritten(error)) from error


class _Watched:
    """Standard output, and whether nothing was written to it yet."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.untouched = True

    def write(self, text: str) -> int:
        """Write *text* on."""
        self.untouched = self.untouched and not text
        with _said_where():
            return self._stream.write(text)

    def flush(self) -> None:
        """See what was written so far on its way."""
        with _said_where():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _code_of(arguments: Sequence[str] | None) -> int:
    from quality_lab.cli.program import program

    given = sys.argv[1:] if arguments is None else arguments
    out = _Watched(sys.stdout)

    def failed(error: Exception, code: int) -> int:
        print(f"{PROGRAM}: {visible(_words_of(error), keep=chr(10))}", file=sys.stderr)
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
    with contextlib.suppress(
        OSError, OutputError
    ):  # an output that takes nothing takes no word on that either
        print_json({"error": {"kind": type(error).__name__, "message": _words_of(error)}})


def _words_of(error: Exception) -> str:
    """Return what *error* says; of a file, its name and what was wrong with it, without the system's number."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    return str(error)


def _let_go_of_stdout() -> None:
    """See to it that nothing left in a buffer is written, and fails again, when Python shuts down."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
