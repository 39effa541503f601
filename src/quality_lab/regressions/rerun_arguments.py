"""The flags of a re-run, taken out of a command line; what is left is the upstream runner's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import get_args

from quality_lab.errors import UsageError
from quality_lab.regressions.arguments import VALUED as OF_UPSTREAM
from quality_lab.regressions.arguments import ArgumentError
from quality_lab.replay.tape import Policy

RERUN = "--rerun"
VALUED = {  # flag: what it asks for when nothing comes
    "--model": "the name of a model",
    "--base-url": "a URL",
    "--tools-from": "a source of tools",
    "--tape": "fifo, strict or by_args",
    "--allow-live": "read",
    "--trials": "a number",
    "--concurrency": "a number",
    "--budget-usd": "a number of dollars",
    "--judge": "the name of a model",
    "--baseline": "a path",
    "--home": "a folder",
    "--wait": "a number of seconds",
}
SWITCHES = (RERUN, "--draft-rules", "--resume", "--strict")
MOST_TRIALS = 1000
MOST_AT_ONCE = 1000
WAIT_S = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class RerunArguments:
    """What a re-run was asked for."""

    model: str = "recorded"
    base_url: str | None = None
    tools_from: str | None = None
    tape: Policy = "fifo"
    allow_live: bool = False
    trials: int = 1
    concurrency: int = 8
    budget_usd: Decimal | None = None
    judge: str | None = None
    baseline: str | None = None
    home: str | None = None
    wait_s: float = WAIT_S
    draft_rules: bool = False
    resume: bool = False
    strict: bool = False

    @property
    def is_recorded(self) -> bool:
        """Whether the decisions are those that were recorded, so that no model is asked."""
        return self.model == "recorded"


def asks_for_rerun(arguments: Sequence[str]) -> bool:
    """Return whether *arguments* ask for a re-run.

    >>> asks_for_rerun(["--file", "a.jsonl", "--rerun"]), asks_for_rerun(["--file", "--rerun"])
    (True, False)
    """
    before = ""
    for argument in arguments:
        if argument == RERUN and before not in OF_UPSTREAM:
            return True
        before = "" if before in OF_UPSTREAM else argument  # a value is no flag, whatever it looks like
    return False


def without_home(arguments: Sequence[str]) -> list[str]:
    """Return *arguments* without --home, which every verb takes, and a check of a file has no use for.

    >>> without_home(["--home", "lab", "--file", "--home", "--json"])
    ['--file', '--home', '--json']

    Raises:
        ArgumentError: it lacks its folder.
    """
    left: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        flag, equals, value = argument.partition("=")
        if argument in OF_UPSTREAM:
            left += [argument, *islice(rest, 1)]  # its value, whatever it looks like
        elif flag != "--home":
            left.append(argument)
        elif not (value if equals else next(rest, "")):
            raise ArgumentError(f"--home requires {VALUED['--home']}")
    return left


def split_arguments(arguments: Sequence[str]) -> tuple[RerunArguments, list[str]]:
    """Return what *arguments* say of the re-run, and the rest, which are the upstream runner's.

    Raises:
        UsageError: a flag of the re-run lacks its value, or has one that it does not take.
    """
    values: dict[str, str] = {}
    switches: set[str] = set()
    left: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        flag, equals, value = argument.partition("=")
        if argument in OF_UPSTREAM:
            left += [argument, *islice(rest, 1)]  # its value, whatever it looks like
        elif argument in SWITCHES:
            switches.add(argument)
        elif flag in VALUED:
            value = value if equals else next(rest, "")
            if not value:
                raise UsageError(f"{flag} requires {VALUED[flag]}")
            values[flag] = value
        else:
            left.append(argument)
    return _read(values, switches), left


def _read(values: dict[str, str], switches: set[str]) -> RerunArguments:
    tape = values.get("--tape", "fifo")
    if tape not in get_args(Policy):
        raise UsageError(f"--tape is one of {', '.join(get_args(Policy))}, not {tape}")
    live = values.get("--allow-live")
    if live not in (None, "read"):
        raise UsageError(f"--allow-live takes read and nothing else, not {live}: what writes is never run")
    return RerunArguments(
        model=values.get("--model", "recorded"),
        base_url=values.get("--base-url"),
        tools_from=values.get("--tools-from"),
        tape=tape,  # type: ignore[arg-type]  # one of the policies, as the lines above have found
        allow_live=live == "read",
        trials=_whole(values, "--trials", 1, MOST_TRIALS),
        concurrency=_whole(values, "--concurrency", 8, MOST_AT_ONCE),
        budget_usd=_dollars(values.get("--budget-usd")),
        judge=values.get("--judge"),
        baseline=values.get("--baseline"),
        home=values.get("--home"),
        wait_s=_seconds(values.get("--wait")),
        draft_rules="--draft-rules" in switches,
        resume="--resume" in switches,
        strict="--strict" in switches,
    )


def _whole(values: dict[str, str], flag: str, default: int, most: int) -> int:
    text = values.get(flag)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= most):
        raise UsageError(f"{flag} is a whole number from 1 to {most}, not {text}")
    return int(text)


def _seconds(text: str | None) -> float:
    if text is None:
        return WAIT_S
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise UsageError(f"--wait is a number of seconds from 0, not {text}")
    return seconds


def _dollars(text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or amount < 0:
        raise UsageError(f"--budget-usd is a number of dollars from 0, not {text}")
    return amount
