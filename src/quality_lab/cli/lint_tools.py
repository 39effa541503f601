"""`quality-lab lint-tools`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from quality_lab.cli.notices import say
from quality_lab.cli.options import example, with_json, with_unread_home
from quality_lab.errors import NotFine

if TYPE_CHECKING:
    from quality_lab.toolbox.lint import Finding


@click.command(
    epilog=example(
        "quality-lab lint-tools tools.json",
        "quality-lab lint-tools tools.json --sarif tools.sarif",
        "quality-lab lint-tools tools.json --baseline tools.sarif      only what is new fails",
    )
)
@click.argument("file", metavar="FILE", type=click.Path())
@click.option(
    "--sarif", "sarif_file", metavar="FILE", type=click.Path(), help="Write a SARIF 2.1.0 document."
)
@click.option(
    "--baseline",
    metavar="FILE",
    type=click.Path(),
    help="A SARIF document of an earlier run: what stands in it is known, and fails no more.",
)
@with_json
@with_unread_home
def lint_tools(file: str, sarif_file: str | None, baseline: str | None, as_json: bool) -> None:
    """Say what the definitions of tools in FILE leave to a model's guess, argument by argument.

    FILE holds OpenAI functions, Anthropic tools, MCP tools/list, a registry's list, or an HTTP catalogue. It
    exits with 1 where something was found that the baseline does not know.
    """
    from quality_lab.toolbox.lint import lint_file
    from quality_lab.toolbox.lint_sarif import known_before

    known = None if baseline is None else known_before(Path(baseline))
    found = lint_file(Path(file))
    new = [one for one in found if known is None or one.fingerprint not in known]
    if sarif_file is not None:
        _write(found, file, sarif_file, known)
    _print(found, {one.fingerprint for one in new}, as_json)
    if new:
        counts = Counter(one.level for one in new)
        told = ", ".join(f"{count} {level}{'' if count == 1 else 's'}" for level, count in counts.items())
        raise NotFine(f"{told}{'' if known is None else ' that the baseline does not know'} in {file}")


def _write(found: list[Finding], file: str, sarif_file: str, known: frozenset[str] | None) -> None:
    from importlib.metadata import version

    from quality_lab.toolbox.lint_sarif import sarif, write_sarif

    document = sarif(found, file=Path(file), known=known, version=version("quality-lab"))
    write_sarif(document, Path(sarif_file))
    say(f"{len(found):,} findings written to {sarif_file}")


def _print(found: list[Finding], new: set[str], as_json: bool) -> None:
    from quality_lab.answers import visible
    from quality_lab.cli.output import print_json

    if as_json:
        print_json(
            [
                {
                    "tool": one.tool,
                    "server": one.server,
                    "rule": one.rule,
                    "level": one.level,
                    "path": one.path,
                    "message": one.message,
                    "state": "new" if one.fingerprint in new else "unchanged",
                    "fingerprint": one.fingerprint,
                }
                for one in found
            ]
        )
        return
    for one in found:
        if one.fingerprint in new:
            print(visible(f"{one.tool}: {one.level}, {one.rule}: {one.message}"))
    if not found:
        print("Nothing is left to guess.")
    elif len(new) < len(found):
        say(
            f"{sum(one.fingerprint not in new for one in found):,} findings that the baseline knows are left out"
        )
