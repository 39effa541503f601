"""`quality-lab conversation`."""

from __future__ import annotations

import click

from quality_lab.cli.options import example, with_lab
from quality_lab.cli.output import Output, with_output
from quality_lab.errors import UnknownName
from quality_lab.lab import Lab


@click.command(epilog=example("quality-lab conversation 977", "quality-lab conversation chat-0005 --json"))
@click.argument("conversation_id", metavar="ID")
@click.option("--tenant", metavar="NAME", help="Of this tenant, where several have such a conversation.")
@with_output
@with_lab
def conversation(lab: Lab, conversation_id: str, tenant: str | None, output: Output) -> None:
    """Tell one conversation: its messages, calls and labels in order."""
    told = lab.conversation(conversation_id, tenant=tenant)
    if not told.steps and not output.allow_empty:
        raise UnknownName(f"nothing is known of a conversation {conversation_id}; {lab.where()}")
    if output.as_table:
        print(repr(told))
    else:
        output.show(told.answer)
