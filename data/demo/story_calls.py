"""The exchange assistant's conversations, as they go when all is well: who came when, and which tools were called.

Conversations are planned first (what kind, which week, which hour) and played in the order of time, so that habits
stay even over the weeks: every choice comes from a deck of cards that is dealt out and reshuffled. What goes wrong
is put in afterwards, by `story_plot`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

import story_words as words

DAY = 86_400
HOUR = 3_600
START = int(datetime(2026, 5, 4, tzinfo=timezone.utc).timestamp())  # a Monday
RELEASE = START + 14 * DAY + HOUR + 1_800  # Monday of week 3, before the first client
CALENDAR_MOVED = START + 7 * DAY  # Monday of week 2
PROPOSAL_APPLIED = START + 8 * DAY + 4 * HOUR + 1_212  # Tuesday of week 2
LLM_ONLY_DAYS = (5, 6)  # the first weekend: no embedding model, another reply strategy

QUOTE, VERIFICATION, ORDER = "compute_exchange_quote", "check_exchange_verification", "create_exchange_order"
REQUISITES, PAYMENT, PAYOUT = "fetch_exchange_requisites", "verify_exchange_payment", "issue_exchange_payout"
CANCEL, INFO = "cancel_exchange_order", "get_exchange_business_info"
SLOTS, BOOK, LINK = "check_slots", "book_calendar_slot", "offer_booking_link"
EXCHANGE_TOOLS = [QUOTE, VERIFICATION, ORDER, CANCEL, REQUISITES, PAYMENT, PAYOUT, INFO, SLOTS, BOOK, LINK]
GUARD = "exchange_response_guard"  # upstream's pseudo-tool: part of the format, never renamed

RATES = {"USDT": 32.6, "RUB": 0.41, "EUR": 37.4, "USD": 32.4, "BTC": 3_420_000.0}
KINDS = {"rate": 44, "deal": 26, "newcomer": 22, "office": 30, "status": 12, "link": 8, "cancel": 5}


@dataclass
class Call:
    """One call as it will stand in the trace list, with what the story knows about it and the list does not say."""

    tool: str
    args: dict[str, Any]
    result: Any
    error: bool = False
    cycle: int = 0
    fate: str = "ok"  # ok, error, soft_error, gated, guard
    flaw: str = ""  # what a careful reviewer would find: baht, early, no_status, swallowed
    at: int = 0
    index: int = 0
    id: int = 0
    conversation: Conversation | None = None
    place: int = 0  # how many calls of this tool came before it in its conversation

    @property
    def empty(self) -> bool:
        return self.result is None or self.result == [] or self.result == {} or self.result == ""


@dataclass
class Conversation:
    kind: str
    start: int
    id: int = 0
    contact: int = 0
    turns: list[tuple[int, list[Call]]] = field(default_factory=list)

    @property
    def source(self) -> str:
        return "llm_reply" if (self.start - START) // DAY in LLM_ONLY_DAYS else "rag_reply"

    def say(self, after: int, *calls: Call) -> None:
        """Add a turn *after* so many seconds since the last one; all calls of a turn carry its time."""
        last = self.turns[-1][0] if self.turns else self.start
        self.turns.append((last + after, list(calls)))


class Deck:
    """Cards dealt in random order, all of them before any comes again."""

    def __init__(self, rng: random.Random, cards: list[Any]) -> None:
        self.rng, self.cards, self.left = rng, cards, list[Any]()

    def draw(self) -> Any:
        if not self.left:
            self.left = list(self.cards)
            self.rng.shuffle(self.left)
        return self.left.pop()


def spread(rng: random.Random, calls: list[Call], count: int) -> list[Call]:
    """Return *count* of *calls*, one from each of so many equal stretches of them, in their order."""
    if count > len(calls):
        raise ValueError(f"{count} calls wanted, {len(calls)} there")
    cuts = [len(calls) * i // count for i in range(count + 1)] if count else []
    return [rng.choice(calls[low:high]) for low, high in zip(cuts, cuts[1:], strict=False)]


def plan(rng: random.Random) -> list[Conversation]:
    """Return all conversations, still silent, in order of time: a quarter of each kind in each week.

    The office is open from 9:00 to 21:00 at seven hours east of UTC; weekends are quiet.
    """
    shells = []
    for week in range(4):
        kinds = [kind for kind, count in KINDS.items() for i in range(count) if i * 4 // count == week]
        rng.shuffle(kinds)
        weekdays = Deck(rng, [day for day, share in enumerate((6, 6, 7, 6, 7, 3, 2)) for _ in range(share)])
        for kind in kinds:
            weekday = weekdays.draw()
            low, high, peak = (4.0, 10.0, 7.0) if weekday > 4 else (2.2, 12.2, rng.choice([4.0, 10.0]))
            second = int(rng.triangular(low, high, peak) * HOUR)
            shells.append(Conversation(kind, START + (week * 7 + weekday) * DAY + second))
    shells.sort(key=lambda shell: shell.start)
    rates = [shell for shell in shells if shell.kind == "rate"]
    rates[0].start, rates[-1].start = START + 2 * HOUR + 947, START + 27 * DAY + 12 * HOUR + 2_431
    return sorted(shells, key=lambda shell: shell.start)


class Exchange:
    """Plays the conversations of one story: with the plot, newcomers ask for payment details far too early."""

    def __init__(self, seed: int, *, plot: bool) -> None:
        self.rng = rng = random.Random(f"{seed}:exchange")
        self.plot = plot
        self.order_id = 880
        self.asset = Deck(rng, ["USDT"] * 11 + ["RUB"] * 4 + ["EUR"] * 2 + ["USD"] * 2 + ["BTC"])
        self.mode = Deck(rng, ["target_thb"] * 5 + ["source_amount"] * 7)
        self.mode_again = Deck(rng, ["target_thb"] * 5 + ["source_amount"] * 7)
        self.pay_method = Deck(rng, ["crypto_transfer"] * 6 + ["bank_transfer"] * 2 + ["card_transfer"])
        self.payout_method = Deck(rng, ["office_cash", "cardless_atm"] * 3 + ["courier_cash", "thai_bank_transfer"])
        self.network = Deck(rng, ["TRC20"] * 4 + ["ERC20"])
        self.again = Deck(rng, [True] * 7 + [False] * 15)
        self.pays_twice = Deck(rng, [True] * 4 + [False] * 9)
        self.paid_out = Deck(rng, [True] * 6 + [False] * 7)
        self.depth = Deck(rng, [1] * 3 + [2] * 4 + [3] + [4] * 3)
        self.visit = Deck(rng, [(1, 1, 1), (1, 1, 0), (1, 1, 1), (1, 0, 1), (1, 0, 0), (1, 1, 0), (1, 0, 1), (0, 1, 0),
                                (0, 1, 0), (0, 1, 0), (0, 1, 1), (0, 0, 0), (0, 0, 0), (0, 0, 1), (0, 0, 1)])
        self.stage = Deck(rng, ["quote_calculated", "quote_calculated", "kyc_collection"])
        self.asks_for = Deck(rng, [INFO, INFO, INFO, VERIFICATION])
        self.fact = Deck(rng, words.BUSINESS_FACTS)
        self.conversations = plan(rng)
        self._number_conversations()
        for conversation in self.conversations:
            getattr(self, f"_{conversation.kind}")(conversation)

    # -- the kinds of conversation ------------------------------------------------------------------------------

    def _rate(self, talk: Conversation) -> None:
        first = self._quote(talk.start)
        talk.say(0, first)
        if self.again.draw():
            talk.say(self._pause(), self._quote(talk.start, asset=first.args["asset"]))

    def _deal(self, talk: Conversation) -> None:
        quote = self._quote(talk.start)
        talk.say(0, quote)
        self._settle(talk, quote)
        talk.say(self._pause(600, 2_400), self._payment())
        if self.pays_twice.draw():
            talk.say(self._pause(420, 1_500), self._payment())
        if self.paid_out.draw():
            talk.say(self._pause(300, 900), self._payout())

    def _newcomer(self, talk: Conversation) -> None:
        quote, depth = self._quote(talk.start), self.depth.draw()
        talk.say(0, quote)
        if self.plot:
            talk.say(self._pause(), self._refused())
            if depth >= 2:
                talk.say(self._pause(900, 4_000), self._verification())
            if depth >= 3:
                order = self._order(quote)
                talk.say(self._pause(), order, self._requisites(cycle=1))
        elif depth == 1:
            talk.say(self._pause(900, 4_000), self._verification())
        else:
            self._settle(talk, quote)
        if depth >= 4:
            talk.say(self._pause(600, 2_400), self._payment())

    def _settle(self, talk: Conversation, quote: Call) -> None:
        talk.say(self._pause(), self._verification(), self._order(quote, cycle=1), self._requisites(cycle=2))

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
        call = self._info() if self.asks_for.draw() == INFO else self._verification()
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

    # -- the calls, as they go when all is well -----------------------------------------------------------------

    def _quote(self, at: int, asset: str | None = None) -> Call:
        mode = self.mode_again.draw() if asset else self.mode.draw()
        asset = asset or self.asset.draw()
        baht = self.rng.choice([5_000, 8_000, 10_000, 12_000, 15_000, 20_000, 25_000, 30_000, 45_000, 60_000])
        amount: float = baht if mode == "target_thb" else _rounded(baht / RATES[asset])
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
        result = {"verified": True, "verificationId": number, "status": "verified", "needsVerification": False}
        return Call(VERIFICATION, {}, result)

    def _order(self, quote: Call, cycle: int = 0) -> Call:
        self.order_id += 1
        args = {**quote.args, "paymentMethod": self.pay_method.draw(), "payoutMethod": self.payout_method.draw()}
        if args["paymentMethod"] != "crypto_transfer":
            args |= {"sourceBank": self.rng.choice(words.BANKS), "payerName": self.rng.choice(words.PAYERS)}
        result = {"orderId": self.order_id, "status": "awaiting_payment", "direction": quote.result["direction"],
                  "amountFrom": quote.result["amountFrom"], "amountMode": args["amountMode"],
                  "amountToThb": quote.result["amountToThb"], "paymentMethod": args["paymentMethod"],
                  "payoutMethod": args["payoutMethod"], "rate": quote.result["rate"],
                  "ttlMin": 15 if args["paymentMethod"] == "crypto_transfer" else 20}
        return Call(ORDER, args, result, cycle=cycle)

    def _requisites(self, cycle: int = 0) -> Call:
        address = f"TDemo{self.order_id}ExampleWalletNotReal{self.rng.randint(10, 99)}"
        result = {"orderId": self.order_id, "kind": "crypto", "address": address, "network": "TRC20",
                  "currencyCode": "USDT", "ttlMin": 15, "amlNote": True,
                  "instructions": "Send the exact amount and paste the transaction hash here."}
        return Call(REQUISITES, {}, result, cycle=cycle)

    def _refused(self) -> Call:
        return Call(REQUISITES, {}, denied(REQUISITES, self.stage.draw()), fate="gated", flaw="early")

    def _payment(self) -> Call:
        reference = f"demo{self.rng.getrandbits(48):012x}"
        amount = _rounded(self.rng.uniform(150, 2_400))
        result = {"orderId": self.order_id, "ok": True, "fromAddress": "TDemoClientWalletNotReal00", "amount": amount,
                  "note": "Payment confirmed."}
        return Call(PAYMENT, {"paymentReference": reference, "receiptAmount": amount}, result)

    def _payout(self) -> Call:
        method = self.rng.choice(["cardless_atm", "office_cash"])
        place = self.rng.choice(["Old Pier Market", "Harbour Lane", "Airport hall 2"])
        result = {"orderId": self.order_id, "payoutMethod": method, "location": place,
                  "payoutCode": f"DEMO-{self.rng.randint(1000, 9999)}", "amountToThb": self.rng.randint(5, 60) * 1_000}
        return Call(PAYOUT, {"payoutMethod": method, "location": place}, result)

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

    # -- the record ----------------------------------------------------------------------------------------------

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
        turns = sorted(((at, talk.id, talk, calls) for talk in self.conversations for at, calls in talk.turns),
                       key=lambda turn: turn[:2])
        recorded, number = list[Call](), 4_000
        for at, _, talk, calls in turns:
            for index, call in enumerate(calls):
                number += self.rng.choice([1, 1, 1, 2, 3])
                call.at, call.index, call.id, call.conversation = at, index, number, talk
                call.place = sum(c.tool == call.tool and c.conversation is talk for c in recorded)
                recorded.append(call)
        return recorded


def quoted(args: dict[str, Any], rate: float) -> dict[str, Any]:
    """Return what the quote tool answers for *args* at *rate*."""
    asset, amount = args["asset"], args["amount"]
    if args["amountMode"] == "target_thb":
        pays, gets = _rounded(amount / rate), amount
    else:
        pays, gets = amount, round(amount * rate)
    network = {"network": args["network"]} if "network" in args else {}
    return {"direction": f"{asset}->THB", "asset": asset, "quoteAsset": "THB", **network,
            "amountMode": args["amountMode"], "amountFrom": pays, "rate": rate, "amountToThb": gets,
            "display": f"{pays} {asset} = {gets} THB"}


def denied(tool: str, stage: str) -> dict[str, Any]:
    """Return the refusal of a tool that is not allowed at *stage* of the deal."""
    allowed = [QUOTE, VERIFICATION, ORDER, INFO] if stage == "quote_calculated" else [QUOTE, VERIFICATION, INFO]
    return {"ok": False, "needsOperator": True, "reason": "action_not_allowed_for_stage", "toolName": tool,
            "stageSlug": stage, "allowedTools": allowed, "note": "Not possible at this stage of the deal."}


def iso(at: int) -> str:
    """Return the second *at* as people write it: 2026-05-04T02:15:47Z."""
    return datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _date(day: int) -> str:
    return datetime.fromtimestamp(START + day * DAY, timezone.utc).strftime("%Y-%m-%d")


def _rounded(amount: float) -> float:
    """Return *amount* with three significant digits, whole where it is large."""
    short = float(f"{amount:.3g}")
    return int(short) if short >= 100 else short
