"""What a run has cost so far, and whether it may go on."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from quality_lab.errors import UsageError

Price = Callable[[int, int], Decimal]  # tokens read and written: dollars

HOW_TO_GET = "pip install 'quality-lab[prices]'"
_UNKNOWN = "usage_unknown: the server does not say what it took, so no budget can be kept"


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

    def purse(self, price: Price) -> JudgePurse:
        """Return the way in which another model's questions, at their own *price*, are paid out of this budget."""
        return JudgePurse(self, price)

    def reached(self) -> str | None:
        """Return why nothing more may be spent; None while something may."""
        if self.ended is None and self.limit is not None and self.spent >= self.limit:
            self.ended = f"budget_reached: {self.spent:.6f} of {self.limit} dollars are spent"
        return self.ended

    def end(self, input_tokens: int | None, output_tokens: int | None, *, asked: bool) -> None:
        """Count what a trial took; *asked* says that the model was asked at all."""
        self._under_way -= 1
        if self._price is None:
            return
        if input_tokens is None or output_tokens is None:
            if asked and self.limit is not None and self.ended is None:
                self.ended = _UNKNOWN
            return
        cost = self._price(input_tokens, output_tokens)
        self.spent += cost
        self._dearest = max(self._dearest, cost)


class JudgePurse:
    """Pays for a judge's questions out of a run's budget; one of a trial under way is asked while money is left."""

    def __init__(self, budget: Budget, price: Price) -> None:
        self._budget = budget
        self._price = price

    def empty(self) -> str | None:
        """Return why no further question may be asked; None while one may."""
        return self._budget.reached()

    def pay(self, input_tokens: int | None, output_tokens: int | None) -> None:
        """Count what a question took; a server that does not say ends the run, as no budget can be kept."""
        if input_tokens is None or output_tokens is None:
            self._budget.ended = self._budget.ended or _UNKNOWN
        else:
            self._budget.spent += self._price(input_tokens, output_tokens)
