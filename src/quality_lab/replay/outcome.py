"""What a case came to over its trials: stable or flaky, and how likely it is to pass again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from sys import intern
from typing import Any, Literal

from quality_lab.matching.case import Case
from quality_lab.matching.checks import VerdictName
from quality_lab.records import DEFAULT_TENANT
from quality_lab.replay.playing import Trial

Stability = Literal["stable_pass", "flaky", "stable_fail", "undecided"]
_NAMES = {  # what a record names: under which name it is told on
    "conversationId": "conversation_id",
    "contactId": "contact_id",
    "toolCallId": "tool_call_id",
    "call_uid": "call_uid",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseHead:
    """What is kept of a case once it was run; the rest would fill the memory of a long run."""

    id: Any  # as the record has it
    title: str
    tool_name: str
    label: str
    made_from: tuple[tuple[str, int | str], ...] = ()  # names of the conversation, contact and call behind it


def head_of(case: Case) -> CaseHead:
    """Return what is kept of *case*."""
    return CaseHead(
        id=case.record.get("id"),
        title=str(case.record.get("title", "")),
        tool_name=intern(case.tool_name),  # the same few in all cases
        label=intern(case.label),
        made_from=tuple(_made_from(case.record)),
    )


def _made_from(record: Mapping[str, Any]) -> Iterator[tuple[str, int | str]]:
    context = record.get("context")
    call = context.get("toolCall") if isinstance(context, Mapping) else None
    for place in (record, context, call, record.get("provenance")):
        if isinstance(place, Mapping):
            for name, under in _NAMES.items():
                if isinstance(place.get(name), int | str):
                    yield under, place[name]


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseOutcome:
    """The verdict on one case and the trials behind it."""

    line: int  # 1-based, in the file that it came from
    case: CaseHead
    tenant: str = DEFAULT_TENANT
    verdict: VerdictName
    reason: str
    stability: Stability
    trials: tuple[Trial, ...]
    malformed: bool = False
    drafted: bool = False  # the rules were drafted from the label, nobody wrote them

    @property
    def case_id(self) -> Any:
        """The record's id."""
        return self.case.id

    @property
    def title(self) -> str:
        """What the case is called."""
        return self.case.title

    @property
    def decisive(self) -> Trial | None:
        """The first trial with the case's verdict, whose checks and evidence explain it."""
        return next((trial for trial in self.trials if trial.verdict == self.verdict), None)

    @property
    def pass_hat(self) -> dict[int, float]:
        """The unbiased pass^1 … pass^k over the trials that decided; empty where none did."""
        return pass_hat([trial.verdict for trial in self.trials])


def pass_hat(verdicts: Sequence[VerdictName]) -> dict[int, float]:
    """Return for each j up to the decided trials how likely j trials in a row pass: C(c, j) / C(n, j).

    That estimate is unbiased, where (c / n) ** j is too high.

    >>> pass_hat(["PASS", "PASS", "FAIL", "PASS"])
    {1: 0.75, 2: 0.5, 3: 0.25, 4: 0.0}
    """
    decided = [verdict for verdict in verdicts if verdict in ("PASS", "FAIL")]
    n, c = len(decided), decided.count("PASS")
    return {j: comb(c, j) / comb(n, j) for j in range(1, n + 1)}


def mean_pass_hat(outcomes: Iterable[CaseOutcome]) -> dict[int, float]:
    """Return pass^j averaged over the cases that have j decided trials."""
    sums: defaultdict[int, float] = defaultdict(float)
    counts: Counter[int] = Counter()
    for outcome in outcomes:
        for j, value in outcome.pass_hat.items():
            sums[j] += value
            counts[j] += 1
    return {j: sums[j] / counts[j] for j in sorted(counts)}


def folded(trials: Sequence[Trial]) -> tuple[VerdictName, str, Stability]:
    """Return verdict, reason and stability over *trials*.

    A case that passes at times and fails at times is flaky and a FAIL; a trial that went wrong around the
    agent makes an ERROR of what did not fail; one that could not decide keeps the rest from passing.
    """
    counts = Counter(trial.verdict for trial in trials)
    passed, failed = counts["PASS"], counts["FAIL"]
    for verdict in ("FAIL", "ERROR", "INCONCLUSIVE"):
        found = [trial for trial in trials if trial.verdict == verdict]
        if verdict == "FAIL" and found and passed:
            reason = f"flaky: {passed} of {passed + failed} decided trials passed; {found[0].reason}"
            return "FAIL", reason, "flaky"
        if found:
            stability: Stability = "stable_fail" if verdict == "FAIL" else "undecided"
            return verdict, found[0].reason, stability
    if not trials:
        return "INCONCLUSIVE", "not_tried: no trial was made", "undecided"
    return "PASS", trials[0].reason, "stable_pass"
