"""Upstream's exports many lines at once: what `upstream.tool_call` and `.feedback` say, by the column."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quality_lab.formats.bulk import BulkReader
from quality_lab.formats.columns import Batch, Choices, Column, Flags, Texts
from quality_lab.formats.upstream import GUARD, TraceItem
from quality_lab.formats.upstream_feedback import FeedbackLine
from quality_lab.labels import FIVE
from quality_lab.records import UPSTREAM

_tool_names = attrgetter("toolName")
_results = attrgetter("result")
_LABELS = {label: place for place, label in enumerate(FIVE)}  # others may have another name in this home
_SAME = {"key_space": UPSTREAM, "result_state": "present"}


def _calls(items: list[Any], found: dict[str, Column], *, key: str, time: str) -> dict[str, Column]:
    arguments, errors = found["args"], found["error"]
    assert isinstance(arguments, Texts)  # what the readers below made of the fields of these types
    assert isinstance(errors, Flags)
    starts = np.cumsum(arguments.lengths) - arguments.lengths
    null = (arguments.lengths == 4) & (np.frombuffer(arguments.utf8, np.uint8)[starts] == ord("n"))
    guard = np.array([name == GUARD for name in map(_tool_names, items)], np.int8)
    return {
        "key": found[key],
        "conversation_id": found["conversationId"],
        "tool_name": found["toolName"],
        "cycle": found["cycle"],
        "call_index": found["toolCallIndex"],
        "arguments": arguments,
        "arguments_state": Choices(("object", "absent"), null.astype(np.int8)),
        "result": found["result"],
        "is_error": errors,
        "error_origin": Choices(("flag",), errors.values.astype(np.int8) - np.int8(1)),
        "actor": Choices(("model", "guard"), guard),
        "source": found["source"],
        "created_at": found[time],
        "latency_ms": found["latencyMs"],
        "contact_id": found["contactId"],
        "message_id": found["messageId"],
        "outbound_id": found["outboundQueueId"],
    }


def _of_traces(lines: NDArray[np.int64], items: list[Any], found: dict[str, Column]) -> Batch:
    return Batch(
        lines=lines,
        calls=_calls(items, found, key="id", time="createdAt"),
        same=_SAME | {"seen_in": "trace"},
        tool_names=list(map(_tool_names, items)),
        results=list(map(_results, items)),
    )


def _of_feedback(lines: NDArray[np.int64], items: list[Any], found: dict[str, Column]) -> Batch:
    calls = _calls(items, found, key="toolCallId", time="toolCallCreatedAt")
    labels = np.array([_LABELS[item.label] for item in items], np.int8)
    return Batch(
        lines=lines,
        calls=calls,
        same=_SAME | {"seen_in": "feedback", "target_level": "call", "target_key_space": UPSTREAM},
        tool_names=list(map(_tool_names, items)),
        results=list(map(_results, items)),
        feedback={
            "key": found["id"],
            "conversation_id": calls["conversation_id"],
            "call_key": calls["key"],
            "label": Choices(FIVE, labels),
            "label_raw": found["label"],
            "author": found["adminId"],
            "note": found["note"],
            "created_at": found["feedbackCreatedAt"],
            "source": calls["source"],
            "tool_name": calls["tool_name"],
        },
    )


TRACES = BulkReader(TraceItem, seconds=("createdAt",), batch=_of_traces)
FEEDBACK = BulkReader(
    FeedbackLine,
    seconds=("feedbackCreatedAt", "toolCallCreatedAt"),
    batch=_of_feedback,
    plain=lambda item: item.label in _LABELS,
)
