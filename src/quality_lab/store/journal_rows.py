"""Records of the journal as rows."""

from __future__ import annotations

from collections.abc import Iterable

from quality_lab.records import Decision, Queue, QueuedCall, Retraction
from quality_lab.store.row_values import Place, clean, utc


def decision_row(record: Decision, place: Place) -> Iterable[object]:
    """Return the row of a decision."""
    return {
        "key": record.key,
        "tenant": clean(record.tenant) or place.tenant,
        "fingerprint": record.fingerprint,
        "action": record.action,
        "kind": record.kind,
        "ref": record.ref,
        "url": record.url,
        "note": record.note,
        "owner": record.owner,
        "due": record.due,
        "expectation": record.expectation,
        "effective_at": utc(record.effective_at),
        "decided_at": utc(record.decided_at),
        "author": record.author,
        "seen": record.seen,
    }.values()


def retraction_row(record: Retraction, place: Place) -> Iterable[object]:
    """Return the row of a line that takes another back."""
    return {
        "key": record.key,
        "retracts": record.retracts,
        "author": record.author,
        "created_at": utc(record.created_at),
    }.values()


def queue_row(record: Queue, place: Place) -> Iterable[object]:
    """Return the row of a queue."""
    return {
        "key": record.key,
        "tenant": clean(record.tenant) or place.tenant,
        "strategy": record.strategy,
        "seed": record.seed,
        "size": record.size,
        "overlap": record.overlap,
        "reviewers": [clean(name) for name in record.reviewers],
        "filters": record.filters,
        "strata": record.strata,
        "frame": record.frame,
        "drawn_at": utc(record.drawn_at),
        "author": record.author,
    }.values()


def queued_call_row(record: QueuedCall, place: Place) -> Iterable[object]:
    """Return the row of a call that was drawn."""
    return {
        "key": record.key,
        "tenant": clean(record.tenant) or place.tenant,
        "queue": record.queue,
        "call_uid": record.call_uid,
        "tool_name": record.tool_name,
        "stratum": record.stratum,
        "probability": record.probability,
        "position": record.position,
        "reviewers": [clean(name) for name in record.reviewers],
    }.values()
