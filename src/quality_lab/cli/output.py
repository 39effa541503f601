"""How an answer leaves the command line: a table, one JSON document, or a file."""

from __future__ import annotations

import functools
import io
import json
import re
import shutil
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

import click

from quality_lab.answers import Answer
from quality_lab.cli.notices import say
from quality_lab.errors import NoData

Function = TypeVar("Function", bound=Callable[..., Any])

_WIDE = 200  # where nobody's screen bounds a line
# JSON escapes what is below a space; these act on a terminal as well, and stand in strings only.
_ACTING = re.compile("[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def print_json(document: Any) -> None:
    """Print one JSON document; no character in it can act on a terminal, and every value is what it was."""
    print(_harmless(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)))


def print_exact_json(document: Any) -> None:
    """Print one compact JSON document whose numbers stand as they were written where they came from."""
    from quality_lab.json_text import compact

    print(_harmless(compact(document)))


def _harmless(json_text: str) -> str:
    text = _ACTING.sub(lambda match: f"\\u{ord(match[0]):04x}", json_text)
    return text if _holds_every_letter() else "".join(map(_escaped, text))


def _holds_every_letter() -> bool:
    return (sys.stdout.encoding or "ascii").lower().replace("-", "").startswith("utf")


def _escaped(character: str) -> str:
    return character if character.isascii() else json.dumps(character)[1:-1]


def _print_csv(answer: Answer[Any]) -> None:
    """Print *answer* as CSV, exactly; on a terminal, control characters show as their escapes."""
    from quality_lab.answers.harmless import visible
    from quality_lab.answers.take_away import csv_lines

    if not sys.stdout.isatty():
        csv_lines(answer.rows, answer.columns, sys.stdout)
        return
    lines = io.StringIO(newline="")
    csv_lines(answer.rows, answer.columns, lines)
    sys.stdout.write(visible(lines.getvalue(), keep="\r\n"))


def width() -> int:
    """Return how many characters a line may have."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDE


class Output:
    """Where the answer of one command goes."""

    def __init__(self, *, as_json: bool, csv: str | None, parquet: str | None, allow_empty: bool) -> None:
        """Keep what was asked for on the command line."""
        self.as_json = as_json
        self.csv = csv
        self.parquet = parquet
        self.allow_empty = allow_empty
        self._judged = False  # the answer was told, and is empty

    @property
    def as_table(self) -> bool:
        """Return whether the answer is to be read by a person here and now."""
        return not (self.as_json or self.csv or self.parquet)

    def show(self, answer: Answer[Any], *, empty: str | None = None) -> None:
        """Print *answer*, or write it where the options say; its notes go to stderr where stdout is data.

        *empty* says why there was nothing to judge. Raises: NoData with it, unless --allow-empty was given.
        """
        if self.csv == "-":
            _print_csv(answer)
        elif self.csv:
            say(f"{len(answer):,} rows written to {answer.to_csv(self.csv)}")
        if self.parquet:
            say(f"{len(answer):,} rows written to {answer.to_parquet(self.parquet)}")
        if self.as_json:
            print_json(answer.records())
        elif self.as_table:
            print(answer.to_text(width=width()))
        if not self.as_table:
            for note in answer.notes:
                say(note)
        self.judge(empty)

    def judge(self, empty: str | None) -> None:
        """Raise NoData with *empty*, if it is said and --allow-empty was not given."""
        if empty and not self.allow_empty:
            self._judged = True
            raise NoData(f"no_data: {empty}")

    def nothing(self, why: NoData) -> None:
        """Tell of an answer that could not be: no row, in JSON. Raises: *why*, unless --allow-empty was given."""
        if self._judged:
            raise why
        if self.as_json:
            print_json([])
        if not self.allow_empty:
            raise why
        say(str(why))


def with_output(function: Function) -> Function:
    """Give a verb --json, --csv, --parquet, --allow-empty and, as its argument *output*, where they lead."""

    @functools.wraps(function)
    def command(
        as_json: bool, csv: str | None, parquet: str | None, allow_empty: bool, **options: Any
    ) -> Any:
        if as_json and csv == "-":
            raise click.UsageError("--json and --csv - both want standard output")
        output = Output(as_json=as_json, csv=csv, parquet=parquet, allow_empty=allow_empty)
        try:
            return function(output=output, **options)
        except NoData as why:
            return output.nothing(why)

    for option in (
        click.option("--allow-empty", is_flag=True, help="Exit with 0 where there is nothing to judge."),
        click.option(
            "--parquet", metavar="FILE", type=click.Path(), help="Write the rows to a Parquet file."
        ),
        click.option(
            "--csv",
            metavar="FILE",
            type=click.Path(allow_dash=True),
            help="Write the rows to a CSV file (- is standard output).",
        ),
        click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout, nothing else."),
    ):
        command = option(command)
    return cast(Function, command)
