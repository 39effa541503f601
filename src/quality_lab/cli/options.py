"""Options that many verbs share: the home, the common filters, the ways to take an answer away."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

if TYPE_CHECKING:
    from quality_lab.lab import Lab

Function = TypeVar("Function", bound=Callable[..., Any])

REPEATABLE = (
    ("--tool", "NAME", "Calls of this tool."),
    ("--source", "NAME", "Calls of this source (a strategy or an export)."),
    ("--label", "LABEL", "Labels of this kind; never changes a denominator."),
    ("--outcome", "NAME", "Calls with this outcome: ok, error, soft_error, gated, rejected, unknown, guard."),
    ("--style", "NAME", "Calls of this style."),
    ("--model", "NAME", "Calls of this model."),
    ("--conversation", "ID", "Calls of this conversation."),
    ("--contact", "ID", "Calls of this contact."),
    ("--message", "ID", "Calls of this message."),
    ("--outbound", "ID", "Calls of this outbound queue entry."),
    ("--reviewer", "NAME", "Labels by this reviewer."),
    ("--author-kind", "KIND", "Labels by HUMAN (as by default), LLM or CODE."),
    ("--actor", "KIND", "Calls by model, rule, guard, user or sub_agent."),
    ("--tenant", "NAME", "Calls of this tenant."),
)
ONCE = (
    ("--since", "DATE", "From this date or time on (ISO 8601), or 7d: the seven whole days before today."),
    ("--until", "DATE", "Up to this date or time, itself left out."),
    ("--tz", "ZONE", "The time zone of dates without one.  [default: UTC]"),
    ("--as-of", "TIME", "What counts as now."),
)


def example(*lines: str) -> str:
    """Return the epilog of a verb's help: its examples, one a line, as they would be typed."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def with_lab(function: Function) -> Function:
    """Give a verb the options --home and --wait and, as its argument *lab*, the lab that lies there."""

    @functools.wraps(function)
    def command(home: str | None, wait: float, **options: Any) -> Any:
        return function(lab=lab_of(home, wait_s=wait), **options)

    return with_home(cast(Function, command))


def with_home(function: Function) -> Function:
    """Give a verb the options --home and --wait, as its arguments *home* and *wait*."""
    for option in (
        click.option(
            "--wait",
            metavar="SECONDS",
            type=click.FloatRange(min=0),
            default=30.0,
            show_default=True,
            help="How long to wait for a database that another process holds.",
        ),
        click.option("--home", metavar="DIR", help="Where data/ and reports/ lie."),
    ):
        function = option(function)
    return function


def lab_of(home: str | None, *, wait_s: float) -> Lab:
    """Return the lab at *home*, else at the home given before the verb, else where the rule finds it."""
    from quality_lab.cli.notices import say
    from quality_lab.lab import open_lab

    given = home or click.get_current_context().find_root().params.get("home")
    return open_lab(given, wait_s=wait_s, on_wait=say)


def with_unread_home(function: Function) -> Function:
    """Give a verb that reads no home the option --home all the same, so that every command line may have it."""
    return click.option(
        "--home",
        metavar="DIR",
        expose_value=False,
        help="Taken as by every verb; nothing is read from it here.",
    )(function)


def with_filters(function: Function) -> Function:
    """Give a verb the common filters and, as its argument *filters*, a dictionary of those given."""
    names = [_name(option) for option, _, _ in (*REPEATABLE, *ONCE)] + ["error", "time"]

    @functools.wraps(function)
    def command(**options: Any) -> Any:
        came = {name: options.pop(name) for name in names}
        filters = {name: value for name, value in came.items() if value not in (None, ())}
        return function(filters=filters, **options)

    for option, metavar, words in reversed(ONCE):
        command = click.option(option, metavar=metavar, help=words)(command)
    command = click.option(
        "--time",
        type=click.Choice(["call", "label"]),
        help="What --since and --until bound: the call or the label.  [default: as the question asks]",
    )(command)
    command = click.option(
        "--error/--no-error", default=None, help="Calls whose error flag is set, or is not."
    )(command)
    for option, metavar, words in reversed(REPEATABLE):
        command = click.option(option, metavar=metavar, multiple=True, help=words)(command)
    return cast(Function, command)


def _name(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")


def with_json(function: Function) -> Function:
    """Give a verb the option --json, as its argument *as_json*."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout, nothing else.")(
        function
    )
