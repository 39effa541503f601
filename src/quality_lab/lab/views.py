"""The rows of a conversation as the exchange they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quality_lab.answers import Answer, CallView, ConversationView, Step
from quality_lab.people import NOBODY, People

if TYPE_CHECKING:
    from quality_lab.metrics.conversation import ConversationStep

_FINE = frozenset({"ok", "unknown", "good_reply"})  # the others are shown as what to look at


def conversation_view(told: Answer[ConversationStep], *, people: People = NOBODY) -> ConversationView:
    """Return the conversation with each answer of a tool beside its call, not as a message of its own."""
    return ConversationView(_steps(told, people=people), answer=told)


def call_view(told: Answer[ConversationStep], call_uid: str, *, people: People = NOBODY) -> CallView:
    """Return one call with what the user said last before it, its labels, and what was said next."""
    steps = _steps(told, chosen=call_uid, people=people)
    (place,) = (index for index, step in enumerate(steps) if step.chosen)
    asked = [step for step in steps[:place] if step.kind == "said" and step.who == "user"][-1:]
    labels = [step for step in steps if step.kind == "labelled" and step.call_uid == call_uid]
    said = [step for step in steps[place:] if step.kind == "said"][:1]
    notes = [] if asked or said else ["Its words are not in this lab: the export holds the calls alone."]
    return CallView([*asked, steps[place], *labels, *said], title=f"Call {call_uid}", notes=notes)


def _steps(told: Answer[ConversationStep], *, people: People, chosen: str | None = None) -> Sequence[Step]:
    has_calls = any(row.kind == "call" for row in told)
    shown = []
    for row in told:
        if row.kind == "message":
            told_by_its_call = has_calls and row.who in ("tool", "function")
            if row.text and not told_by_its_call:
                shown.append(Step(kind="said", who=row.who or "somebody", text=row.text, at=row.created_at))
        elif row.kind == "call":
            shown.append(_call(row, chosen=row.call_uid == chosen))
        else:
            of = "" if row.target == "call" else f" on the {row.target}"
            shown.append(
                Step(
                    kind="labelled",
                    who=people.name(row.who) if row.who else "somebody",
                    state=f"{row.label or row.result or 'no label'}{of}",
                    fine=row.label in _FINE,
                    text=row.text,
                    at=row.created_at,
                    call_uid=row.call_uid,
                )
            )
    return shown


def _call(row: ConversationStep, *, chosen: bool) -> Step:
    words = [word for word in (row.outcome, row.gate_reason, row.error_text) if word]
    return Step(
        kind="called",
        who=row.tool_name or "",
        arguments=row.arguments,
        result=row.result,
        state=": ".join(words),
        fine=row.outcome in _FINE,
        at=row.created_at,
        call_uid=row.call_uid,
        origin=None if row.file is None else f"{row.file}:{row.line}",
        chosen=chosen,
    )
