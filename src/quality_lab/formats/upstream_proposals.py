"""Upstream's proposals: previews and tracked ones, as `{"items": […]}` or one a line, with their examples."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import msgspec

from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object, keys
from quality_lab.formats.flat import FlatDecoder
from quality_lab.formats.units import RawUnit
from quality_lab.formats.upstream import LABEL_AND_CALL_KEY
from quality_lab.formats.upstream_joined import example
from quality_lab.formats.validation import Refused, epoch_s
from quality_lab.records import Record, TrackedProposal


class _Proposal(msgspec.Struct, kw_only=True, gc=False):
    id: int | str  # a preview's is its fingerprint
    fingerprint: str
    toolName: str
    source: str
    label: str
    status: str | None = None
    createdAt: int | None = None
    updatedAt: int | None = None
    decidedAt: int | None = None
    examples: list[msgspec.Raw] = []
    kind: msgspec.Raw = msgspec.Raw()
    severity: msgspec.Raw = msgspec.Raw()
    title: msgspec.Raw = msgspec.Raw()
    summary: msgspec.Raw = msgspec.Raw()
    rationale: msgspec.Raw = msgspec.Raw()
    actionItems: msgspec.Raw = msgspec.Raw()
    feedbackCount: msgspec.Raw = msgspec.Raw()
    errorCount: msgspec.Raw = msgspec.Raw()
    lastFeedbackAt: msgspec.Raw = msgspec.Raw()
    decidedByAdminId: msgspec.Raw = msgspec.Raw()
    resolution: msgspec.Raw = msgspec.Raw()


_decoder = FlatDecoder(_Proposal)


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    def records(text: bytes, line: int) -> tuple[Record, ...]:
        found = _decoder.decode(text, reading.notes)
        proposal = TrackedProposal(
            key=str(found.id),
            record=text.decode().strip(),
            fingerprint=found.fingerprint,
            tool_name=found.toolName,
            source=found.source,
            label=found.label,
            status=found.status,
            created_at=_time(found.createdAt, "createdAt"),
            updated_at=_time(found.updatedAt, "updatedAt"),
            decided_at=_time(found.decidedAt, "decidedAt"),
        )
        return (proposal, *_examples(found.examples, reading))

    return each_object(raws, reading, records)


def _examples(raws: list[msgspec.Raw], reading: Reading) -> Iterator[Record]:
    """Yield the calls and labels of a proposal's examples; a damaged one is counted and costs only itself."""
    for place, raw in enumerate(raws):
        try:
            yield from example(bytes(raw), reading, below=f"examples[{place}]")
        except Refused:
            reading.notes.count(reading.notes.not_understood, "examples[] of a proposal")


def _time(seconds: int | None, path: str) -> datetime | None:
    return None if seconds is None else epoch_s(seconds, path)


FORMAT = ObjectFormat(
    name="quality_lab.proposals",
    title="Upstream's proposals, previews and tracked",
    recognised_by='Objects with "fingerprint", "toolName", "label" and "examples".',
    key=f"(tenant, id of the proposal; its fingerprint for a preview); for examples {LABEL_AND_CALL_KEY}",
    expectations=keys("fingerprint toolName label examples"),
    shapes=("fingerprint toolName label examples",),
    reader=_read,
)
