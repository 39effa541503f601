"""Quotes in exact decimals: a rate, the guard around it, and what an amount comes to."""

from __future__ import annotations

import decimal
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from quality_lab.errors import UsageError

AmountMode = Literal["source_amount", "target_thb"]
QUOTE_ASSET = "THB"

#: Networks by which an asset is served; an asset without any is paid in money, not in coins.
NETWORKS: dict[str, tuple[str, ...]] = {
    "USDT": ("TRC20", "ERC20"),
    "BTC": ("BTC",),
    "ETH": ("ERC20",),
    "RUB": (),
    "EUR": (),
    "USD": (),
}

_PLACES = {"BTC": Decimal("1e-8"), "ETH": Decimal("1e-8")}
_CENT = Decimal("0.01")
_MOST = Decimal("1e15")
_ARITHMETIC = decimal.Context(prec=50, rounding=decimal.ROUND_HALF_UP)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rate:
    """What one unit of an asset brings in baht, beside the reference by which it is guarded."""

    asset: str
    thb: Decimal  # baht for one unit
    reference: Decimal | None = None  # baht for one unit on the open market; None: not guarded
    active: bool = True

    def __post_init__(self) -> None:
        for name, number in (("thb", self.thb), ("reference", self.reference)):
            if number is not None and not (number.is_finite() and number > 0):
                raise UsageError(f"the rate of {self.asset} needs {name} above 0, got {number}")


@dataclass(frozen=True, kw_only=True, slots=True)
class RateGuard:
    """How far a rate may lie from its reference: a share of it, and a little slack in baht."""

    share: Decimal = Decimal("0.35")
    slack_thb: Decimal = Decimal("0.5")

    def refuses(self, rate: Rate) -> bool:
        """Return whether *rate* lies too far from its reference; the edge itself is still fine."""
        if rate.reference is None:
            return False
        return abs(rate.thb - rate.reference) > rate.reference * self.share + self.slack_thb


@dataclass(frozen=True, kw_only=True, slots=True)
class Quote:
    """What was asked for and what it comes to."""

    asset: str
    network: str | None
    mode: AmountMode
    amount: Decimal  # as asked for, in the unit that the mode names
    amount_from: Decimal  # in the asset
    amount_to_thb: Decimal
    rate: Decimal

    @property
    def direction(self) -> str:
        """Return from what to what, as `USDT->THB`."""
        return f"{self.asset}->{QUOTE_ASSET}"

    @property
    def display(self) -> str:
        """Return the quote as a person reads it, as `15000 USDT = 489000 THB`."""
        return f"{plain(self.amount_from)} {self.asset} = {plain(self.amount_to_thb)} {QUOTE_ASSET}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """Why something was not done, in words for the model."""

    error: str


def price(rate: Rate, amount: Decimal, mode: AmountMode, network: str | None) -> Quote | Refusal:
    """Return the quote for *amount* at *rate*: baht to the satang, coins to eight places, other money to two.

    >>> price(Rate(asset="USDT", thb=Decimal("32.6")), Decimal(15000), "source_amount", None).display
    '15000 USDT = 489000 THB'
    """
    if not amount.is_finite() or amount <= 0 or amount > _MOST:
        return Refusal(error=f"amount must be a number above 0 and at most {plain(_MOST)}, got {amount}")
    places = _PLACES.get(rate.asset, _CENT)
    if mode == "target_thb":
        amount_to_thb = amount
        amount_from = _ARITHMETIC.quantize(_ARITHMETIC.divide(amount, rate.thb), places)
    else:
        amount_from = amount
        amount_to_thb = _ARITHMETIC.quantize(_ARITHMETIC.multiply(amount, rate.thb), _CENT)
    if not amount_from or not amount_to_thb:
        return Refusal(error=f"{plain(amount)} is too little to exchange")
    return Quote(
        asset=rate.asset,
        network=network,
        mode=mode,
        amount=amount,
        amount_from=amount_from,
        amount_to_thb=amount_to_thb,
        rate=rate.thb,
    )


def plain(number: Decimal) -> str:
    """Return *number* without exponent and without trailing zeros.

    >>> plain(Decimal("1.50E+3")), plain(Decimal("0.10"))
    ('1500', '0.1')
    """
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def json_number(number: Decimal) -> int | float:
    """Return *number* as JSON holds it: an int where it is whole, else a float."""
    return int(number) if number == number.to_integral_value() else float(number)


def as_decimal(value: object) -> Decimal | None:
    """Return the decimal that *value* writes, or None where it is no number (a boolean is none).

    >>> as_decimal(0.1), as_decimal("12"), as_decimal(True)
    (Decimal('0.1'), Decimal('12'), None)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
        return None
    try:
        return Decimal(str(value))
    except decimal.InvalidOperation:
        return None
