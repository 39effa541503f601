"""The judge's word on a trial that no rule decides: it gates where its agreement was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quality_lab.judge import Judge, JudgeFailed
from quality_lab.matching.case import Case
from quality_lab.matching.checks import Check, Failure, verdict_of
from quality_lab.matching.json_values import ABSENT
from quality_lab.matching.judging import AFTER, ONLY_PROSE
from quality_lab.replay.playing import Played, Trial
from quality_lab.toolloop.models import ModelError


@dataclass(frozen=True, kw_only=True, slots=True)
class Unjudged:
    """A trial that was played and paid, and all of it that a judge is shown."""

    trial: Trial
    calls: Sequence[Mapping[str, Any]]  # tool, args and result of each
    cut: bool  # a result was unavailable, so that what came after it decides nothing


def unjudged(case: Case, trial: Trial, played: Played) -> Unjudged | None:
    """Return what a judge is to be asked about; None where rules decide, or nothing says what was expected."""
    if case.rules.decides or case.problems or not case.rules.behavior:
        return None
    calls = [
        {
            name: value
            for name, value in (("tool", call.tool), ("args", call.args), ("result", evidence.result))
            if value is not ABSENT
        }
        for call, evidence in zip(played.run.calls, played.evidence, strict=True)
    ]
    return Unjudged(trial=trial, calls=calls, cut=played.run.unavailable_cycle is not None)


async def with_opinion(judge: Judge, case: Case, held: Unjudged) -> Trial:
    """Return the trial with the judge's check; an ERROR where the judge could not be asked, or said nothing."""
    trial = held.trial
    try:
        opinion = await judge.opinion(case, held.calls, trial.reply)
    except (ModelError, JudgeFailed) as problem:
        reason = f"judge_failed: {problem}"
        check = Check(name="judge", status="error", reason=reason)
        return replace(
            trial, verdict="ERROR", reason=reason, checks=(*trial.checks, check), error_kind="model"
        )
    said = f"{opinion.verdict}: {opinion.reason}"
    measured = judge.agreement is not None and judge.agreement.gates
    if not measured or opinion.verdict == "unsure" or held.cut:
        if opinion.verdict == "unsure":
            reason = f"judge_unsure: {opinion.reason}"
        elif measured:
            reason = f"{AFTER}; the judge says {said}"
        else:
            reason = f"judge_not_measured: its agreement with people is not known well enough; it says {said}"
        check = Check(name="judge", status="undecided", reason=reason)
    elif opinion.verdict == "pass":
        check = Check(name="judge", status="pass", reason=f"the judge says {said}")
    else:
        failure = Failure(
            step=None, rule="behavior", path="behavior", expected=case.rules.behavior, got=opinion.reason
        )
        check = Check(name="judge", status="fail", failures=(failure,))
    judgement = verdict_of([*trial.checks, check], nothing=ONLY_PROSE)
    return replace(trial, verdict=judgement.verdict, reason=judgement.reason, checks=judgement.checks)
