"""A re-run told as upstream tells a check, and what else there is to say: verdicts, evidence, cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from quality_lab import js_text
from quality_lab.matching.checks import VerdictName
from quality_lab.matching.json_values import ABSENT
from quality_lab.records import DEFAULT_TENANT
from quality_lab.regressions.results import Failure, Metadata, Report, Result, summarise
from quality_lab.replay.comparison import Comparison, Judged
from quality_lab.replay.outcome import CaseOutcome, mean_pass_hat
from quality_lab.replay.playing import Trial
from quality_lab.replay.stage import Evidence, plain


@dataclass(frozen=True, kw_only=True, slots=True)
class RerunReport:
    """Upstream's report, with the outcome of each case that was run, by line."""

    report: Report
    outcomes: Mapping[int, CaseOutcome]
    settings: Mapping[str, Any]
    spent_usd: float | None = None
    kept_trials: int = 0
    comparison: Comparison | None = None
    judge: Mapping[str, Any] | None = None

    @property
    def counts(self) -> Counter[VerdictName]:
        """How many cases came to each verdict."""
        return Counter(outcome.verdict for outcome in self.outcomes.values())

    def exit_code(self, *, strict: bool) -> int:
        """Return 1 for any FAIL, flaky or malformed case, else 4 for any other ERROR, else 1 where no case
        was decided, else 0; with *strict* 1 where any is INCONCLUSIVE.
        """
        counts = self.counts
        malformed = any(outcome.malformed for outcome in self.outcomes.values())
        if counts["FAIL"] or malformed:
            return 1
        if counts["ERROR"]:
            return 4
        if not counts["PASS"]:
            return 1
        return 1 if strict and counts["INCONCLUSIVE"] else 0

    def as_json(self) -> dict[str, Any]:
        """Return upstream's document with the keys of a re-run beside its own."""
        return self.document(list(self.results()))

    def results(self) -> Iterator[dict[str, Any]]:
        """Yield the results of the document one by one, so that a long run needs no room for all of them."""
        return map(self._result, self.report.results)

    def document(self, results: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the document with *results* in it."""
        summary = self.report.summary
        document: dict[str, Any] = {
            "generatedAt": self.report.stamp,
            "metadata": {**_listed(self.report.metadata), "rerun": dict(self.settings)},
            "summary": {
                **{
                    key: getattr(summary, key)
                    for key in ("total", "passed", "failed", "skipped", "active", "archived", "unsupported")
                },
                "skipReasons": dict(summary.skip_reasons),
                "verdicts": {name: self.counts[name] for name in ("PASS", "FAIL", "INCONCLUSIVE", "ERROR")},
                "passHat": {str(j): value for j, value in mean_pass_hat(self.outcomes.values()).items()},
                "flaky": sum(outcome.stability == "flaky" for outcome in self.outcomes.values()),
                "keptTrials": self.kept_trials,
                "spentUsd": self.spent_usd,
            },
            "results": results,
        }
        if self.comparison is not None:
            document["comparison"] = self.comparison.as_json()
        if self.judge is not None:
            document["judge"] = dict(self.judge)
        return document

    def _result(self, result: Result) -> dict[str, Any]:
        told: dict[str, Any] = {
            "line": result.line,
            "status": result.status,
            "recordStatus": result.record_status,
            "caseId": _number(result.case_id),
            "toolName": result.tool_name,
            "title": result.title,
        }
        if result.skip_reason:
            told["skipReason"] = result.skip_reason
        told["failures"] = [
            {
                "line": failure.line,
                "caseId": _number(failure.case_id),
                "toolName": failure.tool_name,
                "path": failure.path,
                "expected": failure.expected,
                "actual": failure.actual,
            }
            for failure in result.failures
        ]
        outcome = self.outcomes.get(result.line)
        return {**told, **_extra(outcome)} if outcome is not None else told


def judged_in(document: Mapping[str, Any]) -> list[Judged]:
    """Return the verdicts in a re-run's JSON report, for a comparison; results without one are left out.

    Raises:
        ValueError: the document is no report of a re-run.
    """
    results = document.get("results")
    if not isinstance(results, list) or not all(isinstance(each, Mapping) for each in results):
        raise ValueError("it has no list of results")
    judged = [
        Judged(
            case_id=each.get("caseId"),
            tenant=str(each.get("tenant") or DEFAULT_TENANT),
            tool=str(each.get("toolName")),
            label=str(each.get("label", "")),
            verdict=each["verdict"],
        )
        for each in results
        if each.get("verdict") in ("PASS", "FAIL", "INCONCLUSIVE", "ERROR")
    ]
    if results and not judged:
        raise ValueError("none of its results has a verdict; it was not made with --rerun")
    return judged


def result_of(outcome: CaseOutcome, base: Result) -> Result:
    """Return upstream's result for a case that was run; *base* is what its record says of itself."""
    if outcome.malformed and base.failures:
        return base
    if outcome.verdict == "PASS":
        return replace(base, status="passed", failures=())
    if outcome.verdict == "INCONCLUSIVE":
        return replace(base, status="skipped", skip_reason="inconclusive", failures=())
    failures = _failures(outcome, base) or (_failure(base, "$", "a verdict", outcome.reason),)
    return replace(base, status="failed", failures=failures)


def _failures(outcome: CaseOutcome, base: Result) -> tuple[Failure, ...]:
    if outcome.verdict == "ERROR":
        return ()
    trial = outcome.decisive
    checks = trial.checks if trial is not None else ()
    return tuple(
        _failure(base, _path(each.step, each.path), f"{each.expected} ({each.rule})", each.got)
        for check in checks
        for each in check.failures
    )


def _path(step: int | None, path: str) -> str:
    return path if step is None else f"call {step + 1}: {path}"


def _failure(base: Result, path: str, expected: str, actual: str) -> Failure:
    return Failure(
        line=base.line, case_id=base.case_id, tool_name=base.tool_name, path=path, expected=expected,
        actual=actual,
    )  # fmt: skip


def report_of(results: Sequence[Result], *, now: datetime, metadata: Metadata) -> Report:
    """Return upstream's report on *results*."""
    return Report(generated_at=now, metadata=metadata, summary=summarise(results), results=results)


def _extra(outcome: CaseOutcome) -> dict[str, Any]:
    trial = outcome.decisive
    return {
        "tenant": outcome.tenant,
        "label": outcome.case.label,
        "verdict": outcome.verdict,
        "reason": outcome.reason,
        "stability": outcome.stability,
        "drafted": outcome.drafted,
        "checks": [check.as_json() for check in trial.checks] if trial is not None else [],
        "evidence": _evidence(trial),
        "trials": [_trial(number, each) for number, each in enumerate(outcome.trials, 1)],
        "passHat": {str(j): value for j, value in outcome.pass_hat.items()},
        "usage": _usage(outcome.trials),
    }


def _evidence(trial: Trial | None) -> dict[str, Any]:
    """Return the grade of each result of a trial, how many there are of each, and what must be known."""
    made = trial.evidence if trial is not None else ()
    return {
        "grades": dict(Counter(each.grade for each in made if each.grade is not None)),
        "calls": [_call(each) for each in made],
        "refused": [each.tool for each in made if each.refused],
        "unavailable": [each.tool for each in made if each.grade == "unavailable"],
        "notes": list(trial.notes) if trial is not None else [],
    }


def _call(evidence: Evidence) -> dict[str, Any]:
    return {
        "tool": evidence.tool,
        "cycle": evidence.cycle,
        "args": None if evidence.args is ABSENT else plain(evidence.args),
        "grade": evidence.grade,
        "drift": evidence.drift,
        "refused": evidence.refused,
    }


def _trial(number: int, trial: Trial) -> dict[str, Any]:
    return {
        "trial": number,
        "verdict": trial.verdict,
        "reason": trial.reason,
        "reply": trial.reply,
        "checks": [check.as_json() for check in trial.checks],
        "evidence": _evidence(trial),
        "usage": _usage([trial]),
        "latency_ms": trial.latency_ms,
        "kept": trial.kept,
    }


def _usage(trials: Sequence[Trial]) -> dict[str, Any]:
    """Return the tokens of *trials*; None where a server did not say."""
    return {
        "input_tokens": _sum([trial.input_tokens for trial in trials]),
        "output_tokens": _sum([trial.output_tokens for trial in trials]),
    }


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _number(value: float | None) -> Any:
    return int(value) if value is not None and js_text.is_integer(value) else value


def _listed(metadata: Metadata) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in metadata.items()}
