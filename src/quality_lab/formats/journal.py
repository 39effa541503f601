"""The workbench's own journal: labels on calls, cases, decisions, queues, and lines that take other lines back.

A label names its call by what the person who wrote it knew: upstream's id of the trace, the call's
`call_uid`, its key, or, in a chat, conversation, message and place in the message's batch. Kinds of lines
that this version does not know are set aside and counted; they stay in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from quality_lab.formats.chat import call_key
from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object
from quality_lab.formats.flat import FlatDecoder
from quality_lab.formats.journal_queues import bare_uid, queue_of, queued_call_of
from quality_lab.formats.moments import iso_moment
from quality_lab.formats.units import RawUnit
from quality_lab.formats.upstream import arguments_of, label_of
from quality_lab.formats.upstream_cases import journal_case
from quality_lab.formats.validation import Count, Refused, tally
from quality_lab.records import (
    BY_UID,
    PUSHED_DECISION,
    UPSTREAM,
    AuthorKind,
    Decision,
    DecisionAction,
    Feedback,
    Record,
    Retraction,
    SetAside,
    TargetLevel,
)

JOURNAL = "journal"  # the key space of the journal's own ids
_ABSENT = msgspec.Raw()
_NOTHING = (b"", b"null")


class _Label(msgspec.Struct, kw_only=True, gc=False):
    record_type: str
    id: str
    created_at: str | None = None
    author: str | None = None
    author_kind: AuthorKind = "HUMAN"
    tenant: str | None = None
    call: msgspec.Raw = _ABSENT
    conversation: msgspec.Raw = _ABSENT
    name: str | None = None
    label: str | None = None
    score: msgspec.Raw = _ABSENT
    note: str | None = None
    guide_version: str | None = None
    expected_tool: str | None = None
    expected_arguments: msgspec.Raw = _ABSENT
    adjudication: bool = False
    blind: bool | None = None  # False: in sight of what others say


class _CallTarget(msgspec.Struct, kw_only=True, gc=False):
    tool_call_id: int | str | None = None  # upstream's id of the trace
    call_uid: str | None = None
    format: str | None = None
    key_space: str | None = None
    key: str | None = None
    conversation_id: str | None = None
    message: Count | None = None
    index: Count | None = None


class _ConversationTarget(msgspec.Struct, kw_only=True, gc=False):
    format: str | None = None
    key_space: str | None = None
    conversation_id: str
    turn: Count | None = None


class _Retraction(msgspec.Struct, kw_only=True, gc=False):
    record_type: str
    id: str
    created_at: str | None = None
    author: str | None = None
    retracts: str
    note: str | None = None


class _Case(msgspec.Struct, kw_only=True, gc=False):
    record_type: str
    id: str
    created_at: str | None = None
    author: str | None = None
    action: str | None = None  # freeze, edit, archive, restore
    tenant: str | None = None
    record: msgspec.Raw


class _Decision(msgspec.Struct, kw_only=True, gc=False):
    record_type: str
    id: str
    created_at: str | None = None
    author: str | None = None
    fingerprint: str
    action: DecisionAction
    tenant: str | None = None
    proposal_id: str | None = None  # upstream's, where it tracks the proposal
    kind: str | None = None
    ref: str | None = None
    url: str | None = None
    note: str | None = None
    owner: str | None = None
    due: str | None = None
    expectation: str | None = None
    effective_at: str | None = None
    seen: str | None = None


class _Push(msgspec.Struct, kw_only=True, gc=False):
    record_type: str
    id: str
    created_at: str | None = None
    author: str | None = None
    pushes: str  # id of a journal line
    api: str | None = None
    tenant: str | None = None
    call: msgspec.Raw = _ABSENT
    feedback_id: int | None = None  # of a label: upstream's id
    theirs: bool = False  # somebody upstream had said the same before
    fingerprint: str | None = None  # of a decision
    proposal_id: int | None = None
    sent: msgspec.Raw = _ABSENT


class _Line(msgspec.Struct):
    record_type: str


_line = msgspec.json.Decoder(_Line)
_label = FlatDecoder(_Label)
_call_target = FlatDecoder(_CallTarget)
_conversation_target = FlatDecoder(_ConversationTarget)
_retraction = FlatDecoder(_Retraction)
_case = FlatDecoder(_Case)
_decision = FlatDecoder(_Decision)
_push = FlatDecoder(_Push)


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    def records(text: bytes, line: int) -> tuple[Record, ...]:
        record_type = _line.decode(text).record_type
        if record_type == "label":
            return (_feedback(_label.decode(text, reading.notes), reading),)
        if record_type == "retraction":
            found = _retraction.decode(text, reading.notes)
            created_at = None if found.created_at is None else iso_moment(found.created_at, "created_at")
            return (
                Retraction(key=found.id, retracts=found.retracts, author=found.author, created_at=created_at),
            )
        if record_type == "case":
            line_of_case = _case.decode(text, reading.notes)
            case = journal_case(bytes(line_of_case.record), reading, line_id=line_of_case.id)
            return (replace(case, tenant=line_of_case.tenant),)
        if record_type == "decision":
            return (_decision_of(_decision.decode(text, reading.notes)),)
        if record_type == "queue":
            return (queue_of(text, reading.notes),)
        if record_type == "queued_call":
            return (queued_call_of(text, reading.notes),)
        if record_type == "push":
            pushed = _push.decode(text, reading.notes)
            if pushed.feedback_id is not None and not pushed.theirs:
                return (_copy_taken_back(pushed, str(pushed.feedback_id), reading),)
            if pushed.fingerprint is not None and pushed.proposal_id is not None:
                return (_copy_taken_back(pushed, f"{PUSHED_DECISION}/{str(text, 'utf-8')}", reading),)
        if record_type in ("push", "verdict"):
            return (SetAside(kind=record_type, reason="kept in the journal; nothing is counted from it"),)
        tally(reading.notes, reading.notes.not_understood, record_type)
        return (SetAside(kind=record_type, reason="a kind of journal line that this version does not know"),)

    return each_object(raws, reading, records)


def _copy_taken_back(found: _Push, copy: str, reading: Reading) -> Retraction:
    """Return what lets a word count once: it comes back in upstream's exports, and the journal knows it better."""
    tenant = reading.options.tenant if found.tenant is None else found.tenant
    return Retraction(
        key=found.id,
        retracts=f"{UPSTREAM}/{tenant}/{copy}",
        author=found.author,
        created_at=None if found.created_at is None else iso_moment(found.created_at, "created_at"),
    )


