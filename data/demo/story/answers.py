"""What the exchange's tools answer when all is well, and how a tool says that it is not allowed yet."""

from __future__ import annotations

import random
from typing import Any

import story.words as words
from story.frame import CANCEL, INFO, ORDER, QUOTE, VERIFICATION


def quoted(args: dict[str, Any], rate: float) -> dict[str, Any]:
    """Return the quote for *args* at *rate*."""
    asset, amount = args["asset"], args["amount"]
    if args["amountMode"] == "target_thb":
        pays, gets = rounded(amount / rate), amount
    else:
        pays, gets = amount, round(amount * rate)
    network = {"network": args["network"]} if "network" in args else {}
    return {
        "direction": f"{asset}->THB",
        "asset": asset,
        "quoteAsset": "THB",
        **network,
        "amountMode": args["amountMode"],
        "amountFrom": pays,
        "rate": rate,
        "amountToThb": gets,
        "display": f"{pays} {asset} = {gets} THB",
    }


def ordered(args: dict[str, Any], quote: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the order that was made from *quote*."""
    return {
        "orderId": number,
        "status": "awaiting_payment",
        "direction": quote["direction"],
        "amountFrom": quote["amountFrom"],
        "amountMode": args["amountMode"],
        "amountToThb": quote["amountToThb"],
        "paymentMethod": args["paymentMethod"],
        "payoutMethod": args["payoutMethod"],
        "rate": quote["rate"],
        "ttlMin": 15 if args["paymentMethod"] == "crypto_transfer" else 20,
    }


def requisites(order: dict[str, Any], network: str, rng: random.Random) -> dict[str, Any]:
    """Return where to pay for *order*: an invented wallet, or an invented account."""
    if order["paymentMethod"] != "crypto_transfer":
        return {
            "orderId": order["orderId"],
            "kind": "fiat",
            "paymentMethod": order["paymentMethod"],
            "detailsText": f"{words.COMPANY}, {words.BANKS[0]}, account 000-DEMO-{rng.randint(100, 999)}",
            "ttlMin": order["ttlMin"],
            "instructions": "Put the order number into the text of the transfer.",
        }
    return {
        "orderId": order["orderId"],
        "kind": "crypto",
        "address": f"TDemo{order['orderId']}ExampleWalletNotReal{rng.randint(10, 99)}",
        "network": network,
        "ttlMin": order["ttlMin"],
        "amlNote": True,
        "instructions": "Send the exact amount and paste the transaction hash here.",
    }


def paid(order: dict[str, Any], amount: float) -> dict[str, Any]:
    """Return that *amount* has come in for *order*."""
    crypto = order["paymentMethod"] == "crypto_transfer"
    source = {"fromAddress": "TDemoClientWalletNotReal00"} if crypto else {}
    return {"orderId": order["orderId"], "ok": True, **source, "amount": amount, "note": "Payment confirmed."}


def paid_out(order: dict[str, Any], place: str, rng: random.Random) -> dict[str, Any]:
    """Return the code for the payout of *order* at *place*."""
    return {
        "orderId": order["orderId"],
        "payoutMethod": order["payoutMethod"],
        "location": place,
        "payoutCode": f"DEMO-{rng.randint(1000, 9999)}",
        "amountToThb": order["amountToThb"],
    }


def denied(tool: str, stage: str) -> dict[str, Any]:
    """Return the refusal of a tool that is not allowed at *stage* of the deal."""
    order = [ORDER] if stage == "quote_calculated" else []
    return {
        "ok": False,
        "needsOperator": True,
        "reason": "action_not_allowed_for_stage",
        "toolName": tool,
        "stageSlug": stage,
        "allowedTools": [QUOTE, VERIFICATION, *order, CANCEL, INFO],
        "note": "Not possible at this stage of the deal.",
    }


def rounded(amount: float) -> float:
    """Return *amount* with three significant digits, whole where it is large."""
    short = float(f"{amount:.3g}")
    return int(short) if short >= 100 else short
