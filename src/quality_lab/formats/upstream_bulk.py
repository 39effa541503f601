"""Upstream's exports many lines at once: what `upstream.tool_call` and `.feedback` say, by the column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from quality_lab.formats.bulk import BulkReader
from quality_lab.formats.columns import Batch, Choices, Column, Flags, Texts, starts_of
from quality_lab.formats.upstream import GUARD, TraceItem
from quality_lab.formats.upstream_feedback import FeedbackLine
from quality_lab.labels import FIVE
from quality_lab.records import UPSTREAM

_LABELS: dict[str, int] = {
    label: place for place, label in enumerate(FIVE)
}  # others may have another name in this home
_SAME = {"key_space": UPSTREAM, "result_state": "present"}


def _calls(found: dict[str, Column], *, key: str, time: str) -> dict[str, Column]:
    arguments, errors, tools = found["args"], found["error"], found["toolName"]
    assert isinstance(arguments, Texts)  # what the readers below make of these fields
    assert isinstance(errors, Flags)
    assert isinstance(tools, Choices)
    first = np.frombuffer(arguments.utf8, np.uint8)[starts_of(arguments)]
    null = (arguments.lengths == 4) & (first == ord("n"))
    guard = np.array([name == GUARD for name in tools.words], np.int8)[tools.chosen]
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


def _of_traces(lines: NDArray[np.int64], found: dict[str, Column]) -> Batch:
    return Batch(
        lines=lines,
        calls=_calls(found, key="id", time="createdAt"),
        same=_SAME | {"seen_in": "trace"},
    )


def _of_feedback(lines: NDArray[np.int64], found: dict[str, Column]) -> Batch:
    calls = _calls(found, key="toolCallId", time="toolCallCreatedAt")
    raw = found["label"]
    assert isinstance(raw, Choices)
    labels = np.array([_LABELS.get(word, -1) for word in raw.words], np.int8)[raw.chosen]
    return Batch(
        lines=lines,
        calls=calls,
        same=_SAME | {"seen_in": "feedback", "target_level": "call", "target_key_space": UPSTREAM},
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


def _is_one_of_the_five(found: dict[str, Column]) -> NDArray[np.bool_]:
    labels = found["label"]
    assert isinstance(labels, Choices)
    fits: NDArray[np.bool_] = np.array([word in _LABELS for word in labels.words], np.bool_)[labels.chosen]
    return fits


TRACES = BulkReader(TraceItem, seconds=("createdAt",), repeated=("source", "toolName"), batch=_of_traces)
FEEDBACK = BulkReader(
    FeedbackLine,
    seconds=("feedbackCreatedAt", "toolCallCreatedAt"),
    repeated=("source", "toolName", "label"),
    batch=_of_feedback,
    plain=_is_one_of_the_five,
)
