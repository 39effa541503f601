"""The facts of the report on regression cases, from both wings: cases, runs, and the labels they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from quality_lab.errors import UsageError
from quality_lab.lab.kept_verdicts import kept_runs
from quality_lab.reports.regressions.facts import (
    CaseFacts,
    Changes,
    Group,
    RegressionFacts,
    RunFacts,
)

if TYPE_CHECKING:
    from quality_lab.metrics.filters import Filters
    from quality_lab.metrics.regression_cases import StoredCase
    from quality_lab.regressions.case_check import CaseCheck
    from quality_lab.replay.comparison import Judged
    from quality_lab.store import Store

_OF_FAILURES = ("wrong_tool", "missing_tool", "bad_args")  # the labels that upstream makes cases of


def regression_facts(
    home: Path, store: Store, filters: Filters, *, run: str | None, against: str | None
) -> RegressionFacts:
    """Return the facts on the cases in *store* and on the runs in the journal of *home*.

    *run* is the newest unless named, *against* the one just before it.

    Raises: UsageError for a run that the journal does not know.
    """
    from quality_lab.replay.comparison import weighted_pass_rate

    runs = kept_runs(home)
    told, before = _chosen(runs, run, against)
    cases = _cases(store)
    occurrences = _occurrences(store, filters)
    negative = {(case.tool_name, case.label) for case in cases if case.gates and not case.positive}
    positive = {case.name for case in cases if case.positive}
    weighted = None
    if told is not None:
        judged = [each for each in _judged(told) if each.name not in positive]
        weighted = weighted_pass_rate(judged, occurrences)
    return RegressionFacts(
        cases=cases,
        run=told,
        before=before,
        runs=len(runs),
        changes=None if told is None or before is None else _changes(before, told),
        occurrences=occurrences,
        weighted=None if weighted is None else weighted.pass_rate,
        covered=None if weighted is None else weighted.covered,
        without_case=[group for group in occurrences if group not in negative],
    )


def _chosen(
    runs: Sequence[RunFacts], run: str | None, against: str | None
) -> tuple[RunFacts | None, RunFacts | None]:
    told = _named(runs, run) if run else next(iter(runs), None)
    if against:
        return told, _named(runs, against)
    earlier = runs[runs.index(told) + 1 :] if told is not None else ()
    return told, next(iter(earlier), None)


def _named(runs: Sequence[RunFacts], name: str) -> RunFacts:
    found = [run for run in runs if run.run.startswith(name)]
    if len(found) != 1:
        known = ", ".join(run.run[:8] for run in runs[:10]) or "none"
        raise UsageError(f"wanted one run of the journal, came {name!r}; there are {known}")
    return found[0]


def _cases(store: Store) -> list[CaseFacts]:
    from quality_lab.metrics.regression_cases import regression_cases
    from quality_lab.regressions.case_check import check_by_rules

    if not store.exists():
        return []
    stored = regression_cases(store)
    checks = {check.line: check for check in check_by_rules(each.record.encode() for each in stored)}
    return [_case(each, checks[at]) for at, each in enumerate(stored, 1) if at in checks]


def _case(stored: StoredCase, check: CaseCheck) -> CaseFacts:
    active = stored.status == "active"
    gates = active and not check.shape and check.proof == "red"
    return CaseFacts(
        case_id=stored.key,
        tenant=stored.tenant,
        tool_name=stored.tool_name,
        label=stored.label,
        title=stored.title,
        active=active,
        gates=gates,
        positive=check.positive,
        proof=check.proof,
        why="" if gates else "archived" if not active else _why(check),
    )


def _why(check: CaseCheck) -> str:
    if check.proof == "not_red":
        return "not_red: its rules pass what was recorded, so it would not catch the fault"
    return next(iter((*check.shape, *check.reasons)), "unprovable")


def _occurrences(store: Store, filters: Filters) -> Mapping[Group, int]:
    """Return on how many calls each label of a failure stands, by tool; most first."""
    from quality_lab.metrics.label_counts import label_counts

    counted = {
        (row.group, row.label): row.calls
        for row in label_counts(store, filters=filters, by="tool")
        if row.group is not None and row.label in _OF_FAILURES and row.calls
    }
    return dict(sorted(counted.items(), key=lambda each: (-each[1], each[0])))


def _judged(run: RunFacts) -> list[Judged]:
    from quality_lab.replay.comparison import Judged

    return [
        Judged(
            case_id=each.case_id,
            tenant=each.tenant,
            tool=each.tool_name,
            label=each.label,
            verdict=each.verdict,
        )
        for each in run.verdicts
    ]


def _changes(before: RunFacts, after: RunFacts) -> Changes:
    from quality_lab.replay.comparison import compare

    compared = compare(_judged(before), _judged(after))
    return Changes(**{name: getattr(compared, name) for name in Changes.__slots__})
