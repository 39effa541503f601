"""What the agent may do once there is an order: payment details, the payment's check, the payout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quality_lab.toolbox.exchange_desk import ExchangeDesk, Lead, Order, PaymentSource
from quality_lab.toolbox.exchange_orders import requote
from quality_lab.toolbox.exchange_rates import Refusal, json_number, plain

_NO_ORDER = {"error": "There is no order; create one first."}


def fetch_requisites(desk: ExchangeDesk, lead: Lead) -> dict[str, Any]:
    """Return new payment details for the order; an expired order is first revived at today's rate."""
    order = _latest(desk, lead, "awaiting_payment", "expired")
    if order is None:
        return dict(_NO_ORDER)
    if order.status == "expired":
        renewed = requote(desk, order.quote)
        if isinstance(renewed, Refusal):
            return {"error": renewed.error}
        order.quote, order.status = renewed, "awaiting_payment"
        order.expires_at = desk.clock() + 60 * order.ttl_min
    source = _source(desk, order)
    if source is None:
        return {
            "orderId": order.order_id,
            "needsOperator": True,
            "note": "No free payment details for this order; an operator will send them.",
        }
    requisites = _requisites(desk, order, source)
    order.issued.append(requisites)
    lead.stage = "requisites_sent"
    return dict(requisites)


