"""Records of the journal as rows."""

from __future__ import annotations

from quality_lab.records import Decision, Queue, QueuedCall, Retraction
from quality_lab.store.row_values import Place, Row, clean, utc


def decision_row(record: Decision, place: Place) -> tuple[str, Row]:
    """Return the row of a decision."""
    return "decisions", {
        "key": record.key,
        "tenant": clean(record.tenant) or place.tenant,
        "fingerprint": clean(record.fingerprint),
        "action": record.action,
        "kind": clean(record.kind),
        "ref": clean(record.ref),
        "url": clean(record.url),
        "note": clean(record.note),
        "owner": clean(record.owner),
        "due": clean(record.due),
        "expectation": clean(record.expectation),
        "effective_at": utc(record.effective_at),
        "decided_at": utc(record.decided_at),
        "author": clean(record.author),
        "seen": record.seen,
    }


def retraction_row(record: Retraction, place: Place) -> tuple[str, Row]:
    """Return the row of a line that takes another back."""
    return "retractions", {
        "key": record.key,
        "retracts": record.retracts,
        "author": clean(record.author),
        "created_at": utc(record.created_at),
    }


def queue_row(record: Queue, place: Place) -> tuple[str, Row]:
    """Return the row of a queue."""
    return "queues", {
        "key": record.key,
        "tenant": clean(record.tenant) or place.tenant,
        "strategy": clean(record.strategy),
        "seed": record.seed,
        "size": record.size,
        "overlap": record.overlap,
        "reviewers": [clean(name) for name in record.reviewers],
        "filters": clean(record.filters),
        "strata": clean(record.strata),
        "frame": clean(record.frame),
        "drawn_at": utc(record.drawn_at),
        "author": clean(record.author),
    }


def queued_call_row(record: QueuedCall, place: Place) -> tuple[str, Row]:
    """Return the row of a call that was drawn."""
    return "queue_calls", {
        "key": record.key,
        "tenant": clean(record.tenant) or place.tenant,
        "queue": record.queue,
        "call_uid": record.call_uid,
        "tool_name": clean(record.tool_name),
        "stratum": clean(record.stratum),
        "probability": record.probability,
        "position": record.position,
        "reviewers": [clean(name) for name in record.reviewers],
    }
