"""What goes wrong: the ordinary noise of any month, and the plot.

Incidents come in numbers that do not depend on the seed, spread evenly over time. The plot is nothing but
larger numbers in five places; a story without it has the same people on the same days.

    args_drift   since the release in week 3 an amount in baht is quoted as an amount of the other currency
    early_call   newcomers are sent for payment details before they are verified, and refused (see `Exchange`)
    no_tool      who asks where a payout is gets opening hours, or an invented code that the guard has to stop
    swallowed    since the calendar moved in week 2 a time-out of the calendar comes back as an empty answer
    failure      the payment check refuses payments that it should know
"""

from __future__ import annotations

import random
from typing import Any

import story.words as words
from story.answers import quoted
from story.calls import Exchange
from story.frame import (
    BOOK,
    CALENDAR_MOVED,
    CANCEL,
    DAY,
    GUARD,
    HOUR,
    INFO,
    ORDER,
    PAYMENT,
    PAYOUT,
    QUOTE,
    RELEASE,
    REQUISITES,
    SLOTS,
    START,
    VERIFICATION,
    Call,
    spread,
)

LAST_REVIEW = START + 25 * DAY  # Friday of week 4: what came later was not reviewed
QUIET_END = START + 27 * DAY
NOTHINGS: list[Any] = [[], {}, [], None, {}, [], [], {}, None, [], {}, [], {}]
NOISE: list[tuple[str, int, str, dict[str, Any]]] = [
    (QUOTE, 3, "soft_error", {"error": "no active rate for this pair"}),
    (QUOTE, 1, "soft_error", {"error": "amount is missing"}),
    (REQUISITES, 1, "soft_error", {"error": "no payment details for this method"}),
    (PAYOUT, 1, "soft_error", {"error": "the payout desk is closed"}),
    (BOOK, 1, "soft_error", {"ok": False, "error": "this time was just taken"}),
    (QUOTE, 1, "error", {"error": "rate service timed out"}),
    (VERIFICATION, 1, "error", {"error": "verification service answered 502"}),
    (INFO, 1, "error", {"error": "connection reset by peer"}),
    (SLOTS, 2, "error", {"error": "calendar service timed out"}),
    (REQUISITES, 1, "error", {"error": "wallet pool is locked"}),
    (REQUISITES, 2, "gated", {"needsOperator": True, "note": "No free wallet."}),
    (PAYMENT, 2, "gated", {"ok": False, "needsOperator": True, "note": "An operator looks at the receipt."}),
    (PAYOUT, 1, "gated", {"needsOperator": True, "note": "The code is not there yet."}),
    (INFO, 1, "ok", {}),
]


