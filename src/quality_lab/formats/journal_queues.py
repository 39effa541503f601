"""Lines of the journal about queues: the draw itself, and one line for each call that was drawn.

A line a call, so that one call can be forgotten and the rest of the draw stands.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

import msgspec

from quality_lab.formats.flat import FlatDecoder
from quality_lab.formats.moments import iso_moment
from quality_lab.formats.validation import Amount, Count, Refused, refusal
from quality_lab.records import Actor, Outcome, Queue, QueuedCall, ReadNotes
from quality_lab.sampling import Strategy

Value = TypeVar("Value")
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Seed = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class _Stratum(msgspec.Struct):
    stratum: str
    calls: Amount
    drawn: Amount


class _Cell(msgspec.Struct):
    tool_name: str
    stratum: str
    calls: Amount


class _Filters(msgspec.Struct, forbid_unknown_fields=True):
    """What picked the frame: `Filters.of` takes it as it is."""

    tool: list[str] | None = None
    source: list[str] | None = None
    outcome: list[Outcome] | None = None
    style: list[str] | None = None
    model: list[str] | None = None
    actor: list[Actor] | None = None
    tenant: list[str] | None = None
    error: bool | None = None
    since: str | None = None
    until: str | None = None


class _Queue(msgspec.Struct, kw_only=True, gc=False):
    record_type: str
    id: str
    created_at: str | None = None
    author: str | None = None
    tenant: str | None = None
    strategy: Strategy
    seed: Seed
    size: Amount
    overlap: Share = 0.0
    reviewers: msgspec.Raw = msgspec.Raw(b"[]")
    filters: msgspec.Raw = msgspec.Raw(b"{}")
    strata: msgspec.Raw
    frame: msgspec.Raw


class _QueuedCall(msgspec.Struct, kw_only=True, gc=False):
    record_type: str
    id: str
    created_at: str | None = None
    author: str | None = None
    tenant: str | None = None
    queue: str
    call_uid: str
    tool_name: str
    stratum: str
    probability: Share
    position: Count
    reviewers: msgspec.Raw = msgspec.Raw(b"[]")


_queue = FlatDecoder(_Queue)
_queued_call = FlatDecoder(_QueuedCall)
_names: msgspec.json.Decoder[list[str]] = msgspec.json.Decoder(list[str])
_filters = msgspec.json.Decoder(_Filters)
_strata = msgspec.json.Decoder(list[_Stratum])
_cells = msgspec.json.Decoder(list[_Cell])


def queue_of(text: bytes, notes: ReadNotes) -> Queue:
    """Return the queue of a line. Raises: Refused where a field is not what it should be."""
    found = _queue.decode(text, notes)
    picked = _checked(found.filters, _filters, "filters")
    for name, moment in (("filters.since", picked.since), ("filters.until", picked.until)):
        if moment is not None:
            iso_moment(moment, name)
    _checked(found.strata, _strata, "strata")
    _checked(found.frame, _cells, "frame")
    return Queue(
        key=found.id,
        tenant=found.tenant,
        strategy=found.strategy,
        seed=found.seed,
        size=found.size,
        overlap=found.overlap,
        reviewers=_reviewers(found.reviewers),
        filters=str(found.filters, "utf-8"),
        strata=str(found.strata, "utf-8"),
        frame=str(found.frame, "utf-8"),
        drawn_at=None if found.created_at is None else iso_moment(found.created_at, "created_at"),
        author=found.author,
    )


def queued_call_of(text: bytes, notes: ReadNotes) -> QueuedCall:
    """Return the drawn call of a line. Raises: Refused where a field is not what it should be."""
    found = _queued_call.decode(text, notes)
    return QueuedCall(
        key=found.id,
        tenant=found.tenant,
        queue=found.queue,
        call_uid=bare_uid(found.call_uid, "call_uid"),
        tool_name=found.tool_name,
        stratum=found.stratum,
        probability=found.probability,
        position=found.position,
        reviewers=_reviewers(found.reviewers),
    )


def bare_uid(text: str, path: str) -> str:
    """Return a uid as 32 hex digits. Raises: Refused where it is none."""
    bare = text.replace("-", "").lower()
    if len(bare) != 32 or not set(bare) <= set("0123456789abcdef"):
        raise Refused(path, f"wanted 32 hex digits, got {text[:40]!r}")
    return bare


def _reviewers(raw: msgspec.Raw) -> tuple[str, ...]:
    names = _checked(raw, _names, "reviewers")
    return tuple(names)


def _checked(raw: msgspec.Raw, decoder: msgspec.json.Decoder[Value], path: str) -> Value:
    try:
        return decoder.decode(bytes(raw))
    except msgspec.ValidationError as problem:
        raise Refused(*refusal(problem, below=path)) from None
