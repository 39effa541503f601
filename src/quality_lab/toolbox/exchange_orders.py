"""What the agent may do before money moves: quote, look at the verification, order, cancel."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from quality_lab.toolbox.exchange_desk import BEFORE_PAYMENT, MONEY_CAME_IN, ExchangeDesk, Lead, Order
from quality_lab.toolbox.exchange_rates import (
    NETWORKS,
    QUOTE_ASSET,
    AmountMode,
    Quote,
    Refusal,
    as_decimal,
    json_number,
    plain,
    price,
)

_OPEN = BEFORE_PAYMENT | MONEY_CAME_IN


def quote_amount(desk: ExchangeDesk, lead: Lead, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an amount comes to; a quote unlike the active order cancels what is still unpaid."""
    quote = _quote(desk, lead, args)
    if isinstance(quote, Refusal):
        return {"error": quote.error}
    active = _active_order(desk, lead)
    if active is None:
        if lead.stage == "exchange_request":
            lead.stage = "quote_calculated"
    elif active.status in BEFORE_PAYMENT and _terms(active.quote) != _terms(quote):
        _cancel_unpaid(desk, lead)
        lead.stage = "quote_calculated"
    return _without_none(
        {
            "direction": quote.direction,
            "asset": quote.asset,
            "quoteAsset": QUOTE_ASSET,
            "network": quote.network,
            "amountMode": quote.mode,
            "amountFrom": json_number(quote.amount_from),
            "rate": json_number(quote.rate),
            "amountToThb": json_number(quote.amount_to_thb),
            "display": quote.display,
        }
    )


def check_verification(lead: Lead) -> dict[str, Any]:
    """Return whether the client is verified, and the status if not."""
    known = lead.verification
    return {
        "verified": known.verified,
        "verificationId": known.verification_id,
        "status": known.status,
        "needsVerification": not known.verified,
    }


