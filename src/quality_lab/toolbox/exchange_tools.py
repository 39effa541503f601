"""The eight exchange tools over an `ExchangeDesk`, with production's names, schemas and result shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quality_lab.toolbox.exchange_desk import ExchangeDesk, Lead
from quality_lab.toolbox.exchange_orders import cancel_orders, check_verification, create_order, quote_amount
from quality_lab.toolbox.exchange_settlement import (
    business_info,
    fetch_requisites,
    issue_payout,
    verify_payment,
)
from quality_lab.toolbox.exchange_stages import STAGES, allowed_tools, stage_denial
from quality_lab.toolbox.shapes import Shape, arguments, free_keys, one_of, positive, text, truth
from quality_lab.toolloop.contract import Effect, Tool, ToolContext

_MODE = one_of(
    "source_amount",
    "target_thb",
    description="source_amount: the amount is in the asset; target_thb: it is the baht to receive",
)
_PAYOUT_METHOD = one_of("office_cash", "cardless_atm", "courier_cash", "thai_bank_transfer", "atm")
_AMOUNT = {
    "asset": text("What the client gives: USDT, BTC, ETH, RUB, EUR or USD"),
    "amount": positive(),
    "amountMode": _MODE,
    "network": text("Network of a coin, for example TRC20"),
}
_NEW_ORDER = {
    **_AMOUNT,
    "paymentMethod": one_of("crypto_transfer", "sbp_qr", "card_transfer", "bank_transfer", "cash"),
    "paymentRail": text(),
    "sourceBank": text(),
    "payerName": text(),
    "thirdPartyApproved": truth(),
    "payoutMethod": _PAYOUT_METHOD,
    "payoutLocation": text(),
    "payoutDestination": free_keys(),
}
_PROOF = {
    "proof": text("What the client sent as proof: a hash or a text"),
    "sourceBank": text(),
    "receiptAmount": positive(),
    "payerName": text(),
    "paymentReference": text("Hash or reference of the transfer"),
}
_PAYOUT = {"payoutMethod": _PAYOUT_METHOD, "location": text(), "destination": free_keys()}

Work = Callable[[ExchangeDesk, Lead, Mapping[str, Any]], dict[str, Any]]

_TOOLS: tuple[tuple[str, str, Shape, Effect, Work], ...] = (
    (
        "compute_exchange_quote",
        "Computes what an amount comes to in Thai baht. Call it whenever the client names an amount or asks"
        " for a rate; never work it out yourself. A quote unlike the active order cancels that order.",
        arguments(_AMOUNT),
        "write",
        quote_amount,
    ),
    (
        "check_exchange_verification",
        "Tells whether the client's identity is verified. Call it before an order or when the client asks.",
        arguments(),
        "read",
        lambda desk, lead, args: check_verification(lead),
    ),
    (
        "create_exchange_order",
        "Makes the exchange order. Call it only when the client has agreed to a quote.",
        arguments(_NEW_ORDER),
        "write",
        create_order,
    ),
    (
        "cancel_exchange_order",
        "Cancels the client's unpaid orders. Call it only when the client clearly asks to cancel.",
        arguments(),
        "write",
        lambda desk, lead, args: cancel_orders(desk, lead),
    ),
    (
        "fetch_exchange_requisites",
        "Hands out new payment details. Call it once there is an order and the client wants to pay.",
        arguments(),
        "irreversible",
        lambda desk, lead, args: fetch_requisites(desk, lead),
    ),
    (
        "verify_exchange_payment",
        "Checks the client's payment. Call it when the client says that it is paid or sends a proof.",
        arguments(_PROOF),
        "write",
        verify_payment,
    ),
    (
        "issue_exchange_payout",
        "Issues the payout code for a paid order. Call it only after the payment is verified.",
        arguments(_PAYOUT, required=["payoutMethod", "location"]),
        "irreversible",
        issue_payout,
    ),
    (
        "get_exchange_business_info",
        "Tells opening hours, offices, payout methods and identity policy. Call it when the client asks.",
        arguments(),
        "read",
        lambda desk, lead, args: business_info(desk),
    ),
)


def exchange_tools(desk: ExchangeDesk, conversation_id: object) -> list[Tool]:
    """Return the eight tools for one message of a conversation, or none while the desk has no active rate.

    Build them anew for each incoming message: the stage in which the turn starts is named in the first tool's
    description, and the stage gate is active only where that stage is known. The gate itself reads the stage
    again before every call, because tools move it within a turn.
    """
    if not desk.is_open:
        return []
    lead = desk.lead(conversation_id)
    gated = lead.stage in STAGES
    tools: list[Tool] = []
    for name, description, parameters, effect, work in _TOOLS:
        if gated and not tools:
            description = f"{description} {_policy(str(lead.stage))}"
        tools.append(
            Tool(
                name=name,
                description=description,
                parameters=parameters,
                execute=_execute(desk, lead, work),
                effect=effect,
                gate=_gate(name, lead) if gated else None,
                server="toolbox:exchange",
                inline=True,
            )
        )
    return tools


def _policy(stage: str) -> str:
    return f"The lead is in stage {stage}; tools that may run in it: {', '.join(allowed_tools(stage))}."


def _execute(
    desk: ExchangeDesk, lead: Lead, work: Work
) -> Callable[[dict[str, Any], ToolContext], dict[str, Any]]:
    def execute(args: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        with desk.lock:
            return work(desk, lead, args)

    return execute


def _gate(name: str, lead: Lead) -> Callable[[dict[str, Any], ToolContext], dict[str, Any] | None]:
    def gate(args: dict[str, Any], context: ToolContext) -> dict[str, Any] | None:
        return stage_denial(name, lead.stage)

    return gate
