"""Upstream's list of the labels on one call: labels alone, without the call they are about."""

from __future__ import annotations

from collections.abc import Iterator

from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object, keys
from quality_lab.formats.flat import FlatDecoder
from quality_lab.formats.units import RawUnit
from quality_lab.formats.upstream import LabelItem, feedback
from quality_lab.records import Feedback

_decoder = FlatDecoder(LabelItem)


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    def label(text: bytes, line: int) -> tuple[Feedback]:
        item = _decoder.decode(text, reading.notes)
        return (feedback(item, call=None, time_key="createdAt", reading=reading),)

    return each_object(raws, reading, label)


FORMAT = ObjectFormat(
    name="quality_lab.labels",
    title="Upstream's labels on one call",
    recognised_by='Objects with "toolCallId", "label" and "createdAt" and without "toolName".',
    key="(tenant, id of the label): upstream's own serial number",
    expectations=keys("toolCallId label createdAt", but="toolName"),
    shapes=("toolCallId label adminId createdAt",),
    reader=_read,
)
