"""`quality-lab report`."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Any

import click

from quality_lab.cli.notices import say
from quality_lab.cli.options import example, with_filters, with_json, with_lab
from quality_lab.cli.output import Output, print_json, with_output
from quality_lab.errors import InputError, NoData, UnknownName
from quality_lab.lab import Lab


class Reports(click.Group):
    """A group in which any other word is the name of a report to run."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is named, else the one that runs the report of that name."""
        if args[0] in self.commands or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        return "run", run, args


@click.group(
    cls=Reports,
    subcommand_metavar="NAME [OPTIONS] | show NAME | list | open [RUN] | close [RUN] | accept RUN | prune",
    epilog=example(
        "quality-lab report quality --since 7d",
        "quality-lab report coach-review                 before a meeting",
        "quality-lab report close                        after it",
        "quality-lab report tool -p tool=book_reservation",
        "quality-lab report quality -p top=20 --out weekly --name week-22",
        "quality-lab report show quality                 its parameters",
    ),
)
def report() -> None:
    """Run the report NAME, or show, list and open reports.

    NAME is quality, coach-review (before a meeting), tool (one tool in depth), regressions, explore, or one of your
    own.

    `quality-lab report run --help` lists the options of a run. A report is a notebook with one cell of
    parameters; those in the home's notebooks/ come before those that are shipped.
    """


@report.command(
    hidden=True,
    epilog=example(
        "quality-lab report quality --since 7d",
        "quality-lab report tool -p tool=book_reservation        one tool in depth",
        'quality-lab report quality --fail-on "error_rate@book_reservation>0.2" --fail-on "hours_since_newest_call>36"',
    ),
)
@click.argument("name")
@click.option(
    "-p", "given", metavar="KEY=VALUE", multiple=True, help="A parameter of the template; repeatable."
)
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Where its folder goes.  [default: reports/]",
)
@click.option(
    "--name", "run_name", metavar="NAME", help="The folder is <date>-NAME.  [default: the report's]"
)
@click.option(
    "--fail-on",
    metavar='"FIGURE[@TOOL] OP NUMBER"',
    multiple=True,
    help="Exit with 1 where it holds; repeatable. A rate is compared by its lower bound, RATE.point by itself.",
)
@click.option("--allow-empty", is_flag=True, help="Exit with 0 where there is nothing to judge.")
@click.option(
    "--unmasked", is_flag=True, help="Show secrets, payment data and addresses as they are, not as stand-ins."
)
@with_filters
@with_json
@with_lab
def run(
    lab: Lab,
    filters: dict[str, Any],
    name: str,
    given: tuple[str, ...],
    out: str | None,
    run_name: str | None,
    fail_on: tuple[str, ...],
    allow_empty: bool,
    unmasked: bool,
    as_json: bool,
) -> None:
    """Run a report and print the folder written.

    NAME is quality, coach-review, tool (which takes -p tool=NAME), regressions, explore, or one of your own;
    `quality-lab report show NAME` lists what -p takes.

    Without --since it covers the 28 days that end with the newest call. It exits with 1 where a cell failed,
    the window is empty or a threshold was passed; the folder is written all the same and says so. With 2, where
    something was named that is not there, no folder is left.
    """
    made = lab.report(
        name,
        parameters=_parameters(given),
        out=out,
        run_name=run_name,
        allow_empty=allow_empty,
        mask=not unmasked,
        fail_on=fail_on,
        **filters,
    )
    if as_json:
        print_json({"folder": str(made.folder), "html": str(made.html), "summary": made.summary})
    else:
        print(made.folder)
    if picked := made.summary["figures"].get("picked"):
        say(str(picked))
    if made.problem is not None:
        raise made.problem


