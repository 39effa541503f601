"""`quality-lab regressions`: the upstream runner, flag for flag."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from quality_lab.answers import visible
from quality_lab.cli.options import example
from quality_lab.errors import InputError, QualityLabError
from quality_lab.js_text import well_formed

if TYPE_CHECKING:
    from quality_lab.regressions import Report, Settings


class AsUpstream(click.Command):
    """A command that hands its arguments on as they came; its options are there for help and completion."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep *args*, be they flags, values or empty."""
        ctx.params["arguments"] = tuple(args)
        return []


@click.command(
    cls=AsUpstream,
    add_help_option=False,
    epilog=example(
        "quality-lab regressions --file cases.jsonl",
        "quality-lab regressions --file cases.jsonl --tools book_table,cancel_table --skip-unsupported",
        "quality-lab regressions --api-base https://lab.example.com --status active --limit 1000 \\",
        "    --out-json out/cases.json --out-junit out/cases.xml --out-md out/cases.md",
        "quality-lab regressions --rerun --file cases.jsonl --tools-from tools.json",
        "quality-lab regressions --rerun --file cases.jsonl --base-url http://127.0.0.1:8080/v1 \\",
        "    --model small --trials 5 --out-json out/now.json --baseline out/before.json",
    ),
)
@click.option("--file", metavar="PATH", help="Cases as JSONL.  [default: ./tool-call-regression-cases.jsonl]")
@click.option("--api-base", metavar="URL", help="Fetch the cases from this Quality API instead.")
@click.option("--token", metavar="T", help="The API's bearer token; seen by others in the list of processes.")
@click.option("--token-env", metavar="NAME", help="The variable that holds it.  [default: QUALITY_LAB_TOKEN]")
@click.option("--status", metavar="S", help="Fetch active, archived or all cases.  [default: active]")
@click.option("--limit", metavar="N", help="Fetch so many at most, 1 to 1000.  [default: 500]")
@click.option("--tool", metavar="NAME", multiple=True, help="A tool that cases may be about; repeatable.")
@click.option("--tools", metavar="A,B", multiple=True, help="More of them.  [default: any tool]")
@click.option("--include-archived", is_flag=True, help="Check archived cases too.")
@click.option("--skip-unsupported", is_flag=True, help="Skip cases about other tools; else they fail.")
@click.option("--out-json", metavar="PATH", help="Write the report as JSON.")
@click.option("--out-junit", metavar="PATH", help="Write it as JUnit XML.")
@click.option("--out-md", metavar="PATH", help="Write it as Markdown.")
@click.option("--json", is_flag=True, help="Print the JSON report instead of the summary.")
@click.option("--rerun", is_flag=True, help="Run the cases again.  [default cases: the lab's red ones]")
@click.option("--model", metavar="NAME", help="recorded, openai:NAME, or NAME with --base-url.  [recorded]")
@click.option("--base-url", metavar="URL", help="An OpenAI-compatible server; its key is in OPENAI_API_KEY.")
@click.option("--tools-from", metavar="SOURCE", help="FILE, MODULE:NAME or toolbox:NAME: tools as they are.")
@click.option("--tape", metavar="POLICY", help="Serve results by fifo, strict or by_args.  [default: fifo]")
@click.option("--allow-live", metavar="read", help="Let tools that only read run for real.")
@click.option("--trials", metavar="K", help="Try each case so often.  [default: 1]")
@click.option("--concurrency", metavar="N", help="So many trials at a time.  [default: 8]")
@click.option("--budget-usd", metavar="X", help="Start no further trial once so much is spent.")
@click.option("--judge", metavar="MODEL", help="A model that judges what is only described in words.")
@click.option("--draft-rules", is_flag=True, help="Draft rules from the label where a case has none.")
@click.option("--baseline", metavar="REPORT", help="Compare with this JSON report of an earlier re-run.")
@click.option("--resume", is_flag=True, help="Go on with a run that was cut short; pay for no trial twice.")
@click.option("--strict", is_flag=True, help="Exit with 1 where any case is inconclusive.")
@click.option("--home", metavar="DIR", help="Where data/ and reports/ lie.")
@click.option("--wait", metavar="SECONDS", help="Of a re-run: for a database that is held.  [default: 30]")
@click.option("-h", "--help", is_flag=True, help="Show this message and exit.")
def regressions(arguments: Sequence[str]) -> int:
    """Check regression cases: whether each record is a complete case, about a tool that there is.

    No tool and no model is called. A flag takes the next argument as its value, whatever that is.

    With --rerun each case is run: its recorded decisions meet today's contracts, or a --model is asked anew
    and judged by the case's rules. Nothing that writes is ever carried out: results come from the case's own
    tape or from stand-ins in memory.

    Exit codes: 0 no case failed, 1 a case failed (in a re-run also: is flaky or malformed, or none was
    decided), 2 wrong usage, 3 a file cannot be read or written, 4 a server could not be reached or refused,
    or the budget ended.
    """
    from quality_lab.cli.exits import asks_for_json, print_error
    from quality_lab.regressions import ArgumentError, parse_arguments
    from quality_lab.regressions.rerun_arguments import asks_for_rerun, without_home

    as_json = asks_for_json(arguments)
    try:
        if asks_for_rerun(arguments):
            if {"-h", "--help"}.intersection(arguments):
                _write(sys.stdout, _help())
                return 0
            from quality_lab.cli.rerun import rerun

            home = click.get_current_context().find_root().params.get("home")
            return rerun(arguments, write=_write, home=home)
        settings = parse_arguments(without_home(arguments), env=os.environ, folder=str(Path.cwd()))
        if settings.help:
            _write(sys.stdout, _help())
            return 0
        as_json = settings.as_json
        return run(settings)
    except ArgumentError as problem:
        _write(sys.stderr, f"{problem}\n")
        _write(sys.stdout, _help())
        return problem.exit_code
    except QualityLabError as problem:
        _write(sys.stderr, f"Error: {problem}\n")
        if as_json:
            print_error(problem)
        return problem.exit_code


