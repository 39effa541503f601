"""What goes wrong: the ordinary noise of any month, and the plot.

Incidents come in numbers that do not depend on the seed, spread evenly over time. The plot is nothing but larger
numbers in five places; a story without it has the same people on the same days.

    args_drift   since the release in week 3 an amount in baht is quoted as an amount of the other currency
    early_call   newcomers are sent for payment details before they are verified, and refused (see `Exchange`)
    no_tool      who asks where a payout is gets opening hours, or a payout code that the reply guard has to stop
    swallowed    since the calendar moved in week 2 a time-out of the calendar comes back as an empty answer
    failure      the payment check refuses payments that it should know
"""

from __future__ import annotations

import random
from typing import Any

import story_words as words
from story_calls import (
    BOOK, CALENDAR_MOVED, CANCEL, DAY, GUARD, HOUR, INFO, ORDER, PAYMENT, PAYOUT, QUOTE, RELEASE, REQUISITES, SLOTS,
    START, VERIFICATION, Call, Exchange, quoted, spread,
)

LAST_REVIEW = START + 25 * DAY  # Friday of week 4: what came later was not reviewed
QUIET_END = START + 27 * DAY
NOTHINGS: list[Any] = [[], {}, [], None, {}, [], [], {}, None, [], {}, [], {}]


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
        return [c for c in self.calls if c.tool == tool and c.fate == "ok" and not c.flaw and not c.empty
                and since <= c.at < until]

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
            stretches += [(RELEASE, LAST_REVIEW, 13), (LAST_REVIEW, START + 28 * DAY, 2)]
        for since, until, count in stretches:
            in_baht = [call for call in self.sound(QUOTE, since=since, until=until)
                       if call.args["amountMode"] == "target_thb" and not call.place]
            for call in spread(self.rng, in_baht, min(count, len(in_baht))):
                call.args["amountMode"] = "source_amount"
                call.result, call.flaw = quoted(call.args, call.result["rate"]), "baht"

    def _free_slots_nobody_booked(self, since: int = 0) -> list[Call]:
        booked = {call.conversation.id: call.at for call in self.calls if call.tool == BOOK}
        lookups = [call for call in self.calls if call.tool == SLOTS]
        relied_on = {call.conversation.id: call for call in lookups
                     if call.at < booked.get(call.conversation.id, 0)}
        return [call for call in self.sound(SLOTS, since=since)
                if relied_on.get(call.conversation.id) is not call]

    def _empty_answers(self) -> None:
        lookups = self._free_slots_nobody_booked(CALENDAR_MOVED if self.plot else 0)
        for call, nothing in zip(spread(self.rng, lookups, 13 if self.plot else 2), NOTHINGS, strict=False):
            call.result, call.flaw = nothing, "swallowed"

    def _failed_payments(self) -> None:
        refusals = [{"ok": False, "reason": "not confirmed on chain yet"},
                    {"ok": False, "error": "no transaction hash in the proof"},
                    {"ok": False, "reason": "amount differs from the order"}]
        paid_out = {call.conversation.id for call in self.calls if call.tool == PAYOUT}
        twice = {call.conversation.id for call in self.calls if call.tool == PAYMENT and call.place}
        failing = [call for call in self.sound(PAYMENT) if self.plot and call.conversation.id in twice and not call.place]
        once = [call for call in self.sound(PAYMENT) if call.conversation.id not in twice | paid_out]
        failing += spread(self.rng, once, 7 if self.plot else 2)
        for call in failing:
            refusal = self.rng.choice(refusals)
            call.result, call.fate = {"orderId": call.result["orderId"], **refusal}, "soft_error"

    def _orders_that_do_not_come_about(self) -> None:
        """Refuse the order in most conversations that end with a cancellation."""
        unverified = {"ok": False, "needsVerification": True, "status": "missing",
                      "instructions": "Please send a photo of the passport and a selfie."}
        cancelled = {call.conversation.id: call for call in self.calls if call.tool == CANCEL}
        orders = [call for call in self.sound(ORDER) if call.conversation.id in cancelled]
        for call, fate in zip(self.rng.sample(orders, 4), ["gated", "gated", "gated", "soft_error"], strict=True):
            call.fate = fate
            call.result = dict(unverified) if fate == "gated" else {"error": "the quote has expired"}
            cancelled[call.conversation.id].result = {"cancelled": [], "note": "There is no open order."}

    def _ordinary_noise(self) -> None:
        """Put in what goes wrong in any month: about one call in twenty-five, and a few rightful refusals."""
        soft = [(QUOTE, 3, {"error": "no active rate for this pair"}), (QUOTE, 1, {"error": "amount is missing"}),
                (REQUISITES, 1, {"error": "the order has expired"}), (PAYOUT, 1, {"error": "the order is not paid"}),
                (BOOK, 1, {"ok": False, "error": "this time was just taken"})]
        hard = [(QUOTE, 1, "rate service timed out"), (VERIFICATION, 1, "verification service answered 502"),
                (INFO, 1, "connection reset by peer"), (SLOTS, 2, "calendar service timed out"),
                (REQUISITES, 1, "wallet pool is locked")]
        gates = [(REQUISITES, 2, {"needsOperator": True, "note": "No free wallet."}),
                 (PAYMENT, 2, {"ok": False, "needsOperator": True, "note": "An operator will look at the receipt."}),
                 (PAYOUT, 1, {"needsOperator": True, "note": "The code is not there yet."})]
        for tool, count, answer in soft:
            for call in spread(self.rng, self.sound(tool, until=QUIET_END), count):
                call.result, call.fate = dict(answer), "soft_error"
                if answer["error"] == "amount is missing":
                    del call.args["amount"]
        for tool, count, message in hard:
            sound = self._free_slots_nobody_booked() if tool == SLOTS else self.sound(tool, until=QUIET_END)
            for call in spread(self.rng, sound, count):
                call.result, call.error, call.fate = {"error": message}, True, "error"
        for tool, count, answer in gates:
            for call in spread(self.rng, self.sound(tool, until=QUIET_END), count):
                call.result, call.fate = {"orderId": call.result["orderId"], **answer}, "gated"
        for call in spread(self.rng, self.sound(INFO), 1):
            call.result = {}


def guarded(action: str, reason: str, claim: str, flaw: str = "") -> Call:
    """Return the row that the reply guard leaves where it changed what the agent was about to say."""
    result = {"action": action, "reasons": [reason], "requiredFixes": [words.GUARD_FIXES[reason]],
              "originalText": claim, "finalText": words.OPERATOR_WILL_CONFIRM, "blocked": True}
    return Call(GUARD, {"originalText": claim}, result, error=True, fate="guard", flaw=flaw)
