"""How far reviewers agree beyond chance: Cohen's kappa and Krippendorff's alpha, nominal, with intervals.

Cohen's kappa (1960) is about two reviewers. Its interval is kappa ± 1.96 standard errors by Fleiss, Cohen and
Everitt (1969), as statsmodels has it. Among more reviewers it is the mean over all pairs of them, each pair
weighing by the calls that both labelled: Light's kappa (1971) where everybody labelled everything.

Krippendorff's alpha (2011) takes any number of reviewers, of whom some may be silent. The interval of alpha,
and of a mean of kappas, comes from the jackknife that leaves out one conversation after the other, with
Student's t: it needs no random numbers, and calls of one conversation are not taken for independent.

Where nobody disagrees there is nothing to estimate a spread from. Then the lower bound is what the statistic
would be if the share of disagreement were as high as Wilson's interval for none at all allows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Literal

from quality_lab.intervals import Z, t_quantile, wilson

WhyNone = Literal["no_variation", "no_pairs", "unnamed_reviewers"]
_NOTHING = 1e-12  # a variance below it is zero that was rounded


@dataclass(frozen=True, slots=True)
class Rating:
    """What one reviewer said of one call."""

    unit: str  # the call
    cluster: str  # its conversation
    rater: str | None  # None is a reviewer whom nobody knows: no one else, and never the same twice
    value: Hashable


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """An agreement of at most 1, 0 where it is that of chance; bounds are null where none can be had."""

    value: float | None
    low: float | None = None  # of the 95 % interval
    high: float | None = None
    reason: WhyNone | None = None  # why there is no value
    pairs: int = 0  # of reviewers, whom a kappa is about

    def within(self, reach: float) -> tuple[float, float]:
        """Return the value plus and minus *reach*, as far as such a statistic goes."""
        assert self.value is not None
        return max(-1.0, self.value - reach), min(1.0, self.value + reach)


NO_PAIRS = Measure(value=None, reason="no_pairs")
NO_VARIATION = Measure(value=None, reason="no_variation")

Table = Counter[tuple[Hashable, Hashable]]


def cohen_kappa(pairs: Iterable[tuple[Hashable, Hashable]]) -> Measure:
    """Return Cohen's kappa of two reviewers from what the one and the other said of each call.

    Null with the reason `no_variation` where both said one and the same thing of every call, as chance
    agreement is 1 then. The bounds are null where one of them never varied: kappa is 0 whatever the other says.

    >>> said = {("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15}
    >>> found = cohen_kappa(pair for pair, calls in said.items() for _ in range(calls))
    >>> round(found.value, 10), round(found.low, 3), round(found.high, 3)
    (0.4, 0.151, 0.649)
    """
    table: Table = Counter(pairs)
    n = table.total()
    if not n:
        return NO_PAIRS
    kappa = _kappa(table)
    if kappa is None:
        return NO_VARIATION
    first, second = _margins(table)
    values = {value for pair in table for value in pair}
    chance = sum(first[value] * second[value] for value in values) / n**2
    found = Measure(value=kappa, pairs=1)
    if kappa == 1:
        low, high = _if_none_disagree(n, chance)
        return Measure(value=1.0, low=low, high=high, pairs=1)
    spread = -((kappa - chance * (1 - kappa)) ** 2)
    for (one, other), count in table.items():
        if one == other:
            spread += count / n * (1 - (first[one] + second[one]) / n * (1 - kappa)) ** 2
        else:
            spread += count / n * ((second[one] + first[other]) / n) ** 2 * (1 - kappa) ** 2
    if spread < _NOTHING:
        return found
    low, high = found.within(Z * sqrt(spread / n) / (1 - chance))
    return Measure(value=kappa, low=low, high=high, pairs=1)


def mean_kappa(ratings: Iterable[Rating]) -> Measure:
    """Return Cohen's kappa of two reviewers, or the weighted mean over the pairs of several.

    A pair whose chance agreement is 1 is left out of the mean. Each reviewer has one rating of a call.
    """
    by_unit: dict[str, list[Rating]] = defaultdict(list)
    several = False
    for rating in ratings:
        if rating.rater is not None:
            by_unit[rating.unit].append(rating)
        several = True
    tables: dict[tuple[str | None, str | None], Table] = defaultdict(Counter)
    clusters: dict[str, dict[tuple[str | None, str | None], Table]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    for rated in by_unit.values():
        for one, other in combinations(sorted(rated, key=lambda rating: rating.rater or ""), 2):
            pair, said = (one.rater, other.rater), (one.value, other.value)
            tables[pair][said] += 1
            clusters[one.cluster][pair][said] += 1
    if not tables:
        return Measure(value=None, reason="unnamed_reviewers" if several and not by_unit else "no_pairs")
    if len(tables) == 1:
        return cohen_kappa(next(iter(tables.values())).elements())
    kappas = {pair: _kappa(table) for pair, table in tables.items()}
    varied = {pair: (tables[pair].total(), kappa) for pair, kappa in kappas.items() if kappa is not None}
    weight = sum(calls for calls, _ in varied.values())
    if not weight:
        return NO_VARIATION
    total = sum(calls * kappa for calls, kappa in varied.values())
    found = Measure(value=min(1.0, total / weight), pairs=len(varied))
    if all(kappa == 1 for _, kappa in varied.values()):
        chance = sum(calls * _chance(tables[pair]) for pair, (calls, _) in varied.items()) / weight
        low, high = _if_none_disagree(len(clusters), chance)
        return Measure(value=1.0, low=low, high=high, pairs=len(varied))
    left_out = []
    for touched in clusters.values():
        without, weight_without = total, weight
        for pair, table in touched.items():
            calls, kappa = varied.get(pair, (0, 0.0))
            rest = tables[pair] - table
            rest_kappa = _kappa(rest)
            rest_calls = 0 if rest_kappa is None else rest.total()
            without += rest_calls * (rest_kappa or 0.0) - calls * kappa
            weight_without += rest_calls - calls
        left_out.append(without / weight_without if weight_without else None)
    return _with_jackknife(found, left_out)


def krippendorff_alpha(ratings: Iterable[Rating]) -> Measure:
    """Return Krippendorff's alpha for nominal values; calls that only one reviewer labelled count for nothing.

    Null with the reason `no_variation` where all that was said is one and the same, `no_pairs` where nobody
    labelled what another did.

    >>> found = krippendorff_alpha(
    ...     Rating(f"call {place}", f"call {place}", reviewer, value)
    ...     for reviewer, values in {"ben": "aabbdcccedda", "gerry": "babbbccceddd"}.items()
    ...     for place, value in enumerate(values)
    ... )
    >>> round(found.value, 3)
    0.692
    """
    by_unit: dict[str, Counter[Hashable]] = defaultdict(Counter)
    cluster_of: dict[str, str] = {}
    for rating in ratings:
        by_unit[rating.unit][rating.value] += 1
        cluster_of[rating.unit] = rating.cluster
    apart: dict[str, float] = defaultdict(float)  # by conversation: the ratings that stand against another
    given: dict[str, Counter[Hashable]] = defaultdict(Counter)
    for unit, counts in by_unit.items():
        size = counts.total()
        if size > 1:
            agreeing = sum(count * (count - 1) for count in counts.values())
            apart[cluster_of[unit]] += size - agreeing / (size - 1)
            given[cluster_of[unit]].update(counts)
    if not given:
        return NO_PAIRS
    overall: Counter[Hashable] = Counter()
    for counts in given.values():
        overall.update(counts)
    disagreement = sum(apart.values())
    alpha = _alpha(disagreement, overall)
    if alpha is None:
        return NO_VARIATION
    if disagreement < _NOTHING:
        n = overall.total()
        expected = (n * n - sum(count * count for count in overall.values())) / (n * (n - 1))
        low, high = _if_none_disagree(len(given), 1 - expected)
        return Measure(value=1.0, low=low, high=high)
    left_out = [_alpha(disagreement - apart[cluster], overall - counts) for cluster, counts in given.items()]
    return _with_jackknife(Measure(value=alpha), left_out)


def _alpha(disagreement: float, given: Counter[Hashable]) -> float | None:
    n = given.total()
    unlike = n * n - sum(count * count for count in given.values())
    return 1 - disagreement * (n - 1) / unlike if unlike else None


def _kappa(table: Table) -> float | None:
    """Return Cohen's kappa of a table of what two said; None where chance agreement is 1, or nothing is said."""
    n = table.total()
    first, second = _margins(table)
    by_chance = sum(count * second[value] for value, count in first.items())  # in whole numbers: times n²
    if n * n == by_chance:
        return None
    alike = sum(count for (one, other), count in table.items() if one == other)
    return (n * alike - by_chance) / (n * n - by_chance)


def _chance(table: Table) -> float:
    first, second = _margins(table)
    return float(sum(count * second[value] for value, count in first.items()) / table.total() ** 2)


def _margins(table: Table) -> tuple[Counter[Hashable], Counter[Hashable]]:
    first: Counter[Hashable] = Counter()
    second: Counter[Hashable] = Counter()
    for (one, other), count in table.items():
        first[one] += count
        second[other] += count
    return first, second


def _if_none_disagree(n: int, chance: float) -> tuple[float, float]:
    """Return the bounds of an agreement of 1 among *n*: as much disagreement as none seen in *n* allows."""
    return max(-1.0, 1 - (1 - wilson(n, n)[0]) / (1 - chance)), 1.0


def _with_jackknife(found: Measure, left_out: Sequence[float | None]) -> Measure:
    """Return *found* with bounds from its values when each conversation in turn is left out."""
    values = [value for value in left_out if value is not None]
    clusters = len(values)
    if clusters < 2 or clusters < len(left_out):  # all that varies is in one conversation
        return found
    mean = sum(values) / clusters
    variance = (clusters - 1) / clusters * sum((value - mean) ** 2 for value in values)
    if variance < _NOTHING:
        return found
    low, high = found.within(t_quantile(0.975, clusters - 1) * sqrt(variance))
    return Measure(value=found.value, low=low, high=high, pairs=found.pairs)
