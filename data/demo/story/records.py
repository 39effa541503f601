"""The upstream records of the story: trace items, feedback lines, tracked proposals and regression cases."""

from __future__ import annotations

from typing import Any

import story.words as words
from story.frame import (
    DAY,
    HOUR,
    PROPOSAL_APPLIED,
    QUOTE,
    START,
    VERIFICATION,
    Call,
)
from story.reviews import DANA, PRIYA, Label, Reviews

KIND_OF_LABEL = {
    "bad_args": "schema_fix",
    "wrong_tool": "routing_prompt_fix",
    "missing_tool": "tool_candidate",
}
VERB_OF_LABEL = {
    "bad_args": "Tighten args for",
    "wrong_tool": "Clarify routing for",
    "missing_tool": "Review missing tool around",
}


def feedback_record(label: Label) -> dict[str, Any]:
    """Return the line of the feedback export: the label, and its call once more."""
    return {
        "id": label.id,
        "toolCallId": label.call.id,
        "adminId": label.reviewer,
        "label": label.label,
        "note": label.note,
        "feedbackCreatedAt": label.at,
        **_call_keys(label.call),
        "toolCallCreatedAt": label.call.at,
    }


def trace_record(call: Call) -> dict[str, Any]:
    """Return the item of the trace list."""
    return {"id": call.id, **_call_keys(call), "createdAt": call.at}


def _call_keys(call: Call) -> dict[str, Any]:
    talk = call.conversation
    return {
        "conversationId": talk.id,
        "contactId": talk.contact,
        "messageId": None,
        "outboundQueueId": None,
        "source": talk.source,
        "toolName": call.tool,
        "args": call.args,
        "result": call.result,
        "error": call.error,
        "cycle": call.cycle,
        "toolCallIndex": call.index,
        "latencyMs": None,
    }


def _example(label: Label) -> dict[str, Any]:
    feedback = {
        "id": label.id,
        "toolCallId": label.call.id,
        "adminId": label.reviewer,
        "label": label.label,
        "note": label.note,
        "createdAt": label.at,
    }
    return {"feedback": feedback, "toolCall": trace_record(label.call)}


def proposals(reviews: Reviews) -> list[dict[str, Any]]:
    """Return the two tracked proposals: one applied in week 2, one dismissed in week 4."""
    quotes = [
        x
        for x in reviews.labels
        if x.call.tool == QUOTE and x.label == "bad_args" and x.at < PROPOSAL_APPLIED
    ]
    lookups = [x for x in reviews.labels if x.call.tool == VERIFICATION and x.label == "wrong_tool"]
    applied = _proposal(12, quotes, made=START + 7 * DAY + 10 * HOUR, decided=PROPOSAL_APPLIED)
    applied |= {
        "status": "applied",
        "decidedByAdminId": DANA,
        "resolution": {
            "kind": "pull_request",
            "ref": "PR-212",
            "url": "https://git.example.com/harbour-lane/agent/pulls/212",
            "note": "amountMode is described with a baht example now",
        },
    }
    dismissed = _proposal(
        14, lookups, made=START + 25 * DAY + 10 * HOUR, decided=START + 25 * DAY + 11 * HOUR
    )
    dismissed |= {
        "status": "dismissed",
        "decidedByAdminId": PRIYA,
        "resolution": {
            "kind": None,
            "ref": None,
            "url": None,
            "note": "Compliance wants the second look-up. Not a fault.",
        },
    }
    return [dismissed, applied]


def _proposal(number: int, labels: list[Label], *, made: int, decided: int) -> dict[str, Any]:
    newest = sorted(labels, key=lambda x: (x.at, x.id), reverse=True)
    tool, label, source = newest[0].call.tool, newest[0].label, newest[0].call.conversation.source
    kind, count = KIND_OF_LABEL[label], len(labels)
    notes = [x.note for x in newest if x.note][:2]
    return {
        "id": number,
        "fingerprint": f"{kind}:{source}:{tool}:{label}",
        "kind": kind,
        "status": "pending",
        "severity": "high" if count >= 5 else "medium" if count >= 2 else "low",
        "title": f"{VERB_OF_LABEL[label]} {tool}",
        "toolName": tool,
        "source": source,
        "label": label,
        "feedbackCount": count,
        "errorCount": 0,
        "lastFeedbackAt": newest[0].at,
        "summary": f"{count} {label} labels on {tool} in {source}.",
        "rationale": [
            f"{count} labels point at the same tool.",
            "None of them failed to run.",
            " | ".join(notes),
        ],
        "actionItems": words.ACTION_ITEMS[kind],
        "examples": [_example(x) for x in newest[:3]],
        "createdAt": made,
        "updatedAt": decided,
        "decidedAt": decided,
        "decidedByAdminId": None,
        "resolution": None,
    }