def _parameters(given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.UsageError(f"-p wants KEY=VALUE, came {text!r}")
        found[name] = value
    return found


@report.command(epilog=example("quality-lab report show quality"))
@click.argument("name")
@with_output
@with_lab
def show(lab: Lab, name: str, output: Output) -> None:
    """Show the parameters of the report NAME."""
    output.show(lab.report_parameters(name))


@report.command("list", epilog=example("quality-lab report list", "quality-lab report list --json"))
@with_output
@with_lab
def list_reports(lab: Lab, output: Output) -> None:
    """List the reports that were run, newest first."""
    output.show(lab.reports())


@report.command(
    "open", epilog=example("quality-lab report open", "quality-lab report open 2026-06-01-quality")
)
@click.argument("name", metavar="[RUN]", required=False)
@with_json
@with_lab
def open_report(lab: Lab, name: str | None, as_json: bool) -> None:
    """Open the page of the RUN, or of the newest, in a browser, and print its path."""
    made = [one for one in lab.reports() if name in (None, one.run)]
    if not made and name is None:
        raise InputError(f"no report lies in {lab.home / 'reports'} yet")
    if not made:
        raise UnknownName(f"no report {name} lies in {lab.home / 'reports'}; `report list` names them")
    page = Path(made[0].folder) / "report.html"
    if as_json:
        print_json({"html": str(page)})
    else:
        print(page)
    if not webbrowser.open(page.absolute().as_uri()):
        say("no browser can be opened from here")


@report.command(epilog=example("quality-lab report accept 2026-06-01-quality"))
@click.argument("name", metavar="RUN")
@with_json
@with_lab
def accept(lab: Lab, name: str, as_json: bool) -> None:
    """Accept the RUN: later quality reports on the same calls say whether it is better or worse than in it."""
    accepted = lab.accept_report(name)
    if as_json:
        print_json({"run": accepted.run, "figures": dict(accepted.figures)})
    else:
        say(f"{accepted.run} is what later quality reports are compared with")


@report.command(epilog=example("quality-lab report prune --keep 10"))
@click.option("--keep", type=click.IntRange(min=1), metavar="N", required=True, help="Runs of each report.")
@with_json
@with_lab
def prune(lab: Lab, keep: int, as_json: bool) -> None:
    """Remove all but the N newest runs of each report; accepted ones and those with a meeting's minutes stay."""
    removed = [str(folder) for folder in lab.prune_reports(keep=keep)]
    if as_json:
        print_json({"removed": removed})
    else:
        from quality_lab.reports.findings.finding import counted

        print("\n".join([*removed, ""]), end="")
        say(f"{counted(len(removed), 'run')} removed")


@report.command(
    epilog=example("quality-lab report close", "quality-lab report close 2026-06-01-coach-review --json")
)
@click.argument("name", metavar="[RUN]", required=False)
@click.option("--allow-empty", is_flag=True, help="Exit with 0 where nothing was said.")
@click.option(
    "--unmasked", is_flag=True, help="Show secrets, payment data and addresses as they are, not as stand-ins."
)
@with_json
@with_lab
def close(lab: Lab, name: str | None, allow_empty: bool, unmasked: bool, as_json: bool) -> None:
    """Close the meeting of the RUN (a coach-review, or its folder; the newest): write its minutes.

    They are made from the journal's lines since the agenda: labels, disputes settled, decisions, cases. The newest
    is that of a run with calls in its window. The git command that keeps the journal is shown where it would do
    something, and never run.
    """
    closed = lab.close_meeting(name, mask=not unmasked)
    if closed.notice is not None:
        say(closed.notice)
    if as_json:
        from quality_lab.reports.coach_review.minutes_page import document

        print_json({"folder": str(closed.folder), "html": str(closed.html), **document(closed.minutes)})
    else:
        print(closed.html)
        say(f"{closed.minutes.counts()}.")
        say(closed.minutes.no_git or "To keep the journal, in the home of the lab:")
        if closed.git is not None:
            say(closed.git)
    if closed.minutes.empty and not allow_empty:
        raise NoData("no_data: the journal has no line since the agenda was prepared")
