"""The exchange assistant's conversations as they go when all is well; `plot` puts in what goes wrong."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

import story.words as words
from story.answers import denied, ordered, paid, paid_out, quoted, requisites, rounded
from story.frame import (
    BOOK,
    CANCEL,
    DAY,
    INFO,
    LINK,
    ORDER,
    PAYMENT,
    PAYOUT,
    QUOTE,
    REQUISITES,
    SLOTS,
    START,
    VERIFICATION,
    Call,
    Conversation,
    Deck,
    plan,
)

RATES = {"USDT": 32.6, "RUB": 0.41, "EUR": 37.4, "USD": 32.4, "BTC": 3_420_000.0}


class Exchange:
    """Plays the conversations of one story; with the plot, newcomers get to the payment details too early."""

    def __init__(self, seed: int, *, plot: bool) -> None:
        self.rng = rng = random.Random(f"{seed}:exchange")
        self.plot = plot
        self.order_id = 880
        self.asset = Deck(rng, ["USDT"] * 11 + ["RUB"] * 4 + ["EUR"] * 2 + ["USD"] * 2 + ["BTC"])
        self.mode = Deck(rng, ["target_thb", "source_amount"] * 3)
        self.mode_again = Deck(rng, ["target_thb", "source_amount"] * 3)
        self.bank, self.payer = Deck(rng, words.BANKS), Deck(rng, words.PAYERS)
        self.fiat_method = Deck(rng, ["bank_transfer", "bank_transfer", "card_transfer"])
        self.place = Deck(rng, ["Old Pier Market", "Harbour Lane", "Airport hall 2"])
        self.payout_method = Deck(
            rng, ["office_cash", "cardless_atm"] * 3 + ["courier_cash", "thai_bank_transfer"]
        )
        self.network = Deck(rng, ["TRC20"] * 4 + ["ERC20"])
        self.again = Deck(rng, [True] * 7 + [False] * 15)
        self.pays_twice = Deck(rng, [True] * 4 + [False] * 9)
        self.paid_out = Deck(rng, [True] * 6 + [False] * 7)
        self.depth = Deck(rng, [1] * 3 + [2] * 4 + [3] + [4] * 3)
        self.visit = Deck(
            rng,
            [
                (1, 1, 1),
                (1, 1, 0),
                (1, 1, 1),
                (1, 0, 1),
                (1, 0, 0),
                (1, 1, 0),
                (1, 0, 1),
                (0, 1, 0),
                (0, 1, 0),
                (0, 1, 0),
                (0, 1, 1),
                (0, 0, 0),
                (0, 0, 0),
                (0, 0, 1),
                (0, 0, 1),
            ],
        )
        self.stage = Deck(rng, ["quote_calculated", "quote_calculated", "kyc_collection"])
        self.asks_for = Deck(rng, [INFO, INFO, INFO, VERIFICATION])
        self.fact = Deck(rng, words.BUSINESS_FACTS)
        self.conversations = plan(rng)
        self._number_conversations()
        for conversation in self.conversations:
            getattr(self, f"_{conversation.kind}")(conversation)

    # -- the kinds of conversation ----

    def _rate(self, talk: Conversation) -> None:
        first = self._quote(talk.start)
        talk.say(0, first)
        if self.again.draw():
            talk.say(self._pause(), self._quote(talk.start, asset=first.args["asset"]))

    def _deal(self, talk: Conversation) -> None:
        quote = self._quote(talk.start)
        talk.say(0, quote)
        order = self._settle(talk, quote)
        twice = self.pays_twice.draw()
        payment = self._payment(order, halves=2 if twice and not self.plot else 1)
        talk.say(self._pause(600, 2_400), payment)
        if twice:  # the other half; or the same once more, where the plot has the first refused
            talk.say(self._pause(420, 1_500), Call(PAYMENT, dict(payment.args), dict(payment.result)))
        if self.paid_out.draw():
            talk.say(self._pause(300, 900), self._payout(order))

    def _newcomer(self, talk: Conversation) -> None:
        quote, depth = self._quote(talk.start), self.depth.draw()
        talk.say(0, quote)
        if self.plot:
            talk.say(self._pause(), self._refused())
            if depth >= 2:
                talk.say(self._pause(900, 4_000), self._verification())
            if depth >= 3:
                order = self._order(quote)
                talk.say(self._pause(), order, self._requisites(order, cycle=1))
        elif depth == 1:
            talk.say(self._pause(900, 4_000), self._verification())
        else:
            order = self._settle(talk, quote)
        if depth >= 4:
            talk.say(self._pause(600, 2_400), self._payment(order))

    def _settle(self, talk: Conversation, quote: Call) -> Call:
        """Have the client looked up, the order made and the payment details fetched in one turn."""
        order = self._order(quote, cycle=1)
        talk.say(self._pause(), self._verification(), order, self._requisites(order, cycle=2))
        return order

    def _office(self, talk: Conversation) -> None:
        asks, looks_again, books = self.visit.draw()
        day = (talk.start - START) // DAY + self.rng.randint(1, 3)
        talk.say(0, *([self._info(), self._slots(day, cycle=1)] if asks else [self._slots(day)]))
        if looks_again:
            day += 1
            talk.say(self._pause(), self._slots(day))
        if books:
            time = self._free(talk.turns[-1][1][-1])
            args = {"date": _date(day), "time": time, "purpose": "cash pick-up"}
            result = {"ok": True, "bookingId": self.rng.randint(300, 699), **args}
            talk.say(self._pause(), Call(BOOK, args, result))

    def _status(self, talk: Conversation) -> None:
        hours = Call(INFO, {}, words.BUSINESS_FACTS[0])
        call = hours if self.asks_for.draw() == INFO else self._verification()
        if self.plot:
            call.flaw = "no_status"
        talk.say(0, call)

    def _link(self, talk: Conversation) -> None:
        talk.say(0, Call(LINK, {}, {"url": "https://booking.example.com/harbour-lane"}))

    def _cancel(self, talk: Conversation) -> None:
        quote = self._quote(talk.start)
        talk.say(0, quote)
        order = self._order(quote)
        talk.say(self._pause(), order)
        talk.say(self._pause(300, 1_200), Call(CANCEL, {}, {"cancelled": [order.result["orderId"]]}))

    # -- the calls, as they go when all is well ----

    def _quote(self, at: int, asset: str | None = None) -> Call:
        mode = self.mode_again.draw() if asset else self.mode.draw()
        asset = asset or self.asset.draw()
        baht = self.rng.choice([5_000, 8_000, 10_000, 12_000, 15_000, 20_000, 25_000, 30_000, 45_000, 60_000])
        amount: float = baht if mode == "target_thb" else rounded(baht / RATES[asset])
        args: dict[str, Any] = {"asset": asset, "amount": amount, "amountMode": mode}
        if asset == "USDT":
            args["network"] = self.network.draw()
        return Call(QUOTE, args, quoted(args, self._board(asset, at)))

    def _board(self, asset: str, at: int) -> float:
        """Return the rate of the day: the same for everybody, a little different every day."""
        wave = random.Random(f"{asset}:{(at - START) // DAY}").uniform(-0.006, 0.006)
        return float(f"{RATES[asset] * (1 + wave):.4g}")

    def _verification(self) -> Call:
        number = self.rng.randint(5_000, 5_999)
        result = {
            "verified": True,
            "verificationId": number,
            "status": "verified",
            "needsVerification": False,
        }
        return Call(VERIFICATION, {}, result)

    def _order(self, quote: Call, cycle: int = 0) -> Call:
        self.order_id += 1
        method = "crypto_transfer" if quote.args["asset"] in ("USDT", "BTC") else self.fiat_method.draw()
        args = {**quote.args, "paymentMethod": method, "payoutMethod": self.payout_method.draw()}
        if method != "crypto_transfer":
            args |= {"sourceBank": self.bank.draw(), "payerName": self.payer.draw()}
        return Call(ORDER, args, ordered(args, quote.result, self.order_id), cycle=cycle)

    def _requisites(self, order: Call, cycle: int = 0) -> Call:
        network = order.args.get("network", "Bitcoin")
        return Call(REQUISITES, {}, requisites(order.result, network, self.rng), cycle=cycle)

    def _refused(self) -> Call:
        return Call(REQUISITES, {}, denied(REQUISITES, self.stage.draw()), fate="gated", flaw="early")

    def _payment(self, order: Call, halves: int = 1) -> Call:
        amount = rounded(order.result["amountFrom"] / halves)
        args: dict[str, Any] = {"receiptAmount": amount}
        if "payerName" in order.args:
            args |= {"sourceBank": order.args["sourceBank"], "payerName": order.args["payerName"]}
        else:
            args["paymentReference"] = f"demo{self.rng.getrandbits(48):012x}"
        return Call(PAYMENT, args, paid(order.result, amount))

    def _payout(self, order: Call) -> Call:
        place = self.place.draw()
        args = {"payoutMethod": order.args["payoutMethod"], "location": place}
        return Call(PAYOUT, args, paid_out(order.result, place, self.rng))

    def _info(self) -> Call:
        return Call(INFO, {}, self.fact.draw())

    def _slots(self, day: int, cycle: int = 0) -> Call:
        free = sorted(self.rng.sample(["09:30", "10:00", "11:30", "13:00", "14:30", "16:00", "18:30"], 3))
        args = {"date": _date(day), "office": "harbour-lane"}
        return Call(SLOTS, args, {"date": _date(day), "slots": free}, cycle=cycle)

    def _free(self, slots: Call) -> str:
        return str(self.rng.choice(slots.result["slots"]))

    def _pause(self, low: int = 70, high: int = 420) -> int:
        return self.rng.randint(low, high)

    # -- the record ----

    def _number_conversations(self) -> None:
        contact, number, known = 640, 811, list[int]()
        for talk in self.conversations:
            number += self.rng.randint(1, 3)
            if known and self.rng.random() < 0.12:
                talk.contact = self.rng.choice(known)
            else:
                contact += self.rng.randint(1, 2)
                talk.contact = contact
                known.append(contact)
            talk.id = number

    def recorded(self) -> list[Call]:
        """Return all calls and guard rows in the order of recording, numbered as upstream numbers them."""
        turns = sorted(
            ((at, talk.id, talk, calls) for talk in self.conversations for at, calls in talk.turns),
            key=lambda turn: turn[:2],
        )
        recorded, number = list[Call](), 4_000
        for at, _, talk, calls in turns:
            for index, call in enumerate(calls):
                number += self.rng.choice([1, 1, 1, 2, 3])
                call.at, call.index, call.id, call.conversation = at, index, number, talk
                call.place = sum(c.tool == call.tool and c.conversation is talk for c in recorded)
                recorded.append(call)
        return recorded


def _date(day: int) -> str:
    return datetime.fromtimestamp(START + day * DAY, UTC).strftime("%Y-%m-%d")
