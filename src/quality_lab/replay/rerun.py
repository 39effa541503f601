"""Cases times trials, so many at a time, within a budget, at the pace that the server allows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from quality_lab.drafts import draft_rules
from quality_lab.errors import QualityLabError
from quality_lab.judge import Judge
from quality_lab.matching.case import Case, read_case
from quality_lab.matching.json_values import ABSENT
from quality_lab.replay.budget import Budget
from quality_lab.replay.contracts import contract_trial
from quality_lab.replay.keeping import Keeper, content_key
from quality_lab.replay.opinions import Unjudged, unjudged, with_opinion
from quality_lab.replay.outcome import CaseOutcome, folded, head_of
from quality_lab.replay.playing import Trial, live_trial
from quality_lab.replay.shelf import Shelf
from quality_lab.replay.tape import Policy
from quality_lab.replay.to_run import CaseLine, CaseToRun
from quality_lab.toolloop.loop import DEFAULT_MAX_CYCLES
from quality_lab.toolloop.models import Model

RECORDED = "recorded"
_MOST_PAUSES = 6
_LONGEST_PAUSE_S = 60.0
_TOO_MANY = "refused with 429"
# What a case can do to the harness; it costs that case, not the run.
_HARNESS = (
    QualityLabError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSettings:
    """How a re-run is made."""

    tape: Policy = "fifo"
    trials: int = 1
    concurrency: int = 8
    max_cycles: int = DEFAULT_MAX_CYCLES
    draft_rules: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)  # to the model, as they are


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How far a run has come."""

    done: int  # trials
    total: int
    spent_usd: float
    kept: int  # trials taken from the run before


