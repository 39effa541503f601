"""`quality-lab proposals`."""

from __future__ import annotations

from typing import Any

import click

from quality_lab.cli.options import example, with_filters, with_lab
from quality_lab.cli.output import Output, print_exact_json, with_output
from quality_lab.lab import Lab


@click.command(
    epilog=example(
        "quality-lab proposals --since 7d", "quality-lab proposals --compat --limit 100 --source rag_reply"
    )
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
def proposals(
    lab: Lab, filters: dict[str, Any], output: Output, top: int, compat: bool, limit: int | None
) -> None:
    """Group what reviewers complained of into proposals: what to change, why, and how sure that is."""
    empty = lab.why_empty(**filters)
    if compat:
        print_exact_json({"items": lab.compat_proposals(limit=limit or 100, **filters)})
        output.judge(empty)
    elif limit is not None:
        raise click.UsageError("--limit goes with --compat")
    else:
        output.show(lab.proposals(top=top, **filters), empty=empty)
