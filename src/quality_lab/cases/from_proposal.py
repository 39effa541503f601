"""A regression case out of a tracked proposal, as upstream makes it, or refuses to in its words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from quality_lab import js_text
from quality_lab.errors import UsageError

ACTIONABLE = ("wrong_tool", "missing_tool", "bad_args")
MOST_EXAMPLES = 20
LONGEST_TITLE = 240  # in UTF-16 units, as all lengths upstream
LONGEST_BEHAVIOR = 2000
_BEHAVIOR = {
    "bad_args": "{tool} rejects or repairs invalid arguments before execution.",
    "wrong_tool": "{tool} is selected only in contexts that match its documented contract.",
    "missing_tool": "The agent either routes to an explicit capability or avoids pretending that "
    "a missing tool exists.",
}
_GOOD = "{tool} is called as it was."
_OF_PROPOSAL = ("id", "fingerprint", "title", "summary")
_IDS = ("id", "conversationId", "contactId", "messageId", "outboundQueueId")
_PLACES = ("cycle", "toolCallIndex", "latencyMs")


class CaseRefused(UsageError):
    """A request for a case that upstream answers with 400; the text is upstream's."""


def case_from_proposal(
    proposal: Mapping[str, Any],
    body: Mapping[str, Any],
    *,
    case_id: int,
    now: int,
    admin_id: int | None = None,
) -> dict[str, Any]:
    """Return the record of the case that *body* asks for, out of one of the *proposal*'s stored examples.

    *body* may hold ``exampleIndex``, ``title`` and ``expectedBehavior``; *now* is in seconds since 1970. The
    case takes tool, source and label from the example, and from the proposal what the example lacks.

    Raises:
        CaseRefused: upstream would refuse; the text is upstream's.
    """
    index = _example_index(body.get("exampleIndex"))
    title = _text(body, "title", LONGEST_TITLE)
    behavior = _text(body, "expectedBehavior", LONGEST_BEHAVIOR)
    feedback, call = _example(proposal.get("examples"), index)
    label = _first_of(ACTIONABLE, feedback.get("label"), proposal.get("label"))
    if label is None:
        raise CaseRefused("proposal label is not actionable")
    tool = _trimmed(call.get("toolName")) or str(proposal["toolName"])
    note = feedback.get("note")
    args = call.get("args")
    return {
        "recordType": "tool_call_regression_case",
        "id": case_id,
        "proposalId": proposal["id"],
        "toolCallId": _count(call.get("id")),
        "source": "tool_call_feedback",
        "toolName": tool,
        "label": label,
        "title": title or f"REG: {proposal['title']}",
        "input": {
            "source": _trimmed(call.get("source")) or proposal["source"],
            "toolName": tool,
            "args": args,
            "feedback": {"label": label, "note": note if isinstance(note, str) else None},
        },
        "expected": {
            "behavior": behavior or _default_behavior(proposal.get("kind"), label).format(tool=tool),
            "proposalKind": proposal["kind"],
            "actionItems": _texts(proposal.get("actionItems")),
        },
        "context": {
            "proposal": {
                **{key: proposal[key] for key in _OF_PROPOSAL},
                "rationale": _texts(proposal.get("rationale")),
            },
            "exampleIndex": index,
            "feedback": {key: _count(feedback.get(key)) for key in ("id", "createdAt")},
            "toolCall": {
                **{key: _count(call.get(key)) for key in _IDS},
                "result": call.get("result"),
                "error": call["error"] if isinstance(call.get("error"), bool) else None,
                **{key: _integer(call.get(key)) for key in _PLACES},
                "createdAt": _count(call.get("createdAt")),
            },
        },
        "status": "active",
        "createdByAdminId": admin_id,
        "createdAt": now,
        "updatedAt": now,
    }


def behavior_by_label(label: str, tool: str) -> str:
    """Return the sentence that stands in a case where nobody wrote what is expected.

    >>> behavior_by_label("good_reply", "quote")
    'quote is called as it was.'
    """
    return _BEHAVIOR.get(label, _GOOD).format(tool=tool)


def resolution_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the resolution that upstream writes to the proposal of a case made from it.

    >>> resolution_of({"id": 41, "title": "Quotes in baht"})["ref"]
    'REG-41'
    """
    return {"kind": "regression_case", "ref": f"REG-{record['id']}", "url": None, "note": record["title"]}


def _example_index(given: Any) -> int:
    number = 0.0 if given is None else _number(given)
    if not number.is_integer() or not 0 <= number <= MOST_EXAMPLES:
        raise CaseRefused("invalid exampleIndex")
    return int(number)


def _number(value: Any) -> float:
    """Return what JavaScript's Number makes of a JSON value; NaN where it makes nothing of it."""
    if isinstance(value, bool | int | float | Decimal):
        return js_text.double(value)
    if isinstance(value, str):
        return js_text.number(value)
    if isinstance(value, list) and len(value) < 2:  # a list of one is written as what it holds
        held = value[0] if value else None
        if held is None:
            return 0.0
        return math.nan if isinstance(held, bool) else _number(held)
    return math.nan


def _text(body: Mapping[str, Any], name: str, longest: int) -> str | None:
    given = body.get(name)
    if given is None:
        return None
    if not isinstance(given, str):
        raise CaseRefused(f"{name} must be a string")
    text = js_text.trim(given)
    if js_text.length(text) > longest:
        raise CaseRefused(f"{name} must be at most {longest} characters")
    return text


def _example(examples: Any, index: int) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    if not isinstance(examples, list) or not examples:
        raise CaseRefused("proposal has no examples")
    if index >= len(examples):
        raise CaseRefused("exampleIndex out of range")
    example = examples[index]
    feedback = example.get("feedback") if isinstance(example, Mapping) else None
    call = example.get("toolCall") if isinstance(example, Mapping) else None
    if not isinstance(feedback, Mapping) or not isinstance(call, Mapping):
        raise CaseRefused("proposal example is malformed")
    return feedback, call


def _first_of(allowed: tuple[str, ...], *given: Any) -> str | None:
    return next((each for each in given if isinstance(each, str) and each in allowed), None)


def _trimmed(value: Any) -> str:
    return js_text.trim(value) if isinstance(value, str) else ""


def _integer(value: Any) -> Any:
    return value if js_text.is_integer(value) else None


def _count(value: Any) -> Any:
    return value if js_text.is_integer(value) and value > 0 else None


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _default_behavior(kind: Any, label: str) -> str:
    if kind == "schema_fix" or label == "bad_args":
        return _BEHAVIOR["bad_args"]
    return _BEHAVIOR["wrong_tool" if kind == "routing_prompt_fix" else label]
