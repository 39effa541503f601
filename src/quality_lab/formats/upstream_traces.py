"""Upstream's trace list: the `{"items": […]}` document of its endpoint, or one item a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object, keys
from quality_lab.formats.flat import FlatDecoder
from quality_lab.formats.units import RawUnit
from quality_lab.formats.upstream import CALL_KEY, TraceItem, tool_call
from quality_lab.records import ToolCall

if TYPE_CHECKING:
    from quality_lab.formats.bulk import BulkReader

_decoder = FlatDecoder(TraceItem)


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    notes = reading.notes

    def calls(text: bytes, line: int) -> tuple[ToolCall, ...]:
        item = _decoder.decode(text, notes)
        return (
            tool_call(
                item,
                trace_id=item.id,
                created_at=item.createdAt,
                time_key="createdAt",
                seen_in="trace",
                style=reading.options.style,
            ),
        )

    return each_object(raws, reading, calls)


def _bulk() -> BulkReader[Any]:
    from quality_lab.formats.upstream_bulk import TRACES  # heavy, and only a large file needs it

    return TRACES


FORMAT = ObjectFormat(
    name="quality_lab.traces",
    title="Upstream's trace list",
    recognised_by='Objects with "id", "toolName", "cycle" and "createdAt" and without "label".',
    key=CALL_KEY,
    expectations=keys("id toolName cycle createdAt", but="label"),
    shapes=("id toolName args result cycle createdAt",),
    reader=_read,
    upstream_export=True,
    bulk=_bulk,
)
