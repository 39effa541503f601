"""Upstream's word on tracked proposals, without what is only the echo of a decision that was pushed there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import Any

from quality_lab.json_text import JsonTextError, parse
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING
from quality_lab.records import PUSHED_DECISION, UPSTREAM

_TOLD = ("kind", "ref", "url", "note")


@dataclass(frozen=True, kw_only=True, slots=True)
class Tracked:
    """A row of the query on tracked proposals."""

    tenant: str
    fingerprint: str
    key: str
    status: str
    decided_at: datetime | None
    record: str  # JSON text as it came


@dataclass(frozen=True, kw_only=True, slots=True)
class PushedDecision:
    """A row of the query on decisions that were pushed."""

    key: str
    retracts: str  # quality_lab/TENANT/decision/, and the journal line as JSON
    created_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sent:
    pushes: str  # journal line of the decision
    state: object
    at: datetime | None


def tracked_proposals(store: Asks) -> list[Tracked]:
    """Return each proposal that upstream tracks, as it stands."""
    return put(store, Tracked, "tracked", EVERYTHING, room=__package__)


def words_of_upstream(store: Asks, *, ours: Collection[str]) -> list[Tracked]:
    """Return the tracked proposals whose state is upstream's own word.

    Left out is what came back as it was pushed: it holds the state and the resolution that a push gave it,
    and nobody pushed another state before upstream's decision. *ours* are the keys of the decisions that
    stand here: what was taken back after it was pushed is still what upstream says.
    """
    tracked = tracked_proposals(store)
    rows = put(store, PushedDecision, "pushed_decisions", EVERYTHING, room=__package__) if tracked else []
    sent = _sent({one.tenant for one in tracked}, rows)
    return [one for one in tracked if not _is_echo(one, sent.get((one.tenant, one.key), ()), ours)]


def _sent(tenants: Collection[str], rows: Sequence[PushedDecision]) -> dict[tuple[str, str], list[_Sent]]:
    """Return what was sent by tenant and upstream's id, the earliest first."""
    found: dict[tuple[str, str], list[_Sent]] = defaultdict(list)
    for tenant in tenants:
        head = f"{UPSTREAM}/{tenant}/{PUSHED_DECISION}/"
        for row in rows:
            line = _object(row.retracts.removeprefix(head)) if row.retracts.startswith(head) else {}
            body = line.get("sent")
            if isinstance(body, dict):
                state = _state(body.get("status"), body.get("resolution"))
                said = _Sent(pushes=str(line.get("pushes")), state=state, at=row.created_at)
                found[tenant, str(line.get("proposal_id"))].append(said)
    return found


def _is_echo(one: Tracked, sent: Sequence[_Sent], ours: Collection[str]) -> bool:
    state = _state(one.status, _object(one.record).get("resolution"))
    for said, later in zip_longest(sent, sent[1:]):
        if said.state != state or said.pushes not in ours:
            continue
        if later is None or later.at is None or one.decided_at is None or one.decided_at < later.at:
            return True
    return False


def _state(status: object, resolution: object) -> object:
    told = resolution if isinstance(resolution, dict) else {}
    return status, {name: told[name] for name in _TOLD if told.get(name) is not None}


def _object(text: str) -> dict[str, Any]:
    try:
        found = parse(text)
    except JsonTextError:
        return {}
    return found if isinstance(found, dict) else {}
