"""`quality-lab load`."""

from __future__ import annotations

import click

from quality_lab.cli.notices import reading_progress, say
from quality_lab.cli.options import example, with_json, with_lab
from quality_lab.cli.output import print_json
from quality_lab.lab import Lab


@click.command(
    epilog=example(
        "quality-lab load exports/                         everything in a folder",
        "quality-lab load 'day-*.jsonl.zst' --tenant north",
        "curl -s URL | quality-lab load - --json",
        "quality-lab load --rebuild                        make the database anew from its files",
    )
)
@click.argument("paths", metavar="PATH...", nargs=-1)
@click.option("--format", "format_name", metavar="NAME", help="Read as this format.  [default: recognised]")
@click.option("--tenant", metavar="NAME", default="default", show_default=True, help="Whose data it is.")
@click.option("--source", metavar="NAME", help="The source of calls whose file does not name one.")
@click.option("--style", metavar="NAME", help="The style of calls whose file does not name one.")
@click.option("--keep", is_flag=True, help="Keep a copy of each file in data/exports/.")
@click.option("--strict", is_flag=True, help="Exit with 1 where a line or a file was not understood.")
@click.option("--rebuild", is_flag=True, help="Make the database anew from the files behind it.")
@with_json
@with_lab
def load(
    lab: Lab,
    paths: tuple[str, ...],
    format_name: str | None,
    tenant: str,
    source: str | None,
    style: str | None,
    keep: bool,
    strict: bool,
    rebuild: bool,
    as_json: bool,
) -> int:
    """Read files, folders, globs, .gz, .zst or - (standard input) into the lab.

    Every line is accounted for: what cannot be read is kept aside with its reason (see `quality-lab
    rejects`), and files that are here already are not read again.
    """
    if not paths and not rebuild:
        raise click.UsageError("wanted at least one PATH, or --rebuild; came neither")
    with reading_progress() as progress:
        report = lab.load(
            *paths,
            format=format_name,
            tenant=tenant,
            source=source,
            style=style,
            keep=keep,
            rebuild=rebuild,
            progress=progress,
        )
    for notice in report.notices:
        say(notice)
    if as_json:
        print_json(report.to_json())
    else:
        print(report)
    return report.exit_code(strict=strict)
