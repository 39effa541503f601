"""The regression cases that the team keeps: a dozen, two of them from the story itself."""

from __future__ import annotations

from typing import Any

import story.words as words
from story.frame import BOOK, DAY, HOUR, INFO, ORDER, PAYMENT, PAYOUT, QUOTE, REQUISITES, SLOTS, START
from story.records import KIND_OF_LABEL, VERB_OF_LABEL, proposals
from story.reviews import DANA, TOMAS, Reviews

_ORDER = {"asset": "USDT", "amount": 400, "amountMode": "source_amount"}
# From before the story, their calls are long gone: what was called, the judgement and why, what is expected.
OLD_CASES: list[tuple[str, str, dict[str, Any], Any, str, str, str]] = [
    (
        QUOTE,
        "bad_args",
        {"asset": "THB", "amount": 9_000},
        {"error": "no active rate for this pair"},
        "THB is what they get, not what they pay",
        "Never passes THB as the asset.",
        "active",
    ),
    (
        QUOTE,
        "bad_args",
        {"asset": "USDT", "amount": 0.5, "amountMode": "source_amount"},
        {"amountToThb": 16},
        "The client wrote 0,5k",
        "Reads 0,5k as 500.",
        "active",
    ),
    (
        ORDER,
        "bad_args",
        {**_ORDER, "payoutMethod": "atm"},
        {"orderId": 790, "status": "awaiting_payment"},
        "Client asked for the machine without a card",
        "Uses cardless_atm when the client has no card with them.",
        "active",
    ),
    (
        ORDER,
        "wrong_tool",
        _ORDER,
        {"orderId": 795, "status": "awaiting_payment"},
        "They only wanted to know the rate",
        "Makes no order before the client has agreed to the quote.",
        "active",
    ),
    (
        REQUISITES,
        "wrong_tool",
        {},
        {"error": "no order to pay for"},
        "There is no order yet",
        "Fetches payment details only when an order exists.",
        "active",
    ),
    (
        PAYMENT,
        "bad_args",
        {"proof": "screenshot"},
        {"ok": False, "error": "no transaction hash in the proof"},
        "The hash was in the message before",
        "Passes the transaction hash where the client gave one.",
        "archived",
    ),
    (
        PAYOUT,
        "wrong_tool",
        {"payoutMethod": "office_cash", "location": "Harbour Lane"},
        {"error": "the order is not paid"},
        "Not paid yet",
        "Issues no payout before the payment is verified.",
        "active",
    ),
    (
        BOOK,
        "bad_args",
        {"date": "2026-04-31", "time": "10:00", "purpose": "cash pick-up"},
        {"ok": False, "error": "no such day"},
        "April has thirty days",
        "Books only days that exist.",
        "archived",
    ),
    (
        SLOTS,
        "wrong_tool",
        {"date": "2026-04-20", "office": "harbour-lane"},
        {"date": "2026-04-20", "slots": ["10:00"]},
        "Asked for the address",
        "Answers where the office is without looking up free times.",
        "archived",
    ),
    (
        INFO,
        "missing_tool",
        {},
        {"workingHours": "Every day 9:00 to 21:00"},
        "Client wants to change the payout method of a paid order",
        "Hands over to an operator.",
        "active",
    ),
]


def cases(reviews: Reviews) -> list[dict[str, Any]]:
    """Return a dozen regression cases, newest first: two from the applied proposal, ten that are older."""
    applied = proposals(reviews)[1]
    made = START + 7 * DAY + 10 * HOUR + 600
    kept = [
        _case(
            40 + i,
            12,
            example,
            applied["title"],
            "Uses target_thb when the client names an amount in baht.",
            made=made + i * 240,
            status="active",
            fingerprint=applied["fingerprint"],
        )
        for i, example in enumerate(applied["examples"])
    ]
    for i, (tool, label, args, result, note, behaviour, status) in enumerate(OLD_CASES):
        at = START - (24 - 2 * i) * DAY + 5 * HOUR + 371 * i
        example = {
            "feedback": {"id": None, "label": label, "note": note, "createdAt": at - 3 * HOUR},
            "toolCall": {
                "id": None,
                "conversationId": None,
                "contactId": None,
                "messageId": None,
                "outboundQueueId": None,
                "source": "rag_reply",
                "toolName": tool,
                "args": args,
                "result": result,
                "error": False,
                "cycle": 0,
                "toolCallIndex": 0,
                "latencyMs": None,
                "createdAt": at - DAY,
            },
        }
        title = f"{VERB_OF_LABEL[label]} {tool}"
        kept.append(
            _case(
                21 + i,
                None,
                example,
                title,
                behaviour,
                made=at,
                status=status,
                fingerprint=f"{KIND_OF_LABEL[label]}:rag_reply:{tool}:{label}",
            )
        )
    return sorted(kept, key=lambda case: (case["updatedAt"], case["id"]), reverse=True)


def _case(
    number: int,
    proposal: int | None,
    example: dict[str, Any],
    title: str,
    behaviour: str,
    *,
    made: int,
    status: str,
    fingerprint: str,
) -> dict[str, Any]:
    call, feedback = example["toolCall"], example["feedback"]
    kind, label = KIND_OF_LABEL[feedback["label"]], feedback["label"]
    return {
        "recordType": "tool_call_regression_case",
        "id": number,
        "proposalId": proposal,
        "toolCallId": call["id"],
        "source": "tool_call_feedback",
        "toolName": call["toolName"],
        "label": label,
        "title": f"REG: {title}",
        "input": {
            "source": call["source"],
            "toolName": call["toolName"],
            "args": call["args"],
            "feedback": {"label": label, "note": feedback["note"]},
        },
        "expected": {"behavior": behaviour, "proposalKind": kind, "actionItems": words.ACTION_ITEMS[kind]},
        "context": {
            "proposal": {
                "id": proposal or number - 20,
                "fingerprint": fingerprint,
                "title": title,
                "summary": f"{label} on {call['toolName']}",
                "rationale": ["Seen by a reviewer."],
            },
            "exampleIndex": number - 40 if proposal else 0,
            "feedback": {"id": feedback["id"], "createdAt": feedback["createdAt"]},
            "toolCall": {k: v for k, v in call.items() if k not in ("source", "toolName", "args")},
        },
        "status": status,
        "createdByAdminId": DANA if number % 3 else TOMAS,
        "createdAt": made,
        "updatedAt": made if status == "active" else made + 9 * DAY,
    }
