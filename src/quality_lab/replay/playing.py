"""One trial: a case's conversation put to a model, its calls answered on a stage, what it did judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from quality_lab.matching.calls import MadeCall, Run, outcome_of_result
from quality_lab.matching.case import Case
from quality_lab.matching.checks import Check, Failure, Judgement, VerdictName, verdict_of
from quality_lab.matching.json_values import ABSENT, shown
from quality_lab.matching.judging import ONLY_PROSE
from quality_lab.replay.shelf import CONVERSATION, Prepared
from quality_lab.replay.stage import Evidence, Stage, plain
from quality_lab.toolloop.calling import approve_all
from quality_lab.toolloop.contract import ToolContext
from quality_lab.toolloop.loop import run_loop
from quality_lab.toolloop.models import Model, ModelError
from quality_lab.toolloop.record import LoopResult, Message, ModelReply, ToolOutcome
from quality_lab.toolloop.scripted import RecordedModel

NO_MESSAGES = "no_messages: the case holds no conversation that could be put to a model"


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """What one trial came to."""

    verdict: VerdictName
    reason: str
    checks: tuple[Check, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    notes: tuple[str, ...] = ()  # what a reader has to know: refusals, drift, exhaustion
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: float | None = None
    reply: str | None = None
    error_kind: str | None = None  # what failed, where the verdict is ERROR: model, budget, case
    usage_known: bool = True
    kept: bool = field(default=False, compare=False)  # taken from an earlier, interrupted run


class _ShownAsCaptured:
    """A model that is shown a case's own definitions as they were, and none of tools nobody defined."""

    def __init__(self, model: Model, prepared: Prepared) -> None:
        self.name = model.name
        self._model = model
        self._hidden = prepared.stage.hidden
        self._as_captured = prepared.as_captured()

    async def complete(
        self, messages: Sequence[Message], *, tools: Sequence[dict[str, Any]], options: Mapping[str, Any]
    ) -> ModelReply:
        shown_tools = []
        for tool in tools:
            name = tool["function"]["name"]
            if name not in self._hidden:
                shown_tools.append(self._as_captured.get(name, tool))
        return await self._model.complete(messages, tools=shown_tools, options=options)


@dataclass(frozen=True, kw_only=True, slots=True)
class Played:
    """What happened on the stage."""

    result: LoopResult
    run: Run
    evidence: tuple[Evidence, ...]
    notes: tuple[str, ...]


async def play(
    case: Case,
    model: Model,
    prepared: Prepared,
    *,
    max_cycles: int,
    options: Mapping[str, Any] | None = None,
) -> Played:
    """Return what *model* did when it was asked what the case asks; one that only repeats is shown nothing.

    Raises:
        ModelError: the model gave no answer.
    """
    stage = prepared.stage
    permissions = frozenset(tool.permission for tool in stage.tools if isinstance(tool.permission, str))
    repeats = isinstance(model, RecordedModel)
    result = await run_loop(
        model if repeats else _ShownAsCaptured(model, prepared),
        [] if repeats else [plain(message) for message in case.messages or ()],
        stage.tools,
        context=ToolContext(conversation=CONVERSATION, permissions=permissions),
        max_cycles=max_cycles,
        approve=approve_all,  # nothing on this stage can do anything that lasts
        options=options,
        hooks=[stage],
    )
    evidence = tuple(stage.evidence[at] for at in sorted(stage.evidence))
    run = Run(
        calls=tuple(_made(outcome, stage) for outcome in result.calls),
        reply=result.content,
        reply_known=True,
        end_state=prepared.end_state(),
        unavailable_cycle=stage.unavailable_cycle,
    )
    return Played(result=result, run=run, evidence=evidence, notes=_notes(result, evidence, max_cycles))


def _made(outcome: ToolOutcome, stage: Stage) -> MadeCall:
    evidence = stage.evidence[outcome.call_index]
    made = MadeCall(tool=outcome.tool_name, args=evidence.args, cycle=outcome.cycle)
    if evidence.refused:
        return replace(made, outcome="refused")
    if evidence.grade == "unavailable":
        return replace(made, outcome="unavailable")
    if outcome.status == "gated":
        return replace(made, outcome="gated")
    if outcome.status != "ok":
        return replace(made, outcome="error")
    result = outcome.result if evidence.result is ABSENT else evidence.result
    return replace(made, outcome=outcome_of_result(outcome.tool_name, error=evidence.error, result=result))


def _notes(result: LoopResult, evidence: Sequence[Evidence], max_cycles: int) -> tuple[str, ...]:
    notes = [each.note for each in evidence if each.note]
    notes += [
        f"{each.tool} was answered with a result recorded for other arguments than {shown(each.args)}"
        for each in evidence
        if each.drift
    ]
    if result.exhausted:
        notes.append(f"the model still wanted tools after {max_cycles} cycles")
    return tuple(dict.fromkeys(notes))


async def live_trial(
    case: Case, model: Model, prepared: Prepared, *, max_cycles: int, options: Mapping[str, Any] | None = None
) -> tuple[Trial, Played | None]:
    """Return the trial of *case* with a model that is asked now, judged by the rules of the case."""
    if not case.messages:
        return Trial(verdict="INCONCLUSIVE", reason=NO_MESSAGES), None
    try:
        played = await play(case, model, prepared, max_cycles=max_cycles, options=options)
    except ModelError as error:
        return failed_trial(error), None
    judgement = case.judge(played.run)
    tape = _tape_check(prepared.stage)
    if tape is not None:
        judgement = verdict_of([*judgement.checks, tape], nothing=ONLY_PROSE)
    return trial_of(judgement, played), played


def trial_of(judgement: Judgement, played: Played) -> Trial:
    """Return the trial that a judgement of what was played makes."""
    result = played.result
    return Trial(
        verdict=judgement.verdict,
        reason=judgement.reason,
        checks=judgement.checks,
        evidence=played.evidence,
        notes=played.notes,
        input_tokens=result.input_tokens,
        output_tokens=result.output_tokens,
        latency_ms=round(result.latency_ms, 3),
        reply=result.content,
        usage_known=result.input_tokens is not None and result.output_tokens is not None,
    )


def failed_trial(error: ModelError) -> Trial:
    """Return the trial that came to nothing because the model could not be asked."""
    result = error.result
    return Trial(
        verdict="ERROR",
        reason=f"model_failed: {error}",
        input_tokens=result.input_tokens if result else None,
        output_tokens=result.output_tokens if result else None,
        error_kind="model",
        usage_known=False,
    )


def _tape_check(stage: Stage) -> Check | None:
    """Return what the strict tape says: a record that nobody asked for is a failure."""
    if stage.tape.policy != "strict":
        return None
    failures = tuple(
        Failure(
            step=None,
            rule="tape",
            path="tape",
            expected=f"{record.tool} with {record.args or 'arguments that were not kept'}",
            got="no such call",
        )
        for record in stage.tape.unused
    )
    return Check(name="tape", status="fail" if failures else "pass", failures=failures)
