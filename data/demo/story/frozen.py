"""The three cases that the team froze in the lab itself, as lines of its journal: they are red, so they gate.

One is a car in the wrong direction, one a reply that was good and has to stay so, and one is older than the
story: a word where the booking wants a number, which nothing refused then.
"""

from __future__ import annotations

import hashlib
import json
import random
from typing import Any

import story.chat_words as words
from story.chat import Chat, ChatCall
from story.concierge import TAKE_TOUR, Concierge
from story.frame import DAY, HOUR, START, iso
from story.records import KIND_OF_LABEL
from story.words import REVIEWERS

DANA, TOMAS, PRIYA = (REVIEWERS[reviewer] for reviewer in (3, 5, 8))
_FIRST_ID, _LAST_ID = 2**31, 2**53 - 1


def frozen_cases(seed: int, concierge: Concierge, labels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the lines of the journal, in order of time; *labels* are its lines on the web chat."""
    rng = random.Random(f"{seed}:frozen")
    chats = {chat.id: chat for chat in concierge.chats}
    good, good_chat, praised = next(
        (line, chat, call)
        for line in labels
        for chat in [chats[line["call"]["conversation_id"]]]
        for call in [call_of(chat, line)]
        if line["label"] == "good_reply" and not call.flaw
    )
    swapped_chat, swapped = next(
        (chat, call) for chat in concierge.chats for call in chat.calls if call.flaw == "swapped"
    )
    note = next(line["note"] for line in labels if line["call"]["conversation_id"] == swapped_chat.id)
    made = made_then(swapped_chat, swapped)["args"]
    right = {**made, "pickup": made["dropoff"], "dropoff": made["pickup"]}
    cases = [
        (START - 12 * DAY + 5 * HOUR, PRIYA, _old_case(concierge)),
        (
            good_chat.at + 5 * DAY,
            PRIYA,
            _of_chat(concierge, good_chat, praised, "good_reply", good["note"]),
        ),
        (
            swapped_chat.at + 2 * DAY,
            TOMAS,
            _of_chat(concierge, swapped_chat, swapped, "bad_args", note, right),
        ),
    ]
    return [_line(rng, at, by, record) for at, by, record in sorted(cases, key=lambda case: case[0])]


def call_of(chat: Chat, line: dict[str, Any]) -> ChatCall:
    """Return the call that a label in the journal is about."""
    place = line["call"]["message"], line["call"]["index"]
    return next(call for call in chat.calls if (call.message, call.index) == place)


def made_then(chat: Chat, call: ChatCall) -> dict[str, Any]:
    """Return the call as a case records it: its arguments, and its result as the text that it was."""
    asked = chat.messages[call.message]["tool_calls"][call.index]
    answer = next(m["content"] for m in chat.messages if m.get("tool_call_id") == asked["id"])
    return {
        "tool": call.tool,
        "args": json.loads(asked["function"]["arguments"]),
        "result": answer,
        "cycle": 0,
    }


def _of_chat(
    concierge: Concierge,
    chat: Chat,
    call: ChatCall,
    label: str,
    note: str | None,
    right: dict[str, Any] | None = None,
) -> dict[str, Any]:
    recorded = made_then(chat, call)
    tools = sorted(concierge.offered(chat), key=lambda tool: tool["function"]["name"])
    wanted = {"tool": call.tool, "args": right or recorded["args"]}
    behavior = (
        f"{call.tool} is called as it was."
        if label == "good_reply"
        else f"{call.tool} rejects or repairs invalid arguments before execution."
    )
    return _record(
        call.tool,
        label,
        note,
        args=recorded["args"],
        messages=[_message(message) for message in chat.messages[: call.message]],
        tools=tools,
        expected={"behavior": behavior, "calls": [wanted]},
        recorded=recorded,
        corrected=None if right is None else wanted,
        call_uid=_call_uid(f"{chat.id}#{call.message}.{call.index}"),
    )


def _old_case(concierge: Concierge) -> dict[str, Any]:
    """Return the case from April, whose chat is long gone."""
    args = {"tourId": "cooking", "date": "2026-04-18", "participants": "two"}
    right = {**args, "participants": 2}
    tools = [{"type": "function", "function": {"name": TAKE_TOUR, **words.DEFINITIONS[TAKE_TOUR]}}]
    return _record(
        TAKE_TOUR,
        "bad_args",
        "A word where a number belongs; the operator had to call the guest.",
        args=args,
        messages=[
            {"role": "system", "content": words.SYSTEM},
            {"role": "user", "content": "The cooking class on 18 April please, we are two."},
        ],
        tools=tools,
        expected={
            "behavior": "Passes the number of guests as a number.",
            "calls": [{"tool": TAKE_TOUR, "args": right}],
        },
        recorded={"tool": TAKE_TOUR, "args": args, "result": '{"ok": true, "stage": "new"}', "cycle": 0},
        corrected={"tool": TAKE_TOUR, "args": right},
        call_uid=None,
    )


def _record(
    tool: str,
    label: str,
    note: str | None,
    *,
    args: dict[str, Any],
    messages: list[dict[str, Any]],
    tools: list[dict[str, Any]],
    expected: dict[str, Any],
    recorded: dict[str, Any],
    corrected: dict[str, Any] | None,
    call_uid: str | None,
) -> dict[str, Any]:
    """Return the record without its id and its times."""
    breaking = "bad_args" if label == "good_reply" else label  # upstream knows no label of good replies
    behavior = expected.pop("behavior")
    return {
        "recordType": "tool_call_regression_case",
        "proposalId": None,
        "toolCallId": None,
        "source": "tool_call_feedback",
        "toolName": tool,
        "label": breaking,
        "title": f"{label} on {tool}" + (f": {note}" if note else ""),
        "input": {
            "toolName": tool,
            "args": args,
            "feedback": {"label": breaking, "note": note},
            "messages": messages,
            "tools": tools,
        },
        "expected": {"behavior": behavior, "proposalKind": KIND_OF_LABEL[breaking], **expected},
        "recorded": [recorded],
        **({} if corrected is None else {"corrected": [corrected]}),
        "provenance": {**({} if call_uid is None else {"call_uid": call_uid}), "label": label},
        "context": {},
        "status": "active",
        "createdByAdminId": None,
    }


def _line(rng: random.Random, at: int, by: str, record: dict[str, Any]) -> dict[str, Any]:
    told = {"frozen_at": iso(at), "by": by, "proof": "red", "masked": True}
    return {
        "record_type": "case",
        "id": f"{rng.getrandbits(96):024x}",
        "created_at": iso(at),
        "author": by,
        "action": "freeze",
        "record": {
            "recordType": record["recordType"],
            "id": _id_of(record),
            **record,
            "provenance": {**record["provenance"], **told},
            "createdAt": at,
            "updatedAt": at,
        },
    }


def _message(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message as a case holds it: without its time, arguments without blanks."""
    shown = {key: value for key, value in message.items() if key != "created_at"}
    if "tool_calls" in shown:
        shown["tool_calls"] = [
            {**call, "function": {**call["function"], "arguments": _compact(call["function"]["arguments"])}}
            for call in shown["tool_calls"]
        ]
    return shown


def _compact(text: str) -> str:
    return json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))


def _call_uid(key: str) -> str:
    """Return what the lab calls the call with this key: the md5 of tenant, key space and key, back to front."""
    text = "".join(f"{len(part)}:{part}" for part in ("default", "openai_chat", key))
    uid = hashlib.md5(text.encode(), usedforsecurity=False).digest()[::-1].hex()
    return "-".join((uid[:8], uid[8:12], uid[12:16], uid[16:20], uid[20:]))


def _id_of(record: dict[str, Any]) -> int:
    """Return the id that the lab makes of a case's content."""
    held = {name: record.get(name) for name in ("toolName", "label", "input", "expected", "recorded")}
    held["call"] = record["provenance"].get("call_uid")
    text = json.dumps(held, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    digest = int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")
    return _FIRST_ID + digest % (_LAST_ID - _FIRST_ID + 1)
