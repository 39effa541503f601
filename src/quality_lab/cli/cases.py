"""`quality-lab cases`: make, list, change and take away regression cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from quality_lab.cli.case_check import check, lines_of
from quality_lab.cli.notices import say
from quality_lab.cli.options import Function, example, lab_of, with_home, with_json, with_lab
from quality_lab.cli.output import Output, print_exact_json, with_output
from quality_lab.errors import InputError

if TYPE_CHECKING:
    from quality_lab.lab import Lab
    from quality_lab.lab.case_rows import Frozen

_status = click.option(
    "--status",
    type=click.Choice(["active", "archived", "all"]),
    default="active",
    show_default=True,
    help="Which cases.",
)
_reviewer = click.option(
    "--reviewer", metavar="NAME", help="Who does it.  [default: git's user.name, else your account]"
)
_tenant = click.option(
    "--tenant", metavar="NAME", help="Of this tenant, where several have cases with that id."
)
_expect = click.option("--expect", metavar="TEXT", help="What is right, in your words.")


def _unmasked(function: Function) -> Function:
    return click.option(
        "--unmasked",
        is_flag=True,
        help="Keep secrets and payment data as they are; the journal goes into git.",
    )(function)


def _again(function: Function) -> Function:
    return click.option("--again", is_flag=True, help="Freeze it though the same case is here.")(function)


@click.group(
    invoke_without_command=True,
    epilog=example(
        "quality-lab cases",
        "quality-lab cases freeze 3f2a91",
        "quality-lab cases check cases.jsonl",
    ),
)
@_status
@with_output
@with_home
@click.pass_context
def cases(context: click.Context, home: str | None, wait: float, status: str, output: Output) -> None:
    """Keep regression cases, and check that they catch what they were made for.

    Without a command: list the lab's cases, each judged by its rules now.
    """
    if context.invoked_subcommand is None:
        _list(lab_of(home, wait_s=wait), status, output)


cases.add_command(check)


@cases.command(name="list", epilog=example("quality-lab cases list --status all --json"))
@_status
@with_output
@with_lab
def list_cases(lab: Lab, status: str, output: Output) -> None:
    """List the lab's cases, each judged by its rules now: only red ones gate."""
    _list(lab, status, output)


def _list(lab: Lab, status: Any, output: Output) -> None:
    found = lab.cases(status=status)
    shown = "" if status == "all" else f" {status}"
    output.show(found, empty=None if found else f"there is no{shown} case in {lab.home}")


@cases.command(
    epilog=example(
        "quality-lab cases freeze 3f2a91",
        'quality-lab cases freeze 3f2a91 --expected-args \'{"amountMode":"target_thb"}\' '
        '--expect "Quotes in baht when the client names baht."',
    )
)
@click.argument("call_uid")
@click.option("--label", metavar="LABEL", help="What the call is.  [default: as its reviewers said]")
@click.option("--expected-tool", metavar="NAME", help="The tool that should have been called.")
@click.option("--expected-args", metavar="JSON", help="The arguments that would have been right.")
@_expect
@_unmasked
@_again
@_reviewer
@with_json
@with_lab
def freeze(
    lab: Lab,
    as_json: bool,
    call_uid: str,
    label: str | None,
    expected_tool: str | None,
    expected_args: str | None,
    expect: str | None,
    unmasked: bool,
    again: bool,
    reviewer: str | None,
) -> None:
    """Make a case of a labelled call: what was said, offered and done, and what it has to be.

    The beginning of the uid is enough. The case is proven by the recorded calls: it is red where they fail
    its rules (where they pass, if the call was a good reply), and only red cases gate.
    """
    _tell(
        lab.freeze(
            call_uid,
            label=label,
            expected_tool=expected_tool,
            expected_arguments=expected_args,
            expect=expect,
            reviewer=reviewer,
            masked=not unmasked,
            again=again,
        ),
        as_json,
    )


