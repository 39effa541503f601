"""`quality-lab coach`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from quality_lab.cli.notices import say
from quality_lab.cli.options import example, with_filters, with_json, with_lab
from quality_lab.cli.output import Output, print_json, with_output
from quality_lab.lab import Lab

_limit = click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    default=12,
    show_default=True,
    help="How many labels, the newest first.",
)


@click.group(
    epilog=example("quality-lab coach signals calm", "quality-lab coach suggest calm --model openai:NAME")
)
def coach() -> None:
    """Show what a style can be coached on, and let a model draft edits of it."""


@coach.command(
    epilog=example("quality-lab coach signals calm", "quality-lab coach signals calm --since 7d --json")
)
@click.argument("named", metavar="STYLE")
@_limit
@with_filters
@with_output
@with_lab
def signals(lab: Lab, filters: dict[str, Any], output: Output, named: str, limit: int) -> None:
    """Show the newest faults that reviewers confirmed on calls made in STYLE.

    The style is the one that the call was made in, not the one that its conversation has today.
    """
    if "style" in filters:
        raise click.UsageError("the style is named once, as STYLE; --style goes with other questions")
    output.show(lab.coach_signals(named, limit=limit, **filters), empty=lab.why_empty(**filters))


@coach.command(
    epilog=example(
        "quality-lab coach suggest calm --model NAME --base-url http://localhost:8000/v1",
        "quality-lab coach suggest calm --model openai:NAME --style-file calm.json --skill haggle --out draft.json",
    )
)
@click.argument("named", metavar="STYLE")
@click.option(
    "--model", metavar="NAME", required=True, help="openai:NAME, or NAME on the server of --base-url."
)
@click.option("--base-url", metavar="URL", help="Any OpenAI-compatible server.  [default: OPENAI_BASE_URL]")
@click.option("--style-file", metavar="FILE", type=click.Path(), help="The text of the style as it is now.")
@click.option("--skill", "skills", metavar="SLUG", multiple=True, help="A skill that is attached to it.")
@click.option("--out", metavar="FILE", type=click.Path(), help="Write the draft to this file as JSON.")
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="Of the answer.  [default: 1500]")
@_limit
@click.option("--tool", metavar="NAME", multiple=True, help="Signals on calls of this tool.")
@click.option("--tenant", metavar="NAME", multiple=True, help="Signals on calls of this tenant.")
@click.option("--since", metavar="DATE", help="Labels from this date or time on (ISO 8601), or 7d.")
@click.option("--until", metavar="DATE", help="Labels up to this date or time, itself left out.")
@with_json
@with_lab
def suggest(
    lab: Lab,
    as_json: bool,
    named: str,
    model: str,
    base_url: str | None,
    style_file: str | None,
    skills: tuple[str, ...],
    out: str | None,
    max_tokens: int | None,
    limit: int,
    tool: tuple[str, ...],
    tenant: tuple[str, ...],
    since: str | None,
    until: str | None,
) -> None:
    """Let a model draft edits of STYLE: voice, hooks, guidance by stage, examples, skills. Nothing is applied.

    It is shown the signals of the style, masked, as data. Tools are never changed: whatever else its answer
    holds is left out, and the draft says what. Where there is nothing to coach on, no model is asked.
    OPENAI_API_KEY holds the key. An answer that is no draft is kept in it as `rawOutput`, with exit code 4.
    """
    from quality_lab.errors import ServiceError

    draft = asyncio.run(
        lab.coach_suggest(
            named,
            model=model,
            base_url=base_url,
            style_text=None if style_file is None else _text(style_file),
            skills=skills or None,
            limit=limit,
            most_tokens=max_tokens,
            tool=tool,
            tenant=tenant,
            since=since,
            until=until,
        )
    )
    if out is not None:
        say(f"draft written to {draft.write(out)}")
    if as_json:
        print_json(draft.as_json())
    elif out is None:
        print(draft)
    if draft.problem is not None:
        raise ServiceError(f"{model} gave no draft: {draft.problem}")


def _text(path: str) -> str:
    from quality_lab.errors import InputError

    try:
        return Path(path).read_text("utf-8-sig")
    except (OSError, ValueError) as problem:
        raise InputError(f"{path}: cannot be read: {problem}") from problem
