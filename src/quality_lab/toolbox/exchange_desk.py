"""The exchange desk in memory: rates, leads, orders and the chain, with the operator's side of the counter.

What the agent may do stands in `exchange_orders` and `exchange_settlement`. What people and the world do to
the desk (verify a client, send money, hand over a payout code) are methods here, so that a test can tell a
whole story.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from quality_lab.errors import UsageError
from quality_lab.toolbox.exchange_rates import NETWORKS, Quote, Rate, RateGuard, json_number
from quality_lab.toolbox.hand_clock import Clock, HandClock

OrderStatus = Literal["quote", "awaiting_payment", "paid", "payout", "completed", "cancelled", "expired"]
BEFORE_PAYMENT: frozenset[OrderStatus] = frozenset({"quote", "awaiting_payment"})
MONEY_CAME_IN: frozenset[OrderStatus] = frozenset({"paid", "payout"})

CRYPTO_TTL_MIN = 15
FIAT_TTL_MIN = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Verification:
    """What the desk knows of a client's identity."""

    status: str = "missing"  # missing, bad_attributes, verified, …
    verification_id: str | None = None
    client_name: str | None = None

    @property
    def verified(self) -> bool:
        """Return whether the client may trade."""
        return self.status == "verified"


@dataclass(kw_only=True, slots=True)
class Lead:
    """One client in one conversation: the stage it has reached and what the funnel has collected."""

    conversation_id: str
    stage: str | None = "exchange_request"
    collected: dict[str, Any] = field(default_factory=dict)
    verification: Verification = Verification()


@dataclass(frozen=True, kw_only=True, slots=True)
class PaymentSource:
    """Where a client may pay: an own or an invoice provider's address, an account, a text or a link."""

    kind: Literal["own_address", "invoice_address", "exchange_account", "fiat_text", "fiat_link"]
    asset: str | None = None  # addresses
    network: str | None = None  # addresses
    payment_rail: str | None = None  # exchange accounts
    payment_method: str | None = None  # fiat
    exchange_id: str | None = None
    exchange_name: str | None = None
    text: str | None = None  # details, or the link's beginning
    dest_tag: str | None = None


@dataclass(kw_only=True, slots=True)
class Order:
    """One order; its quote may be renewed, its status moves on, and what was handed out for it is kept."""

    order_id: int
    conversation_id: str
    quote: Quote
    payment_method: str | None
    payment_rail: str | None
    payout_method: str | None
    created_at: int  # epoch seconds
    expires_at: int  # epoch seconds
    status: OrderStatus = "awaiting_payment"
    issued: list[dict[str, Any]] = field(default_factory=list)
    receipts: list[dict[str, Any]] = field(default_factory=list)
    paid_by: str | None = None  # hash of the transfer
    payout_code: str | None = None
    payout_code_expires_at: int | None = None

    @property
    def is_crypto(self) -> bool:
        """Return whether the client pays in coins."""
        return bool(NETWORKS.get(self.quote.asset)) or self.payment_method == "crypto_transfer"

    @property
    def ttl_min(self) -> int:
        """Return for how many minutes the order waits for its payment."""
        return CRYPTO_TTL_MIN if self.is_crypto else FIAT_TTL_MIN


@dataclass(frozen=True, kw_only=True, slots=True)
class Transfer:
    """A transfer that the chain knows."""

    to_address: str
    from_address: str
    amount: Decimal
    confirmed: bool = True


RiskRule = Callable[[Lead, Quote, Mapping[str, Any]], str | None]


def third_party_needs_approval(lead: Lead, quote: Quote, args: Mapping[str, Any]) -> str | None:
    """Return why a payer who is not the verified client is refused, or None where that is settled."""
    payer, client = args.get("payerName"), lead.verification.client_name
    if not payer or not client or str(payer).casefold().split() == client.casefold().split():
        return None
    approved = args.get("thirdPartyApproved") is True
    return None if approved else "A payment by a third party needs an approval first."


