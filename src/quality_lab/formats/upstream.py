"""What all of upstream's records share: a call and a label, as its exports and its lists write them."""

from __future__ import annotations

from typing import Final

import msgspec

from quality_lab.formats.contract import Reading
from quality_lab.formats.exact import is_json
from quality_lab.formats.making import quick
from quality_lab.formats.validation import Count, epoch_s, tally
from quality_lab.labels import FIVE, fold_label
from quality_lab.records import UPSTREAM, ArgumentsState, Feedback, Label, ResultState, SeenIn, ToolCall

GUARD: Final = (
    "exchange_response_guard"  # the pseudo-tool under which upstream records what its reply guard did
)
CALL_KEY: Final = "(tenant, id of the trace): upstream's own serial number"
LABEL_AND_CALL_KEY: Final = (
    "(tenant, id of the label) and (tenant, id of the trace): upstream's own serial numbers"
)
_ABSENT: Final = msgspec.Raw()
_tool_call = quick(ToolCall)
_feedback = quick(Feedback)
_LABELS: Final[dict[str, Label]] = {label: label for label in FIVE}


class CallFields(msgspec.Struct, kw_only=True, gc=False):
    """The fields of a call that stand under the same names wherever upstream writes a call."""

    conversationId: int
    contactId: int | None = None
    messageId: int | None = None
    outboundQueueId: int | None = None
    source: str
    toolName: str
    args: msgspec.Raw = _ABSENT
    result: msgspec.Raw = _ABSENT
    error: bool
    cycle: Count
    toolCallIndex: Count
    latencyMs: float | None = None


class TraceItem(CallFields, kw_only=True, gc=False):
    """An item of the trace list, and the `toolCall` of a joined example."""

    id: int
    createdAt: int


class LabelItem(msgspec.Struct, kw_only=True, gc=False):
    """A label as lists and joined examples write it."""

    id: int
    toolCallId: int
    adminId: int | None = None
    label: str
    note: str | None = None
    createdAt: int


def tool_call(
    call: CallFields,
    *,
    trace_id: int,
    created_at: int,
    time_key: str,
    seen_in: SeenIn,
    style: str | None,
) -> ToolCall:
    """Return the record of a call; *time_key* is the field that *created_at* was read from.

    No export of upstream's says in which *style* a call was made: who loads the file may.
    """
    conversation_id, contact, message, outbound = (
        call.conversationId,
        call.contactId,
        call.messageId,
        call.outboundQueueId,
    )
    arguments, arguments_state = arguments_of(call.args)
    result, result_state = result_of(call.result)
    return _tool_call(
        key_space=UPSTREAM,
        key=str(trace_id),
        conversation_id=str(conversation_id),
        tool_name=call.toolName,
        cycle=call.cycle,
        call_index=call.toolCallIndex,
        arguments=arguments,
        arguments_state=arguments_state,
        result=result,
        result_state=result_state,
        is_error=call.error,
        error_origin="flag" if call.error else None,
        actor="guard" if call.toolName == GUARD else "model",
        source=call.source,
        style=style,
        created_at=epoch_s(created_at, time_key),
        latency_ms=call.latencyMs,
        seen_in=seen_in,
        contact_id=None if contact is None else str(contact),
        message_id=None if message is None else str(message),
        outbound_id=None if outbound is None else str(outbound),
    )


def feedback(item: LabelItem, *, call: CallFields | None, time_key: str, reading: Reading) -> Feedback:
    """Return the record of a label on *call*; one that is none of the five is kept and counted."""
    return _feedback(
        key_space=UPSTREAM,
        key=str(item.id),
        target_level="call",
        target_key_space=UPSTREAM,
        conversation_id=None if call is None else str(call.conversationId),
        call_key=str(item.toolCallId),
        label=label_of(item.label, reading),
        label_raw=item.label,
        author=None if item.adminId is None else str(item.adminId),
        note=item.note,
        created_at=epoch_s(item.createdAt, time_key),
        source=None if call is None else call.source,
        tool_name=None if call is None else call.toolName,
    )


def label_of(text: str, reading: Reading) -> Label | None:
    """Return the label that *text* spells; one that is none of the five is counted as unmapped."""
    label = _LABELS.get(text) or fold_label(text)
    if label is None:
        tally(reading.notes, reading.notes.unmapped_labels, text)
    return label


def arguments_of(raw: msgspec.Raw) -> tuple[str | None, ArgumentsState]:
    """Return the JSON text of arguments as they were written, and their state.

    Arguments that came as text are read one level: that text, where it is JSON itself. Null and "" are
    `absent`, yet stay as they came; a field that was not there is `not_captured`.
    """
    text = str(raw, "utf-8")
    first = text[:1]
    if first == "{":
        return text, "object"
    if not first:
        return None, "not_captured"
    if first == '"':
        inner = msgspec.json.decode(raw, type=str)
        if not inner:
            return text, "absent"
        return (inner, "json_string") if is_json(inner.encode()) else (text, "invalid_json")
    return text, "absent" if text == "null" else "object"


def result_of(raw: msgspec.Raw) -> tuple[str | None, ResultState]:
    """Return the JSON text of a result as it was written, and its state. Null is a result: an empty one."""
    text = str(raw, "utf-8")
    return (text, "present") if text else (None, "not_captured")
