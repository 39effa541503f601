"""`quality-lab forget`."""

from __future__ import annotations

import sys

import click

from quality_lab.answers import visible
from quality_lab.cli.notices import say
from quality_lab.cli.options import example, with_json, with_lab
from quality_lab.cli.output import print_json
from quality_lab.lab import Lab


@click.command(
    epilog=example(
        "quality-lab forget --contact 650",
        "quality-lab forget --conversation 977 --tenant north",
        "quality-lab forget --tenant north --yes",
    )
)
@click.option("--conversation", metavar="ID", help="Forget this conversation.")
@click.option("--contact", metavar="ID", help="Forget every conversation of this contact.")
@click.option(
    "--tenant", metavar="NAME", help="Forget this tenant; beside another option: of this tenant alone."
)
@click.option("--yes", is_flag=True, help="Do not ask. Needed where there is no terminal to ask on.")
@with_json
@with_lab
def forget(
    lab: Lab, conversation: str | None, contact: str | None, tenant: str | None, yes: bool, as_json: bool
) -> None:
    """Take a person's content out of the cache and the journal, and say what remains in the source files.

    Later loads and rebuilds leave it out too and count its lines as forgotten; data/forgotten.json remembers
    what by digests alone. The files that were loaded are never changed.
    """
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("this cannot be undone, and there is no terminal to ask on; give --yes")
        click.confirm("This cannot be undone. Forget it?", abort=True, err=True)
    done = lab.forget(conversation=conversation, contact=contact, tenant=tenant)
    for notice in done.notices:
        say(notice)
    if as_json:
        print_json(done.to_json())
        return
    rows = (
        ", ".join(f"{count:,} {table.replace('_', ' ')}" for table, count in done.rows.items()) or "nothing"
    )
    print(f"Forgotten: {done.conversations:,} conversations. Out of the cache: {rows}.")
    print(f"Out of the journal: {done.journal_lines:,} lines.")
    for one in done.remains:
        print(f"Still in {visible(one.path)}: {one.lines:,} lines; delete or clean that file yourself.")
