"""`quality-lab proposals`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from quality_lab.cli.notices import say
from quality_lab.cli.options import example, with_filters, with_json, with_lab
from quality_lab.cli.output import Output, print_exact_json, print_json, width, with_output
from quality_lab.errors import NoData, NotFine
from quality_lab.lab import Lab
from quality_lab.lab.deciding import ACTIONS, KINDS

if TYPE_CHECKING:
    from quality_lab.answers import Answer
    from quality_lab.proposals import Effect


@click.group(
    invoke_without_command=True,
    epilog=example(
        "quality-lab proposals --since 7d", "quality-lab proposals --compat --limit 100 --source rag_reply"
    ),
)
@click.option(
    "--top", type=click.IntRange(min=1), metavar="N", default=25, show_default=True, help="How many."
)
@click.option("--compat", is_flag=True, help="Upstream's preview document, key for key.")
@click.option(
    "--limit",
    type=click.IntRange(1, 500),
    metavar="N",
    help="Labels that are read, newest first; --compat only.  [default: 100]",
)
@with_filters
@with_output
@with_lab
@click.pass_context
def proposals(
    context: click.Context,
    lab: Lab,
    filters: dict[str, Any],
    output: Output,
    top: int,
    compat: bool,
    limit: int | None,
) -> None:
    """Group what reviewers complained of into proposals: what to change, why, and how sure that is."""
    if context.invoked_subcommand is not None:
        return
    empty = lab.why_empty(**filters)
    if compat:
        print_exact_json({"items": lab.compat_proposals(limit=limit or 100, **filters)})
        output.judge(empty)
    elif limit is not None:
        raise click.UsageError("--limit goes with --compat")
    else:
        output.show(lab.proposals(top=top, **filters), empty=empty)


@proposals.command(
    epilog=example("quality-lab proposals show 6ac519c849", "quality-lab proposals show 12 --json")
)
@click.argument("proposal_id", metavar="ID")
@with_json
@with_lab
def show(lab: Lab, as_json: bool, proposal_id: str) -> None:
    """Show one proposal with its reasons, what to do, what was decided about it, and what became of that.

    ID is its own, its fingerprint, or the one under which upstream tracks it.
    """
    from quality_lab.answers import visible

    found, decided = lab.proposal(proposal_id), lab.decisions(proposal_id)
    measured = _measured(lab, proposal_id)
    if as_json:
        effect_of_it = measured.records()[0] if measured else None
        print_json({**found.records()[0], "decisions": decided.records(), "effect": effect_of_it})
        return
    one = found[0]
    recurred = ", recurred" if one.recurred else ""
    lines = [
        one.title,
        f"{one.id}  {one.fingerprint}  {one.severity}  {one.state}{recurred}",
        "",
        one.summary,
    ]
    lines += [f"- {reason}" for reason in one.rationale]
    lines += ["", "To do:", *(f"- {todo}" for todo in one.action_items)]
    print("\n".join(map(visible, lines)))
    if decided:
        print()
        print(decided.to_text(width=width()))
    if measured:
        print(f"\n{visible(measured[0].why)}")


def _measured(lab: Lab, proposal_id: str) -> Answer[Effect] | None:
    try:
        return lab.effect(proposal_id)
    except NoData:  # nothing was changed yet
        return None


@proposals.command(
    epilog=example("quality-lab proposals effect 12", "quality-lab proposals effect 12 --strict --json")
)
@click.argument("proposal_id", metavar="ID")
@click.option("--strict", is_flag=True, help="Exit with 1 unless the effect is verified.")
@click.option(
    "--since", metavar="DATE", help="How far back before the change to look.  [default: all there is]"
)
@click.option(
    "--tz", metavar="ZONE", default="UTC", show_default=True, help="Whose days a due day is one of."
)
@click.option("--as-of", metavar="TIME", help="What counts as now.  [default: the clock]")
@with_json
@with_lab
def effect(
    lab: Lab, as_json: bool, proposal_id: str, strict: bool, since: str | None, tz: str, as_of: str | None
) -> None:
    """Tell what became of a decision: the rate before and since it, against what was expected of it.

    An expectation is read if it is written like "from 18 % to under 5 % by 1 March": [LABEL] [on TOOL]
    [from SHARE] under|below|at most SHARE [by DAY]. The verdict is verified, not_verified, or inconclusive
    with the number of reviewed calls that would tell.
    """
    from quality_lab.answers import visible

    found = lab.effect(proposal_id, since=since, tz=tz, as_of=as_of)
    if as_json:
        print_json(found.records()[0])
    else:
        print(visible(found[0].why))
        print(found.to_text(width=width()))
    if strict and found[0].verdict != "verified":
        raise NotFine(f"the effect of proposal {proposal_id} is {found[0].verdict}")


@proposals.command(
    epilog=example(
        "quality-lab proposals decide 12 apply --kind pull_request --ref PR-123 --owner tomas",
        'quality-lab proposals decide 6ac519c849 dismiss --note "compliance wants it"',
        "quality-lab proposals decide 12 reopen",
    )
)
@click.argument("proposal_id", metavar="ID")
@click.argument("action", type=click.Choice(ACTIONS))
@click.option("--kind", type=click.Choice(KINDS), help="What answers the proposal; wanted with apply.")
@click.option("--ref", metavar="REF", help="Its name, such as PR-123 or REG-41.")
@click.option("--url", metavar="URL", help="Where it is.")
@click.option("--note", metavar="TEXT", help="Why, in your words.")
@click.option("--owner", metavar="NAME", help="Who does it.")
@click.option("--due", metavar="DATE", help="By which day.")
@click.option(
    "--expect", metavar="TEXT", help='What is to come of it, as "from 18 % to under 5 % by 1 March".'
)
@click.option("--effective-at", metavar="TIME", help="From when on it holds.  [default: now]")
@click.option(
    "--reviewer", metavar="NAME", help="Who decides.  [default: git's user.name, else your account]"
)
@with_json
@with_lab
def decide(lab: Lab, as_json: bool, proposal_id: str, action: Any, **given: str | None) -> None:
    """Decide about a proposal. The decision is a line of data/journal/decisions.jsonl; `undo` takes it back.

    A fault on a call that is made after an applied, dismissed or closed proposal has recurred. An expectation that
    cannot be measured is kept, and remarked on.
    """
    said = lab.decide(proposal_id, action, **given)
    if said.notice is not None:
        say(said.notice)
    if as_json:
        print_json({**said.line, "in_lab": said.in_lab})
    else:
        say(f"{action}, by {said.line['author']}: line {said.line['id']} of the journal")
