"""`quality-lab queue`: draw calls to review, see what is left, and weigh what the reviews say."""

from __future__ import annotations

from typing import Any

import click

from quality_lab.cli.options import example, with_filters, with_lab
from quality_lab.cli.output import Output, with_output
from quality_lab.lab import Lab
from quality_lab.sampling import STRATEGIES, Strategy

_id = click.argument("queue", metavar="[ID]", required=False)
_ids = click.argument("queue", metavar="[ID]...", nargs=-1)


@click.group(
    invoke_without_command=True,
    epilog=example(
        "quality-lab queue --size 40 --seed 7 --strategy mixed --reviewers dana,lee --overlap 0.2",
        "quality-lab queue",
        "quality-lab queue failing-tools",
    ),
)
@click.option("--size", type=int, metavar="N", help="Draw a queue of N calls.")
@click.option(
    "--seed", type=int, metavar="S", help="The same seed draws the same calls.  [default: the next number]"
)
@click.option(
    "--strategy",
    type=click.Choice(STRATEGIES),
    default="mixed",
    show_default=True,
    help="Which calls come first; a fifth is always drawn from all calls. mixed: disputes, errors and seldom "
    "called tools in equal parts.",
)
@click.option("--reviewers", metavar="A,B", help="Who is asked; the calls are shared out.")
@click.option(
    "--overlap", type=float, metavar="SHARE", default=0.0, help="Share of the calls that two people review."
)
@click.option("--author", metavar="NAME", help="Who draws it.  [default: git's user.name, else your account]")
@click.option("--all", "every", is_flag=True, help="Calls that are done, too.")
@with_filters
@with_output
@with_lab
@click.pass_context
def queue(
    context: click.Context,
    lab: Lab,
    filters: dict[str, Any],
    output: Output,
    size: int | None,
    seed: int | None,
    strategy: Strategy,
    reviewers: str | None,
    overlap: float,
    author: str | None,
    every: bool,
) -> None:
    """Draw calls to be reviewed, or see what is left of the open queue and how far each reviewer is.

    The open queue is the newest of which calls wait for somebody, else the newest; others that wait are named.

    The draw is kept in data/journal/queues.jsonl with the probability of each call, so that what reviewers
    say can be weighed to all calls (`queue failing-tools`, `queue labels`). Drawing again with the same words
    and the same seed draws nothing anew; `undo ID` takes a queue back.
    """
    if context.invoked_subcommand is not None:
        if given := [name for name in _given(context) if name != "--home"]:
            raise click.UsageError(
                f"{', '.join(given)}: wanted after {context.invoked_subcommand}, or without it"
            )
        return
    if size is None and (idle := {"--strategy", "--author"}.intersection(_given(context))):
        raise click.UsageError(f"{', '.join(sorted(idle))}: wanted with --size, which draws a queue")
    names = [name.strip() for name in (reviewers or "").split(",") if name.strip()]
    output.show(
        lab.queue(
            size=size,
            seed=seed,
            strategy=strategy,
            reviewers=names,
            overlap=overlap,
            author=author,
            left=size is None and not every,
            **filters,
        )
    )


def _given(context: click.Context) -> list[str]:
    """Return the options that stand on the command line before any verb."""
    line = click.core.ParameterSource.COMMANDLINE
    return [
        option.opts[0]
        for option in context.command.params
        if option.name and context.get_parameter_source(option.name) is line
    ]


@queue.command(name="list", epilog=example("quality-lab queue list --json"))
@with_output
@with_lab
def list_queues(lab: Lab, output: Output) -> None:
    """List the queues that were drawn, the newest first."""
    output.show(lab.queues())


@queue.command(epilog=example("quality-lab queue progress", "quality-lab queue progress 3f2a91"))
@_id
@with_output
@with_lab
def progress(lab: Lab, output: Output, queue: str | None) -> None:
    """Show how far each reviewer of a queue is: of the open one, or of that whose id begins so."""
    output.show(lab.queue_progress(queue))


@queue.command(
    name="failing-tools",
    epilog=example("quality-lab queue failing-tools", "quality-lab queue failing-tools --json"),
)
@_ids
@click.option(
    "--top", type=click.IntRange(min=1), metavar="N", default=25, show_default=True, help="How many tools."
)
@with_output
@with_lab
def weighted_failing_tools(lab: Lab, output: Output, queue: tuple[str, ...], top: int) -> None:
    """Show the judged failure rate of all calls that a queue was drawn from, and of each tool's.

    The rate among reviewed calls stands beside it: where a queue prefers errors that is far too high. Several
    ids, of queues that were drawn from different weeks, are weighed together.
    """
    output.show(lab.weighted_failing_tools(queue, top=top))


@queue.command(name="labels", epilog=example("quality-lab queue labels"))
@_ids
@with_output
@with_lab
def weighted_labels(lab: Lab, output: Output, queue: tuple[str, ...]) -> None:
    """Show on what share of all calls each label would stand, beside its share of the reviewed ones."""
    output.show(lab.weighted_labels(queue))
