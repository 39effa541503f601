"""The judge's word on a trial that no rule decides: it gates where its agreement was measured."""

from __future__ import annotations

from dataclasses import replace

from quality_lab.judge import Judge, JudgeFailed
from quality_lab.matching.case import Case
from quality_lab.matching.checks import Check, Failure, verdict_of
from quality_lab.matching.json_values import ABSENT
from quality_lab.matching.judging import AFTER, ONLY_PROSE
from quality_lab.replay.playing import Played, Trial, trial_of
from quality_lab.toolloop.models import ModelError


async def with_opinion(judge: Judge, case: Case, trial: Trial, played: Played) -> Trial:
    """Return *trial* with the judge's check, where the case has nothing but prose; else *trial* itself."""
    if case.rules.decides or case.problems or not case.rules.behavior:
        return trial
    calls = [
        {
            "tool": call.tool,
            "args": call.args,
            **({} if evidence.result is ABSENT else {"result": evidence.result}),
        }
        for call, evidence in zip(played.run.calls, played.evidence, strict=True)
    ]
    try:
        opinion = await judge.opinion(case, calls, played.run.reply)
    except (ModelError, JudgeFailed) as problem:
        reason = f"judge_failed: {problem}"
        check = Check(name="judge", status="error", reason=reason)
        return replace(
            trial, verdict="ERROR", reason=reason, checks=(*trial.checks, check), error_kind="model"
        )
    said = f"{opinion.verdict}: {opinion.reason}"
    measured = judge.agreement is not None and judge.agreement.gates
    if not measured or opinion.verdict == "unsure" or played.run.unavailable_cycle is not None:
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
    return replace(trial_of(judgement, played), notes=trial.notes)
