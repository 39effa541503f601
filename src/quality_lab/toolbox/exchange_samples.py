"""An exchange desk ready to trade, with invented rates, payment details and offices."""

from __future__ import annotations

from decimal import Decimal

from quality_lab.toolbox.exchange_desk import ExchangeDesk, PaymentSource, Verification
from quality_lab.toolbox.exchange_rates import Rate
from quality_lab.toolbox.hand_clock import Clock

_RATES = {
    "USDT": ("32.6", "32.9"),
    "BTC": ("3400000", "3450000"),
    "ETH": ("118000", "119500"),
    "RUB": ("0.41", "0.42"),
    "EUR": ("37.8", "38.1"),
    "USD": ("32.4", "32.8"),
}


def sample_desk(
    *,
    seed: int = 0,
    clock: Clock | None = None,
    first_stage: str | None = "exchange_request",
    verified: bool = False,
) -> ExchangeDesk:
    """Return a desk with six rates, ways to pay in coins and in money, and an office; all of it invented."""
    known = Verification(status="verified", verification_id="V-1") if verified else None
    return ExchangeDesk(
        rates=[
            Rate(asset=asset, thb=Decimal(thb), reference=Decimal(market))
            for asset, (thb, market) in _RATES.items()
        ],
        sources=[
            PaymentSource(kind="own_address", asset="USDT", network="TRC20"),
            PaymentSource(kind="invoice_address", asset="BTC", network="BTC"),
            PaymentSource(
                kind="exchange_account",
                payment_rail="example_pay",
                exchange_id="10001",
                exchange_name="Example Coin Exchange",
            ),
            PaymentSource(
                kind="fiat_text",
                payment_method="card_transfer",
                text="Card 0000 0000 0000 0000, Example Exchange",
            ),
            PaymentSource(kind="fiat_link", payment_method="sbp_qr", text="https://pay.example.com/sbp/"),
        ],
        business_info={
            "workingHours": "daily 10:00 to 20:00",
            "operatorContact": "+1 555 0100",
            "payoutMethods": "office_cash, cardless_atm, thai_bank_transfer",
            "kycPolicy": "an identity document once, before the first order",
            "officeAddresses": ["1 Example Road, Bangkok", "2 Example Street, Phuket"],
        },
        seed=seed,
        clock=clock,
        first_stage=first_stage,
        first_verification=known,
    )