def create_order(desk: ExchangeDesk, lead: Lead, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the new order, or the same live one; refusals come in the order data, quote, identity, risk."""
    quote = _quote(desk, lead, args)
    if isinstance(quote, Refusal):
        return {"error": quote.error}
    payment_method = _filled(desk, lead, args, "paymentMethod")
    if payment_method is None:
        if not NETWORKS.get(quote.asset):
            return {"error": f"paymentMethod is missing: how does the client pay the {quote.asset}?"}
        payment_method = "crypto_transfer"
    if not lead.verification.verified:
        lead.stage = "kyc_collection"
        return {
            "ok": False,
            "needsVerification": True,
            "status": lead.verification.status,
            "instructions": "Ask the client to pass the identity check; the order can be made after that.",
        }
    same = _same_live_order(desk, lead, quote)
    if same is not None:
        return {
            "orderId": same.order_id,
            "status": same.status,
            "direction": same.quote.direction,
            "amountToThb": json_number(same.quote.amount_to_thb),
            "rate": json_number(same.quote.rate),
            "idempotent": True,
        }
    payout_method = _filled(desk, lead, args, "payoutMethod")
    _cancel_unpaid(desk, lead)
    for rule in desk.risk_rules:
        refusal = rule(lead, quote, args)
        if refusal is not None:
            return {"error": refusal}
    now = desk.clock()
    order = Order(
        order_id=len(desk.orders) + 1,
        conversation_id=lead.conversation_id,
        quote=quote,
        payment_method=payment_method,
        payment_rail=args.get("paymentRail"),
        payout_method=payout_method,
        created_at=now,
        expires_at=now,
    )
    order.expires_at = now + 60 * order.ttl_min
    desk.orders.append(order)
    lead.stage = "order_created"
    return _without_none(
        {
            "orderId": order.order_id,
            "status": order.status,
            "direction": quote.direction,
            "amountFrom": json_number(quote.amount_from),
            "amountMode": quote.mode,
            "amountToThb": json_number(quote.amount_to_thb),
            "paymentMethod": payment_method,
            "payoutMethod": payout_method,
            "rate": json_number(quote.rate),
            "ttlMin": order.ttl_min,
        }
    )


def cancel_orders(desk: ExchangeDesk, lead: Lead) -> dict[str, Any]:
    """Return which unpaid orders were cancelled; nothing is cancelled once money has come in."""
    orders = desk.orders_of(lead)
    blocked = [order.order_id for order in orders if order.status in MONEY_CAME_IN or _has_receipt(order)]
    if blocked:
        return {
            "ok": False,
            "needsOperator": True,
            "blockedByPayment": blocked,
            "note": "Money has come in for this order; an operator has to decide.",
        }
    cancelled = _cancel_unpaid(desk, lead)
    if not cancelled:
        return {"cancelled": [], "note": "There is no open order to cancel."}
    lead.stage = "quote_calculated"
    last = cancelled[-1].quote
    deal = {"asset": last.asset, "amount": json_number(last.amount), "network": last.network}
    return {"cancelled": [order.order_id for order in cancelled], "lastDeal": _without_none(deal)}


def requote(desk: ExchangeDesk, quote: Quote) -> Quote | Refusal:
    """Return *quote* at the current rate, or why there is none."""
    return _price(desk, quote.asset, quote.amount, quote.mode, quote.network)


def _quote(desk: ExchangeDesk, lead: Lead, args: Mapping[str, Any]) -> Quote | Refusal:
    asset_text = _filled(desk, lead, args, "asset")
    amount = as_decimal(_filled(desk, lead, args, "amount"))
    missing = [name for name, value in (("asset", asset_text), ("amount", amount)) if not value]
    if missing or amount is None:
        return Refusal(error=f"{' and '.join(missing)} missing: ask the client.")
    asset = str(asset_text).strip().upper()
    mode: AmountMode = "target_thb" if args.get("amountMode") == "target_thb" else "source_amount"
    served = NETWORKS.get(asset, ())
    network = args.get("network") or _filled(desk, lead, args, "network")
    if not args.get("network") and network not in served:
        network = served[0] if served else None
    return _price(desk, asset, amount, mode, network)


def _price(
    desk: ExchangeDesk, asset: str, amount: Decimal, mode: AmountMode, network: str | None
) -> Quote | Refusal:
    rate = desk.rates.get(asset)
    if rate is None or not rate.active:
        served = ", ".join(sorted(name for name, known in desk.rates.items() if known.active))
        return Refusal(error=f"There is no rate for {asset}; there is one for {served or 'nothing'}.")
    if desk.guard.refuses(rate):
        desk.owner_alerts.append(
            f"rate of {asset} is {plain(rate.thb)} THB, reference {plain(rate.reference or Decimal(0))} THB"
        )
        return Refusal(error=f"The rate of {asset} is being checked; an operator will confirm it.")
    return price(rate, amount, mode, network)


def _filled(desk: ExchangeDesk, lead: Lead, args: Mapping[str, Any], name: str) -> Any:
    """Return the argument as given, else from the active order, else from what the funnel collected."""
    given = args.get(name)
    if given not in (None, ""):
        return given
    order = _active_order(desk, lead)
    if order is not None:
        of_order = {
            "asset": order.quote.asset,
            "amount": order.quote.amount,
            "network": order.quote.network,
            "paymentMethod": order.payment_method,
            "payoutMethod": order.payout_method,
        }
        if of_order[name] is not None:
            return of_order[name]
    return lead.collected.get(name)


def _active_order(desk: ExchangeDesk, lead: Lead) -> Order | None:
    return next((order for order in reversed(desk.orders_of(lead)) if order.status in _OPEN), None)


def _terms(quote: Quote) -> tuple[str, Decimal, str]:
    return quote.asset, quote.amount, quote.mode


def _same_live_order(desk: ExchangeDesk, lead: Lead, quote: Quote) -> Order | None:
    for order in reversed(desk.orders_of(lead)):
        same = (*_terms(order.quote), order.quote.network) == (*_terms(quote), quote.network)
        if order.status in _OPEN and same:
            return order
    return None


def _cancel_unpaid(desk: ExchangeDesk, lead: Lead) -> list[Order]:
    unpaid = [order for order in desk.orders_of(lead) if order.status in BEFORE_PAYMENT]
    for order in unpaid:
        order.status = "cancelled"
    return unpaid


def _has_receipt(order: Order) -> bool:
    return order.status in BEFORE_PAYMENT and bool(order.receipts)


def _without_none(result: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in result.items() if value is not None}
