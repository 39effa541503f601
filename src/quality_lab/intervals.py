"""Rates with honest intervals: Wilson's 95 % interval at the calls that the conversations are worth.

Calls of one conversation resemble each other, so a hundred calls out of ten conversations know less than a
hundred conversations. The design effect measures by how much, and Student's t pays for having estimated it:

    deff  = C/(C-1) · Σ_c (y_c - p·m_c)² / (n·p·(1-p))    over C conversations of m_c calls with y_c hits
    n_eff = n / deff · (z / t)²                            z = 1.96, t = t(0.975, C-1)

deff is 1 where p is 0 or 1, and never below 1. Under ten conversations it cannot be estimated: the plain
interval stands there, marked `few`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import exp, isfinite, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

Z = NormalDist().inv_cdf(0.975)  # 1.959964
FEW_CONVERSATIONS = 10
_LARGE_DF = 1000  # from here on the expansion in 1/df is exact to the last digits of a float


@dataclass(frozen=True, kw_only=True, slots=True)
class Sums:
    """All that an interval needs to know of n calls in C conversations: SQL adds them up."""

    n: int  # calls
    y: int  # hits among them
    conversations: int  # C
    yy: int  # Σ y_c²
    ym: int  # Σ y_c·m_c
    mm: int  # Σ m_c²


@dataclass(frozen=True, kw_only=True, slots=True)
class Rate:
    """A rate from 0 to 1 with its 95 % interval and what it rests on."""

    value: float
    low: float
    high: float
    n: int  # calls
    n_eff: float  # independent calls that they are worth
    conversations: int
    few: bool  # too few conversations to tell how much their calls resemble each other


def rate(sums: Sums) -> Rate | None:
    """Return the rate y / n with its interval; None where there is no call."""
    if sums.n == 0:
        return None
    worth = effective_n(sums)
    value = sums.y / sums.n
    low, high = wilson(value * worth, worth)
    return Rate(
        value=value, low=low, high=high, n=sums.n, n_eff=worth, conversations=sums.conversations,
        few=sums.conversations < FEW_CONVERSATIONS,
    )  # fmt: skip


def wilson(k: float, n: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval for *k* hits of *n*, which need not be whole numbers.

    >>> [round(bound, 4) for bound in wilson(3, 40)]
    [0.0258, 0.1986]
    """
    if n <= 0:
        raise ValueError(f"an interval needs at least a part of a call, not n={n}")
    p = k / n
    middle = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
    reach = Z / (1 + Z * Z / n) * sqrt(max(0.0, p * (1 - p) / n + Z * Z / (4 * n * n)))
    low = 0.0 if p <= 0 else max(0.0, middle - reach)
    high = 1.0 if p >= 1 else min(1.0, middle + reach)
    return low, high


def difference(now: Rate | None, before: Rate | None) -> tuple[float, float, float] | None:
    """Return how much higher a rate is than before, with Newcombe's 95 % interval; None if one is unknown.

    The interval is put together from the bounds of the two rates, so it knows of conversations what they
    know.
    """
    if now is None or before is None:
        return None
    middle = now.value - before.value
    low = middle - ((now.value - now.low) ** 2 + (before.high - before.value) ** 2) ** 0.5
    high = middle + ((now.high - now.value) ** 2 + (before.value - before.low) ** 2) ** 0.5
    return middle, low, high


def design_effect(sums: Sums) -> float:
    """Return how many times more a rate over these calls scatters than over independent calls; at least 1."""
    c, n, y = sums.conversations, sums.n, sums.y
    if c < 2 or y in (0, n):
        return 1.0
    # Σ (y_c - y/n·m_c)² times n², in whole numbers: nothing cancels
    scatter = n * n * sums.yy - 2 * n * y * sums.ym + y * y * sums.mm
    return max(1.0, c / (c - 1) * scatter / (n * y * (n - y)))


def effective_n(sums: Sums) -> float:
    """Return the number of independent calls that these calls are worth: n itself under ten conversations."""
    if sums.conversations < FEW_CONVERSATIONS:
        return float(sums.n)
    return sums.n / design_effect(sums) * (Z / t_quantile(0.975, sums.conversations - 1)) ** 2


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    """Return the *p* quantile of Student's t with *df* degrees of freedom, to some twelve digits.

    >>> round(t_quantile(0.975, 11), 6)
    2.200985
    """
    if not 0 < p < 1 or not df > 0 or not isfinite(df):
        raise ValueError(f"a quantile needs 0 < p < 1 and df > 0, not p={p}, df={df}")
    if p < 0.5:
        return -t_quantile(1 - p, df)
    if p == 0.5:
        return 0.0
    if df >= _LARGE_DF:
        return _t_expanded(p, df)
    low, high = 0.0, 1.0
    while _t_tail(high, df) > 1 - p:
        low, high = high, high * 2
    t = (low + high) / 2
    for _ in range(200):  # Newton, kept between the bounds by bisection
        miss = _t_tail(t, df) - (1 - p)
        low, high = (t, high) if miss > 0 else (low, t)
        step = t + miss / _t_density(t, df)
        closer = step if low < step < high else (low + high) / 2
        if abs(closer - t) <= 1e-15 * t:
            break
        t = closer
    return t


def _t_expanded(p: float, df: float) -> float:
    """Return the quantile by the classical expansion of t around the normal quantile, in powers of 1/df."""
    x = NormalDist().inv_cdf(p)
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + sum(term / df**power for power, term in enumerate(terms, start=1))


def _t_density(t: float, df: float) -> float:
    return exp(lgamma((df + 1) / 2) - lgamma(df / 2) - (df + 1) / 2 * log1p(t * t / df)) / sqrt(pi * df)


def _t_tail(t: float, df: float) -> float:
    """Return the probability that Student's t exceeds *t* ≥ 0."""
    return _incomplete_beta(df / 2, 0.5, df / (df + t * t), t * t / (df + t * t)) / 2


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b); *rest* is 1 - x, for its digits."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return 1 - front * _beta_fraction(b, a, rest) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 1000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + step * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + step / c
            c = c if abs(c) > tiny else tiny
            value *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return value
