"""What the report on regression cases rests on: plain facts, put together by whoever knows both wings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

from quality_lab.records import DEFAULT_TENANT

if TYPE_CHECKING:
    from quality_lab.masking import Masker
    from quality_lab.metrics.filters import Filters
    from quality_lab.store import Store

VerdictWord = Literal["PASS", "FAIL", "INCONCLUSIVE", "ERROR"]
Group = tuple[str, str]  # a tool and a label


@dataclass(frozen=True, kw_only=True, slots=True)
class FailureTold:
    """One thing that was not as a case demands."""

    step: int | None  # position of the call, from 0; None where no call is meant
    rule: str
    path: str
    expected: str
    got: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseVerdict:
    """What one case came to in one run."""

    case_id: str
    tenant: str = DEFAULT_TENANT
    tool_name: str
    label: str
    verdict: VerdictWord
    reason: str
    stability: str
    trials: int
    passed: int
    drafted: bool = False  # by rules drafted from the label, which nobody wrote
    evidence: Mapping[str, int] = field(default_factory=dict)  # grade of a result: how many results
    refused: tuple[str, ...] = ()  # tools that cannot be undone, asked for and not run
    failures: tuple[FailureTold, ...] = ()

    @property
    def name(self) -> str:
        """What the case is called, and known by."""
        return _name(self.case_id, self.tenant)


@dataclass(frozen=True, kw_only=True, slots=True)
class RunFacts:
    """One run of the lab's cases."""

    run: str
    at: datetime
    verdicts: tuple[CaseVerdict, ...]
    model: str | None = None
    tools_from: str | None = None
    tape: str | None = None
    judge: str | None = None

    def count(self, verdict: VerdictWord) -> int:
        """Return how many cases came to *verdict*."""
        return sum(each.verdict == verdict for each in self.verdicts)


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseFacts:
    """One case of the lab."""

    case_id: str
    tenant: str = DEFAULT_TENANT
    tool_name: str
    label: str
    title: str
    active: bool
    gates: bool  # it is active and provably catches its fault
    positive: bool  # it was made from a good reply
    proof: str  # red, not_red, unprovable
    why: str  # why it does not gate; "" where it does

    @property
    def name(self) -> str:
        """What the case is called, and known by."""
        return _name(self.case_id, self.tenant)


def _name(case_id: str, tenant: str) -> str:
    return case_id if tenant == DEFAULT_TENANT else f"{case_id} of {tenant}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """Two runs side by side, over the cases that both decided."""

    pairs: int
    both_pass: int
    both_fail: int
    fixed: int
    broken: int
    undecided: int
    only_before: int
    only_after: int
    difference: float | None
    low: float | None
    high: float | None
    p: float  # exact McNemar, two-sided
    detectable: float | None  # the smallest difference that so many pairs show four times out of five
    verdict: str
    fixed_cases: tuple[str, ...]
    broken_cases: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class RegressionFacts:
    """Everything that the report tells."""

    cases: Sequence[CaseFacts]
    run: RunFacts | None  # the run that is told of; None: there was none
    before: RunFacts | None  # the run that it is compared with
    runs: int  # how many the journal tells of
    changes: Changes | None
    occurrences: Mapping[Group, int]  # labelled calls of the window by tool and label
    weighted: float | None  # pass rate in which each group counts as often as it occurs
    covered: float | None  # share of the labelled calls whose group has a decided case
    without_case: Sequence[Group]  # groups that occur and have no case that gates, most first


def masked(facts: RegressionFacts, masker: Masker) -> RegressionFacts:
    """Return the facts with secrets and payment data masked in what cases say of themselves."""
    cases = [replace(case, title=masker.text(case.title), why=masker.text(case.why)) for case in facts.cases]
    return replace(facts, cases=cases)


class HasRuns(Protocol):
    """A lab, as far as this report needs one."""

    @property
    def store(self) -> Store:
        """The cache that answers."""
        ...

    def regression_facts(
        self, filters: Filters, *, run: str | None = None, against: str | None = None
    ) -> RegressionFacts:
        """Return the facts on the lab's cases; *run* and *against* name runs, by default the last two."""
        ...
