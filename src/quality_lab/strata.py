"""Rates for all calls from calls that were drawn stratum by stratum, with 95 % intervals.

Reviewed calls are no image of all calls: a queue that prefers errors finds more that is wrong. The weighted
rate gives each stratum the weight of its calls:

    p = Σ W_h · y_h / m_h       W_h = N_h / N, of the m_h calls reviewed in stratum h y_h are hits

Each stratum has Wilson's score interval with the variance of drawing without replacement, which is Wilson's
at m_h · (N_h - 1) / (N_h - m_h) calls: it closes as the stratum is used up, and is a point where all its
calls are reviewed. The strata are combined by MOVER, the square-and-add of Newcombe (1998) and Zou and
Donner (2008):

    low = p - √ Σ W_h² (p_h - l_h)²       high = p + √ Σ W_h² (u_h - p_h)²

Three corrections, each of them outward or certain. For one or two hits (to three from 51 calls on) Wilson's
lower bound lies too high, the more so the fewer calls: of 20 calls at a rate of 2 % it covers 94.0 %. There
Poisson's bound stands, as Brown, Cai and DasGupta (2001) propose, its distance from the rate shortened as
Wilson's is; the same at the other end. A stratum holds whole calls, so its bounds are rounded outward to
them, which matters where few calls are left unreviewed. And no bound contradicts what was seen: the hits
that were found are a part of all calls that cannot be lower, the others one that cannot be higher.

Conversations need no design effect here: calls were drawn one by one, whatever conversation they are of, and
the interval is about these calls, not about those that the same conversations might have had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, sqrt

from quality_lab.intervals import wilson

# λ with P(X < x) = 0.95 for a Poisson X of mean λ: half the 5 % quantile of χ² at 2x degrees of freedom
_FEW_HITS = {1: 0.051293294387550536, 2: 0.35536151069866206, 3: 0.8176914471639534}
_NOISE = 1e-9  # of a call, by which floats may miss a whole number
_SMALL = 50  # reviewed calls up to which three hits are not few


@dataclass(frozen=True, kw_only=True, slots=True)
class Stratum:
    """What is known of one stratum."""

    name: str
    calls: int  # N, all of them
    reviewed: int  # m, drawn at random and reviewed
    hits: int  # y, of the reviewed


@dataclass(frozen=True, kw_only=True, slots=True)
class WeightedRate:
    """A rate from 0 to 1 for all calls of some strata, with its 95 % interval."""

    value: float
    low: float
    high: float
    calls: int  # N
    reviewed: int  # m


def weighted_rate(strata: Sequence[Stratum]) -> WeightedRate | None:
    """Return the rate for all calls of *strata*; None without calls, and where a stratum has none reviewed.

    Strata without calls say nothing. `unseen` names the strata that stand in the way.

    >>> errors = Stratum(name="error", calls=80, reviewed=80, hits=56)
    >>> rest = Stratum(name="rest", calls=1920, reviewed=20, hits=1)
    >>> found = weighted_rate([errors, rest])
    >>> f"{found.value:.3f}, from {found.low:.3f} to {found.high:.3f}"
    '0.076, from 0.030 to 0.253'
    """
    there = [one for one in strata if one.calls]
    total = sum(one.calls for one in there)
    if not there or unseen(there):
        return None
    value = low = high = 0.0
    for one in there:
        weight, rate = one.calls / total, one.hits / one.reviewed
        below, above = stratum_interval(one)
        value += weight * rate
        low += (weight * (rate - below)) ** 2
        high += (weight * (above - rate)) ** 2
    found = sum(one.hits for one in there)
    other = sum(one.reviewed - one.hits for one in there)
    return WeightedRate(
        value=value,
        low=max(value - sqrt(low), found / total),
        high=min(value + sqrt(high), 1 - other / total),
        calls=total,
        reviewed=sum(one.reviewed for one in there),
    )


def unseen(strata: Sequence[Stratum]) -> list[str]:
    """Return the names of the strata that have calls of which none was reviewed."""
    return [one.name for one in strata if one.calls and not one.reviewed]


def stratum_interval(stratum: Stratum) -> tuple[float, float]:
    """Return the 95 % interval of the rate in one stratum, some calls of which were reviewed.

    >>> stratum_interval(Stratum(name="error", calls=80, reviewed=80, hits=56))
    (0.7, 0.7)
    """
    n, m, y = stratum.calls, stratum.reviewed, stratum.hits
    rate = y / m
    if m >= n:
        return rate, rate
    worth = m * (n - 1) / (n - m)
    low, high = wilson(rate * worth, worth)
    shorter = sqrt((n - m) / (n - 1))
    if few := _few(y, m):
        low = min(low, rate - (y - few) / m * shorter)
    if few := _few(m - y, m):
        high = max(high, rate + (m - y - few) / m * shorter)
    least, most = floor(low * n + _NOISE), ceil(high * n - _NOISE)
    return max(least, y) / n, min(most, n - (m - y)) / n


def _few(hits: int, reviewed: int) -> float | None:
    """Return Poisson's lower bound where *hits* are so few that Wilson's lies too high."""
    return _FEW_HITS.get(hits) if hits < 3 or reviewed > _SMALL else None
