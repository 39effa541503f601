"""`quality-lab label`, `adjudicate` and `undo`: what a person says becomes a line of the journal."""

from __future__ import annotations

from dataclasses import replace

import click

from quality_lab.cli.notices import say
from quality_lab.cli.options import example, with_json, with_lab
from quality_lab.cli.output import print_json
from quality_lab.lab import Lab
from quality_lab.lab.reviewing import Said

_reviewer = click.option(
    "--reviewer", metavar="NAME", help="Who says so.  [default: git's user.name, else your account]"
)
_tenant = click.option(
    "--tenant",
    metavar="NAME",
    help="Whose call it is. With it and the whole uid a label is taken even while the database is held.",
)
_note = click.option("--note", metavar="TEXT", help="Why, in your words.")


@click.command(
    epilog=example(
        'quality-lab label 3f2a91 bad_args --expected-args \'{"amountMode":"target_thb"}\'',
        "quality-lab label 3f2a91 wrong_tool --expected-tool get_order_status",
    )
)
@click.argument("call_uid")
@click.argument("label")
@_note
@_reviewer
@click.option("--expected-tool", metavar="NAME", help="The tool that should have been called.")
@click.option("--expected-args", metavar="JSON", help="The arguments that would have been right.")
@click.option("--guide", metavar="VERSION", help="The version of the labelling guide that was followed.")
@_tenant
@with_json
@with_lab
def label(
    lab: Lab,
    as_json: bool,
    call_uid: str,
    label: str,
    note: str | None,
    reviewer: str | None,
    expected_tool: str | None,
    expected_args: str | None,
    guide: str | None,
    tenant: str | None,
) -> None:
    """Label a call: good_reply, wrong_tool, missing_tool, bad_args or other.

    The label is appended to data/journal/labels.jsonl and counts at once. The beginning of the uid is enough.
    """
    _tell(
        lab.label(
            call_uid,
            label,
            note=note,
            reviewer=reviewer,
            expected_tool=expected_tool,
            expected_arguments=expected_args,
            guide_version=guide,
            tenant=tenant,
        ),
        as_json,
    )


@click.command(epilog=example('quality-lab adjudicate 3f2a91 good_reply --note "we agreed on Monday"'))
@click.argument("call_uid")
@click.argument("label")
@_note
@_reviewer
@_tenant
@with_json
@with_lab
def adjudicate(
    lab: Lab,
    as_json: bool,
    call_uid: str,
    label: str,
    note: str | None,
    reviewer: str | None,
    tenant: str | None,
) -> None:
    """Settle what a call is; this wins over every reviewer's label."""
    _tell(lab.adjudicate(call_uid, label, note=note, reviewer=reviewer, tenant=tenant), as_json)


@click.command(epilog=example("quality-lab undo", "quality-lab undo 5d0c1f0c9b7e4f0f8f1c2f1d9a0b7c11"))
@click.argument("line_id", required=False)
@_reviewer
@with_json
@with_lab
def undo(lab: Lab, as_json: bool, line_id: str | None, reviewer: str | None) -> None:
    """Take back a line of the journal: yours that you wrote last, or the one that is named.

    Nothing is deleted; a line is added that takes the other back.
    """
    _tell(lab.undo(line_id, reviewer=reviewer), as_json)


def _tell(said: Said, as_json: bool) -> None:
    if said.notice is not None:
        say(said.notice)
    if as_json:
        print_json({**said.line, "in_lab": said.in_lab})
    else:
        say(str(replace(said, notice=None)))