class Story:
    """The exchange assistant's four weeks; `calls` are all calls and guard rows in the order of recording."""

    def __init__(self, seed: int, *, plot: bool) -> None:
        self.seed, self.plot = seed, plot
        self.rng = random.Random(f"{seed}:incidents")
        self.exchange = Exchange(seed, plot=plot)
        self._guards()
        self.calls = self.exchange.recorded()
        self._wrong_arguments()
        self._empty_answers()
        self._failed_payments()
        self._orders_that_do_not_come_about()
        self._ordinary_noise()

    def sound(self, tool: str, *, since: int = 0, until: int = START + 28 * DAY) -> list[Call]:
        """Return the calls of *tool* with nothing wrong so far, in order of time."""
        return [
            c
            for c in self.calls
            if c.tool == tool and c.fate == "ok" and not c.flaw and not c.empty and since <= c.at < until
        ]

    def day(self, number: int) -> int:
        """Return the second at which day *number* of the story begins, from 0."""
        return START + number * DAY

    def _guards(self) -> None:
        rng, talks = self.rng, self.exchange.conversations
        if self.plot:
            chasing = rng.sample([talk for talk in talks if talk.kind == "status"], 11)
            for talk in sorted(chasing, key=lambda talk: talk.start):
                claim = rng.choice(words.PAYOUT_CLAIMS).format(code=f"DEMO-{rng.randint(1000, 9999)}")
                talk.turns[0][1].append(guarded("escalate", "unbacked_payout_code", claim, flaw="no_status"))
        rates = rng.sample([talk for talk in talks if talk.kind == "rate"][2:-2], 4)
        for talk, claim in zip(rates[:2], words.HAGGLING, strict=True):
            talk.say(rng.randint(70, 420), guarded("rewrite", "rate_negotiation", claim))
        for talk, claim in zip(rates[2:], words.QUOTE_CLAIMS, strict=True):
            talk.say(rng.randint(70, 420), guarded("rewrite", "unbacked_quote", claim))
        newcomer = rng.choice([talk for talk in talks if talk.kind == "newcomer"])
        newcomer.say(rng.randint(70, 420), guarded("rewrite", "unbacked_requisites", words.REQUISITES_CLAIM))

    def _wrong_arguments(self) -> None:
        """Read baht as the other currency: twice in the first week, and again and again since the release."""
        stretches = [(START, START + 4 * DAY + 12 * HOUR, 2)]
        if self.plot:
            stretches += [(RELEASE, LAST_REVIEW, 15), (LAST_REVIEW, START + 28 * DAY, 3)]
        for since, until, count in stretches:
            in_baht = [
                call
                for call in self.sound(QUOTE, since=since, until=until)
                if call.args["amountMode"] == "target_thb" and not call.place
            ]
            for call in spread(self.rng, in_baht, min(count, len(in_baht))):
                call.args["amountMode"] = "source_amount"
                call.result, call.flaw = quoted(call.args, call.result["rate"]), "baht"

    def _free_slots_nobody_booked(self, since: int = 0) -> list[Call]:
        booked = {call.conversation.id: call.at for call in self.calls if call.tool == BOOK}
        lookups = [call for call in self.calls if call.tool == SLOTS]
        relied_on = {
            call.conversation.id: call for call in lookups if call.at < booked.get(call.conversation.id, 0)
        }
        return [
            call for call in self.sound(SLOTS, since=since) if relied_on.get(call.conversation.id) is not call
        ]

    def _empty_answers(self) -> None:
        lookups = self._free_slots_nobody_booked(CALENDAR_MOVED if self.plot else 0)
        for call, nothing in zip(spread(self.rng, lookups, 13 if self.plot else 2), NOTHINGS, strict=False):
            call.result, call.flaw = nothing, "swallowed"

    def _failed_payments(self) -> None:
        paid_out = {call.conversation.id for call in self.calls if call.tool == PAYOUT}
        twice = {call.conversation.id for call in self.calls if call.tool == PAYMENT and call.place}
        failing = [
            call
            for call in self.sound(PAYMENT)
            if self.plot and call.conversation.id in twice and not call.place
        ]
        once = [call for call in self.sound(PAYMENT) if call.conversation.id not in twice | paid_out]
        failing += spread(self.rng, once, 7 if self.plot else 2)
        for call in failing:
            crypto = "paymentReference" in call.args
            refusal = self.rng.choice(words.CRYPTO_REFUSALS if crypto else words.BANK_REFUSALS)
            call.result, call.fate = {"orderId": call.result["orderId"], **refusal}, "soft_error"

    def _orders_that_do_not_come_about(self) -> None:
        """Refuse the order in most conversations that end with a cancellation."""
        unverified = {
            "ok": False,
            "needsVerification": True,
            "status": "missing",
            "instructions": "Please send a photo of the passport and a selfie.",
        }
        cancelled = {call.conversation.id: call for call in self.calls if call.tool == CANCEL}
        orders = [call for call in self.sound(ORDER) if call.conversation.id in cancelled]
        for call, fate in zip(
            self.rng.sample(orders, 4), ["gated", "gated", "gated", "soft_error"], strict=True
        ):
            call.fate = fate
            call.result = dict(unverified) if fate == "gated" else {"error": "the quote has expired"}
            cancelled[call.conversation.id].result = {"cancelled": [], "note": "There is no open order."}

    def _ordinary_noise(self) -> None:
        """Put in what goes wrong in any month: about one call in twenty-five, and a few rightful refusals."""
        for tool, count, fate, answer in NOISE:
            for call in spread(self.rng, self._where_it_does_no_harm(tool), count):
                if fate == "gated":
                    answer = {"orderId": call.result["orderId"], **answer}
                if answer == {"error": "amount is missing"}:
                    del call.args["amount"]
                call.result, call.fate, call.error = dict(answer), fate, fate == "error"

    def _where_it_does_no_harm(self, tool: str) -> list[Call]:
        """Return sound calls of *tool* on which nothing else in their conversation rests."""
        if tool == SLOTS:
            return self._free_slots_nobody_booked()
        calls = self.sound(tool, until=QUIET_END)
        return [call for call in calls if tool != QUOTE or call.conversation.kind == "rate"]


def guarded(action: str, reason: str, claim: str, flaw: str = "") -> Call:
    """Return the row that the reply guard leaves where it changed what the agent was about to say."""
    result = {
        "action": action,
        "reasons": [reason],
        "requiredFixes": [words.GUARD_FIXES[reason]],
        "originalText": claim,
        "finalText": words.OPERATOR_WILL_CONFIRM,
        "blocked": True,
    }
    return Call(GUARD, {"originalText": claim}, result, error=True, fate="guard", flaw=flaw)
