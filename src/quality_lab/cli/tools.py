"""`quality-lab tools`: which tools there are, whether they are fine, and the booking link."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quality_lab.cli.options import example, with_json

if TYPE_CHECKING:
    from quality_lab.toolbox.problem import ToolCheck
    from quality_lab.toolbox.resolver import OfferedTool, ToolSet

_TEXTS = (".md", ".txt")


@click.group(epilog=example("quality-lab tools list", "quality-lab tools check web.toml"))
def tools() -> None:
    """List tools, show one, check a file of them, and keep the booking link."""


def _with_home(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--home", metavar="DIR", type=click.Path(), help="Where data/ and reports/ lie."),
        click.option("--tenant", metavar="NAME", default="default", help="Whose tools.", show_default=True),
    ):
        function = option(function)
    return function


def _with_source(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--from",
        "source",
        metavar="SOURCE",
        help="FILE, MODULE:NAME, toolbox:NAME or entry-points, in place of the home's data/tools.toml.",
    )(function)


@tools.command(
    "list", epilog=example("quality-lab tools list", "quality-lab tools list --from toolbox:exchange --json")
)
@_with_source
@with_json
@_with_home
def list_tools(home: str | None, tenant: str, source: str | None, as_json: bool) -> None:
    """List the tools that a tenant's agent is offered, with where they come from and what they may change."""
    from quality_lab.cli.output import print_json

    found = _tool_set(home, tenant, source)
    rows = [
        {
            "tool": each.tool.name,
            "source": each.source,
            "effect": each.tool.effect,
            "enabled": each.enabled,
            "offered": each.enabled and not each.by_choice,
            "description": each.tool.description,
            "digest": each.tool.digest,
        }
        for each in found.known
    ]
    if as_json:
        print_json(rows)
    else:
        _print_rows(
            ("tool", "effect", "state", "source"),
            [(each.tool.name, each.tool.effect, _state(each), each.source) for each in found.known],
        )
    _say_left_out(found.left_out)


@tools.command(
    epilog=example("quality-lab tools show compute_exchange_quote", "quality-lab tools show ping --json")
)
@click.argument("name")
@_with_source
@with_json
@_with_home
def show(home: str | None, tenant: str, source: str | None, name: str, as_json: bool) -> None:
    """Show one tool as a model sees it: name, description and schema, with its effect and digest."""
    from quality_lab.answers import visible
    from quality_lab.cli.output import print_json
    from quality_lab.errors import UsageError

    found = _tool_set(home, tenant, source)
    known = next((each for each in found.known if each.tool.name == name), None)
    if known is None:
        there = ", ".join(each.tool.name for each in found.known) or "none"
        raise UsageError(f"there is no tool {name}; there are {there}")
    tool = known.tool
    facts = {
        "tool": tool.name,
        "source": known.source,
        "effect": tool.effect,
        "enabled": known.enabled,
        "offered": known.enabled and not known.by_choice,
        "timeout_s": tool.timeout_s,
        "digest": tool.digest,
    }
    if as_json:
        print_json({**facts, "definition": tool.openai_definition(limits=False)})
        return
    for key, value in facts.items():
        print(f"{key:<10} {visible(str(value))}")
    print()
    print(visible(tool.description, keep="\n"))
    print()
    print_json(tool.schema)


@tools.command(
    epilog=example("quality-lab tools check web.toml", "quality-lab tools check tools.json --json")
)
@click.argument("file")
@with_json
@_with_home
def check(home: str | None, tenant: str, file: str, as_json: bool) -> int:
    """Check the tools in FILE by rule; exit with 1 where one is not fine.

    FILE is an HTTP catalogue, OpenAI functions, MCP tools/list, MODULE:NAME or toolbox:NAME. Of an
    instruction text (.md, .txt) the references to tools are checked.
    """
    from quality_lab.answers import visible
    from quality_lab.cli.output import print_json

    checks = _checks(home, tenant, file)
    if as_json:
        print_json([checked.as_json() for checked in checks])
    else:
        for checked in checks:
            for problem in checked.problems:
                print(f"{visible(checked.tool)}: {problem.rule}: {visible(problem.message)}")
        fine = sum(checked.ok for checked in checks)
        print(f"{fine} of {len(checks)} tools are fine")
    return 0 if all(checked.ok for checked in checks) else 1


