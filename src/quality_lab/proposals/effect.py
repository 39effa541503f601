"""What became of a decision: the rate before and since the change, held against what was expected of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from typing import Literal

from quality_lab.intervals import Rate, difference, wilson
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.rates import rate_of
from quality_lab.proposals.decisions import DecisionLine, standing_of
from quality_lab.proposals.effect_words import sentence
from quality_lab.proposals.expectations import Expectation, read_about

Verdict = Literal["verified", "not_verified", "inconclusive"]
_MOST_NEEDED = 100_000  # reviewed calls; what takes more cannot be told


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """A change of one tool in one source, from when on it holds, and what was expected of it."""

    tenant: str
    tool_name: str
    source: str | None
    label: str
    at: datetime
    expectation: str | None = None
    written_at: datetime | None = None  # when the expectation was written down


@dataclass(frozen=True, kw_only=True, slots=True)
class Effect:
    """A rate before and since a change, each with its interval and its denominator."""

    verdict: Verdict
    why: str = field(metadata={"help": "the verdict as a sentence"})
    tool_name: str
    label: str
    source: str | None
    changed_at: datetime
    rate_before: float | None = field(metadata={"unit": "share"})
    low_before: float | None = field(metadata={"unit": "share"})
    high_before: float | None = field(metadata={"unit": "share"})
    reviewed_before: int
    rate_since: float | None = field(metadata={"unit": "share"})
    low_since: float | None = field(metadata={"unit": "share"})
    high_since: float | None = field(metadata={"unit": "share"})
    reviewed_since: int
    calls_before: int = field(metadata={"compact": False, "help": "made, reviewed or not"})
    calls_since: int = field(metadata={"compact": False, "help": "made, reviewed or not"})
    change: float | None = field(metadata={"unit": "share", "compact": False, "help": "since minus before"})
    change_low: float | None = field(metadata={"unit": "share", "compact": False, "help": "Newcombe's 95 %"})
    change_high: float | None = field(metadata={"unit": "share", "compact": False})
    expectation: str | None = field(metadata={"help": "as it was written down"})
    limit: float | None = field(metadata={"unit": "share", "compact": False, "help": "as it was read"})
    below: bool | None = field(metadata={"compact": False, "help": "under the limit; no: at most"})
    by: str | None = field(metadata={"compact": False, "help": "last day on which it may come true"})
    still_open: bool = field(metadata={"compact": False, "help": "that day is still to come"})
    unread: str | None = field(metadata={"compact": False, "help": "why no limit was read"})
    needed: int | None = field(
        metadata={"help": "reviewed calls since the change that would tell; None: told, or nobody can say"}
    )
    undated_calls: int = field(metadata={"compact": False, "help": "made nobody knows when"})
    preferred_before: int = field(
        metadata={
            "compact": False,
            "help": "reviewed calls that a queue drew as they failed or were disputed",
        }
    )
    preferred_since: int = field(metadata={"compact": False})
    few_conversations: bool = field(metadata={"compact": False, "help": "on either side"})
    tenant: str = field(metadata={"compact": False})


@dataclass(frozen=True, kw_only=True, slots=True)
class EffectSums:
    """A row of the query; judged_n to judged_mm are the sums of `intervals.Sums`."""

    side: str
    calls: int
    preferred: int
    judged_n: int
    judged_y: int
    judged_conversations: int
    judged_yy: int
    judged_ym: int
    judged_mm: int


def change_of(
    lines: Sequence[DecisionLine], *, tenant: str, tool_name: str, source: str | None, label: str
) -> Change | None:
    """Return the change that decisions about one proposal (the earliest first) come to; None where none stands.

    It is the last apply since the proposal was last reopened, else the last dismissal or closing; a later close
    only ends the matter. The expectation is the last one that was written down since then, with any action.
    """
    standing = standing_of(lines)
    held = [line for line in standing if line.action != "accept"]
    if not held:
        return None
    applied = [line for line in held if line.action == "apply"]
    last = applied[-1] if applied and held[-1].action != "dismiss" else held[-1]
    at = last.effective_at or last.decided_at
    if at is None:
        return None
    told = [line for line in standing if line.expectation]
    return Change(
        tenant=tenant,
        tool_name=tool_name,
        source=source,
        label=label,
        at=at,
        expectation=told[-1].expectation if told else None,
        written_at=told[-1].decided_at if told else None,
    )


def effect(store: Asks, change: Change, *, filters: Filters = EVERYTHING) -> Effect:
    """Return the rate of a label among the reviewed calls of a tool and source before a change and since then.

    Calls count by when they were *made*: before is whatever was made before the change (from `since` on, where
    the filters say so), and since is whatever was made at it or after, up to the end of the day that the
    expectation names. A label that is added later on a call from before counts with before.

    - `verified`: the whole 95 % interval since the change keeps the limit;
    - `not_verified`: the whole interval breaks it, and the day is over;
    - `inconclusive`: neither, or the day is still to come; `needed` says how many reviewed calls would tell if
      the rate stayed as it is (where nobody has reviewed one: if none were judged so).

    Calls that a queue drew because they had failed or were disputed fail more often than others. They count as
    every reviewed call does, and are counted: where there are any, `why` says so.

    Where no limit was written down, or none can be read, before and since are compared with each other:
    verified where the rate fell beyond noise, not verified where it rose beyond noise.
    """
    expected = _expected(change, filters)
    until = _end_of_day(expected, filters)
    if until is not None and until <= change.at:
        until = None  # the day was over before the change came: it bounds nothing
    rows = put(
        store,
        EffectSums,
        "effect",
        filters,
        room=__package__,
        changed_at=_naive(change.at),
        expected_until=None if until is None else _naive(until),
        of_tenant=change.tenant,
        of_tool=change.tool_name,
        of_source=change.source,
        of_label=change.label,
    )
    sides = {row.side: row for row in rows}
    before, since = (rate_of(sides[one], "judged") if one in sides else None for one in ("before", "since"))
    limited = expected is not None and expected.limit is not None
    open_still = until is not None and filters.now() < until
    verdict = (
        _against_limit(since, expected, open_still) if limited and expected else _by_itself(before, since)
    )
    needed = None
    if verdict == "inconclusive":
        needed = _needed(since, expected) if limited and expected else _needed_to_differ(before, since)
    moved = difference(since, before)
    made = {one: int(sides[one].calls) if one in sides else 0 for one in ("before", "since", "undated")}
    preferred = {one: int(sides[one].preferred) if one in sides else 0 for one in ("before", "since")}
    found = Effect(
        verdict=verdict,
        why="",
        tool_name=change.tool_name,
        label=change.label,
        source=change.source,
        changed_at=change.at,
        rate_before=before.value if before else None,
        low_before=before.low if before else None,
        high_before=before.high if before else None,
        reviewed_before=before.n if before else 0,
        rate_since=since.value if since else None,
        low_since=since.low if since else None,
        high_since=since.high if since else None,
        reviewed_since=since.n if since else 0,
        calls_before=made["before"],
        calls_since=made["since"],
        change=moved[0] if moved else None,
        change_low=moved[1] if moved else None,
        change_high=moved[2] if moved else None,
        expectation=change.expectation,
        limit=expected.limit if expected else None,
        below=expected.below if limited and expected else None,
        by=expected.by.isoformat() if expected and expected.by else None,
        still_open=open_still,
        unread=expected.unread if expected else None,
        needed=needed,
        undated_calls=made["undated"],
        preferred_before=preferred["before"],
        preferred_since=preferred["since"],
        few_conversations=any(one is not None and one.few for one in (before, since)),
        tenant=change.tenant,
    )
    return replace(found, why=sentence(found, zone=filters.zone()))


def _expected(change: Change, filters: Filters) -> Expectation | None:
    if not change.expectation:
        return None
    written = min(change.written_at or change.at, change.at).astimezone(filters.zone()).date()
    return read_about(change.expectation, written=written, label=change.label, tool_name=change.tool_name)


def _end_of_day(expected: Expectation | None, filters: Filters) -> datetime | None:
    if expected is None or expected.by is None:
        return None
    return datetime.combine(expected.by + timedelta(days=1), time.min, filters.zone()).astimezone(UTC)


def _against_limit(since: Rate | None, expected: Expectation, open_still: bool) -> Verdict:
    if since is None:
        return "inconclusive"
    if expected.met_by(since.high):
        return "verified"
    return "not_verified" if not expected.met_by(since.low) and not open_still else "inconclusive"


def _by_itself(before: Rate | None, since: Rate | None) -> Verdict:
    moved = difference(since, before)
    if moved is None:
        return "inconclusive"
    _, low, high = moved
    return "verified" if high < 0 else "not_verified" if low > 0 else "inconclusive"


def _needed(since: Rate | None, expected: Expectation) -> int | None:
    """Return how many reviewed calls would tell on which side of the limit the rate lies; None: no number does."""
    share = since.value if since else 0.0
    worth = since.n / since.n_eff if since else 1.0  # calls that one independent call takes

    def tells(n: int) -> bool:
        low, high = wilson(share * n / worth, n / worth)
        return expected.met_by(high) or not expected.met_by(low)

    return _least(tells, start=(since.n if since else 0) + 1)


def _needed_to_differ(before: Rate | None, since: Rate | None) -> int | None:
    if before is None or (since is not None and since.value == before.value):
        return None
    share = since.value if since else 0.0
    worth = since.n / since.n_eff if since else 1.0

    def tells(n: int) -> bool:
        low, high = wilson(share * n / worth, n / worth)
        there = Rate(value=share, low=low, high=high, n=n, n_eff=n / worth, conversations=n, few=False)
        return _by_itself(before, there) != "inconclusive"

    return _least(tells, start=(since.n if since else 0) + 1)


def _least(tells: Callable[[int], bool], *, start: int) -> int | None:
    """Return the least number from *start* on at which *tells* holds, which from there on it does."""
    high = start
    while not tells(high):
        high *= 2
        if high > _MOST_NEEDED:
            return None
    low = max(start - 1, high // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if tells(middle) else (middle, high)
    return high


def _naive(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)
