"""The exchange stand-in: quotes in exact decimals, the stage machine, every result shape of production."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality_lab.errors import UsageError
from quality_lab.toolbox.exchange_desk import ExchangeDesk, PaymentSource, Transfer, Verification
from quality_lab.toolbox.exchange_rates import Rate, RateGuard, Refusal, price
from quality_lab.toolbox.exchange_samples import sample_desk
from quality_lab.toolbox.exchange_stages import ALLOWED_STAGES, STAGES, stage_denial
from quality_lab.toolbox.exchange_tools import exchange_tools
from quality_lab.toolbox.hand_clock import STORY_BEGINS, HandClock
from quality_lab.toolloop import Tool, ToolContext

VERIFIED = Verification(status="verified", verification_id="V-9", client_name="Mia Example")
USDT_ORDER = {"asset": "USDT", "amount": 15000, "network": "TRC20", "payoutMethod": "office_cash"}


def call(desk: ExchangeDesk, name: str, conversation: str = "c1", **args: Any) -> Any:
    """Call a tool as the loop does in a turn of its own: schema, gate, then the work."""
    return run(exchange_tools(desk, conversation), name, **args)


def run(tools: list[Tool], name: str, **args: Any) -> Any:
    tool = next(tool for tool in tools if tool.name == name)
    assert tool.problems(args) == []
    denial = tool.gate(args, ToolContext()) if tool.gate else None
    return denial if denial is not None else tool.execute(args, ToolContext())


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def desk(clock: HandClock) -> ExchangeDesk:
    desk = sample_desk(clock=clock)
    desk.judge_client("c1", VERIFIED)
    return desk


def ordered(desk: ExchangeDesk, **changes: Any) -> Any:
    call(desk, "compute_exchange_quote", asset="USDT", amount=15000)
    return call(desk, "create_exchange_order", **{**USDT_ORDER, **changes})


# ---- quotes -------------------------------------------------------------------------------------------


def test_a_quote_for_a_source_amount_is_the_product_in_exact_decimals(desk):
    quote = call(desk, "compute_exchange_quote", asset="usdt", amount=15000, amountMode="source_amount")

    assert quote == {
        "direction": "USDT->THB",
        "asset": "USDT",
        "quoteAsset": "THB",
        "network": "TRC20",
        "amountMode": "source_amount",
        "amountFrom": 15000,
        "rate": 32.6,
        "amountToThb": 489000,
        "display": "15000 USDT = 489000 THB",
    }


def test_a_quote_for_a_target_in_baht_is_the_quotient_to_the_cent(desk):
    quote = call(desk, "compute_exchange_quote", asset="USDT", amount=15000, amountMode="target_thb")

    # 15000 / 32.6 = 460.1226…
    assert (quote["amountFrom"], quote["amountToThb"], quote["display"]) == (
        460.12,
        15000,
        "460.12 USDT = 15000 THB",
    )


@pytest.mark.parametrize(
    ("asset", "thb", "amount", "mode", "amount_from", "to_thb"),
    [
        ("RUB", "0.41", "10000", "source_amount", "10000", "4100"),
        ("RUB", "0.415", "0.1", "source_amount", "0.1", "0.04"),  # 0.0415
        ("USDT", "32.605", "1", "source_amount", "1", "32.61"),  # a half goes up
        ("BTC", "3400000", "1000", "target_thb", "0.00029412", "1000"),  # 0.000294117…
        ("EUR", "37.8", "100", "target_thb", "2.65", "100"),  # 2.6455
        ("ETH", "118000", "0.00000001", "source_amount", "0.00000001", "0"),
    ],
)
def test_amounts_are_rounded_half_up_to_the_places_of_their_money(
    asset, thb, amount, mode, amount_from, to_thb
):
    quote = price(Rate(asset=asset, thb=Decimal(thb)), Decimal(amount), mode, None)

    if to_thb == "0":
        assert quote == Refusal(error="0.00000001 is too little to exchange")
    else:
        assert not isinstance(quote, Refusal)
        assert (quote.amount_from, quote.amount_to_thb) == (Decimal(amount_from), Decimal(to_thb))


@given(
    thb=st.decimals("0.01", "10000000", places=4),
    amount=st.decimals("0.01", "1000000", places=2),
    mode=st.sampled_from(["source_amount", "target_thb"]),
)
def test_a_quote_never_strays_from_the_rate_by_more_than_the_rounding(thb, amount, mode):
    quote = price(Rate(asset="USDT", thb=thb), amount, mode, None)

    if isinstance(quote, Refusal):
        smaller = amount * thb if mode == "source_amount" else amount / thb
        assert smaller < Decimal("0.005")
    elif mode == "source_amount":
        assert abs(quote.amount_to_thb - amount * thb) <= Decimal("0.005")
    else:
        assert abs(quote.amount_from * thb - amount) <= Decimal("0.005") * thb + Decimal("1e-20")


@pytest.mark.parametrize(
    ("thb", "refused"),
    # reference 30: 30 * 0.35 + 0.5 = 11.00, so the band is 19 to 41
    [("19", False), ("18.99", True), ("41", False), ("41.01", True)],
)
def test_the_rate_guard_allows_35_percent_and_half_a_baht_on_either_side(thb, refused):
    rate = Rate(asset="USDT", thb=Decimal(thb), reference=Decimal(30))

    assert RateGuard().refuses(rate) is refused


def test_a_rate_outside_the_guard_is_refused_and_the_owner_is_told(desk):
    desk.set_rate(Rate(asset="USDT", thb=Decimal("326"), reference=Decimal("32.9")))

    quote = call(desk, "compute_exchange_quote", asset="USDT", amount=10)

    assert quote == {"error": "The rate of USDT is being checked; an operator will confirm it."}
    assert desk.state()["ownerAlerts"] == ["rate of USDT is 326 THB, reference 32.9 THB"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({}, "asset and amount missing"),
        ({"asset": "USDT"}, "amount missing"),
        ({"amount": 5}, "asset missing"),
        ({"asset": "DOGE", "amount": 5}, "no rate for DOGE"),
        ({"asset": "USDT", "amount": 1e300}, "at most 1000000000000000"),
    ],
)
def test_a_quote_without_what_it_needs_is_an_error_in_words(desk, args, words):
    assert words in call(desk, "compute_exchange_quote", **args)["error"]


def test_a_rate_must_be_above_zero():
    with pytest.raises(UsageError, match="thb above 0, got 0"):
        Rate(asset="USDT", thb=Decimal(0))


def test_missing_arguments_are_filled_from_the_order_and_then_from_the_funnel_but_the_mode_is_not(desk):
    desk.lead("c1").collected = {"asset": "RUB", "amount": 10000}
    from_funnel = call(desk, "compute_exchange_quote")
    ordered(desk, amountMode="target_thb")

    from_order = call(desk, "compute_exchange_quote")

    assert from_funnel["display"] == "10000 RUB = 4100 THB"
    assert (from_order["asset"], from_order["amountFrom"], from_order["amountMode"]) == (
        "USDT",
        15000,
        "source_amount",
    )


def test_an_identical_quote_leaves_the_order_and_a_different_one_cancels_it(desk):
    ordered(desk)

    call(desk, "compute_exchange_quote", asset="USDT", amount=15000.0)
    after_same = desk.state()
    call(desk, "compute_exchange_quote", asset="USDT", amount=15001)
    after_other = desk.state()

    assert (after_same["orders"][0]["status"], after_same["leads"]["c1"]["stage"]) == (
        "awaiting_payment",
        "order_created",
    )
    assert (after_other["orders"][0]["status"], after_other["leads"]["c1"]["stage"]) == (
        "cancelled",
        "quote_calculated",
    )


def test_a_quote_leaves_a_lead_whose_money_has_come_in_where_it_is(desk):
    ordered(desk)
    desk.confirm_payment(1)
    desk.lead("c1").stage = "requisites_sent"

    call(desk, "compute_exchange_quote", asset="USDT", amount=7)

    assert (desk.state()["orders"][0]["status"], desk.lead("c1").stage) == ("paid", "requisites_sent")


# ---- verification and orders ---------------------------------------------------------------------------


def test_without_verification_an_order_is_gated_and_the_lead_goes_to_the_identity_check():
    desk = sample_desk()
    call(desk, "compute_exchange_quote", asset="USDT", amount=15000)

    gated = call(desk, "create_exchange_order", **USDT_ORDER)
    checked = call(desk, "check_exchange_verification")

    assert {key: gated[key] for key in ("ok", "needsVerification", "status")} == {
        "ok": False,
        "needsVerification": True,
        "status": "missing",
    }
    assert set(gated) == {"ok", "needsVerification", "status", "instructions"}
    assert checked == {
        "verified": False,
        "verificationId": None,
        "status": "missing",
        "needsVerification": True,
    }
    assert desk.state()["leads"]["c1"]["stage"] == "kyc_collection"
    assert desk.state()["orders"] == []


def test_a_verified_client_leaves_the_identity_check_for_the_quote(desk):
    desk.lead("c1").stage = "kyc_collection"

    desk.judge_client("c1", VERIFIED)

    assert desk.lead("c1").stage == "quote_calculated"
    assert call(desk, "check_exchange_verification") == {
        "verified": True,
        "verificationId": "V-9",
        "status": "verified",
        "needsVerification": False,
    }


def test_an_order_says_what_was_agreed_and_how_long_it_waits(desk):
    order = ordered(desk)

    assert order == {
        "orderId": 1,
        "status": "awaiting_payment",
        "direction": "USDT->THB",
        "amountFrom": 15000,
        "amountMode": "source_amount",
        "amountToThb": 489000,
        "paymentMethod": "crypto_transfer",
        "payoutMethod": "office_cash",
        "rate": 32.6,
        "ttlMin": 15,
    }
    assert desk.order(1).expires_at - STORY_BEGINS == 15 * 60


def test_a_fiat_order_waits_twenty_minutes_and_needs_a_payment_method(desk):
    call(desk, "compute_exchange_quote", asset="RUB", amount=10000)

    without = call(desk, "create_exchange_order", asset="RUB", amount=10000)
    order = call(desk, "create_exchange_order", asset="RUB", amount=10000, paymentMethod="sbp_qr")

    assert "paymentMethod is missing" in without["error"]
    assert (order["ttlMin"], order["paymentMethod"], order["amountToThb"]) == (20, "sbp_qr", 4100)


def test_the_same_order_again_is_idempotent_and_another_one_replaces_it(desk):
    ordered(desk)

    again = call(desk, "create_exchange_order", **USDT_ORDER)
    other = call(desk, "create_exchange_order", **{**USDT_ORDER, "network": "ERC20"})

    assert again == {
        "orderId": 1,
        "status": "awaiting_payment",
        "direction": "USDT->THB",
        "amountToThb": 489000,
        "rate": 32.6,
        "idempotent": True,
    }
    assert other["orderId"] == 2
    assert [order["status"] for order in desk.state()["orders"]] == ["cancelled", "awaiting_payment"]


@pytest.mark.parametrize(
    ("payer", "approved", "refused"),
    [("mia  example", None, False), ("Tom Other", None, True), ("Tom Other", True, False)],
)
def test_a_third_party_payer_needs_an_approval(desk, payer, approved, refused):
    args = {"payerName": payer} if approved is None else {"payerName": payer, "thirdPartyApproved": approved}

    order = ordered(desk, **args)

    assert ("error" in order) is refused


def test_cancelling_names_the_orders_and_the_last_deal(desk):
    ordered(desk)

    cancelled = call(desk, "cancel_exchange_order")
    again = call(desk, "cancel_exchange_order")

    assert cancelled == {
        "cancelled": [1],
        "lastDeal": {"asset": "USDT", "amount": 15000, "network": "TRC20"},
    }
    assert again == {"cancelled": [], "note": "There is no open order to cancel."}
    assert desk.lead("c1").stage == "quote_calculated"


def test_an_order_that_was_paid_is_not_cancelled(desk):
    ordered(desk)
    desk.confirm_payment(1)

    blocked = call(desk, "cancel_exchange_order")

    assert {**blocked, "note": ""} == {
        "ok": False,
        "needsOperator": True,
        "blockedByPayment": [1],
        "note": "",
    }
    assert desk.state()["orders"][0]["status"] == "paid"


# ---- requisites, payment, payout -----------------------------------------------------------------------


def test_requisites_for_coins_name_the_address_and_a_second_call_issues_another(desk):
    ordered(desk)

    first = call(desk, "fetch_exchange_requisites")
    second = call(desk, "fetch_exchange_requisites")

    assert set(first) == {
        "orderId",
        "kind",
        "address",
        "network",
        "expiresAt",
        "currencyCode",
        "ttlMin",
        "amlNote",
        "instructions",
    }
    assert (first["kind"], first["network"], first["amlNote"], first["ttlMin"]) == (
        "crypto",
        "TRC20",
        True,
        15,
    )
    assert first["address"] != second["address"]
    assert desk.lead("c1").stage == "requisites_sent"


@pytest.mark.parametrize(
    ("order", "keys"),
    [
        (
            {"asset": "RUB", "amount": 10000, "paymentMethod": "card_transfer"},
            {"orderId", "kind", "paymentMethod", "detailsText", "ttlMin", "instructions"},
        ),
        (
            {"asset": "RUB", "amount": 10000, "paymentMethod": "sbp_qr"},
            {"orderId", "kind", "paymentUrl", "ttlMin", "instructions"},
        ),
        (
            {"asset": "USDT", "amount": 10, "paymentRail": "example_pay"},
            {"orderId", "kind", "paymentRail", "exchangeId", "exchangeName", "ttlMin", "instructions"},
        ),
        (
            {"asset": "BTC", "amount": 0.01},
            {
                "orderId",
                "kind",
                "address",
                "network",
                "paymentUrl",
                "invoiceToken",
                "expiresAt",
                "currencyCode",
                "ttlMin",
                "amlNote",
                "instructions",
            },
        ),
        ({"asset": "ETH", "amount": 1}, {"orderId", "needsOperator", "note"}),
        ({"asset": "RUB", "amount": 10000, "paymentMethod": "cash"}, {"orderId", "needsOperator", "note"}),
    ],
)
def test_requisites_have_the_shape_of_their_kind(desk, order, keys):
    call(desk, "compute_exchange_quote", asset=order["asset"], amount=order["amount"])
    call(desk, "create_exchange_order", **order)

    requisites = call(desk, "fetch_exchange_requisites")

    assert set(requisites) == keys


def test_an_expired_order_is_revived_at_the_rate_of_the_day(desk, clock):
    ordered(desk)
    clock.advance(15 * 60 + 1)
    desk.set_rate(Rate(asset="USDT", thb=Decimal("33")))

    requisites = call(desk, "fetch_exchange_requisites")

    assert requisites["expiresAt"] == STORY_BEGINS + 15 * 60 + 1 + 15 * 60
    assert desk.state()["orders"][0]["amountToThb"] == 495000
    assert desk.state()["orders"][0]["status"] == "awaiting_payment"


def test_an_order_lives_to_the_last_second_of_its_time(desk, clock):
    ordered(desk)
    clock.advance(15 * 60)

    again = call(desk, "create_exchange_order", **USDT_ORDER)

    assert again["idempotent"] is True


def paying(desk: ExchangeDesk) -> str:
    ordered(desk)
    return str(call(desk, "fetch_exchange_requisites")["address"])


def test_a_confirmed_transfer_pays_the_order(desk):
    address = paying(desk)
    desk.transfer_arrives("0xabc", Transfer(to_address=address, from_address="Tfrom", amount=Decimal(15000)))

    paid = call(desk, "verify_exchange_payment", paymentReference="0xabc")

    assert {**paid, "note": ""} == {
        "orderId": 1,
        "ok": True,
        "fromAddress": "Tfrom",
        "amount": 15000,
        "note": "",
    }
    assert (desk.state()["orders"][0]["status"], desk.lead("c1").stage) == ("paid", "payment_verified")


def test_a_transfer_that_paid_before_is_refused_with_the_order_it_paid(desk):
    address = paying(desk)
    desk.transfer_arrives("0xabc", Transfer(to_address=address, from_address="T", amount=Decimal(15000)))
    call(desk, "verify_exchange_payment", proof="0xabc")
    desk.judge_client("c2", VERIFIED)
    call(desk, "compute_exchange_quote", "c2", asset="USDT", amount=15000)
    call(desk, "create_exchange_order", "c2", **USDT_ORDER)
    call(desk, "fetch_exchange_requisites", "c2")

    reused = call(desk, "verify_exchange_payment", "c2", proof="0xabc")

    assert set(reused) == {"orderId", "ok", "needsOperator", "duplicateOrderId", "reason"}
    assert (reused["ok"], reused["needsOperator"], reused["duplicateOrderId"]) == (False, True, 1)
    assert desk.lead("c2").stage == "payment_proof_waiting"


@pytest.mark.parametrize(
    ("transfer", "needs_operator", "stage"),
    [
        (None, None, "requisites_sent"),
        ({"confirmed": False}, None, "requisites_sent"),
        ({"to_address": "Telsewhere"}, True, "payment_proof_waiting"),
        ({"amount": Decimal("14999.99")}, True, "payment_proof_waiting"),
    ],
)
def test_a_transfer_that_does_not_settle_the_order_says_why(desk, transfer, needs_operator, stage):
    address = paying(desk)
    if transfer is not None:
        sent = {"to_address": address, "from_address": "T", "amount": Decimal(15000), **transfer}
        desk.transfer_arrives("0xabc", Transfer(**sent))

    checked = call(desk, "verify_exchange_payment", paymentReference="0xabc")

    assert checked["ok"] is False
    assert checked.get("needsOperator") is needs_operator
    assert checked["reason"]
    assert (desk.lead("c1").stage, desk.state()["orders"][0]["status"]) == (stage, "awaiting_payment")


def test_a_payment_without_a_hash_and_one_without_an_address_have_no_order_in_their_answer(desk):
    paying(desk)
    without_hash = call(desk, "verify_exchange_payment")
    desk.order(1).issued.clear()

    without_address = call(desk, "verify_exchange_payment", proof="0xabc")

    assert (set(without_hash), without_hash["ok"]) == ({"ok", "error"}, False)
    assert (set(without_address), without_address["needsOperator"]) == ({"ok", "needsOperator", "note"}, True)
    assert desk.lead("c1").stage == "requisites_sent"


def test_a_network_that_no_machine_watches_is_left_to_an_operator(desk):
    desk.sources.append(PaymentSource(kind="own_address", asset="USDT", network="ERC20"))
    ordered(desk, network="ERC20")
    call(desk, "fetch_exchange_requisites")

    checked = call(desk, "verify_exchange_payment", proof="0xabc")

    assert (set(checked), checked["ok"]) == ({"orderId", "ok", "needsOperator", "note"}, False)


def test_money_in_an_account_is_always_left_to_an_operator_and_the_receipt_is_kept(desk):
    call(desk, "compute_exchange_quote", asset="RUB", amount=10000)
    call(desk, "create_exchange_order", asset="RUB", amount=10000, paymentMethod="card_transfer")
    call(desk, "fetch_exchange_requisites")

    checked = call(desk, "verify_exchange_payment", sourceBank="Example Bank", receiptAmount=10000)

    assert {**checked, "note": ""} == {
        "orderId": 1,
        "ok": False,
        "needsOperator": True,
        "sourceBank": "Example Bank",
        "receiptAmount": 10000,
        "note": "",
    }
    assert desk.state()["orders"][0]["receipts"] == [{"sourceBank": "Example Bank", "receiptAmount": 10000}]
    assert desk.lead("c1").stage == "payment_proof_waiting"


@pytest.mark.parametrize("settled", [True, False])
def test_an_invoice_is_asked_of_its_provider(desk, settled):
    call(desk, "compute_exchange_quote", asset="BTC", amount=0.01)
    call(desk, "create_exchange_order", asset="BTC", amount=0.01)
    token = call(desk, "fetch_exchange_requisites")["invoiceToken"]
    if settled:
        desk.settle_invoice(token)

    checked = call(desk, "verify_exchange_payment")

    assert (checked["ok"], checked["needsOperator"]) == (settled, not settled)
    assert desk.lead("c1").stage == ("payment_verified" if settled else "payment_proof_waiting")


@pytest.mark.parametrize(
    ("code", "later", "keys"),
    [
        (None, 0, {"orderId", "needsOperator", "note", "payoutMethod", "location"}),
        ("4711", 0, {"orderId", "payoutMethod", "location", "payoutCode", "amountToThb"}),
        ("4711", 601, {"orderId", "needsOperator", "codeExpired", "note", "payoutMethod", "location"}),
    ],
)
def test_the_payout_has_the_shape_of_its_code_and_the_order_moves_on_in_any_case(
    desk, clock, code, later, keys
):
    ordered(desk)
    desk.confirm_payment(1)
    if code:
        desk.add_payout_code(1, code, expires_at=clock() + 600)
    clock.advance(later)

    payout = call(desk, "issue_exchange_payout", payoutMethod="office_cash", location="Bangkok")

    assert set(payout) == keys
    assert (desk.state()["orders"][0]["status"], desk.lead("c1").stage) == ("payout", "payout_or_completion")


def test_a_payout_asked_for_before_its_code_leads_into_the_dead_end_that_production_has(desk):
    ordered(desk)
    desk.confirm_payment(1)
    call(desk, "issue_exchange_payout", payoutMethod="office_cash", location="Bangkok")
    desk.add_payout_code(1, "4711", expires_at=STORY_BEGINS + 600)

    second = call(desk, "issue_exchange_payout", payoutMethod="office_cash", location="Bangkok")

    assert (second["ok"], second["needsOperator"], second["reason"], second["stageSlug"]) == (
        False,
        True,
        "action_not_allowed_for_stage",
        "payout_or_completion",
    )
    assert second["allowedTools"] == ["cancel_exchange_order", "get_exchange_business_info"]


@pytest.mark.parametrize(
    "name", ["fetch_exchange_requisites", "verify_exchange_payment", "issue_exchange_payout"]
)
def test_without_an_order_the_tools_of_settlement_answer_with_an_error(name):
    desk = sample_desk(first_stage=None)
    args = {"payoutMethod": "atm", "location": "x"} if name == "issue_exchange_payout" else {}

    assert set(call(desk, name, **args)) == {"error"}


def test_business_information_is_what_is_on_file_or_a_note(desk):
    bare = ExchangeDesk(rates=[Rate(asset="USD", thb=Decimal(32))])

    assert set(call(desk, "get_exchange_business_info")) == {
        "workingHours",
        "operatorContact",
        "payoutMethods",
        "kycPolicy",
        "officeAddresses",
    }
    assert set(call(bare, "get_exchange_business_info")) == {"note"}


# ---- the offer, the gate, the machine -------------------------------------------------------------------


def test_the_tools_are_offered_in_their_order_with_honest_effects_and_only_while_a_rate_is_active(desk):
    tools = exchange_tools(desk, "c1")
    for rate in list(desk.rates.values()):
        desk.set_rate(Rate(asset=rate.asset, thb=rate.thb, active=False))

    assert [(tool.name, tool.effect) for tool in tools] == [
        ("compute_exchange_quote", "write"),
        ("check_exchange_verification", "read"),
        ("create_exchange_order", "write"),
        ("cancel_exchange_order", "write"),
        ("fetch_exchange_requisites", "irreversible"),
        ("verify_exchange_payment", "write"),
        ("issue_exchange_payout", "irreversible"),
        ("get_exchange_business_info", "read"),
    ]
    assert exchange_tools(desk, "c1") == []


def test_optional_arguments_are_shown_as_optional_and_never_as_nullable(desk):
    create = exchange_tools(desk, "c1")[2].openai_definition()["function"]["parameters"]

    assert "required" not in create
    assert create["properties"]["asset"]["type"] == "string"
    assert create["properties"]["amount"] == {"type": "number", "exclusiveMinimum": 0}
    assert create["properties"]["paymentMethod"]["enum"] == [
        "crypto_transfer",
        "sbp_qr",
        "card_transfer",
        "bank_transfer",
        "cash",
    ]
    assert create["additionalProperties"] is False


def test_the_first_description_names_the_stage_and_what_may_run_in_it(desk):
    desk.lead("c1").stage = "payment_verified"

    first, second, *_ = exchange_tools(desk, "c1")

    assert first.description.endswith(
        "The lead is in stage payment_verified; tools that may run in it:"
        " cancel_exchange_order, issue_exchange_payout, get_exchange_business_info."
    )
    assert "stage" not in second.description


def test_the_gate_reads_the_stage_again_before_every_call_of_a_turn(desk):
    tools = exchange_tools(desk, "c1")
    too_early = run(tools, "create_exchange_order", **USDT_ORDER)
    run(tools, "compute_exchange_quote", asset="USDT", amount=15000)

    in_time = run(tools, "create_exchange_order", **USDT_ORDER)

    assert too_early["reason"] == "action_not_allowed_for_stage"
    assert set(too_early) == {
        "ok",
        "needsOperator",
        "reason",
        "toolName",
        "stageSlug",
        "allowedTools",
        "note",
    }
    assert in_time["orderId"] == 1


def test_a_turn_that_began_in_no_known_stage_is_not_gated(desk):
    desk.lead("c1").stage = None

    order = call(desk, "create_exchange_order", **USDT_ORDER)

    assert order["orderId"] == 1
    assert desk.lead("c1").stage == "order_created"


def test_the_gate_is_the_table_of_stages():
    allowed = {(tool, stage) for tool in ALLOWED_STAGES for stage in STAGES if not stage_denial(tool, stage)}

    by_tool = {tool: sum(one == tool for one, _ in allowed) for tool in ALLOWED_STAGES}
    assert list(by_tool.values()) == [5, 5, 3, 11, 2, 2, 1, 11]


ARGS = {
    "compute_exchange_quote": st.sampled_from(
        [{}, {"asset": "USDT", "amount": 10}, {"asset": "RUB", "amount": 500, "amountMode": "target_thb"}]
    ),
    "create_exchange_order": st.sampled_from(
        [{}, USDT_ORDER, {"asset": "RUB", "amount": 500, "paymentMethod": "sbp_qr"}]
    ),
    "verify_exchange_payment": st.sampled_from([{}, {"proof": "0x1"}, {"receiptAmount": 500}]),
    "issue_exchange_payout": st.just({"payoutMethod": "atm", "location": "Phuket"}),
}
STEP = st.sampled_from(sorted(ALLOWED_STAGES)).flatmap(
    lambda name: st.tuples(st.just(name), ARGS.get(name, st.just({})))
)
WORLD = st.sampled_from(["verify", "wait", "pay", "confirm", "code"])


def happen(desk: ExchangeDesk, clock: HandClock, event: str) -> None:
    if event == "verify":
        desk.judge_client("c1", VERIFIED)
    elif event == "wait":
        clock.advance(16 * 60)
    elif desk.orders and event == "pay":
        issued = [one["address"] for one in desk.orders[-1].issued if "address" in one]
        arrived = Transfer(to_address=(issued or ["T"])[-1], from_address="T", amount=Decimal(99999))
        desk.transfer_arrives("0x1", arrived)
    elif desk.orders and event == "code":
        desk.add_payout_code(desk.orders[-1].order_id, "1", expires_at=clock() + 60)
    elif desk.orders and desk.orders[-1].status == "awaiting_payment":
        desk.confirm_payment(desk.orders[-1].order_id)


@given(st.lists(st.one_of(STEP, WORLD), max_size=25))
def test_whatever_is_called_the_desk_keeps_its_rules_and_tells_the_same_story_twice(steps):
    def play() -> tuple[ExchangeDesk, list[Any]]:
        clock = HandClock()
        desk = sample_desk(seed=3, clock=clock)
        told: list[Any] = []
        for step in steps:
            if isinstance(step, str):
                happen(desk, clock, step)
                continue
            name, args = step
            before = (desk.lead("c1").stage, desk.state())
            answer = call(desk, name, **args)
            if name in ("check_exchange_verification", "get_exchange_business_info"):
                assert desk.state()["leads"] == before[1]["leads"]
            if answer.get("reason") == "action_not_allowed_for_stage":
                assert before[0] not in ALLOWED_STAGES[name]
                assert desk.state() == before[1]
            told.append(answer)
        return desk, told

    desk, told = play()
    again, told_again = play()

    assert desk.state() == again.state()
    assert told == told_again
    state = desk.state()
    assert state["leads"].get("c1", {"stage": "exchange_request"})["stage"] in STAGES
    assert sum(order["status"] == "awaiting_payment" for order in state["orders"]) <= 1
    for order in desk.orders:
        assert order.status != "paid" or order.paid_by is None or order.paid_by in desk.chain
        assert order.quote.amount_from > 0
        assert order.quote.amount_to_thb > 0


def test_another_seed_issues_other_addresses_and_the_same_seed_the_same():
    def address(seed: int) -> str:
        desk = sample_desk(seed=seed, verified=True)
        return paying(desk)

    assert address(1) == address(1)
    assert address(1) != address(2)


def test_two_conversations_do_not_share_a_lead(desk):
    ordered(desk)

    call(desk, "compute_exchange_quote", "c2", asset="USDT", amount=1)

    assert desk.state()["orders"][0]["status"] == "awaiting_payment"
    assert {key: lead["stage"] for key, lead in desk.state()["leads"].items()} == {
        "c1": "order_created",
        "c2": "quote_calculated",
    }


def test_a_desk_without_that_order_says_which_it_has(desk):
    with pytest.raises(UsageError, match=r"no order 7; it has \[\]"):
        desk.confirm_payment(7)
