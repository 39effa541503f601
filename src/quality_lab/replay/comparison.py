"""Two runs of the same cases side by side: what was fixed, what broke, and whether that is beyond noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from math import comb, sqrt
from statistics import NormalDist
from typing import Any

from quality_lab.matching.checks import VerdictName
from quality_lab.records import DEFAULT_TENANT

_Z = NormalDist().inv_cdf(0.975)
_Z_POWER = NormalDist().inv_cdf(0.8)
_SURE = 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """The verdict of one case in one run. A case is known by its tenant and its id."""

    case_id: Any
    tenant: str = DEFAULT_TENANT
    tool: str
    label: str
    verdict: VerdictName

    @property
    def name(self) -> Any:
        """What the case is called: its id, and its tenant where that is not the default."""
        return self.case_id if self.tenant == DEFAULT_TENANT else f"{self.case_id} of {self.tenant}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Two runs, case by case, over those that both of them decided."""

    pairs: int
    both_pass: int
    both_fail: int
    fixed: int  # failed before, passes now
    broken: int  # passed before, fails now
    undecided: int  # in both runs, but not decided in one of them
    only_before: int
    only_after: int
    difference: float | None  # pass rate now less pass rate before, -1 to 1
    low: float | None  # of its 95 % interval
    high: float | None
    p: float  # exact McNemar, two-sided
    detectable: float | None  # the smallest difference that so many pairs would show four times out of five
    verdict: str
    by_tool: Mapping[str, Comparison] = field(default_factory=dict)
    by_label: Mapping[str, Comparison] = field(default_factory=dict)
    fixed_cases: tuple[Any, ...] = ()
    broken_cases: tuple[Any, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as JSON has it."""
        return asdict(self)


def compare(before: Iterable[Judged], after: Iterable[Judged]) -> Comparison:
    """Return what became of the cases of *before* in *after*; a case is known by its tenant and its id."""
    was = {(each.tenant, str(each.case_id)): each for each in before}
    now = {(each.tenant, str(each.case_id)): each for each in after}
    both = [(was[key], now[key]) for key in was if key in now]
    outside = (len(was) - len(both), len(now) - len(both))
    whole = _compared(both, outside)
    tools = dict.fromkeys(after_.tool for _, after_ in both)
    labels = dict.fromkeys(after_.label for _, after_ in both)
    return Comparison(
        **{name: getattr(whole, name) for name in whole.__slots__ if name not in ("by_tool", "by_label")},
        by_tool={tool: _compared([pair for pair in both if pair[1].tool == tool], (0, 0)) for tool in tools},
        by_label={
            label: _compared([pair for pair in both if pair[1].label == label], (0, 0)) for label in labels
        },
    )


def _compared(both: Sequence[tuple[Judged, Judged]], outside: tuple[int, int]) -> Comparison:
    decided = [
        (before, after)
        for before, after in both
        if before.verdict in ("PASS", "FAIL") and after.verdict in ("PASS", "FAIL")
    ]
    fixed, broken = (
        [after.name for before, after in decided if (before.verdict, after.verdict) == change]
        for change in (("FAIL", "PASS"), ("PASS", "FAIL"))
    )
    both_pass = sum(before.verdict == after.verdict == "PASS" for before, after in decided)
    pairs = len(decided)
    p = mcnemar(len(fixed), len(broken))
    low, high = paired_interval(len(fixed), len(broken), pairs) if pairs else (None, None)
    return Comparison(
        pairs=pairs,
        both_pass=both_pass,
        both_fail=pairs - both_pass - len(fixed) - len(broken),
        fixed=len(fixed),
        broken=len(broken),
        undecided=len(both) - pairs,
        only_before=outside[0],
        only_after=outside[1],
        difference=(len(fixed) - len(broken)) / pairs if pairs else None,
        low=low,
        high=high,
        p=p,
        detectable=detectable_difference(len(fixed) + len(broken), pairs) if pairs else None,
        verdict=_verdict(p, len(fixed), len(broken), pairs),
        fixed_cases=tuple(fixed),
        broken_cases=tuple(broken),
    )


def _verdict(p: float, fixed: int, broken: int, pairs: int) -> str:
    if not pairs:
        return "nothing to compare: no case was decided in both runs"
    if p >= _SURE:
        return "no change beyond noise"
    return "better beyond noise" if fixed > broken else "worse beyond noise"


def mcnemar(fixed: int, broken: int) -> float:
    """Return the exact two-sided p-value of McNemar's test: only cases that changed say anything.

    >>> mcnemar(8, 1), mcnemar(0, 0)
    (0.0390625, 1.0)
    """
    changed, fewer = fixed + broken, min(fixed, broken)
    ways = sum(comb(changed, k) for k in range(fewer + 1))
    return min(1.0, float(2 * Fraction(ways, 2**changed)))


def paired_interval(fixed: int, broken: int, pairs: int) -> tuple[float, float]:
    """Return the 95 % interval of the difference of two paired rates, by Bonett and Price's adjusted Wald.

    >>> [round(bound, 4) for bound in paired_interval(8, 1, 40)]
    [0.0203, 0.313]
    """
    up, down = (fixed + 1) / (pairs + 2), (broken + 1) / (pairs + 2)
    middle = up - down
    reach = _Z * sqrt((up + down - middle**2) / (pairs + 2))
    return max(-1.0, middle - reach), min(1.0, middle + reach)


def detectable_difference(changed: int, pairs: int) -> float:
    """Return the difference that *pairs* pairs would show with probability 0.8 at the 5 % level, at least.

    It rests on how many cases change at all, of which *changed* were seen; more cases, or cases that change
    less by chance, make it smaller.
    """
    share = (changed + 1) / (pairs + 2)
    difference = 0.0
    for _ in range(50):  # it stands on both sides of its equation, and comes to rest quickly
        spread = max(max(share, difference) - difference**2, 0.0)
        difference = min(1.0, (_Z * sqrt(max(share, difference)) + _Z_POWER * sqrt(spread)) / sqrt(pairs))
    return difference


@dataclass(frozen=True, kw_only=True, slots=True)
class Weighted:
    """A pass rate in which each group counts as often as it occurs."""

    pass_rate: float | None  # None where no group that occurs has a decided case
    covered: float  # share of occurrences that lie in groups with a decided case
    without_case: tuple[tuple[str, str], ...]  # groups (tool, label) that occur and have none, most first


def weighted_pass_rate(judged: Iterable[Judged], occurrences: Mapping[tuple[str, str], float]) -> Weighted:
    """Return the pass rate of *judged* weighted by how often each failure group, (tool, label), occurs.

    >>> one = Judged(case_id=1, tool="pay", label="bad_args", verdict="PASS")
    >>> two = Judged(case_id=2, tool="look", label="wrong_tool", verdict="FAIL")
    >>> weighted_pass_rate([one, two], {("pay", "bad_args"): 30, ("look", "wrong_tool"): 10}).pass_rate
    0.75
    """
    groups: dict[tuple[str, str], list[bool]] = {}
    for each in judged:
        if each.verdict in ("PASS", "FAIL"):
            groups.setdefault((each.tool, each.label), []).append(each.verdict == "PASS")
    total = sum(occurrences.values())
    covered = {group: weight for group, weight in occurrences.items() if group in groups}
    weight = sum(covered.values())
    passing = sum(weight * sum(groups[group]) / len(groups[group]) for group, weight in covered.items())
    missing = [group for group in occurrences if group not in groups]
    missing.sort(key=lambda group: (-occurrences[group], group))
    return Weighted(
        pass_rate=passing / weight if weight else None,
        covered=weight / total if total else 0.0,
        without_case=tuple(missing),
    )
