"""Thresholds: what a scheduled report fails on, as `FIGURE[@TOOL] OP NUMBER`.

    error_rate@book_reservation>0.2      hours_since_newest_call > 36      judged_failure_rate.point >= 15%

A rate with an interval is compared by its lower bound, so that noise raises no alarm; `.point` compares the
rate itself. A figure that is null fails: nobody knows that it is fine.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from quality_lab.answers.words import number, percent
from quality_lab.errors import UsageError
from quality_lab.reports.summary import RATES, bounds_stem

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_WRITTEN = re.compile(
    r"\s*(?P<figure>[a-z][a-z0-9_]*)(?P<point>\.point)?(?:@(?P<tool>.+?))?\s*(?P<op>>=|<=|>|<)\s*"
    r"(?P<limit>-?\d+(?:\.\d+)?)\s*(?P<percent>%)?\s*"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Threshold:
    """What a report fails on."""

    expression: str  # as it was written
    figure: str
    tool: str | None  # None: the figure of the whole window
    point: bool  # compare a rate itself, not its lower bound
    op: str
    limit: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """A threshold, held against the figures of a run; a row of summary.json's `thresholds`."""

    expression: str
    figure: str
    tool: str | None
    compared: Literal["low", "point"]
    value: float | None  # what was compared; None where the figure is null
    op: str
    limit: float
    failed: bool
    why: str | None  # a sentence where it failed


def read_threshold(expression: str) -> Threshold:
    """Return the threshold that *expression* writes down.

    >>> found = read_threshold("error_rate@book_reservation>20%")
    >>> found.figure, found.tool, found.op, found.limit, found.point
    ('error_rate', 'book_reservation', '>', 0.2, False)

    Raises: UsageError where it is none.
    """
    found = _WRITTEN.fullmatch(expression)
    if found is None:
        raise UsageError(
            f'fail-on: wanted FIGURE[@TOOL] OP NUMBER, such as "error_rate@pay>0.2"; got {expression!r}'
        )
    limit = float(found["limit"])
    return Threshold(
        expression=expression,
        figure=found["figure"],
        tool=found["tool"],
        point=found["point"] is not None,
        op=found["op"],
        limit=limit / 100 if found["percent"] else limit,
    )


def check(
    thresholds: Iterable[Threshold], figures: Mapping[str, Any], tools: Mapping[str, Mapping[str, Any]]
) -> list[Checked]:
    """Return each threshold with what came of it; *tools* holds the figures of single tools by name.

    Raises: UsageError for a figure that the report does not have, or that is no number, naming those it has.
    """
    return [_check(one, figures, tools) for one in thresholds]


def _check(one: Threshold, figures: Mapping[str, Any], tools: Mapping[str, Mapping[str, Any]]) -> Checked:
    if one.tool is None:
        known, held = set(figures), figures
    else:
        known = {name for row in tools.values() for name in row}
        held = tools.get(one.tool, {})
    if one.figure not in known:
        raise _unknown(one, known)
    stem = None if one.point or not one.figure.endswith(RATES) else bounds_stem(one.figure, held)
    value = held.get(one.figure if stem is None else f"{stem}_low")
    if value is not None and not isinstance(value, (int, float)):
        raise UsageError(f"fail-on: {one.figure} is {value!r}, and no number that could be compared")
    failed = value is None or _OPERATORS[one.op](float(value), one.limit)
    return Checked(
        expression=one.expression,
        figure=one.figure,
        tool=one.tool,
        compared="point" if stem is None else "low",
        value=None if value is None else float(value),
        op=one.op,
        limit=one.limit,
        failed=failed,
        why=_why(one, value, low=stem is not None) if failed else None,
    )


def refuse_unknown(thresholds: Iterable[Threshold], known: Collection[str]) -> None:
    """Refuse, before a report runs, a threshold on a figure of the whole window that is not among the *known* ones.

    Raises: UsageError, naming those that there are.
    """
    for one in thresholds:
        if one.tool is None and one.figure not in known:
            raise _unknown(one, known)


def _unknown(one: Threshold, known: Collection[str]) -> UsageError:
    of = "" if one.tool is None else " of single tools"
    has = ", ".join(sorted(known)) or "none"
    return UsageError(f"fail-on: this report has no figure {one.figure!r}{of}; it has {has}")


def _why(one: Threshold, value: float | None, *, low: bool) -> str:
    name = one.figure + (f" of {one.tool}" if one.tool else "")
    if value is None:
        return f"{name} is not known, and {one.expression.strip()} was to be checked"
    shown = percent if one.figure.endswith(RATES) else number
    bound = " at least" if low else ""
    return f"{name} is{bound} {shown(value)}: {one.op} {shown(one.limit)}"
