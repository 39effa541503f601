"""Upstream's joined examples, one a line: a label and its call as two objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object
from quality_lab.formats.flat import FlatDecoder
from quality_lab.formats.units import RawUnit
from quality_lab.formats.upstream import LABEL_AND_CALL_KEY, LabelItem, TraceItem, feedback, tool_call
from quality_lab.formats.validation import Refused, joined
from quality_lab.records import Feedback, ToolCall


class _Joined(msgspec.Struct, kw_only=True, gc=False):
    feedback: msgspec.Raw
    toolCall: msgspec.Raw


_both = FlatDecoder(_Joined)
_label = FlatDecoder(LabelItem)
_call = FlatDecoder(TraceItem)


def example(text: bytes, reading: Reading, *, below: str = "") -> tuple[ToolCall, Feedback]:
    """Return call and label of the joined example *text*, which stands at the path *below* in its line.

    Raises:
        Refused: it is not such an example, or the label is about another call.
    """
    both = _both.decode(text, reading.notes, below=below)
    label_path, call_path = joined(below, "feedback"), joined(below, "toolCall")
    label = _label.decode(bytes(both.feedback), reading.notes, below=label_path)
    call = _call.decode(bytes(both.toolCall), reading.notes, below=call_path)
    if label.toolCallId != call.id:
        raise Refused(
            f"{label_path}.toolCallId", f"wanted {call.id}, the id of its toolCall, got {label.toolCallId}"
        )
    return (
        tool_call(
            call,
            trace_id=call.id,
            created_at=call.createdAt,
            time_key=f"{call_path}.createdAt",
            seen_in="feedback",
            style=reading.options.style,
        ),
        feedback(label, call=call, time_key=f"{label_path}.createdAt", reading=reading),
    )


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    return each_object(raws, reading, lambda text, line: example(text, reading))


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    return {
        'an object "feedback"': isinstance(found.get("feedback"), dict),
        'an object "toolCall"': isinstance(found.get("toolCall"), dict),
    }


FORMAT = ObjectFormat(
    name="quality_lab.joined",
    title="Upstream's joined examples",
    recognised_by='Objects of two objects: "feedback" and "toolCall".',
    key=LABEL_AND_CALL_KEY,
    expectations=_expectations,
    shapes=("feedback.label feedback.createdAt toolCall.toolName toolCall.args",),
    reader=_read,
)