class ExchangeDesk:
    """A currency exchange in memory; the same seed, clock and steps always end in the same `state()`."""

    def __init__(
        self,
        *,
        rates: Iterable[Rate] = (),
        sources: Iterable[PaymentSource] = (),
        business_info: Mapping[str, Any] | None = None,
        seed: int = 0,
        clock: Clock | None = None,
        guard: RateGuard | None = None,
        risk_rules: Iterable[RiskRule] = (third_party_needs_approval,),
        first_stage: str | None = "exchange_request",
        first_verification: Verification | None = None,
    ) -> None:
        self.seed = seed
        self.clock: Clock = clock if clock is not None else HandClock()
        self.guard = guard if guard is not None else RateGuard()
        self.risk_rules = tuple(risk_rules)
        self.first_stage = first_stage  # of a lead that the desk meets for the first time; None: not known
        self.first_verification = first_verification or Verification()
        self.rates: dict[str, Rate] = {}
        self.sources = list(sources)
        self.business_info = dict(business_info or {})
        self.leads: dict[str, Lead] = {}
        self.orders: list[Order] = []
        self.chain: dict[str, Transfer] = {}
        self.settled_invoices: set[str] = set()
        self.owner_alerts: list[str] = []
        self.version = 0  # grows when the rates change
        self.lock = threading.RLock()
        for rate in rates:
            self.set_rate(rate)

    # What the agent's side asks for.

    @property
    def is_open(self) -> bool:
        """Return whether the exchange tools are offered at all: only while a rate is active."""
        return any(rate.active for rate in self.rates.values())

    def lead(self, conversation_id: object) -> Lead:
        """Return the lead of a conversation, a new one where there was none."""
        key = str(conversation_id)
        if key not in self.leads:
            self.leads[key] = Lead(
                conversation_id=key, stage=self.first_stage, verification=self.first_verification
            )
        return self.leads[key]

    def orders_of(self, lead: Lead) -> list[Order]:
        """Return the orders of *lead*, oldest first, after those that waited too long have expired."""
        orders = [order for order in self.orders if order.conversation_id == lead.conversation_id]
        for order in orders:
            if order.status in BEFORE_PAYMENT and self.clock() > order.expires_at:
                order.status = "expired"
        return orders

    def token(self, *parts: object, length: int) -> str:
        """Return *length* letters and digits that depend on the seed and on *parts* alone."""
        alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
        number = int.from_bytes(hashlib.sha512(repr((self.seed, *parts)).encode()).digest(), "big")
        letters = []
        for _ in range(length):
            number, place = divmod(number, len(alphabet))
            letters.append(alphabet[place])
        return "".join(letters)

    # What people and the world do.

    def set_rate(self, rate: Rate) -> None:
        """Set the rate of one asset; tools that were resolved before are out of date."""
        self.rates[rate.asset] = rate
        self.version += 1

    def judge_client(self, conversation_id: object, verification: Verification) -> None:
        """Record the identity check; a verified client goes on from the checks to the quote."""
        lead = self.lead(conversation_id)
        lead.verification = verification
        if verification.verified and lead.stage in {"kyc_collection", "verification_check"}:
            lead.stage = "quote_calculated"

    def transfer_arrives(self, transfer_hash: str, transfer: Transfer) -> None:
        """Let the chain know a transfer."""
        self.chain[transfer_hash] = transfer

    def settle_invoice(self, invoice_token: str) -> None:
        """Let the invoice provider know that the invoice was paid."""
        self.settled_invoices.add(invoice_token)

    def send_requisites(self, order_id: int) -> None:
        """Let the operator send the payment details by hand: the lead waits for the payment."""
        self.lead(self.order(order_id).conversation_id).stage = "requisites_sent"

    def confirm_payment(self, order_id: int) -> None:
        """Let the operator confirm that the money is there."""
        order = self.order(order_id)
        order.status = "paid"
        self.lead(order.conversation_id).stage = "payment_verified"

    def add_payout_code(self, order_id: int, code: str, *, expires_at: int) -> None:
        """Let the operator lay a payout code ready until *expires_at* (epoch seconds)."""
        order = self.order(order_id)
        order.payout_code, order.payout_code_expires_at = code, expires_at

    def complete(self, order_id: int) -> None:
        """Let the operator close an order that was paid out."""
        self.order(order_id).status = "completed"

    def order(self, order_id: int) -> Order:
        """Return the order with that id.

        Raises:
            UsageError: there is none.
        """
        for order in self.orders:
            if order.order_id == order_id:
                return order
        known = [order.order_id for order in self.orders]
        raise UsageError(f"the desk has no order {order_id}; it has {known}")

    def state(self) -> dict[str, Any]:
        """Return everything that can differ at the end of a run, as JSON: orders, leads, rates, alerts."""
        return {
            "orders": [_order_state(order) for order in self.orders],
            "leads": {
                key: {
                    "stage": lead.stage,
                    "collected": dict(lead.collected),
                    "verification": lead.verification.status,
                    "verificationId": lead.verification.verification_id,
                }
                for key, lead in sorted(self.leads.items())
            },
            "rates": {
                asset: json_number(rate.thb) for asset, rate in sorted(self.rates.items()) if rate.active
            },
            "ownerAlerts": list(self.owner_alerts),
        }


def _order_state(order: Order) -> dict[str, Any]:
    return {
        "orderId": order.order_id,
        "conversationId": order.conversation_id,
        "status": order.status,
        "asset": order.quote.asset,
        "network": order.quote.network,
        "amountMode": order.quote.mode,
        "amount": json_number(order.quote.amount),
        "amountFrom": json_number(order.quote.amount_from),
        "amountToThb": json_number(order.quote.amount_to_thb),
        "rate": json_number(order.quote.rate),
        "paymentMethod": order.payment_method,
        "payoutMethod": order.payout_method,
        "createdAt": order.created_at,
        "expiresAt": order.expires_at,
        "requisitesIssued": [dict(issued) for issued in order.issued],
        "receipts": [dict(receipt) for receipt in order.receipts],
        "paidBy": order.paid_by,
        "payoutCode": order.payout_code,
    }
