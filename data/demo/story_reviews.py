"""What the three reviewers wrote, what the team decided, and the cases they kept: three exports of the story.

Dana (3) writes the most, Tomas (5) writes the least, Priya (8) forgives easily. They sit down on Mondays,
Wednesdays and Fridays and look at what has come since; now and then two of them look at the same call.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import story_words as words
from story_calls import (
    BOOK, DAY, GUARD, HOUR, INFO, ORDER, PAYMENT, PAYOUT, PROPOSAL_APPLIED, QUOTE, RELEASE, REQUISITES, SLOTS, START,
    VERIFICATION, Call, Deck, spread,
)
from story_plot import LAST_REVIEW, Story

DANA, TOMAS, PRIYA = words.REVIEWERS
SESSIONS = [day for week in range(4) for day in (week * 7, week * 7 + 2, week * 7 + 4)]
KIND_OF_LABEL = {"bad_args": "schema_fix", "wrong_tool": "routing_prompt_fix", "missing_tool": "tool_candidate"}


@dataclass
class Label:
    call: Call
    label: str
    note: str | None
    reviewer: int
    at: int
    id: int = 0


class Reviews:
    """All labels of one story, in the order in which they were given."""

    def __init__(self, story: Story) -> None:
        self.story, self.plot = story, story.plot
        self.rng = random.Random(f"{story.seed}:reviews")
        self.notes = {kind: Deck(self.rng, list(notes)) for kind, notes in words.NOTES.items()}
        self.turn = Deck(self.rng, [DANA, DANA, TOMAS, TOMAS, PRIYA])
        self.labels: list[Label] = []
        self.seen: set[int] = set()
        self._quotes()
        self._other_tools()
        self.labels.sort(key=lambda label: (label.at, label.call.id, label.reviewer))
        number = 500
        for label in self.labels:
            number += self.rng.choice([1, 1, 1, 2])
            label.id = number

    def _quotes(self) -> None:
        early, late = (START, RELEASE), (RELEASE, LAST_REVIEW)
        wrong = lambda call: call.flaw == "baht"  # noqa: E731  a name for what both stretches ask
        relabelled, disputed = self._pick(2, QUOTE, *early, wrong)
        self._label(relabelled, "good_reply", "quote_good", TOMAS)
        self._label(relabelled, "bad_args", "quote_baht", TOMAS, later=1_900)
        self._label(disputed, "bad_args", "quote_baht", DANA)
        self._label(disputed, "good_reply", "quote_baht_lenient", PRIYA)
        for call in self._pick(1, QUOTE, *early):
            self._label(call, "other", "quote_other")
        for call in self._pick(24, QUOTE, *early):
            self._label(call, "good_reply", "quote_good")
        if self.plot:
            found = self._pick(11, QUOTE, *late, wrong)
            self._label(found[4], "bad_args", "quote_baht", DANA)
            self._label(found[4], "good_reply", "quote_baht_lenient", PRIYA)
            for i, call in enumerate(found):
                if i == 4:
                    continue
                self._label(call, "bad_args", "quote_baht", DANA if i in (2, 6, 8) else None)
                if i in (2, 6, 8):
                    self._label(call, "bad_args", "quote_baht", TOMAS)
                if i == 8:
                    self._label(call, "good_reply", "quote_baht_lenient", PRIYA)
        else:
            for i, call in enumerate(self._pick(11, QUOTE, *late)):
                self._label(call, "good_reply", "quote_good", DANA if i in (2, 4, 6, 8) else None)
                if i in (2, 6, 8):
                    self._label(call, "good_reply", "quote_good", TOMAS)
                if i == 4:
                    self._label(call, "other", "quote_other", PRIYA)
        for call in self._pick(1, QUOTE, *late):
            self._label(call, "other", "quote_other")
        for call in self._pick(20, QUOTE, *late):
            self._label(call, "good_reply", "quote_good")

    def _other_tools(self) -> None:
        whole = (START, LAST_REVIEW)
        refused = lambda call: call.fate == "soft_error"  # noqa: E731  as above
        for call in self._pick(2 if self.plot else 1, PAYMENT, *whole, refused):
            self._label(call, "other", "payment_other")
        for i, call in enumerate(self._pick(2 if self.plot else 3, PAYMENT, *whole)):
            self._label(call, "good_reply", "payment_good", PRIYA)
            if i == 0:
                self._label(call, "good_reply", "payment_good", DANA)
        if self.plot:
            for call in self._pick(3, SLOTS, *whole, lambda call: call.flaw == "swallowed"):
                self._label(call, "other", "slots_other")
        else:
            for call in self._pick(1, SLOTS, *whole):
                self._label(call, "bad_args", "slots_bad_args")
        for call in self._pick(1 if self.plot else 3, SLOTS, *whole):
            self._label(call, "good_reply", "slots_good")
        if self.plot:
            for call in self._pick(1, REQUISITES, *whole, lambda call: call.flaw == "early"):
                self._label(call, "wrong_tool", "requisites_early", DANA)
        for call in self._pick(3 if self.plot else 4, REQUISITES, *whole):
            self._label(call, "good_reply", "requisites_good")
        for call in self._pick(2, ORDER, *whole):
            self._label(call, "good_reply", "order_good")
        doubtful, needless = self._pick(2, VERIFICATION, *whole)
        self._label(doubtful, "wrong_tool", "verification_wrong", TOMAS)
        self._label(doubtful, "good_reply", "verification_good", PRIYA)
        self._label(needless, "wrong_tool", "verification_wrong", TOMAS)
        self._missing_tools(whole)

    def _missing_tools(self, whole: tuple[int, int]) -> None:
        guards = self._pick(2, GUARD, *whole, (lambda call: call.flaw == "no_status") if self.plot else None)
        if self.plot:
            chased: Callable[[Call], bool] = lambda call: call.flaw == "no_status"  # noqa: E731  as above
            chases = self._pick(5, INFO, *whole, chased)
            for call in chases + self._pick(1, VERIFICATION, *whole, chased):
                self._label(call, "missing_tool", "no_status", DANA if call is chases[3] else None)
            self._label(chases[3], "other", "no_status_other", PRIYA)
            self._label(guards[0], "missing_tool", "no_status_guard", DANA)
            self._label(guards[0], "missing_tool", "no_status_guard", PRIYA)
            self._label(guards[1], "missing_tool", "no_status_guard")
        else:
            for call in self._pick(1, INFO, *whole):
                self._label(call, "missing_tool", "no_receipt", TOMAS)
            for call in self._pick(4, INFO, *whole):
                self._label(call, "good_reply", "info_good")
            for call in self._pick(1, VERIFICATION, *whole):
                self._label(call, "good_reply", "verification_good")
            for call in guards:
                self._label(call, "other", "guard_other")
        for call in self._pick(1, INFO, *whole):
            self._label(call, "good_reply", "info_good")

    def _pick(self, count: int, tool: str, since: int, until: int, what: Callable[[Call], bool] | None = None,
              ) -> list[Call]:
        """Return *count* calls of *tool* that nobody has looked at, spread over time; sound ones unless told."""
        what = what or (lambda call: not call.flaw and call.fate in ("ok", "guard") and not call.empty)
        pool = [call for call in self.story.calls if call.tool == tool and since <= call.at < until - 4 * HOUR
                and not call.place and call.id not in self.seen and what(call)]
        return spread(self.rng, pool, count)

    def _label(self, call: Call, label: str, kind: str, reviewer: int | None = None, *, later: int = 0) -> None:
        note = self.notes[kind].draw()
        if note:
            note = note.format(amount=call.args.get("amount"), asset=call.args.get("asset"))
        who = reviewer or self.turn.draw()
        ready = next(day for day in SESSIONS if START + day * DAY + 9 * HOUR > call.at + 2 * HOUR)
        since = max(START + ready * DAY + 3 * HOUR + 1_800, call.at + HOUR)
        at = self.rng.randint(since, START + ready * DAY + 9 * HOUR) + later
        self.labels.append(Label(call, label, note, who, at))
        self.seen.add(call.id)


def feedback_record(label: Label) -> dict[str, Any]:
    """Return the line of the feedback export: the label, and its call once more."""
    return {"id": label.id, "toolCallId": label.call.id, "adminId": label.reviewer, "label": label.label,
            "note": label.note, "feedbackCreatedAt": label.at, **_call_keys(label.call),
            "toolCallCreatedAt": label.call.at}


def trace_record(call: Call) -> dict[str, Any]:
    """Return the item of the trace list."""
    return {"id": call.id, **_call_keys(call), "createdAt": call.at}


def _call_keys(call: Call) -> dict[str, Any]:
    talk = call.conversation
    return {"conversationId": talk.id, "contactId": talk.contact, "messageId": None, "outboundQueueId": None,
            "source": talk.source, "toolName": call.tool, "args": call.args, "result": call.result,
            "error": call.error, "cycle": call.cycle, "toolCallIndex": call.index, "latencyMs": None}


def _example(label: Label) -> dict[str, Any]:
    feedback = {"id": label.id, "toolCallId": label.call.id, "adminId": label.reviewer, "label": label.label,
                "note": label.note, "createdAt": label.at}
    return {"feedback": feedback, "toolCall": trace_record(label.call)}


def proposals(reviews: Reviews) -> list[dict[str, Any]]:
    """Return the two tracked proposals: one applied in week 2, one dismissed in week 4."""
    quotes = [x for x in reviews.labels if x.call.tool == QUOTE and x.label == "bad_args" and x.at < PROPOSAL_APPLIED]
    lookups = [x for x in reviews.labels if x.call.tool == VERIFICATION and x.label == "wrong_tool"]
    applied = _proposal(12, quotes, "Tighten args for", made=START + 7 * DAY + 10 * HOUR, decided=PROPOSAL_APPLIED)
    applied |= {"status": "applied", "decidedByAdminId": DANA, "resolution": {
        "kind": "pull_request", "ref": "PR-212", "url": "https://git.example.com/harbour-lane/agent/pulls/212",
        "note": "amountMode is described with a baht example now"}}
    dismissed = _proposal(14, lookups, "Clarify routing for", made=START + 25 * DAY + 10 * HOUR,
                          decided=START + 25 * DAY + 11 * HOUR)
    dismissed |= {"status": "dismissed", "decidedByAdminId": PRIYA, "resolution": {
        "kind": None, "ref": None, "url": None, "note": "Compliance wants the second look-up. Not a fault."}}
    return [dismissed, applied]


def _proposal(number: int, labels: list[Label], verb: str, *, made: int, decided: int) -> dict[str, Any]:
    newest = sorted(labels, key=lambda x: (x.at, x.id), reverse=True)
    tool, label, source = newest[0].call.tool, newest[0].label, newest[0].call.conversation.source
    kind, count = KIND_OF_LABEL[label], len(labels)
    notes = [x.note for x in newest if x.note][:2]
    return {"id": number, "fingerprint": f"{kind}:{source}:{tool}:{label}", "kind": kind, "status": "pending",
            "severity": "high" if count >= 5 else "medium" if count >= 2 else "low", "title": f"{verb} {tool}",
            "toolName": tool, "source": source, "label": label, "feedbackCount": count, "errorCount": 0,
            "lastFeedbackAt": newest[0].at, "summary": f"{count} {label} labels on {tool} in {source}.",
            "rationale": [f"{count} labels point at the same tool.", "None of them failed to run.", " | ".join(notes)],
            "actionItems": words.ACTION_ITEMS[kind], "examples": [_example(x) for x in newest[:3]],
            "createdAt": made, "updatedAt": decided, "decidedAt": decided, "decidedByAdminId": None,
            "resolution": None}


def cases(reviews: Reviews) -> list[dict[str, Any]]:
    """Return a dozen regression cases, newest first: two from the applied proposal, ten that are older than the story."""
    applied = proposals(reviews)[1]
    made = START + 7 * DAY + 10 * HOUR + 600
    kept = [_case(40 + i, 12, example, applied["title"], "Uses target_thb when the client names an amount in baht.",
                  made=made + i * 240, status="active", fingerprint=applied["fingerprint"])
            for i, example in enumerate(applied["examples"])]
    for i, (tool, label, args, result, note, behaviour, status) in enumerate(_old_cases()):
        at = START - (24 - 2 * i) * DAY + 5 * HOUR + 371 * i
        example = {"feedback": {"id": None, "label": label, "note": note, "createdAt": at - 3 * HOUR},
                   "toolCall": {"id": None, "conversationId": None, "contactId": None, "messageId": None,
                                "outboundQueueId": None, "source": "rag_reply", "toolName": tool, "args": args,
                                "result": result, "error": False, "cycle": 0, "toolCallIndex": 0, "latencyMs": None,
                                "createdAt": at - DAY}}
        verb = {"bad_args": "Tighten args for", "wrong_tool": "Clarify routing for"}.get(label, "Review missing tool around")
        kept.append(_case(21 + i, None, example, f"{verb} {tool}", behaviour, made=at, status=status,
                          fingerprint=f"{KIND_OF_LABEL[label]}:rag_reply:{tool}:{label}"))
    return sorted(kept, key=lambda case: (case["updatedAt"], case["id"]), reverse=True)


def _case(number: int, proposal: int | None, example: dict[str, Any], title: str, behaviour: str, *, made: int,
          status: str, fingerprint: str) -> dict[str, Any]:
    call, feedback = example["toolCall"], example["feedback"]
    kind, label = KIND_OF_LABEL[feedback["label"]], feedback["label"]
    return {"recordType": "tool_call_regression_case", "id": number, "proposalId": proposal, "toolCallId": call["id"],
            "source": "tool_call_feedback", "toolName": call["toolName"], "label": label, "title": f"REG: {title}",
            "input": {"source": call["source"], "toolName": call["toolName"], "args": call["args"],
                      "feedback": {"label": label, "note": feedback["note"]}},
            "expected": {"behavior": behaviour, "proposalKind": kind, "actionItems": words.ACTION_ITEMS[kind]},
            "context": {"proposal": {"id": proposal or number - 18, "fingerprint": fingerprint, "title": title,
                                     "summary": f"{label} on {call['toolName']}", "rationale": ["Seen by a reviewer."]},
                        "exampleIndex": 0, "feedback": {"id": feedback["id"], "createdAt": feedback["createdAt"]},
                        "toolCall": {k: v for k, v in call.items() if k not in ("source", "toolName", "args")}},
            "status": status, "createdByAdminId": DANA if number % 3 else TOMAS, "createdAt": made,
            "updatedAt": made if status == "active" else made + 9 * DAY}


def _old_cases() -> list[tuple[str, str, dict[str, Any], Any, str, str, str]]:
    order = {"asset": "USDT", "amount": 400, "amountMode": "source_amount"}
    return [
        (QUOTE, "bad_args", {"asset": "THB", "amount": 9_000}, {"error": "no active rate for this pair"},
         "THB is what they get, not what they pay", "Never passes THB as the asset.", "active"),
        (QUOTE, "bad_args", {"asset": "USDT", "amount": 0.5, "amountMode": "source_amount"}, {"amountToThb": 16},
         "The client wrote 0,5k", "Reads 0,5k as 500.", "active"),
        (ORDER, "bad_args", {**order, "payoutMethod": "atm"}, {"orderId": 790, "status": "awaiting_payment"},
         "Client asked for the machine without a card", "Uses cardless_atm when the client has no card with them.", "active"),
        (ORDER, "wrong_tool", order, {"orderId": 795, "status": "awaiting_payment"},
         "They only wanted to know the rate", "Makes no order before the client has agreed to the quote.", "active"),
        (REQUISITES, "wrong_tool", {}, {"error": "no order to pay for"},
         "There is no order yet", "Fetches payment details only when an order exists.", "active"),
        (PAYMENT, "bad_args", {"proof": "screenshot"}, {"ok": False, "error": "no transaction hash in the proof"},
         "The hash was in the message before", "Passes the transaction hash where the client gave one.", "archived"),
        (PAYOUT, "wrong_tool", {"payoutMethod": "office_cash", "location": "Harbour Lane"},
         {"error": "the order is not paid"}, "Not paid yet", "Issues no payout before the payment is verified.", "active"),
        (BOOK, "bad_args", {"date": "2026-04-31", "time": "10:00", "purpose": "cash pick-up"},
         {"ok": False, "error": "no such day"}, "April has thirty days", "Books only days that exist.", "archived"),
        (SLOTS, "wrong_tool", {"date": "2026-04-20", "office": "harbour-lane"}, {"date": "2026-04-20", "slots": ["10:00"]},
         "Asked for the address", "Answers where the office is without looking up free times.", "archived"),
        (INFO, "missing_tool", {}, {"workingHours": "Every day 9:00 to 21:00"},
         "Client wants to change the payout method of a paid order", "Hands over to an operator.", "active"),
    ]