@tools.group(
    epilog=example(
        "quality-lab tools booking set https://book.example.com/us", "quality-lab tools booking get"
    )
)
def booking() -> None:
    """Keep the booking link; the agent is offered the booking tool only while one is set."""


@booking.command("get", epilog=example("quality-lab tools booking get --json"))
@with_json
@_with_home
def get_booking(home: str | None, tenant: str, as_json: bool) -> None:
    """Print the booking link: from QUALITY_LAB_BOOKING_URL, else from the home."""
    from quality_lab.toolbox.booking import get_booking_url

    _print_booking(get_booking_url(_home(home), tenant, environ=os.environ), as_json)


@booking.command("set", epilog=example("quality-lab tools booking set https://book.example.com/us"))
@click.argument("url")
@with_json
@_with_home
def set_booking(home: str | None, tenant: str, url: str, as_json: bool) -> None:
    """Keep URL (http or https) as the booking link, in a file that only its owner can read."""
    from quality_lab.toolbox.booking import set_booking_url

    kept = set_booking_url(_home(home), url, tenant)
    _print_booking(kept, as_json)
    _say_what_wins(home, tenant, kept)


@booking.command("delete", epilog=example("quality-lab tools booking delete"))
@with_json
@_with_home
def delete_booking(home: str | None, tenant: str, as_json: bool) -> None:
    """Forget the booking link."""
    from quality_lab.toolbox.booking import delete_booking_url

    delete_booking_url(_home(home), tenant)
    _print_booking(None, as_json)
    _say_what_wins(home, tenant, None)


def _say_what_wins(home: str | None, tenant: str, kept: str | None) -> None:
    """Say which link the agent is offered all the same, where it is not the one that the home now keeps."""
    from quality_lab.cli.notices import say
    from quality_lab.errors import UsageError
    from quality_lab.toolbox.booking import get_booking_url

    try:
        offered = get_booking_url(_home(home), tenant, environ=os.environ)
    except UsageError as error:  # what was asked for is done; the next to need a link is refused
        say(str(error))
        return
    if offered != kept:
        say(f"the environment has a link of its own, which wins: {offered}")


def _print_booking(url: str | None, as_json: bool) -> None:
    from quality_lab.answers import visible
    from quality_lab.cli.output import print_json

    if as_json:
        print_json({"enabled": url is not None, "url": url})
    else:
        print(visible(url) if url is not None else "no booking link is set")


def _home(named: str | None) -> Path:
    from quality_lab.lab.home import find_home

    given = named or click.get_current_context().find_root().params.get("home")
    return find_home(given, environment=os.environ, start=Path.cwd()).path


def _tool_set(home: str | None, tenant: str, source: str | None) -> ToolSet:
    from quality_lab.toolbox.resolver import ToolResolver, tools_from
    from quality_lab.toolbox.sources import Occasion

    if source is not None:
        occasion = Occasion(tenant=tenant)
        return tools_from(source, folder=Path.cwd(), environ=os.environ, occasion=occasion)
    return ToolResolver(_home(home), environ=os.environ).resolve(tenant=tenant)


def _checks(home: str | None, tenant: str, file: str) -> list[ToolCheck]:
    from quality_lab.errors import InputError
    from quality_lab.toolbox.sources import Occasion, tool_source
    from quality_lab.toolbox.tool_check import check_references, check_tools

    if Path(file).suffix in _TEXTS:
        try:
            text = Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{file} cannot be read as text: {error}") from error
        available = [tool.name for tool in _tool_set(home, tenant, None).available]
        return check_references(text, available)
    opened = tool_source(file, folder=Path.cwd(), environ=os.environ).open(Occasion(tenant=tenant))
    return list(opened.checks) or check_tools([*opened.tools, *opened.by_choice])


def _state(each: OfferedTool) -> str:
    if not each.enabled:
        return "off"
    return "by choice" if each.by_choice else "offered"


def _print_rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from quality_lab.answers import visible

    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    for row in (head, *rows):
        cells = (visible(text).ljust(width) for text, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


def _say_left_out(left_out: Sequence[ToolCheck]) -> None:
    from quality_lab.cli.notices import say

    for checked in left_out:
        for problem in checked.problems:
            say(f"{checked.tool} is left out: {problem.message}")
