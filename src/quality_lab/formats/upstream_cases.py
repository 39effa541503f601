"""Regression cases: upstream's export and list, and the workbench's own: the same record with more keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object
from quality_lab.formats.flat import FlatDecoder
from quality_lab.formats.units import RawUnit
from quality_lab.formats.upstream import GUARD, arguments_of, result_of
from quality_lab.formats.validation import Count, epoch_s
from quality_lab.records import UPSTREAM, Record, RegressionCase, ToolCall

RECORD_TYPE = "tool_call_regression_case"
_ABSENT = msgspec.Raw()


class _Case(msgspec.Struct, kw_only=True, gc=False):
    recordType: str = RECORD_TYPE  # the list endpoint leaves it out
    id: int
    proposalId: int | None = None
    toolCallId: int | None = None
    source: str | None = None
    toolName: str
    label: str
    title: str
    input: msgspec.Raw
    expected: msgspec.Raw
    context: msgspec.Raw
    recorded: msgspec.Raw = _ABSENT
    corrected: msgspec.Raw = _ABSENT
    tape: msgspec.Raw = _ABSENT
    provenance: msgspec.Raw = _ABSENT
    status: str
    createdByAdminId: int | None = None
    createdAt: int | None = None
    updatedAt: int | None = None


class _Call(msgspec.Struct, kw_only=True):
    id: int
    conversationId: int
    contactId: int | None = None
    messageId: int | None = None
    outboundQueueId: int | None = None
    result: msgspec.Raw = _ABSENT
    error: bool | None = None
    cycle: Count | None = None
    toolCallIndex: Count | None = None
    latencyMs: float | None = None
    createdAt: int | None = None


class _Input(msgspec.Struct):
    source: str | None = None
    args: msgspec.Raw = _ABSENT


class _Context(msgspec.Struct):
    toolCall: msgspec.Raw = _ABSENT


class _Provenance(msgspec.Struct):
    call_uid: str | None = None


class _HasId(msgspec.Struct):
    id: int | None = None


_decoder = FlatDecoder(_Case)


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    def records(text: bytes, line: int) -> tuple[Record, ...]:
        found = _decoder.decode(text, reading.notes)
        call = _call(found, reading)
        case = _case(found, text, call_key=_call_key(found, call))
        return (case,) if call is None else (case, call)

    return each_object(map(_without_remark, raws), reading, records)


def journal_case(text: bytes, reading: Reading, *, line_id: str) -> RegressionCase:
    """Return the case of the record *text* that a line of the journal carries; its call is in the lab or not.

    Raises:
        Refused: the record is none.
    """
    found = _decoder.decode(text, reading.notes, below="record")
    call_uid = None
    if bytes(found.provenance):
        call_uid = msgspec.json.decode(found.provenance, type=_Provenance).call_uid
    key = None if call_uid is not None else _call_key(found, None)
    return replace(_case(found, text, call_key=key), call_uid=call_uid, journal_line=line_id)


def _case(found: _Case, text: bytes, *, call_key: str | None) -> RegressionCase:
    return RegressionCase(
        key=str(found.id),
        record=text.decode().strip(),
        tool_name=found.toolName,
        label=found.label,
        title=found.title,
        status=found.status,
        proposal_id=None if found.proposalId is None else str(found.proposalId),
        call_key=call_key,
        created_at=None if found.createdAt is None else epoch_s(found.createdAt, "createdAt"),
        updated_at=None if found.updatedAt is None else epoch_s(found.updatedAt, "updatedAt"),
    )


def _without_remark(raw: RawUnit) -> RawUnit:
    """Return *raw*, blank where it is a remark: case files may carry lines that begin with `#`."""
    return RawUnit(raw.line, b"") if raw.text.lstrip().startswith(b"#") else raw


def _call_key(found: _Case, call: ToolCall | None) -> str | None:
    if call is not None:
        return call.key
    return None if found.toolCallId is None else str(found.toolCallId)


def _call(found: _Case, reading: Reading) -> ToolCall | None:
    """Return the call that the case was made from, as far as its context tells; None where it does not."""
    try:
        told = msgspec.json.decode(found.context, type=_Context).toolCall
        if not bytes(told) or msgspec.json.decode(told, type=_HasId | None) in (None, _HasId()):
            return None
        call = msgspec.json.decode(told, type=_Call)
        given = msgspec.json.decode(found.input, type=_Input)
    except msgspec.ValidationError:
        reading.notes.count(reading.notes.not_understood, "context.toolCall of a case")
        return None
    arguments, arguments_state = arguments_of(given.args)
    result, result_state = result_of(call.result)
    return ToolCall(
        key_space=UPSTREAM,
        key=str(call.id),
        conversation_id=str(call.conversationId),
        tool_name=found.toolName,
        cycle=call.cycle,
        call_index=call.toolCallIndex,
        arguments=arguments,
        arguments_state=arguments_state,
        result=result,
        result_state=result_state,
        is_error=call.error,
        error_origin="flag" if call.error else None,
        actor="guard" if found.toolName == GUARD else "model",
        source=given.source,
        created_at=None if call.createdAt is None else epoch_s(call.createdAt, "context.toolCall.createdAt"),
        latency_ms=call.latencyMs,
        seen_in="case",
        contact_id=None if call.contactId is None else str(call.contactId),
        message_id=None if call.messageId is None else str(call.messageId),
        outbound_id=None if call.outboundQueueId is None else str(call.outboundQueueId),
    )


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    bare = "recordType" not in found and {"expected", "toolName", "status"} <= found.keys()
    return {
        f'a "recordType" of {RECORD_TYPE} (or "expected", "toolName" and "status")': bare
        or (found.get("recordType") == RECORD_TYPE)
    }


FORMAT = ObjectFormat(
    name="quality_lab.regression_cases",
    title="Regression cases, upstream's and the workbench's own",
    recognised_by=f'Objects whose "recordType" is {RECORD_TYPE}; in the list, with "expected" and "status".',
    key="(tenant, id of the case): upstream's serial number, or a digest of the content for cases made here",
    expectations=_expectations,
    shapes=("recordType toolName label input.args expected context status",),
    reader=_read,
    upstream_export=True,
)
