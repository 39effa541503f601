"""`quality-lab summary`."""

from __future__ import annotations

from typing import Any

import click

from quality_lab.cli.options import example, with_filters, with_json, with_lab
from quality_lab.cli.output import print_exact_json, print_json, width
from quality_lab.errors import NoData
from quality_lab.lab import Lab


@click.command(epilog=example("quality-lab summary --since 7d", "quality-lab summary --compat --limit 50"))
@click.option("--compat", is_flag=True, help="Upstream's summary document, key for key.")
@click.option(
    "--limit",
    type=click.IntRange(1, 200),
    metavar="N",
    help="Rows of `recent`; --compat only.  [default: 25]",
)
@click.option("--allow-empty", is_flag=True, help="Exit with 0 where there is nothing to judge.")
@with_filters
@with_json
@with_lab
def summary(
    lab: Lab, filters: dict[str, Any], compat: bool, limit: int | None, allow_empty: bool, as_json: bool
) -> None:
    """Show the totals of the lab and the first rows of each question."""
    if compat:
        print_exact_json(lab.compat_summary(limit=limit or 25, **filters))
    elif limit is not None:
        raise click.UsageError("--limit goes with --compat")
    else:
        told = lab.summary(**filters)
        if as_json:
            print_json(told.to_json())
        else:
            print(told.to_text(width=width()))
    empty = lab.why_empty(**filters)
    if empty and not allow_empty:
        raise NoData(f"no_data: {empty}")
