"""The stages of an exchange lead, and which exchange tool may run in which of them."""

from __future__ import annotations

from typing import Any

STAGES = (
    "exchange_request",
    "quote_calculated",
    "verification_check",
    "kyc_collection",
    "risk_review",
    "order_created",
    "requisites_sent",
    "payment_proof_waiting",
    "payment_verified",
    "payout_or_completion",
    "cancelled",
)

ANY_STAGE = frozenset(STAGES)

#: Tool → the stages in which it may run, in the order in which the tools are offered.
ALLOWED_STAGES: dict[str, frozenset[str]] = {
    "compute_exchange_quote": frozenset(
        {"exchange_request", "quote_calculated", "kyc_collection", "order_created", "requisites_sent"}
    ),
    "check_exchange_verification": frozenset(
        {"quote_calculated", "verification_check", "kyc_collection", "risk_review", "order_created"}
    ),
    "create_exchange_order": frozenset({"quote_calculated", "risk_review", "order_created"}),
    "cancel_exchange_order": ANY_STAGE,
    "fetch_exchange_requisites": frozenset({"order_created", "requisites_sent"}),
    "verify_exchange_payment": frozenset({"requisites_sent", "payment_proof_waiting"}),
    "issue_exchange_payout": frozenset({"payment_verified"}),
    "get_exchange_business_info": ANY_STAGE,
}


def allowed_tools(stage: str) -> list[str]:
    """Return the tools that may run in *stage*, in the order in which they are offered."""
    return [tool for tool, stages in ALLOWED_STAGES.items() if stage in stages or stages is ANY_STAGE]


def stage_denial(tool: str, stage: str | None) -> dict[str, Any] | None:
    """Return the denial that the model is told when *tool* may not run in *stage*, or None when it may.

    A denial is an answer, not an error: it asks for an operator and names the tools that may run now.

    >>> stage_denial("issue_exchange_payout", "payment_verified")
    >>> stage_denial("issue_exchange_payout", "order_created")["reason"]
    'action_not_allowed_for_stage'
    """
    now = stage or ""
    allowed = allowed_tools(now)
    if tool in allowed:
        return None
    return {
        "ok": False,
        "needsOperator": True,
        "reason": "action_not_allowed_for_stage",
        "toolName": tool,
        "stageSlug": now,
        "allowedTools": allowed,
        "note": f"{tool} may not run in stage {now or 'unknown'}: use an allowed tool or an operator.",
    }
