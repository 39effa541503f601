"""Whether a difference is more than noise: exact where counts are small, by permutation over conversations.

A finding that is not there costs a meeting's trust, so every rule pays for having looked more than once: a
level over all tools is shared out among the tools that were looked at (Bonferroni), and a change may be found
at any day only because its p-value already counts all days.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import erfc, exp, lgamma, log, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from quality_lab.intervals import Sums, design_effect, effective_n

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_PERMUTATIONS = 9_999
_MANY_CLUSTERS = 4_000  # from here on the asymptotic bound is used: it costs nothing and is stricter
_SEED = 2_718_281  # the same data gives the same findings


@dataclass(frozen=True, slots=True)
class Cluster:
    """One conversation: the day it was on, its calls that count, and the hits among them."""

    day: int  # ordinal of the date
    n: int
    y: int


@dataclass(frozen=True, slots=True)
class Change:
    """The day from which on a share is higher, as likely as the data can say it."""

    day: int  # ordinal of the first day after the change
    before_n: int
    before_y: int
    after_n: int
    after_y: int
    p_value: float  # over all days that were possible


def fisher_more(hits: int, total: int, other_hits: int, other_total: int) -> float:
    """Return the one-sided exact p-value that the first share is larger than the second by chance alone.

    >>> round(fisher_more(3, 3, 0, 3), 4)
    0.05
    """
    population, marked = total + other_total, hits + other_hits
    most = min(marked, total)
    whole = _log_choose(population, total)
    tail = sum(
        exp(_log_choose(marked, k) + _log_choose(population - marked, total - k) - whole)
        for k in range(hits, most + 1)
        if total - k <= population - marked
    )
    return min(1.0, tail)


def combined(p_values: Sequence[float]) -> float:
    """Return Fisher's combined p-value of independent pieces of evidence for the same thing.

    >>> round(combined([0.05, 0.05]), 4)
    0.0175
    """
    half = -sum(log(max(p, 1e-300)) for p in p_values)  # half of a chi square with two degrees for each
    term, total = 1.0, 1.0
    for step in range(1, len(p_values)):
        term *= half / step
        total += term
    return min(1.0, exp(-half) * total)


def lower_bound(sums: Sums, *, level: float) -> float:
    """Return the one-sided lower bound of a rate at *level*, at the calls its conversations are worth."""
    worth = effective_n(sums)
    if sums.y == 0 or worth <= 0:
        return 0.0
    z, p = NormalDist().inv_cdf(1 - level), sums.y / sums.n
    middle = p + z * z / (2 * worth)
    reach = z * sqrt(p * (1 - p) / worth + z * z / (4 * worth * worth))
    return max(0.0, (middle - reach) / (1 + z * z / worth))


def change_point(clusters: Sequence[Cluster], *, least: int) -> Change | None:
    """Return where the share rose, its p-value over all days; None if no day leaves *least* calls each side.

    The likelihood ratio of "one rate" against "two rates, the later one higher" is taken at every day; whole
    conversations are shuffled among the days to see how large its maximum gets by chance.
    """
    import numpy

    ordered = sorted(clusters, key=lambda cluster: cluster.day)
    days = numpy.array([cluster.day for cluster in ordered])
    n = numpy.array([cluster.n for cluster in ordered], dtype=float)
    y = numpy.array([cluster.y for cluster in ordered], dtype=float)
    cuts = numpy.flatnonzero(numpy.diff(days)) + 1  # a cut k leaves the first k conversations before
    before_n = numpy.cumsum(n)
    cuts = (
        cuts[(before_n[cuts - 1] >= least) & (before_n[-1] - before_n[cuts - 1] >= least)]
        if len(cuts)
        else cuts
    )
    if len(cuts) == 0 or y.sum() in (0, n.sum()):
        return None

    def ratios(some_n: Array, some_y: Array) -> Array:
        """Return the log likelihood ratio at every cut, of each row."""
        all_n, all_y = some_n.sum(axis=-1, keepdims=True), some_y.sum(axis=-1, keepdims=True)
        first_n = numpy.cumsum(some_n, axis=-1)[..., cuts - 1]
        first_y = numpy.cumsum(some_y, axis=-1)[..., cuts - 1]
        last_n, last_y = all_n - first_n, all_y - first_y
        gain = (
            _log_likelihood(first_n, first_y)
            + _log_likelihood(last_n, last_y)
            - _log_likelihood(all_n, all_y)
        )
        rises = (first_n > 0) & (last_n > 0) & (last_y * first_n > first_y * last_n)
        return numpy.asarray(numpy.where(rises, gain, 0.0))

    observed = ratios(n, y)
    best = int(observed.argmax())
    if observed[best] <= 0:
        return None
    if len(ordered) > _MANY_CLUSTERS:
        p_value = min(1.0, len(cuts) * _chi_square_tail(2 * observed[best] / _scatter(n, y)))
    else:
        p_value = _permuted(n, y, observed[best], ratios)
    cut = int(cuts[best])
    return Change(
        day=int(days[cut]),
        before_n=int(n[:cut].sum()),
        before_y=int(y[:cut].sum()),
        after_n=int(n[cut:].sum()),
        after_y=int(y[cut:].sum()),
        p_value=p_value,
    )


def _permuted(n: Array, y: Array, observed: float, ratios: Callable[[Array, Array], Array]) -> float:
    """Return how often shuffled conversations reach *observed*; it stops early where that is often."""
    import numpy

    source = numpy.random.default_rng(_SEED)
    reached, tried, enough = 0, 0, 30
    at_once = max(1, min(500, 400_000 // len(n)))
    while tried < _PERMUTATIONS and reached < enough:
        order = source.permuted(numpy.tile(numpy.arange(len(n)), (at_once, 1)), axis=1)
        reached += int((ratios(n[order], y[order]).max(axis=1) >= observed - 1e-9).sum())
        tried += at_once
    return (1 + reached) / (1 + tried)


def _log_likelihood(n: Array, y: Array) -> Array:
    """Return the binomial log likelihood of y hits in n calls at its own rate, without the constant."""
    import numpy

    with numpy.errstate(divide="ignore", invalid="ignore"):
        hits = numpy.where(y > 0, y * numpy.log(y / n), 0.0)
        misses = numpy.where(n > y, (n - y) * numpy.log((n - y) / n), 0.0)
    return numpy.asarray(hits + misses)


def _scatter(n: Array, y: Array) -> float:
    """Return the design effect of these conversations: how much more they scatter than single calls would."""
    sums = Sums(
        n=int(n.sum()), y=int(y.sum()), conversations=len(n),
        yy=int((y * y).sum()), ym=int((y * n).sum()), mm=int((n * n).sum()),
    )  # fmt: skip  # the sums read as two lines
    return design_effect(sums)


def _chi_square_tail(value: float) -> float:
    """Return the probability that a chi square with one degree of freedom exceeds *value*."""
    return erfc(sqrt(max(0.0, value) / 2))


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