def verify_payment(desk: ExchangeDesk, lead: Lead, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return whether the payment has come in; money that no machine can see is left to an operator."""
    order = _latest(desk, lead, "awaiting_payment", "paid", "expired")
    if order is None:
        return dict(_NO_ORDER)
    result = _verified_payment(desk, order, args)
    if result.get("ok") is True:
        order.status = "paid"
        lead.stage = "payment_verified"
    elif result.get("needsOperator") is True and "orderId" in result:
        lead.stage = "payment_proof_waiting"
    return result


def issue_payout(desk: ExchangeDesk, lead: Lead, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the payout code where one lies ready; the order and the lead move on in any case.

    The lead moves past the only stage in which this may run even if there is no code yet: a second try is
    then denied by the stage gate until an operator steps in, as in production.
    """
    order = _latest(desk, lead, "paid", "payout")
    if order is None:
        return {"error": "There is no paid order to pay out."}
    order.status = "payout"
    lead.stage = "payout_or_completion"
    where = {"payoutMethod": args.get("payoutMethod"), "location": args.get("location")}
    if order.payout_code is None:
        note = "The payout code is not ready yet; an operator will send it."
        return {"orderId": order.order_id, "needsOperator": True, "note": note, **where}
    if order.payout_code_expires_at is not None and desk.clock() > order.payout_code_expires_at:
        note = "The payout code has expired; an operator will send a new one."
        return {"orderId": order.order_id, "needsOperator": True, "codeExpired": True, "note": note, **where}
    amount = json_number(order.quote.amount_to_thb)
    return {"orderId": order.order_id, **where, "payoutCode": order.payout_code, "amountToThb": amount}


def business_info(desk: ExchangeDesk) -> dict[str, Any]:
    """Return what is known of the business: hours, contact, payout methods, identity checks, offices."""
    return dict(desk.business_info) or {"note": "Nothing is on file; ask an operator."}


def _latest(desk: ExchangeDesk, lead: Lead, *statuses: str) -> Order | None:
    return next((order for order in reversed(desk.orders_of(lead)) if order.status in statuses), None)


def _source(desk: ExchangeDesk, order: Order) -> PaymentSource | None:
    for source in desk.sources:
        if source.kind == "exchange_account":
            rail = order.payment_rail
            fits = order.is_crypto and rail is not None and source.payment_rail == rail
        elif source.kind in ("own_address", "invoice_address"):
            place = (source.asset, source.network)
            fits = order.payment_rail is None and place == (order.quote.asset, order.quote.network)
        else:
            fits = not order.is_crypto and source.payment_method == order.payment_method
        if fits:
            return source
    return None


def _requisites(desk: ExchangeDesk, order: Order, source: PaymentSource) -> dict[str, Any]:
    number = len(order.issued) + 1  # a second call hands out new details
    amount = f"{plain(order.quote.amount_from)} {order.quote.asset}"
    told: dict[str, Any] = {"orderId": order.order_id}
    if source.kind == "exchange_account":
        told |= {"kind": "crypto", "paymentRail": source.payment_rail, "exchangeId": source.exchange_id}
        told |= {"exchangeName": source.exchange_name, "ttlMin": order.ttl_min}
        told["instructions"] = f"Send {amount} to the account on {source.exchange_name}."
    elif source.kind in ("own_address", "invoice_address"):
        told |= {"kind": "crypto", "address": _address(desk, order, number), "network": order.quote.network}
        told["destTag"] = source.dest_tag
        if source.kind == "invoice_address":
            token = desk.token("invoice", order.order_id, number, length=16)
            page = source.text or "https://pay.example.com/"
            told |= {"paymentUrl": page + token, "invoiceToken": token}
        told |= {"expiresAt": order.expires_at, "currencyCode": order.quote.asset, "ttlMin": order.ttl_min}
        told |= {"amlNote": True, "instructions": f"Send exactly {amount} over {order.quote.network}."}
    elif source.kind == "fiat_text":
        told |= {"kind": "fiat", "paymentMethod": source.payment_method, "detailsText": source.text}
        told |= {"ttlMin": order.ttl_min, "instructions": f"Pay {amount} to these details."}
    else:
        link = f"{source.text or ''}{desk.token('link', order.order_id, number, length=12)}"
        told |= {"kind": "fiat", "paymentUrl": link, "ttlMin": order.ttl_min}
        told["instructions"] = f"Pay {amount} by the link."
    return {key: value for key, value in told.items() if value is not None}


def _address(desk: ExchangeDesk, order: Order, number: int) -> str:
    prefix = "T" if order.quote.network == "TRC20" else "x"
    return prefix + desk.token("address", order.order_id, number, length=33)


def _verified_payment(desk: ExchangeDesk, order: Order, args: Mapping[str, Any]) -> dict[str, Any]:
    if not order.is_crypto:
        receipt = {key: value for key, value in args.items() if value is not None}
        order.receipts.append(receipt)
        claimed: dict[str, Any] = {
            key: receipt[key] for key in ("sourceBank", "receiptAmount") if key in receipt
        }
        note = "The receipt is stored; an operator checks the account."
        return {"orderId": order.order_id, "ok": False, "needsOperator": True, **claimed, "note": note}
    tokens = [issued["invoiceToken"] for issued in order.issued if "invoiceToken" in issued]
    if tokens:
        settled = any(token in desk.settled_invoices for token in tokens)
        note = "The invoice is paid." if settled else "The invoice is not paid yet; an operator will look."
        return {"orderId": order.order_id, "ok": settled, "needsOperator": not settled, "note": note}
    transfer_hash = str(args.get("paymentReference") or args.get("proof") or "").strip()
    if not transfer_hash:
        return {"ok": False, "error": "The hash of the transfer is missing: ask the client."}
    addresses = {issued["address"] for issued in order.issued if "address" in issued}
    if not addresses:
        return {"ok": False, "needsOperator": True, "note": "No address was handed out for this order."}
    if order.quote.network != "TRC20":
        note = f"Transfers over {order.quote.network} are checked by an operator."
        return {"orderId": order.order_id, "ok": False, "needsOperator": True, "note": note}
    return _on_chain(desk, order, transfer_hash, addresses)


def _on_chain(desk: ExchangeDesk, order: Order, transfer_hash: str, addresses: set[str]) -> dict[str, Any]:
    told: dict[str, Any] = {"orderId": order.order_id, "ok": False}
    for other in desk.orders:
        if other is not order and other.paid_by == transfer_hash:
            told |= {"needsOperator": True, "duplicateOrderId": other.order_id}
            return {**told, "reason": "This transfer has already paid for another order."}
    transfer = desk.chain.get(transfer_hash)
    if transfer is None or not transfer.confirmed:
        return {**told, "reason": "The transfer is not confirmed yet; try again in a few minutes."}
    if transfer.to_address not in addresses:
        return {**told, "needsOperator": True, "reason": "The transfer went to another address."}
    if transfer.amount < order.quote.amount_from:
        received = f"{plain(transfer.amount)} of {plain(order.quote.amount_from)} {order.quote.asset}"
        return {**told, "needsOperator": True, "reason": f"Too little came in: {received}."}
    if order.status == "expired":
        return {**told, "needsOperator": True, "reason": "The order had expired when the transfer came in."}
    order.paid_by = transfer_hash
    told |= {"ok": True, "fromAddress": transfer.from_address, "amount": json_number(transfer.amount)}
    return {**told, "note": "The transfer is confirmed."}
