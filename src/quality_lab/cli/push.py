"""`quality-lab push`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quality_lab.cli.notices import say
from quality_lab.cli.options import example, with_json, with_lab
from quality_lab.cli.output import print_json
from quality_lab.cli.pull import token_of, with_api
from quality_lab.lab import Lab

if TYPE_CHECKING:
    from quality_lab.lab.pushed import Pushed


@click.command(
    epilog=example(
        "QUALITY_LAB_TOKEN=... quality-lab push --api-base https://lab.example.com --dry-run",
        "quality-lab push --api-base https://lab.example.com --tenant north --json",
    )
)
@with_api
@click.option("--dry-run", is_flag=True, help="Read what is there and show what would be sent; send nothing.")
@click.option("--reviewer", metavar="NAME", help="Who pushes.  [default: git's user.name, else your account]")
@with_json
@with_lab
def push(
    lab: Lab,
    api_base: str,
    token_env: str,
    tenant: str,
    dry_run: bool,
    reviewer: str | None,
    as_json: bool,
) -> int:
    """Send the journal's labels and decisions to the upstream Quality API. Needs the network, and a superadmin's token.

    People's labels on upstream's calls are sent, each once however often you push, with secrets and payment
    data in their notes masked; and the state of proposals that upstream tracks. A label that was sent cannot
    be taken back, here or there. What is not sent is counted with the reason. Exits with 1 where upstream
    refused something that could go (it does not know the call, say), with 4 where the push stopped; what is
    not upstream's to have (a call without its id, a label that was taken back or replaced) is no failure.
    """
    from quality_lab.lab.pushed import PushStopped

    try:
        pushed = lab.push(
            api_base, token=token_of(token_env), tenant=tenant, dry_run=dry_run, reviewer=reviewer
        )
    except PushStopped as stopped:
        _tell(stopped.pushed, as_json)
        raise
    _tell(pushed, as_json)
    return pushed.exit_code()


def _tell(pushed: Pushed, as_json: bool) -> None:
    if pushed.notice is not None:
        say(pushed.notice)
    if as_json:
        print_json(pushed.to_json())
    else:
        print(pushed)
