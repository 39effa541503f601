"""A labelled call frozen into a regression case: what was said, offered and done, and what it has to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from quality_lab.cases.exchange import definitions_offered, messages_before, value_of
from quality_lab.cases.from_proposal import behavior_by_label
from quality_lab.cases.made_calls import arguments_of, recorded_call, upstream_context, whole
from quality_lab.cases.volatile import Path, loosened, volatile_paths
from quality_lab.drafts import as_rule, draft_rules
from quality_lab.errors import UnknownName, UsageError
from quality_lab.labels import ACTIONABLE, FIVE, PROPOSAL_KIND, fold_label, judgement
from quality_lab.metrics.argument_samples import ArgumentSample, argument_samples
from quality_lab.metrics.asking import Asks, together
from quality_lab.metrics.call_feedback import call_feedback
from quality_lab.metrics.conversation_calls import ConversationCall, conversation_calls
from quality_lab.metrics.conversation_messages import SaidMessage, conversation_messages
from quality_lab.metrics.offered_definitions import OfferedDefinition, offered_definitions
from quality_lab.records import UPSTREAM, Feedback

_OF_THE_AGENT = ("model", "rule")  # actors whose calls a case judges
_NOT_DONE = ("error", "soft_error", "rejected")
_TITLE_NOTE = 120  # characters of a note that a title holds


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What the person who freezes a call says about it; None where the reviewers' word is to count."""

    label: str | None = None
    expected_tool: str | None = None
    expected_arguments: Mapping[str, Any] | None = None
    expect: str | None = None  # in prose


@dataclass(frozen=True, kw_only=True, slots=True)
class Material:
    """All that the lab knows of a call and of what led to it."""

    call: ConversationCall
    conversation: Sequence[ConversationCall]  # its calls, in order
    messages: Sequence[SaidMessage]
    definitions: Sequence[OfferedDefinition]
    feedback: Sequence[Feedback]
    samples: Mapping[str, Sequence[ArgumentSample]]  # by tool

    @property
    def turn(self) -> list[ConversationCall]:
        """The agent's calls of the turn, in order. Where no turn was kept, those made at the same second."""
        mine = self.call
        if mine.turn is not None:
            made = [call for call in self.conversation if call.turn == mine.turn]
        elif mine.created_at is not None:
            made = [
                call
                for call in self.conversation
                if call.created_at == mine.created_at and call.source == mine.source
            ]
        else:
            made = [mine]
        return [
            call for call in made if call.actor in _OF_THE_AGENT or call is mine and call.actor != "guard"
        ]

    def told(self) -> str:
        """Return all text that the agent could have had a value from before it made the call."""
        before = self.conversation[: self.conversation.index(self.call)]
        place = self.call.message_position
        said = [one for one in self.messages if place is None or one.position < place]
        texts = [text for one in said for text in (one.text, one.content)]
        return "\n".join(text for text in [*texts, *(call.result for call in before)] if text)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Word:
    """What a call is said to be, and what it should have been."""

    label: str
    note: str | None
    feedback: Feedback | None
    expected_tool: str | None
    expected_arguments: Mapping[str, Any] | None


def gather(store: Asks, call_uid: str, *, also_called: str | None = None) -> Material:
    """Return what the lab knows of the call with this whole uid; *also_called* names the tool wanted instead.

    Raises: UnknownName where there is no such call.
    """
    with together(store):
        calls = conversation_calls(store, call_uid)
        mine = [call for call in calls if call.call_uid == call_uid]
        if not mine:
            raise UnknownName(f"wanted a call of this lab, came {call_uid}")
        feedback = call_feedback(store, call_uid)
        tools = {mine[0].tool_name, also_called, *(row.expected_tool for row in feedback)} - {None}
        return Material(
            call=mine[0],
            conversation=calls,
            messages=conversation_messages(store, call_uid),
            definitions=offered_definitions(store, call_uid),
            feedback=feedback,
            samples={
                str(tool): argument_samples(store, str(tool), tenant=mine[0].tenant)
                for tool in sorted(map(str, tools))
            },
        )