def _feedback(found: _Label, reading: Reading) -> Feedback:
    level, space, conversation_id, key, turn = _target(found, reading)
    score = str(found.score, "utf-8")
    if found.label is None and score in ("", "null"):
        raise Refused("label", "wanted a label or a score")
    return Feedback(
        key_space=JOURNAL,
        key=found.id,
        target_level=level,
        target_key_space=space,
        conversation_id=conversation_id,
        call_key=key,
        turn=turn,
        name=found.name,
        label=None if found.label is None else label_of(found.label, reading),
        label_raw=found.label,
        score=None if score in ("", "null") else score,
        author_kind=found.author_kind,
        author=found.author,
        note=found.note,
        created_at=None if found.created_at is None else iso_moment(found.created_at, "created_at"),
        guide_version=found.guide_version,
        expected_tool=found.expected_tool,
        expected_arguments=_expected(found.expected_arguments),
        adjudication=found.adjudication,
        in_sight=found.blind is False,
        source=reading.options.source,
        tenant=found.tenant,
    )


def _decision_of(found: _Decision) -> Decision:
    return Decision(
        key=found.id,
        fingerprint=found.fingerprint,
        action=found.action,
        tenant=found.tenant,
        kind=found.kind,
        ref=found.ref,
        url=found.url,
        note=found.note,
        owner=found.owner,
        due=found.due,
        expectation=found.expectation,
        effective_at=None if found.effective_at is None else iso_moment(found.effective_at, "effective_at"),
        decided_at=None if found.created_at is None else iso_moment(found.created_at, "created_at"),
        author=found.author,
        seen=found.seen,
    )


def _target(found: _Label, reading: Reading) -> tuple[TargetLevel, str, str | None, str | None, int | None]:
    """Return level, key space, conversation, call key and turn of what the label is about."""
    if bytes(found.conversation) not in _NOTHING:
        talk = _conversation_target.decode(bytes(found.conversation), reading.notes, below="conversation")
        space = _key_space(talk.key_space or talk.format, "conversation.format")
        level: TargetLevel = "conversation" if talk.turn is None else "turn"
        return level, space, talk.conversation_id, None, talk.turn
    if bytes(found.call) in _NOTHING:
        raise Refused("call", "wanted a call or a conversation that the label is about")
    call = _call_target.decode(bytes(found.call), reading.notes, below="call")
    if call.call_uid is not None:
        return "call", BY_UID, call.conversation_id, bare_uid(call.call_uid, "call.call_uid"), None
    if call.tool_call_id is not None:
        return "call", UPSTREAM, call.conversation_id, str(call.tool_call_id), None
    space = _key_space(call.key_space or call.format, "call.format")
    if call.key is not None:
        return "call", space, call.conversation_id, call.key, None
    if call.conversation_id is None or call.message is None or call.index is None:
        wanted = "tool_call_id, call_uid, key, or conversation_id with message and index"
        raise Refused("call", f"wanted {wanted}")
    return "call", space, call.conversation_id, call_key(call.conversation_id, call.message, call.index), None


def _key_space(name: str | None, path: str) -> str:
    """Return the key space that a format's *name* stands for: all of upstream's share one."""
    if name is None:
        raise Refused(path, "wanted the format whose ids these are")
    return UPSTREAM if name.partition(".")[0] == UPSTREAM else name


def _expected(raw: msgspec.Raw) -> str | None:
    arguments, state = arguments_of(raw)
    return None if state == "absent" else arguments


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    return {
        'the key "record_type"': isinstance(found.get("record_type"), str),
        'the key "id"': isinstance(found.get("id"), str),
    }


FORMAT = ObjectFormat(
    name="quality_lab.journal",
    title="The workbench's own journal",
    recognised_by='Objects with "record_type" and "id", one a line.',
    key="(tenant, id of the line); a line says whose call, case or proposal it is about, else it is the load's",
    expectations=_expectations,
    shapes=("record_type id created_at author call label",),
    reader=_read,
)
