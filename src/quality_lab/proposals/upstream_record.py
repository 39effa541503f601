"""Proposals as upstream tracks them: its records as they came, with what was decided here since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from quality_lab.js_text import trim
from quality_lab.json_text import compact, parse
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.joined_examples import joined_examples
from quality_lab.proposals.compat import MOST_ROWS, grouped, preview
from quality_lab.proposals.decisions import DecisionLine
from quality_lab.proposals.followed import decision_story, place_of, resolving

_LIMITS = {"kind": 64, "ref": 500, "url": 1000, "note": 2000}  # UTF-16 units, as upstream counts them
_FIRST_ID, _LAST_ID = 2**31, 2**53 - 1  # above upstream's serials, and exact in every JSON reader
_CLOSED = "closed without a reference"  # upstream wants one of whatever is applied


@dataclass(frozen=True, kw_only=True, slots=True)
class TrackedRecord:
    """A row of the question for tracked records."""

    tenant: str
    key: str
    fingerprint: str
    record: str  # JSON text as it came
    stands: int


def tracked_records(store: Asks) -> list[TrackedRecord]:
    """Return every record of a proposal that upstream tracks, updated last first."""
    return put(store, TrackedRecord, "tracked_records", EVERYTHING, room=__package__)


def upstream_proposals(store: Asks, *, tenant: str) -> Iterator[str]:
    """Yield the tracked proposals of *tenant* as upstream's records, JSON text each, updated last first.

    What was decided here after upstream's own word stands in them as upstream would hold it: pending and
    accepted are `pending`, applied and closed `applied`, a case is `REG-<id>`. Proposals that were decided here
    and are not tracked there follow, with an id made from their fingerprint. Owner, due day and expectation
    have no place in the record; they stay in the journal.
    """
    story = {
        fingerprint: lines for (owner, fingerprint), lines in decision_story(store).items() if owner == tenant
    }
    known = set()
    for one in tracked_records(store):
        if one.tenant != tenant:
            continue
        known.add(one.fingerprint)
        lines = story.get(one.fingerprint, [])
        if one.stands and lines and not _is_of_upstream(lines[-1]):
            yield compact(decided_record(parse(one.record), lines))
        else:  # as it came, on one line
            yield compact(parse(one.record)) if "\n" in one.record or "\r" in one.record else one.record
    for fingerprint in sorted(story.keys() - known):
        made = _untracked(store, fingerprint, story[fingerprint], tenant)
        if made is not None:
            yield compact(made)


def decided_record(record: Mapping[str, Any], lines: Sequence[DecisionLine]) -> dict[str, Any]:
    """Return a tracked *record* in the state that the decisions about it (the earliest first) come to."""
    last = lines[-1]
    state = {
        "accept": "pending",
        "reopen": "pending",
        "apply": "applied",
        "close": "applied",
        "dismiss": "dismissed",
    }[last.action]
    at = None if last.decided_at is None else int(last.decided_at.timestamp())
    updated = record.get("updatedAt")
    changed: dict[str, Any] = {
        "status": state,
        "updatedAt": max(at or 0, updated) if isinstance(updated, int) else at,
        "decidedAt": None if state == "pending" else at,
        "decidedByAdminId": None if state == "pending" else _admin(last.author),
        "resolution": None if state == "pending" else _resolution(lines),
    }
    return {**record, **changed}


def _resolution(lines: Sequence[DecisionLine]) -> dict[str, str | None] | None:
    last, answered = lines[-1], resolving(lines)
    said = {name: getattr(answered, name) for name in _LIMITS} | {"note": last.note or answered.note}
    if last.action == "close" and not (said["kind"] and (said["ref"] or said["url"])):
        said |= {"kind": said["kind"] or "other", "ref": said["ref"] or (None if said["url"] else _CLOSED)}
    kept = {name: _kept(said[name], most) for name, most in _LIMITS.items()}
    return kept if any(kept.values()) else None


def _kept(text: str | None, most: int) -> str | None:
    """Return a text as upstream stores it: trimmed, null where it is blank, and no longer than it takes."""
    whole = trim(text or "")
    units = whole.encode("utf-16-le", "surrogatepass")
    return (units[: most * 2].decode("utf-16-le", "ignore") if len(units) > most * 2 else whole) or None


def _admin(author: str | None) -> int | None:
    return int(author) if author is not None and author.isascii() and author.isdigit() else None


def _is_of_upstream(line: DecisionLine) -> bool:
    return line.key.startswith("upstream-")


def _untracked(
    store: Asks, fingerprint: str, lines: Sequence[DecisionLine], tenant: str
) -> dict[str, Any] | None:
    """Return a group that upstream does not track yet as it would; None where no label of it is here."""
    tool_name, source, label = place_of(fingerprint)
    picked = Filters(tool=(tool_name,), source=(source,) if source else (), label=(label,), tenant=(tenant,))
    rows = joined_examples(store, filters=picked, limit=MOST_ROWS, among=(label,))
    found = [item for item in map(preview, grouped(rows)) if item["fingerprint"] == fingerprint]
    if not found:
        return None
    first = min((line.decided_at for line in lines if line.decided_at), default=None)
    item = found[0]
    number = int.from_bytes(sha256(fingerprint.encode("utf-8", "surrogatepass")).digest()[:16])
    head = {
        "id": _FIRST_ID + number % (_LAST_ID - _FIRST_ID + 1),
        "fingerprint": fingerprint,
        "kind": item["kind"],
        "status": "pending",
    }
    rest = {name: value for name, value in item.items() if name not in head}
    times = {"createdAt": _epoch_s(first), "updatedAt": _epoch_s(first)}
    texts = {name: rest.pop(name) for name in ("summary", "rationale", "actionItems", "examples")}
    return decided_record({**head, **rest, **texts, **times}, lines)


def _epoch_s(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())
