"""`quality-lab export`."""

from __future__ import annotations

import click

from quality_lab.cli.notices import say
from quality_lab.cli.options import Function, example, with_json, with_lab
from quality_lab.cli.output import print_json
from quality_lab.lab import Lab
from quality_lab.lab.export import Exported, Noun


@click.group(
    epilog=example(
        "quality-lab export feedback feedback.jsonl --compat", "quality-lab export parquet tables/"
    )
)
def export() -> None:
    """Write calls, feedback, proposals or whole tables to files."""


def _of_lines(function: Function) -> Function:
    """Give a verb the argument FILE and the options of a file of lines."""
    for option in (
        click.option("--tenant", metavar="NAME", help="Whose; wanted where several tenants have data."),
        click.option("--compat", is_flag=True, help="Upstream's own record, key for key."),
        click.argument("file", metavar="FILE", type=click.Path(allow_dash=True)),
    ):
        function = option(function)
    return function


@export.command(
    epilog=example(
        "quality-lab export calls calls.jsonl",
        "quality-lab export calls - --compat | zstd > traces.jsonl.zst",
    )
)
@_of_lines
@with_json
@with_lab
def calls(lab: Lab, file: str, compat: bool, tenant: str | None, as_json: bool) -> None:
    """Write the calls to FILE (- is standard output), a JSON object a line, the newest first."""
    _export(lab, "calls", "calls", file, compat=compat, tenant=tenant, as_json=as_json)


@export.command(
    epilog=example(
        "quality-lab export feedback feedback.jsonl", "quality-lab export feedback - --compat --tenant north"
    )
)
@_of_lines
@with_json
@with_lab
def feedback(lab: Lab, file: str, compat: bool, tenant: str | None, as_json: bool) -> None:
    """Write the labels to FILE (- is standard output), a JSON object a line, the newest first."""
    _export(lab, "feedback", "labels", file, compat=compat, tenant=tenant, as_json=as_json)


@export.command(
    epilog=example(
        "quality-lab export proposals proposals.jsonl",
        "quality-lab export proposals tracked.jsonl --compat",
    )
)
@_of_lines
@with_json
@with_lab
def proposals(lab: Lab, file: str, compat: bool, tenant: str | None, as_json: bool) -> None:
    """Write the proposals to FILE (- is standard output), a JSON object a line, with decisions and effects.

    With --compat they are those that upstream tracks, and those decided here, as upstream would hold them.
    """
    _no_room(file, as_json=as_json)
    _tell(lab.export_proposals(file, compat=compat, tenant=tenant), "proposals", file, as_json=as_json)


@export.command(epilog=example("quality-lab export parquet tables/"))
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False))
@with_json
@with_lab
def parquet(lab: Lab, folder: str, as_json: bool) -> None:
    """Write each table of the lab to a Parquet file in DIR; ids are text, times UTC without a zone."""
    written = [str(path) for path in lab.export_parquet(folder)]
    if as_json:
        print_json(written)
    else:
        print("\n".join(written))


def _export(
    lab: Lab, noun: Noun, words: str, file: str, *, compat: bool, tenant: str | None, as_json: bool
) -> None:
    _no_room(file, as_json=as_json)
    _tell(lab.export(noun, file, compat=compat, tenant=tenant), words, file, as_json=as_json)


def _no_room(file: str, *, as_json: bool) -> None:
    if as_json and file == "-":
        raise click.UsageError("with FILE - the lines go to standard output, where --json has no room")


def _tell(written: Exported, words: str, file: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"file": file, "rows": written.rows, "left_out": written.left_out})
    else:
        say(f"{written.rows:,} {words} written; {written.left_out_words(words)}")
