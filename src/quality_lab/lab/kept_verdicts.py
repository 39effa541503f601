"""The verdicts of a lab's re-runs in its journal: a line a case, and the runs that such lines tell of.

Texts are masked before they are written, since the journal goes into git, and a long one is cut. A line names
the conversation and the call that its case was made from, as far as the case does, so that `forget` finds it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from quality_lab.journal import Journal
from quality_lab.lab.reviewing import of_tenant
from quality_lab.records import DEFAULT_TENANT
from quality_lab.reports.regressions.facts import CaseVerdict, FailureTold, RunFacts

if TYPE_CHECKING:
    from quality_lab.masking import Masker
    from quality_lab.regressions.rerun_report import RerunReport
    from quality_lab.replay.outcome import CaseOutcome

SHELF = "verdicts"
_LONGEST = 400  # characters of one text
_MOST_FAILURES = 20
_VERDICTS = ("PASS", "FAIL", "INCONCLUSIVE", "ERROR")
_SETTINGS = ("model", "tools_from", "tape", "judge")


def keep_verdicts(home: Path, report: RerunReport) -> int:
    """Return how many lines the journal of *home* got: one for each case that was run, all in one write.

    Raises: OutputError where the journal cannot be written; then none of them stands there.
    """
    from quality_lab.masking import Masker

    run, masker = uuid4().hex, Masker(home)
    told = {name: report.settings[name] for name in _SETTINGS if report.settings.get(name) is not None}
    entries = ({"run": run, **_entry(outcome, masker), **told} for outcome in report.outcomes.values())
    written = Journal(home / "data" / "journal").extend(
        SHELF, entries, author=None, now=report.report.generated_at
    )
    return len(written)


def _entry(outcome: CaseOutcome, masker: Masker) -> dict[str, Any]:
    trial = outcome.decisive
    failures = [failure for check in (trial.checks if trial else ()) for failure in check.failures]
    evidence = [each for one in outcome.trials for each in one.evidence]
    return {
        **of_tenant(outcome.tenant),
        "case_id": outcome.case_id,
        "tool_name": outcome.case.tool_name,
        "label": outcome.case.label,
        "verdict": outcome.verdict,
        "reason": _short(outcome.reason, masker),
        "stability": outcome.stability,
        "trials": len(outcome.trials),
        "passed": sum(one.verdict == "PASS" for one in outcome.trials),
        "drafted": outcome.drafted,
        "evidence": dict(Counter(each.grade for each in evidence if each.grade is not None)),
        "refused": list(dict.fromkeys(each.tool for each in evidence if each.refused)),
        "failures": [
            {
                "step": failure.step,
                "rule": failure.rule,
                "path": failure.path,
                "expected": _short(failure.expected, masker),
                "got": _short(failure.got, masker),
            }
            for failure in failures[:_MOST_FAILURES]
        ],
        "names": dict(outcome.case.made_from),
    }


def _short(text: str, masker: Masker) -> str:
    shown = masker.text(text)  # before it is cut, or half a secret would stay
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}… ({len(shown) - _LONGEST:,} more)"


def kept_runs(home: Path) -> list[RunFacts]:
    """Return the runs that the journal of *home* tells of, the newest first; lines taken back are left out.

    A line that is no verdict is passed over; of lines with one id, as a merge may leave them, one counts.
    """
    journal = Journal(home / "data" / "journal")
    gone = journal.retracted()
    lines = {str(line.get("id")): line for line in journal.lines(SHELF)}
    runs: dict[str, list[tuple[datetime, CaseVerdict, Mapping[str, Any]]]] = {}
    for line_id, line in lines.items():
        at = _moment(line.get("created_at"))
        if line_id not in gone and line.get("verdict") in _VERDICTS and at is not None:
            runs.setdefault(str(line.get("run")), []).append((at, _verdict(line), line))
    found = [
        RunFacts(
            run=run,
            at=max(at for at, _, _ in held),
            verdicts=tuple(verdict for _, verdict, _ in held),
            **{name: _text_or_none(held[0][2].get(name)) for name in _SETTINGS},
        )
        for run, held in runs.items()
    ]
    return sorted(found, key=lambda run: (run.at, run.run), reverse=True)


def _verdict(line: Mapping[str, Any]) -> CaseVerdict:
    """Return the verdict of a line, whatever another hand wrote into its smaller fields."""
    evidence, failures, refused = line.get("evidence"), line.get("failures"), line.get("refused")
    return CaseVerdict(
        case_id=str(line.get("case_id")),
        tenant=str(line.get("tenant") or DEFAULT_TENANT),
        tool_name=str(line.get("tool_name") or ""),
        label=str(line.get("label") or ""),
        verdict=line["verdict"],
        reason=str(line.get("reason") or ""),
        stability=str(line.get("stability") or "undecided"),
        trials=_count(line.get("trials")),
        passed=_count(line.get("passed")),
        drafted=line.get("drafted") is True,
        evidence={str(grade): _count(times) for grade, times in evidence.items()}
        if isinstance(evidence, Mapping)
        else {},
        refused=tuple(map(str, refused)) if isinstance(refused, list) else (),
        failures=tuple(_failure(each) for each in failures if isinstance(each, Mapping))
        if isinstance(failures, list)
        else (),
    )


def _failure(told: Mapping[str, Any]) -> FailureTold:
    step = told.get("step")
    return FailureTold(
        step=step if isinstance(step, int) else None,
        **{name: str(told.get(name, "")) for name in ("rule", "path", "expected", "got")},
    )


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _text_or_none(value: Any) -> str | None:
    return None if value is None else str(value)


def _moment(value: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
