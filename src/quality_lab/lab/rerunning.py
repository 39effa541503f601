"""Cases of a lab run again: where they come from, which model is asked, what is kept, and the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quality_lab.answers import Answer
from quality_lab.lab.rerun_lines import cases_of, lines_of, rerun_lines

if TYPE_CHECKING:
    from quality_lab.metrics.filters import Filters
    from quality_lab.regressions.rerun_report import RerunReport
    from quality_lab.regressions.results import Metadata
    from quality_lab.replay.outcome import CaseOutcome
    from quality_lab.replay.rerun import Progress
    from quality_lab.replay.tape import Policy
    from quality_lab.reports.regressions.facts import RegressionFacts
    from quality_lab.store import Store
    from quality_lab.toolloop import Model, Tool


@dataclass(frozen=True, kw_only=True, slots=True)
class RerunCase:
    """One case of a re-run."""

    case_id: Any
    tenant: str = field(metadata={"compact": False})
    tool_name: str
    label: str
    title: str
    verdict: str
    reason: str
    stability: str
    trials: int = field(metadata={"unit": "count", "help": "how often it was tried"})
    passed: int = field(metadata={"unit": "count", "help": "trials that passed"})
    evidence: str = field(metadata={"help": "what the results rest on"})


class Reran(Answer[RerunCase]):
    """The cases of a re-run as rows; *report* holds everything else: checks, evidence, the comparison."""

    def __init__(self, report: RerunReport) -> None:
        """Show *report* as an answer."""
        from quality_lab.regressions.rerun_documents import comparison_lines

        counts = report.counts
        title = ", ".join(f"{name} {counts[name]}" for name in ("PASS", "FAIL", "INCONCLUSIVE", "ERROR"))
        compared = comparison_lines(report.comparison) if report.comparison is not None else []
        notes = [line.removeprefix("- ") for line in compared]
        rows = [_row(outcome) for outcome in report.outcomes.values()]
        super().__init__(rows, RerunCase, title=f"Re-run: {title}", notes=notes)
        self.report = report


def _row(outcome: CaseOutcome) -> RerunCase:
    grades = [each.grade for trial in outcome.trials for each in trial.evidence if each.grade is not None]
    return RerunCase(
        case_id=outcome.case_id,
        tenant=outcome.tenant,
        tool_name=outcome.case.tool_name,
        label=outcome.case.label,
        title=outcome.title,
        verdict=outcome.verdict,
        reason=outcome.reason,
        stability=outcome.stability,
        trials=len(outcome.trials),
        passed=sum(trial.verdict == "PASS" for trial in outcome.trials),
        evidence=", ".join(dict.fromkeys(grades)),
    )


class Rerunning:
    """What a lab can do with its cases."""

    home: Path
    store: Store

    async def rerun(
        self,
        cases: str | Path | Sequence[Mapping[str, Any]] | None = None,
        *,
        model: str | Model = "recorded",
        base_url: str | None = None,
        tools_from: str | Sequence[Tool] | None = None,
        tape: Policy = "fifo",
        allow_live: bool = False,
        trials: int = 1,
        concurrency: int = 8,
        budget_usd: float | Decimal | None = None,
        judge: str | Model | None = None,
        draft_rules: bool = False,
        baseline: str | Path | None = None,
        resume: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> Reran:
        """Return what *cases* come to, run again: a file, records, or the lab's active red cases.

        *model* is ``recorded`` (the decisions meet today's contracts), ``openai:NAME``, a name on the server
        at *base_url*, or a `Model` of your own. Nothing that writes is carried out. The verdicts on the lab's own
        cases become lines of its journal. In a notebook: ``await``.

        >>> import asyncio
        >>> import quality_lab as ql
        >>> asyncio.run(ql.open_demo().rerun([])).title
        'Re-run: PASS 0, FAIL 0, INCONCLUSIVE 0, ERROR 0'

        Raises: UsageError, InputError where cases or tools cannot be read, OutputError.
        """
        from quality_lab.regressions.rerun_arguments import RerunArguments

        asked = RerunArguments(
            model=model if isinstance(model, str) else model.name,
            base_url=base_url,
            tools_from=tools_from if isinstance(tools_from, str) else None,
            tape=tape,
            allow_live=allow_live,
            trials=trials,
            concurrency=concurrency,
            budget_usd=None if budget_usd is None else Decimal(str(budget_usd)),
            judge=judge if isinstance(judge, str) or judge is None else judge.name,
            baseline=None if baseline is None else str(baseline),
            draft_rules=draft_rules,
            resume=resume,
        )
        lines, tenants, metadata = self._lines(cases)
        report = await rerun_lines(
            lines,
            asked,
            home=self.home,
            metadata=metadata,
            tenants=tenants,
            only_red=cases is None,
            model=None if isinstance(model, str) else model,
            judge_model=None if isinstance(judge, str) else judge,
            tools=None if isinstance(tools_from, str) else tools_from,
            progress=progress,
        )
        if cases is None:
            from quality_lab.lab.kept_verdicts import keep_verdicts

            keep_verdicts(self.home, report)
        return Reran(report)

    def regression_facts(
        self, filters: Filters, *, run: str | None = None, against: str | None = None
    ) -> RegressionFacts:
        """Return what the report on regression cases tells: cases, the last run, changes, failure groups.

        *filters* pick the labels; *run* and *against* name runs of the journal, by default the last two.

        >>> import quality_lab as ql
        >>> from quality_lab.metrics.filters import Filters
        >>> facts = ql.open_demo().regression_facts(Filters())
        >>> len(facts.cases), facts.run
        (15, None)

        Raises: UsageError for a run that the journal does not know.
        """
        from quality_lab.lab.regression_facts import regression_facts

        return regression_facts(self.home, self.store, filters, run=run, against=against)

    def _lines(
        self, cases: str | Path | Sequence[Mapping[str, Any]] | None
    ) -> tuple[list[bytes], list[str], Metadata]:
        from quality_lab.json_text import compact

        if cases is None:
            lines, tenants = cases_of(self.store)
            return lines, tenants, {"source": "lab", "home": str(self.home)}
        if isinstance(cases, str | Path):
            return lines_of(Path(cases)), [], {"source": "file", "filePath": str(cases)}
        lines = [compact(record).encode("utf-8", "surrogatepass") for record in cases]
        return lines, [], {"source": "records"}