def run(settings: Settings) -> int:
    """Return the exit code of a run, once its report files are written and its streams have spoken."""
    from quality_lab.regressions.outputs import write_reports
    from quality_lab.regressions.report_json import json_document
    from quality_lab.regressions.report_plain import counts_text, failures_text

    report = check(settings, now=datetime.now(UTC))
    write_reports(report, settings)
    if settings.as_json:
        _write(sys.stdout, json_document(report), escape=_json_escape)
    else:
        _write(sys.stdout, counts_text(report))
        _write(sys.stderr, failures_text(report))
    # Where no person is watching, stderr holds what upstream's would hold and nothing else.
    if sys.stderr.isatty() and report.fills_its_page:
        _write(sys.stderr, "The API sent as many cases as were asked for; there may be more: see --limit.\n")
    return 1 if report.summary.failed else 0


def check(settings: Settings, *, now: datetime) -> Report:
    """Return the report on the cases that *settings* name, be they in a file or behind an API."""
    from quality_lab.regressions import FileSource, report_on

    source = settings.source
    if isinstance(source, FileSource):
        try:
            with Path(source.path).open("rb") as lines:
                return report_on(lines, settings, now=now)
        except OSError as problem:
            reason = problem.strerror or type(problem).__name__
            raise InputError(f"wanted to read {well_formed(source.path)}, got: {reason}") from problem
    from quality_lab.quality_api import fetch_regression_cases, without_token

    body = fetch_regression_cases(source.base, token=source.token, status=source.status, limit=source.limit)
    report = report_on(body.split(b"\n"), settings, now=now)
    return report.with_values(lambda text: without_token(text, source.token))


def _help() -> str:
    return click.get_current_context().get_help() + "\n"


def _json_escape(text: str) -> str:
    return "".join(
        character if character.isprintable() or character == "\n" else json.dumps(character)[1:-1]
        for character in text
    )


def _plain_escape(text: str) -> str:
    return visible(text, keep="\n")


def _write(stream: TextIO, text: str, *, escape: Callable[[str], str] = _plain_escape) -> None:
    """Write *text* as it is, or to a terminal so that nothing in it acts there."""
    stream.write(escape(text) if stream.isatty() else text)
