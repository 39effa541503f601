"""Lines of cases run again: upstream's check first, then the trials, then one report of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from quality_lab.records import DEFAULT_TENANT
from quality_lab.regressions.checking import check_cases
from quality_lab.regressions.rerun_report import RerunReport, report_of, result_of
from quality_lab.regressions.results import Metadata, Result
from quality_lab.replay.comparison import Judged, compare
from quality_lab.replay.rerun import Rerun
from quality_lab.replay.to_run import CaseLine, CaseToRun


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What is run, and what upstream's check said of every line."""

    results: Sequence[Result]
    to_run: Sequence[CaseLine]


def plan(
    lines: Sequence[bytes],
    *,
    tenants: Sequence[str] = (),
    include_archived: bool = False,
    supported_tools: Sequence[str] = (),
    skip_unsupported: bool = False,
    wanted: Callable[[CaseToRun], bool] | None = None,
) -> Plan:
    """Return what there is to run in *lines*: every case that is *wanted* but those that are skipped.

    *tenants* says whose case each line holds; without it all are of the default tenant. Of *supported_tools*
    only skipping is left to upstream's check: in a re-run they are the tools that may be called.
    """
    results = check_cases(
        lines,
        include_archived=include_archived,
        supported_tools=supported_tools if skip_unsupported else (),
        skip_unsupported=skip_unsupported,
    )
    broken = {each.line: _problems(each) for each in results}
    to_run = [
        CaseLine(
            line=each.line,
            text=lines[each.line - 1],
            tenant=tenants[each.line - 1] if tenants else DEFAULT_TENANT,
            problems=broken[each.line],
        )
        for each in results
        if each.status != "skipped" and each.line <= len(lines)
    ]
    if wanted is not None:
        to_run = [each for each in to_run if wanted(each.read())]
    kept = {each.line for each in to_run}
    return Plan(
        results=[each for each in results if each.line in kept or each.status == "skipped"], to_run=to_run
    )


def _problems(result: Result) -> tuple[str, ...]:
    return tuple(f"{each.path}: wanted {each.expected}, got {each.actual}" for each in result.failures)


async def run_plan(
    planned: Plan,
    rerun: Rerun,
    *,
    now: datetime,
    metadata: Metadata,
    settings: Mapping[str, Any],
    baseline: Sequence[Judged] | None = None,
    judge: Callable[[], Mapping[str, Any]] | None = None,
) -> RerunReport:
    """Return the report on the run of what was *planned*, compared with a *baseline* where there is one."""
    outcomes = {outcome.line: outcome for outcome in await rerun.run(planned.to_run)}
    results = [
        result_of(outcomes[each.line], each) if each.line in outcomes else each for each in planned.results
    ]
    report = RerunReport(
        report=report_of(results, now=now, metadata=metadata),
        outcomes=outcomes,
        settings=settings,
        spent_usd=float(rerun.budget.spent) if rerun.budget.limit is not None else None,
        kept_trials=rerun.kept_trials,
        judge=judge() if judge is not None else None,
    )
    if baseline is None:
        return report
    after = [
        Judged(
            case_id=outcome.case_id,
            tenant=outcome.tenant,
            tool=outcome.case.tool_name,
            label=outcome.case.label,
            verdict=outcome.verdict,
        )
        for outcome in outcomes.values()
    ]
    return replace(report, comparison=compare(baseline, after))