def freeze_case(material: Material, asked: Asked, *, by: str, now: datetime) -> dict[str, Any]:
    """Return the record of the case that *material* makes, without an id and unproven; nothing is masked.

    Raises: UsageError where the call has no label that a case could be made from.
    """
    word = _word(material, asked)
    call = material.call
    seconds = int(now.timestamp())
    rules = _rules(material, word)
    label = word.label
    if label == "good_reply":
        label = "bad_args" if "args" in rules["calls"][0] else "wrong_tool"
    behavior = asked.expect or behavior_by_label(word.label, call.tool_name)
    record: dict[str, Any] = {
        "recordType": "tool_call_regression_case",
        "id": 0,
        "proposalId": None,
        "toolCallId": whole(call.key) if call.key_space == UPSTREAM else None,
        "source": "tool_call_feedback",
        "toolName": call.tool_name,
        "label": label,
        "title": _title(word, call.tool_name),
        "input": _input(material, word, label),
        "expected": {"behavior": behavior, "proposalKind": PROPOSAL_KIND[label], **rules},
    }
    if call.in_trace:  # a feedback export tells of one call of a turn only
        record["recorded"] = [recorded_call(made) for made in material.turn]
    corrected = _corrected(word, call.tool_name)
    if corrected is not None:
        record["corrected"] = corrected
    return record | {
        "provenance": {
            "call_uid": call.call_uid,
            "frozen_at": now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            "by": by,
            "label": word.label,
        },
        "context": upstream_context(call, word.feedback),
        "status": "active",
        "createdByAdminId": None,
        "createdAt": seconds,
        "updatedAt": seconds,
    }


def _word(material: Material, asked: Asked) -> _Word:
    agreed = judgement(material.feedback)
    if asked.label is not None:
        label = fold_label(asked.label)
        if label is None:
            raise UsageError(f"wanted one of {', '.join(FIVE)}; came {asked.label!r}")
    elif agreed.disputed:
        said = ", ".join(sorted({str(row.label) for row in agreed.current}))
        raise UsageError(f"reviewers disagree about this call ({said}): settle it, or name a label")
    elif agreed.label is None:
        raise UsageError("nobody has labelled this call: label it, or name a label")
    else:
        label = agreed.label
    if label not in (*ACTIONABLE, "good_reply"):
        raise UsageError(f"{label} says nothing that a case could demand: name another label")
    alike = [row for row in agreed.current if row.label == label]
    hints = [row for row in alike if row.expected_tool or row.expected_arguments is not None]
    hint = hints[-1] if hints else None
    arguments = asked.expected_arguments
    if arguments is None and hint is not None:
        found = value_of(hint.expected_arguments)
        arguments = found if isinstance(found, Mapping) else None
    notes = [row.note for row in alike if row.note]
    return _Word(
        label=label,
        note=notes[-1] if notes else None,
        feedback=alike[-1] if alike else None,
        expected_tool=asked.expected_tool or (hint.expected_tool if hint else None),
        expected_arguments=arguments,
    )


def _rules(material: Material, word: _Word) -> dict[str, Any]:
    call = material.call
    args = arguments_of(call)
    if word.label == "good_reply":
        wish: dict[str, Any] = {"tool": call.tool_name}
        if isinstance(args, Mapping):
            wish["args"] = {key: as_rule(value) for key, value in args.items()}
        if call.outcome in _NOT_DONE or call.result is None:
            wish["must_succeed"] = False  # it was right to try
        rules: dict[str, Any] = {"calls": [wish]}
    else:
        elsewhere = word.expected_tool not in (None, call.tool_name)
        rules = draft_rules(
            word.label,
            call.tool_name,
            args=args,
            expected_tool=word.expected_tool,
            expected_args=word.expected_arguments,
            corrected=_corrected(word, call.tool_name) if elsewhere else None,
        )
    for kind in ("calls", "forbidden"):
        for entry in rules.get(kind, ()):
            if "args" in entry:
                paths = _volatile(material, entry["tool"], entry["args"])
                entry["args"] = loosened(entry["args"], paths, keep_one=kind == "forbidden")
    return rules


def _volatile(material: Material, tool: str, args: Any) -> set[Path]:
    samples = material.samples.get(tool, ())
    return volatile_paths(args, samples, told=material.told(), called_at=material.call.created_at)


def _corrected(word: _Word, tool: str) -> list[dict[str, Any]] | None:
    """Return what a person wrote that should have been done; None where nobody did."""
    if word.label == "good_reply" or (word.expected_tool is None and word.expected_arguments is None):
        return None
    call: dict[str, Any] = {"tool": word.expected_tool or tool}
    if word.expected_arguments is not None:
        call["args"] = dict(word.expected_arguments)
    return [call]


def _input(material: Material, word: _Word, label: str) -> dict[str, Any]:
    call = material.call
    args = arguments_of(call)
    given: dict[str, Any] = {"source": call.source} if call.source else {}
    given |= {
        "toolName": call.tool_name,
        "args": args if isinstance(args, Mapping) else None,
        "feedback": {"label": label, "note": word.note},
    }
    messages = messages_before(material.turn, material.conversation, material.messages)
    if messages is not None:
        given["messages"] = messages
    tools = definitions_offered(material.definitions)
    if tools is not None:
        given["tools"] = tools
    return given


def _title(word: _Word, tool: str) -> str:
    note = " ".join((word.note or "").split())
    if len(note) > _TITLE_NOTE:
        note = f"{note[: _TITLE_NOTE - 1]}…"
    return f"{word.label} on {tool}" + (f": {note}" if note else "")
