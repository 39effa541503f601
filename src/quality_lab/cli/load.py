"""`quality-lab load`."""

from __future__ import annotations

from pathlib import Path

import click

from quality_lab.cli.notices import reading_progress, say
from quality_lab.cli.options import example, with_json, with_lab
from quality_lab.cli.output import print_json
from quality_lab.errors import InputError
from quality_lab.lab import Lab


@click.command(
    epilog=example(
        "quality-lab load exports/                         everything in a folder",
        "quality-lab load 'day-*.jsonl.zst' --tenant north",
        "curl -s URL | quality-lab load - --json",
        "quality-lab load calls.csv --suggest-map > map.toml",
        "quality-lab load calls.csv --map map.toml         a file of your own making",
        "quality-lab load --rebuild                        make the database anew from its files",
    )
)
@click.argument("paths", metavar="PATH...", nargs=-1)
@click.option("--format", "format_name", metavar="NAME", help="Read as this format.  [default: recognised]")
@click.option("--map", "map_file", metavar="FILE", help="Read home-grown files as this map (TOML) says.")
@click.option(
    "--suggest-map", is_flag=True, help="Print a map for PATH, and what it would bring; load nothing."
)
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
    map_file: str | None,
    suggest_map: bool,
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
    if map_file is not None and format_name is not None:
        raise click.UsageError("wanted --map or --format, got both: a map is the format")
    if suggest_map:
        return _suggest(lab, paths, as_json=as_json)
    with reading_progress() as progress:
        report = lab.load(
            *paths,
            format=format_name,
            tenant=tenant,
            source=source,
            style=style,
            map=map_file,
            keep=keep,
            rebuild=rebuild,
            progress=progress,
        )
    for notice in report.notices:
        say(notice)
    if as_json:
        for file in report.files:
            if file.reason and file.status in ("failed", "unrecognised"):
                say(file.reason if file.path in file.reason else f"{file.path}: {file.reason}")
        print_json(report.to_json())
    else:
        print(report)
    return report.exit_code(strict=strict)


def _suggest(lab: Lab, paths: tuple[str, ...], *, as_json: bool) -> int:
    """Print a map for the one file in *paths*: it on stdout, what it would bring on stderr."""
    from quality_lab.formats.mapping.preview_words import next_steps, preview_document, preview_lines

    if len(paths) != 1 or paths[0] == "-" or Path(paths[0]).is_dir():
        came = ", ".join(paths) or "none"
        raise click.UsageError(f"--suggest-map wanted the path of one file, got {came}")
    if not Path(paths[0]).exists():
        raise InputError(f"{paths[0]}: no such file")
    suggested = lab.suggest_map(paths[0])
    if as_json:
        print_json(preview_document(suggested))
        return 0
    print(suggested.map, end="")
    for line in (*preview_lines(suggested), *next_steps(suggested)):
        say(line)
    return 0
