"""What the guards stopped, and why: the application's own detector of claims that no tool backs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from quality_lab.answers import Answer
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.undated import undated_notes


@dataclass(frozen=True, kw_only=True, slots=True)
class GuardCall:
    """A row of the query."""

    conversation_uid: str
    result: str | None
    created_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Guard:
    """A reason for which a guard stepped in, and what it did. A row with two reasons counts under both."""

    reason: str = field(metadata={"help": "not_stated where the guard names none"})
    action: str = field(metadata={"help": "rewrite, escalate, block; not_stated where the guard names none"})
    rows: int
    conversations: int
    last_at: datetime | None


def guards(store: Asks, *, filters: Filters = EVERYTHING, top: int | None = None) -> Answer[Guard]:
    """Return reasons and actions by rows, most first."""
    seen: dict[tuple[str, str], list[GuardCall]] = defaultdict(list)
    for row in put(store, GuardCall, "guards", filters):
        for pair in _reasons(row.result):
            seen[pair].append(row)
    rows = [
        Guard(
            reason=reason,
            action=action,
            rows=len(calls),
            conversations=len({call.conversation_uid for call in calls}),
            last_at=max((call.created_at for call in calls if call.created_at), default=None),
        )
        for (reason, action), calls in seen.items()
    ]
    rows.sort(key=lambda row: (-row.rows, row.reason, row.action))
    notes = undated_notes(store, filters, time="call")
    shown = rows if top is None else rows[:top]
    return Answer(shown, Guard, title="Guards", notes=notes, more=len(rows) - len(shown))


def _reasons(result: str | None) -> Iterator[tuple[str, str]]:
    """Yield each reason that a guard's result names, once, with its action."""
    try:
        said = json.loads(result or "null")
    except (ValueError, RecursionError):
        said = None
    fields = said if isinstance(said, dict) else {}
    action = fields.get("action")
    reasons = fields.get("reasons")
    named = [reason for reason in reasons if isinstance(reason, str)] if isinstance(reasons, list) else []
    for reason in dict.fromkeys(named or ["not_stated"]):
        yield reason, action if isinstance(action, str) else "not_stated"
