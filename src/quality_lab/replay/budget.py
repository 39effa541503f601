"""What a run has cost so far, and whether it may go on."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from quality_lab.errors import UsageError

Price = Callable[[int, int], Decimal]  # tokens read and written: dollars

HOW_TO_GET = "pip install 'quality-lab[prices]'"


def price_of(model: str) -> Price:
    """Return what tokens of *model* cost, by an offline table.

    Raises:
        UsageError: there is no table here, or it does not know the model.
    """
    try:
        from genai_prices import Usage, calc_price  # an optional package
    except ImportError:
        raise UsageError(f"a budget needs a table of prices: {HOW_TO_GET}") from None

    def price(input_tokens: int, output_tokens: int) -> Decimal:
        usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
        return Decimal(calc_price(usage, model_ref=model).total_price)

    try:
        price(1, 1)
    except LookupError:
        raise UsageError(f"a budget needs to know what {model} costs, and no price of it is known") from None
    return price


class Budget:
    """Dollars that may be spent. Trials that are under way are counted as dear as the dearest so far."""

    def __init__(self, limit: Decimal | None, price: Price | None) -> None:
        self.limit = limit
        self.spent = Decimal(0)
        self.ended: str | None = None  # why no further trial may start
        self._price = price
        self._dearest = Decimal(0)
        self._under_way = 0

    def begin(self) -> bool:
        """Return whether one more trial may start, and count it as under way."""
        if self.ended is None and self.limit is not None and self._committed >= self.limit:
            self.ended = f"budget_reached: {self.spent:.6f} of {self.limit} dollars are spent"
        if self.ended is not None:
            return False
        self._under_way += 1
        return True

    @property
    def _committed(self) -> Decimal:
        return self.spent + self._under_way * self._dearest

    def end(self, input_tokens: int | None, output_tokens: int | None, *, asked: bool) -> None:
        """Count what a trial took; *asked* says that the model was asked at all."""
        self._under_way -= 1
        if self._price is None:
            return
        if input_tokens is None or output_tokens is None:
            if asked and self.limit is not None and self.ended is None:
                self.ended = "usage_unknown: the server does not say what it took, so no budget can be kept"
            return
        cost = self._price(input_tokens, output_tokens)
        self.spent += cost
        self._dearest = max(self._dearest, cost)
