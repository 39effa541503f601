"""`quality-lab load`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from quality_lab.answers import visible
from quality_lab.cli.notices import reading_progress, say
from quality_lab.cli.options import example, with_json, with_lab
from quality_lab.cli.output import print_json
from quality_lab.lab import Lab
from quality_lab.store.load_report import FileReport, LoadReport


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
        print("\n".join(load_lines(report)))
    return report.exit_code(strict=strict)


def load_lines(report: LoadReport) -> list[str]:
    """Return what a load says on a terminal: a line a file, below it what needs a look, then the totals."""
    lines = [line for file in report.files for line in _file_lines(file)]
    brought = _counts(report.totals)
    lines.append(f"Brought {brought or 'nothing new'} in {report.seconds:.2f} s.")
    lines.append(f"The lab holds {_counts(report.store) or 'nothing'}.")
    return lines


def _file_lines(file: FileReport) -> list[str]:
    name = visible(file.path)
    if file.status in ("failed", "unrecognised"):
        return [
            f"{name}: {file.status}",
            *(f"    {visible(line)}" for line in (file.reason or "").splitlines()),
        ]
    counted = {
        name: getattr(file, name)
        for name in ("loaded", "updated", "unchanged", "merged", "rejected", "blank")
    }
    told = ", ".join(f"{count:,} {word}" for word, count in counted.items() if count) or "nothing in it"
    lines = [f"{name}: {file.format}, {file.lines:,} lines: {told}"]
    for words, counts in (
        ("fields that nobody knows", file.unknown_fields),
        ("labels that nobody knows", file.unmapped_labels),
        ("not understood", file.not_understood),
        ("set aside", file.set_aside),
        ("missing", file.missing),
    ):
        if counts:
            lines.append(f"    {words}: {_tally(counts)}")
    if file.glued:
        lines.append(f"    {file.glued:,} objects shared a line with another")
    if file.truncated_input:
        lines.append("    the compressed file ends too early; the lines before the cut are loaded")
    if file.possibly_truncated:
        lines.append(
            f"    possibly truncated: an export with exactly {file.lines - file.blank:,} rows is a full page"
        )
    if file.rejected:
        lines.append("    why lines were rejected: quality-lab rejects")
    return lines


def _tally(counts: dict[str, int], most: int = 8) -> str:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = ", ".join(f"{visible(name)} ({times:,})" for name, times in ordered[:most])
    return shown if len(ordered) <= most else f"{shown} and {len(ordered) - most:,} more"


def _counts(counts: dict[str, int]) -> str:
    return _joined([f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if count])


def _joined(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" and {words[-1]}" if words else ""
