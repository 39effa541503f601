"""What became of proposals: the state that the decisions about them come to, and whether the fault came back."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.proposals.echoes import Tracked, words_of_upstream
from quality_lab.records import DecisionAction

STATE_AFTER: dict[DecisionAction, str] = {
    "accept": "accepted",
    "apply": "applied",
    "dismiss": "dismissed",
    "close": "closed",
    "reopen": "pending",
}
_EVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class DecisionLine:
    """A decision about a proposal, as the journal has it."""

    decided_at: datetime | None
    author: str | None
    action: DecisionAction
    kind: str | None
    ref: str | None
    url: str | None
    note: str | None
    owner: str | None
    due: str | None
    expectation: str | None = field(metadata={"help": "what is to come of it"})
    effective_at: datetime | None = field(metadata={"help": "from when on; when it was decided, if not said"})
    key: str = field(metadata={"compact": False, "help": "id of the line; `undo` takes it back"})
    seen: str | None = field(metadata={"compact": False, "help": "the decision that stood then"})
    fingerprint: str = field(metadata={"compact": False})
    tenant: str = field(metadata={"compact": False})


@dataclass(frozen=True, kw_only=True, slots=True)
class Recurrence:
    """A row of the query on what happened since."""

    tenant: str
    fingerprint: str
    calls_since: int
    undated_calls: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided:
    """A proposal as it stands."""

    status: str
    decided_at: datetime | None  # from when on it holds; None where nothing is decided
    calls_since: int  # calls made at or after the decision on which a label of the group stands
    undated_calls: int  # such calls of which nobody knows when they were made
    contested: bool  # two decisions were taken on the same state; the later stands


@dataclass(frozen=True, kw_only=True, slots=True)
class _Standing:
    status: str
    decided_at: datetime | None
    tracked_key: str | None = None
    decision_key: str | None = None
    contested: bool = False


def decision_lines(store: Asks) -> list[DecisionLine]:
    """Return the decisions that the journal holds and nobody took back, the earliest first."""
    return put(store, DecisionLine, "decision_lines", EVERYTHING, room=__package__)


def standing_of(lines: Sequence[DecisionLine]) -> Sequence[DecisionLine]:
    """Return the decisions on one proposal (the earliest first) that were taken since it was last reopened."""
    since = max((place for place, line in enumerate(lines) if line.action == "reopen"), default=-1)
    return lines[since + 1 :]


def decided(store: Asks, *, filters: Filters = EVERYTHING) -> dict[tuple[str, str], Decided]:
    """Return what was decided by tenant and fingerprint; whose labels count is the filters' word.

    Decisions of the journal are folded by time, then id; upstream's own word on a tracked proposal is one of them,
    what comes back as it was pushed is not.
    No window bounds it: whether a fault came back does not depend on where one looks.
    """
    told = decision_lines(store)
    tracked = words_of_upstream(store, ours={line.key for line in told})
    lines: dict[tuple[str, str], list[DecisionLine]] = defaultdict(list)
    for line in told:
        lines[line.tenant, line.fingerprint].append(line)
    upstream = {(one.tenant, one.fingerprint): one for one in tracked}
    standing = {
        group: _fold(upstream.get(group), lines.get(group, [])) for group in upstream.keys() | lines.keys()
    }
    held = {group: one for group, one in standing.items() if one.decided_at is not None}
    since: dict[tuple[str, str], Recurrence] = {}
    if held:
        keys = sorted(f"{group[0]}\x1f{one.tracked_key}" for group, one in held.items() if one.tracked_key)
        decisions = sorted(one.decision_key for one in held.values() if one.decision_key)
        whose = Filters(author_kind=filters.author_kind)
        rows = put(store, Recurrence, "recurrences", whose, room=__package__, keys=keys, decisions=decisions)
        since = {(row.tenant, row.fingerprint): row for row in rows}
    return {
        group: Decided(
            status=one.status,
            decided_at=one.decided_at,
            calls_since=since[group].calls_since if group in since else 0,
            undated_calls=since[group].undated_calls if group in since else 0,
            contested=one.contested,
        )
        for group, one in standing.items()
    }


def _fold(tracked: Tracked | None, lines: Sequence[DecisionLine]) -> _Standing:
    """Return what the decisions about one proposal come to: the last one stands."""
    told = Counter(line.seen for line in lines)
    contested = any(count > 1 for count in told.values())
    last = max(lines, key=lambda line: (line.decided_at or _EVER, line.key), default=None)
    if tracked is not None and (last is None or (tracked.decided_at or _EVER) > (last.decided_at or _EVER)):
        at = tracked.decided_at
        return _Standing(
            status=tracked.status, decided_at=at, tracked_key=tracked.key if at else None, contested=contested
        )
    assert last is not None  # a group has at least one of the two
    holds = last.action not in ("reopen", "accept")  # nothing is changed yet that could fail to hold
    return _Standing(
        status=STATE_AFTER[last.action],
        decided_at=(last.effective_at or last.decided_at) if holds else None,
        decision_key=last.key if holds else None,
        contested=contested,
    )