@cases.command(
    name="from-proposal",
    epilog=example("quality-lab cases from-proposal 12", "quality-lab cases from-proposal 12 --example 1"),
)
@click.argument("proposal_id", metavar="ID")
@click.option(
    "--example",
    "example_number",
    type=click.IntRange(min=0),
    metavar="N",
    default=0,
    show_default=True,
    help="Which of its examples; 0 is the first.",
)
@_expect
@_unmasked
@_again
@_reviewer
@with_json
@with_lab
def from_proposal(
    lab: Lab,
    as_json: bool,
    proposal_id: str,
    example_number: int,
    expect: str | None,
    unmasked: bool,
    again: bool,
    reviewer: str | None,
) -> None:
    """Make a case of an example of a proposal, and write down that REG-<id> answers the proposal."""
    _tell(
        lab.case_from_proposal(
            proposal_id,
            example=example_number,
            expect=expect,
            reviewer=reviewer,
            masked=not unmasked,
            again=again,
        ),
        as_json,
    )


@cases.command(epilog=example("quality-lab cases edit 41 case.json"))
@click.argument("case_id", metavar="ID")
@click.argument("file", metavar="FILE")
@_tenant
@_unmasked
@_reviewer
@with_json
@with_lab
def edit(
    lab: Lab,
    as_json: bool,
    case_id: str,
    file: str,
    tenant: str | None,
    unmasked: bool,
    reviewer: str | None,
) -> None:
    """Put the record in FILE (- is standard input) in the place of a case; what it was stays in the journal.

    `cases export` writes records to start from.
    """
    from quality_lab.json_text import JsonTextError, parse

    try:
        record = parse(b"\n".join(lines_of(file)))
    except JsonTextError as problem:
        raise InputError(f"wanted one record in {file}: {problem}") from problem
    if not isinstance(record, dict):
        raise InputError(f"wanted one record in {file}, which is an object")
    _tell(lab.edit_case(case_id, record, tenant=tenant, reviewer=reviewer, masked=not unmasked), as_json)


@cases.command(epilog=example("quality-lab cases archive 41"))
@click.argument("case_id", metavar="ID")
@_tenant
@_reviewer
@with_json
@with_lab
def archive(lab: Lab, as_json: bool, case_id: str, tenant: str | None, reviewer: str | None) -> None:
    """Put a case away: it is kept, and gates no more."""
    _tell(lab.archive_case(case_id, tenant=tenant, reviewer=reviewer), as_json, done="archived: ")


@cases.command(epilog=example("quality-lab cases restore 41"))
@click.argument("case_id", metavar="ID")
@_tenant
@_reviewer
@with_json
@with_lab
def restore(lab: Lab, as_json: bool, case_id: str, tenant: str | None, reviewer: str | None) -> None:
    """Make an archived case active again."""
    _tell(lab.restore_case(case_id, tenant=tenant, reviewer=reviewer), as_json, done="active again: ")


@cases.command(epilog=example("quality-lab cases history 41"))
@click.argument("case_id", metavar="ID")
@_tenant
@with_output
@with_lab
def history(lab: Lab, case_id: str, tenant: str | None, output: Output) -> None:
    """Show who did what with a case, and when, as the journal has it; `undo` takes a line back."""
    output.show(lab.case_history(case_id, tenant=tenant))


@cases.command(
    epilog=example(
        "quality-lab cases export cases.jsonl",
        "quality-lab cases export - --status all --compat",
    )
)
@click.argument("file", metavar="FILE", type=click.Path(allow_dash=True))
@_status
@click.option("--compat", is_flag=True, help="Upstream's own record, key for key.")
@click.option("--tenant", metavar="NAME", help="Whose cases; needed where several tenants have some.")
@with_json
@with_lab
def export(lab: Lab, as_json: bool, file: str, status: Any, compat: bool, tenant: str | None) -> None:
    """Write the cases to FILE (- is standard output), a record a line, the one changed last first."""
    from quality_lab.cli.output import print_json

    if as_json and file == "-":
        raise click.UsageError("with FILE - the lines go to standard output, where --json has no room")
    written = lab.export_cases(file, status=status, compat=compat, tenant=tenant)
    if as_json:
        print_json({"file": file, "rows": written.rows})
    else:
        say(f"{written.rows:,} cases written")


def _tell(frozen: Frozen, as_json: bool, *, done: str = "") -> None:
    if frozen.notice is not None:
        say(frozen.notice)
    if as_json:
        told = {"id": frozen.id, "proof": frozen.proof, "corrected": frozen.corrected}
        told |= {"reasons": list(frozen.reasons), "line_id": frozen.line["id"], "in_lab": frozen.in_lab}
        print_exact_json({**told, "record": frozen.record})
    else:
        say(f"{done}{frozen}")
