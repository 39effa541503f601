"""Upstream's feedback export: one label a line, with the call that it is about laid flat beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object, keys
from quality_lab.formats.flat import FlatDecoder
from quality_lab.formats.units import RawUnit
from quality_lab.formats.upstream import LABEL_AND_CALL_KEY, CallFields, LabelItem, feedback, tool_call
from quality_lab.records import Feedback, ToolCall

if TYPE_CHECKING:
    from quality_lab.formats.bulk import BulkReader


class FeedbackLine(CallFields, kw_only=True, gc=False):
    """A line of the export."""

    id: int
    toolCallId: int
    adminId: int | None = None
    label: str
    note: str | None = None
    feedbackCreatedAt: int
    toolCallCreatedAt: int


_decoder = FlatDecoder(FeedbackLine)


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    notes = reading.notes

    def records(text: bytes, line: int) -> tuple[ToolCall, Feedback]:
        found = _decoder.decode(text, notes)
        call = tool_call(
            found,
            trace_id=found.toolCallId,
            created_at=found.toolCallCreatedAt,
            time_key="toolCallCreatedAt",
            seen_in="feedback",
            style=reading.options.style,
        )
        label = LabelItem(
            id=found.id,
            toolCallId=found.toolCallId,
            adminId=found.adminId,
            label=found.label,
            note=found.note,
            createdAt=found.feedbackCreatedAt,
        )
        return call, feedback(label, call=found, time_key="feedbackCreatedAt", reading=reading)

    return each_object(raws, reading, records)


def _bulk() -> BulkReader[Any]:
    from quality_lab.formats.upstream_bulk import FEEDBACK  # heavy, and only a large file needs it

    return FEEDBACK


FORMAT = ObjectFormat(
    name="quality_lab.feedback",
    title="Upstream's feedback export",
    recognised_by='Flat objects with "toolCallId", "feedbackCreatedAt" and "toolCallCreatedAt".',
    key=LABEL_AND_CALL_KEY,
    expectations=keys("toolCallId feedbackCreatedAt toolCallCreatedAt"),
    shapes=("toolCallId toolName label feedbackCreatedAt toolCallCreatedAt",),
    reader=_read,
    upstream_export=True,
    bulk=_bulk,
)
