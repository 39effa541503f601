"""What recorded decisions can prove: that today's contracts refuse what was wrong and take what was right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quality_lab.json_text import canonical, compact
from quality_lab.matching.case import NOTHING_RECORDED, Case
from quality_lab.matching.checks import Check, Failure, Judgement
from quality_lab.matching.json_values import ABSENT, shown
from quality_lab.replay.playing import Trial, play, trial_of
from quality_lab.replay.shelf import Prepared
from quality_lab.toolloop.record import ToolOutcome
from quality_lab.toolloop.scripted import RecordedModel

CANNOT_SHOW_FIX = (
    "recorded_model_cannot_show_fix: its decisions are what they were, and no contract refuses them"
)
NO_CONTRACT = "no_contract_known: no definition of the tools is known, so nothing could refuse a call"
_REFUSALS = ("unknown_tool", "invalid_json", "invalid_arguments")


async def contract_trial(case: Case, prepared: Prepared) -> Trial:
    """Return the trial of *case* with the decisions that were recorded.

    They meet today's schemas, allow-list and gates. A negative case whose labelled call is refused passes; if
    it is not, nothing is shown. A positive case fails where a call of it is refused that was fine then.
    """
    calls = case.kept_calls
    if not calls:
        return Trial(verdict="INCONCLUSIVE", reason=NOTHING_RECORDED)
    model = RecordedModel.from_calls([_as_told(call) for call in calls])
    rounds = len(calls) + 1
    played = await play(case, model, prepared, max_cycles=rounds)
    refusals = [_refusal(outcome, prepared) for outcome in played.result.calls]
    if case.positive:
        judgement = _positive(calls, refusals, prepared)
    else:
        judgement = _negative(case, calls, refusals)
    return trial_of(judgement, played)


def _as_told(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call for the recorded model: arguments as text, exactly as they were."""
    args = call.get("args", ABSENT)
    text = "{}" if args is ABSENT else args if isinstance(args, str) else compact(args)
    cycle = {"cycle": call["cycle"]} if "cycle" in call else {}
    return {"tool": call["tool"], "args": text, **cycle}


def _refusal(outcome: ToolOutcome, prepared: Prepared) -> str | None:
    """Return why today's contracts do not let the call through; None where they do, or know nothing of it."""
    if outcome.status == "gated":
        return f"gated: {shown(outcome.result)}"
    if outcome.error_kind not in _REFUSALS:
        return None
    if outcome.error_kind == "unknown_tool" and not prepared.rules_out(outcome.tool_name):
        return None
    return outcome.error_text or outcome.error_kind


def _negative(case: Case, calls: Sequence[Mapping[str, Any]], refusals: Sequence[str | None]) -> Judgement:
    faulty = _faulty(case, calls)
    refused = [at for at in faulty if refusals[at] is not None and "args" in calls[at]]
    if refused:
        at = refused[0]
        reason = f"refused_today: call {at + 1} ({calls[at]['tool']}): {refusals[at]}"
        check = Check(name="contract", status="pass", reason=reason)
        return Judgement(verdict="PASS", reason=reason, checks=(check,))
    check = Check(name="contract", status="undecided", reason=CANNOT_SHOW_FIX)
    return Judgement(verdict="INCONCLUSIVE", reason=CANNOT_SHOW_FIX, checks=(check,))


def _faulty(case: Case, calls: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the positions of the labelled call: that tool with those arguments, else every call of it."""
    of_tool = [at for at, call in enumerate(calls) if call["tool"] == case.tool_name]
    given = case.record.get("input")
    args = given.get("args") if isinstance(given, Mapping) else None
    if args is None:
        return of_tool
    wanted = canonical(args)
    return [at for at in of_tool if "args" in calls[at] and canonical(calls[at]["args"]) == wanted] or of_tool


def _positive(
    calls: Sequence[Mapping[str, Any]], refusals: Sequence[str | None], prepared: Prepared
) -> Judgement:
    failures = tuple(
        Failure(
            step=at,
            rule="contract",
            path="args",
            expected=f"{call['tool']} to be let through, as it was then",
            got=refusal,
        )
        for at, (call, refusal) in enumerate(zip(calls, refusals, strict=True))
        if refusal is not None and call.get("error") is not True and "args" in call
    )
    if failures:
        check = Check(name="contract", status="fail", failures=failures)
        return Judgement(verdict="FAIL", reason=f"refused_today: {failures[0]}", checks=(check,))
    if not any(prepared.is_ruled(call["tool"]) and "args" in call for call in calls):
        check = Check(name="contract", status="undecided", reason=NO_CONTRACT)
        return Judgement(verdict="INCONCLUSIVE", reason=NO_CONTRACT, checks=(check,))
    reason = "let_through_today: no contract refuses the calls that were good"
    return Judgement(
        verdict="PASS", reason=reason, checks=(Check(name="contract", status="pass", reason=reason),)
    )