class Rerun:
    """One run: *model* None means the recorded decisions."""

    def __init__(
        self,
        shelf: Shelf,
        *,
        model: Model | None = None,
        model_key: str = RECORDED,
        settings: RunSettings = RunSettings(),  # frozen
        budget: Budget | None = None,
        keeper: Keeper | None = None,
        judge: Judge | None = None,
        progress: Callable[[Progress], None] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.shelf = shelf
        self.model = model
        self.settings = settings if model is not None else replace(settings, trials=1, concurrency=1)
        self.budget = budget or Budget(None, None)
        self.keeper = keeper if model is not None else None
        self.judge = judge
        self._progress = progress
        self._sleep = sleep
        self._pace = _Pace(sleep)
        self._key = {
            "tools": shelf.digest,
            "source": shelf.name,
            "allowed": sorted(shelf.allowed),
            "live": shelf.allow_live,
            "model": model_key,
            "tape": settings.tape,
            "cycles": settings.max_cycles,
            "draft": settings.draft_rules,
            "options": dict(settings.options),
            "judge": judge.key if judge is not None else None,
        }
        self._done = 0
        self.kept_trials = 0
        self._total = 0

    async def run(self, cases: Iterable[CaseToRun | CaseLine]) -> list[CaseOutcome]:
        """Return what each case came to, in the order in which they came.

        A line is read when its turn comes; of a case that was run, what its report needs is kept.
        """
        to_run = list(cases)
        outcomes: dict[int, CaseOutcome] = {}
        self._total = self.settings.trials * sum(not each.problems for each in to_run)
        units = self._units(to_run, outcomes)
        workers = min(self.settings.concurrency, max(self._total, 1))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(self._work(units, outcomes))
        except BaseExceptionGroup as problems:  # the first is the one that stopped the others
            raise problems.exceptions[0] from None
        return [outcomes[at] for at in range(len(to_run))]

    def _units(
        self, to_run: Sequence[CaseToRun | CaseLine], outcomes: dict[int, CaseOutcome]
    ) -> Iterator[tuple[_Book, int]]:
        """Yield the trials that are to be made; a case that is malformed gets its outcome and none."""
        for at, each in enumerate(to_run):
            given = each.read()
            if given.malformed is not None:
                outcomes[at] = _malformed(given, given.malformed)
                self._total -= 0 if each.problems else self.settings.trials
                continue
            ready, drafted = self._with_rules(given)
            trials = self.settings.trials
            book = _Book(at=at, given=ready, drafted=drafted, trials=[None] * trials, left=trials)
            for number in range(trials):
                yield book, number

    def _with_rules(self, given: CaseToRun) -> tuple[CaseToRun, bool]:
        """Return the case, with rules drafted from its label where it has none and that was asked for."""
        case = given.case
        if not self.settings.draft_rules or given.malformed or case.rules.decides or case.positive:
            return given, False
        held = case.record.get("input")
        args = held.get("args") if isinstance(held, Mapping) else None
        drafted = draft_rules(case.label, case.tool_name, args=args, corrected=case.corrected)
        if not drafted:
            return given, False
        expected = {**case.record.get("expected", {}), **drafted}
        return replace(given, case=read_case({**case.record, "expected": expected})), True

    async def _work(self, units: Iterator[tuple[_Book, int]], outcomes: dict[int, CaseOutcome]) -> None:
        for book, number in units:  # shared by all workers; each takes the next one
            book.trials[number] = trial = await self._trial(book.given.case, number)
            for each in trial.evidence:
                each.result = ABSENT  # it was judged; a report tells of its grade alone
            book.left -= 1
            if not book.left:
                outcomes[book.at] = book.outcome()
            self._done += 1
            if self._progress is not None:
                spent, kept = float(self.budget.spent), self.kept_trials
                self._progress(Progress(done=self._done, total=self._total, spent_usd=spent, kept=kept))

    async def _trial(self, case: Case, number: int) -> Trial:
        if self.model is None:
            try:
                return await contract_trial(case, self.shelf.prepare(case, self.settings.tape))
            except _HARNESS as problem:
                return _harness_failed(problem)
        key = content_key(case, self._key) if self.keeper is not None else ""
        if self.keeper is not None and (kept := self.keeper.find(key, number)) is not None:
            self.kept_trials += 1
            return kept
        held = self.keeper.find_unjudged(key, number) if self.keeper is not None and self.judge else None
        if held is not None:  # it was played and paid before; only the judge is left to ask
            self.kept_trials += 1

        def play_kept(played: Unjudged) -> None:
            if self.keeper is not None:
                self.keeper.keep_unjudged(key, number, played)

        trial = await self._asked(case, self.model, held, keep=play_kept)
        if self.keeper is not None:
            self.keeper.keep(key, number, replace(trial, kept=False))
        return replace(trial, kept=held is not None)

    async def _asked(
        self, case: Case, model: Model, held: Unjudged | None, *, keep: Callable[[Unjudged], None]
    ) -> Trial:
        """Return the trial, tried again where a server is busy; what was played once is played no more."""
        for pause in range(_MOST_PAUSES + 1):
            await self._pace.turn()
            plays = held is None
            if plays and not self.budget.begin():
                return Trial(verdict="ERROR", reason=self.budget.ended or "budget", error_kind="budget")
            trial = Trial(verdict="ERROR", reason="interrupted: the trial did not end", error_kind="harness")
            try:
                if held is None:
                    trial, played = await live_trial(
                        case,
                        model,
                        self.shelf.prepare(case, self.settings.tape),
                        max_cycles=self.settings.max_cycles,
                        options=self.settings.options,
                    )
                    if self.judge is not None and played is not None:
                        held = unjudged(case, trial, played)
                    if held is not None:
                        keep(held)
                if held is not None and self.judge is not None:
                    trial = await with_opinion(self.judge, case, held)
            except _HARNESS as problem:
                trial = _harness_failed(problem)
            finally:
                if plays:
                    asked = bool(case.messages) and trial.error_kind is None
                    self.budget.end(trial.input_tokens, trial.output_tokens, asked=asked)
            if trial.error_kind != "model" or _TOO_MANY not in trial.reason or pause == _MOST_PAUSES:
                break
            self._pace.slow_down(min(2.0**pause, _LONGEST_PAUSE_S))
        return trial


@dataclass(kw_only=True, slots=True)
class _Book:
    """A case that is being run, and the trials that were made of it."""

    at: int  # its place among the cases
    given: CaseToRun
    drafted: bool
    trials: list[Trial | None]
    left: int  # trials that have not ended

    def outcome(self) -> CaseOutcome:
        """Return what the case came to."""
        trials = [trial for trial in self.trials if trial is not None]
        verdict, reason, stability = folded(trials)
        return CaseOutcome(
            line=self.given.line,
            case=head_of(self.given.case),
            tenant=self.given.tenant,
            verdict=verdict,
            reason=f"{reason} (by drafted rules)" if self.drafted else reason,
            stability=stability,
            trials=tuple(trials),
            drafted=self.drafted,
        )


def _malformed(given: CaseToRun, problem: str) -> CaseOutcome:
    return CaseOutcome(
        line=given.line, case=head_of(given.case), tenant=given.tenant, verdict="ERROR",
        reason=f"malformed_case: {problem}", stability="undecided", trials=(), malformed=True,
    )  # fmt: skip


def _harness_failed(problem: Exception) -> Trial:
    said = str(problem) or type(problem).__name__
    return Trial(verdict="ERROR", reason=f"harness_failed: {said}", error_kind="harness")


class _Pace:
    """Lets nobody ask before the time that the server named is over."""

    def __init__(self, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._sleep = sleep
        self._pauses = 0.0
        self._door = asyncio.Lock()

    def slow_down(self, seconds: float) -> None:
        """Make everybody wait *seconds* before asking next."""
        self._pauses = max(self._pauses, seconds)

    async def turn(self) -> None:
        """Return when one may ask."""
        async with self._door:  # whoever sleeps here keeps everybody behind waiting
            if self._pauses:
                seconds, self._pauses = self._pauses, 0.0
                await self._sleep(seconds)
