"""`quality-lab pull`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from quality_lab.cli.notices import reading_progress, say
from quality_lab.cli.options import Function, example, with_json, with_lab
from quality_lab.cli.output import print_json
from quality_lab.lab import Lab
from quality_lab.lab.exchanging import EVERY_KIND

if TYPE_CHECKING:
    from quality_lab.lab.pulling import Pulled

TOKEN_ENV = "QUALITY_LAB_TOKEN"


def with_api(function: Function) -> Function:
    """Give a verb --api-base, --token-env and --tenant; the token itself is on no command line."""
    for option in (
        click.option(
            "--tenant", metavar="NAME", default="default", show_default=True, help="Whose data the API holds."
        ),
        click.option(
            "--token-env",
            metavar="NAME",
            default=TOKEN_ENV,
            show_default=True,
            help="The environment variable that holds the API's token.",
        ),
        click.option("--api-base", metavar="URL", required=True, help="Where the Quality API lies."),
    ):
        function = option(function)
    return function


def token_of(variable: str) -> str:
    """Return the token that the environment holds. Raises: click.UsageError where it holds none."""
    token = os.environ.get(variable, "").strip()
    if not token:
        raise click.UsageError(f"wanted the API's token in the environment variable {variable}, found none")
    return token


@click.command(
    epilog=example(
        "QUALITY_LAB_TOKEN=... quality-lab pull --api-base https://lab.example.com",
        "quality-lab pull --api-base https://lab.example.com/eu --what feedback,cases --tenant north",
    )
)
@with_api
@click.option(
    "--what",
    metavar="A,B",
    default=",".join(EVERY_KIND),
    show_default=True,
    help="What to pull; proposals are those that upstream tracks.",
)
@click.option(
    "--most-requests",
    metavar="N",
    type=click.IntRange(min=1),
    help="Ask at most so often for each of them.  [default: 1000]",
)
@click.option("--strict", is_flag=True, help="Exit with 1 where rows may be missing or were not understood.")
@with_json
@with_lab
def pull(
    lab: Lab,
    api_base: str,
    token_env: str,
    tenant: str,
    what: str,
    most_requests: int | None,
    strict: bool,
    as_json: bool,
) -> int:
    """Fetch what the upstream Quality API holds into data/exports/, and load it. Needs the network.

    The API gives 1,000 rows at most and knows no second page. A page that is full is asked for again in
    parts: by label, source, error flag, tool and conversation. Where rows may be missing all the same, that
    is said, slice by slice. What an earlier pull brought is not written again. Rows are kept as they came; only
    a token of 16 characters and more that they send back is *** in them, and counted.
    """
    from quality_lab.lab.pulling import PullStopped

    kinds = [name.strip() for name in what.split(",") if name.strip()]
    if unknown := [name for name in kinds if name not in EVERY_KIND]:
        raise click.UsageError(f"--what: wanted some of {', '.join(EVERY_KIND)}; came {', '.join(unknown)}")
    if not kinds:
        raise click.UsageError(f"--what: wanted some of {', '.join(EVERY_KIND)}; came nothing")
    with reading_progress() as progress:
        try:
            pulled = lab.pull(
                api_base,
                token=token_of(token_env),
                what=[kind for kind in EVERY_KIND if kind in kinds],
                tenant=tenant,
                most_requests=most_requests,
                progress=progress,
            )
        except PullStopped as stopped:
            _tell(stopped.pulled, as_json)
            raise
    _tell(pulled, as_json)
    return pulled.exit_code(strict=strict)


def _tell(pulled: Pulled, as_json: bool) -> None:
    if as_json:
        for notice in pulled.notices:
            say(notice)
        print_json(pulled.to_json())
    else:
        print(pulled)
