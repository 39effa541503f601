"""The report on regression cases in sentences: the state, and what a meeting has to know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from quality_lab.answers.words import percent, percent_range
from quality_lab.intervals import wilson
from quality_lab.reports.findings.finding import counted
from quality_lab.reports.quality.head import age_words
from quality_lab.reports.regressions.facts import CaseVerdict, Changes, RegressionFacts, VerdictWord
from quality_lab.reports.window import ReportWindow

RECORDED = "recorded"
_GROUPS_NAMED = 3
_MOST_CASES = 10  # told one by one
_LONGEST = 220  # characters of what one case says in a sentence


@dataclass(frozen=True, kw_only=True, slots=True)
class RegressionFinding:
    """Something that a meeting has to know of the cases."""

    kind: str  # case_failed, case_broken, case_error, case_flaky, nothing_gates, group_without_case
    tool_name: str | None
    text: str
    anchor: str  # the part of the page where its evidence stands
    evidence: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class LastRun:
    """The run that the report tells of, in the words and figures of the page."""

    at: str | None  # in the report's zone; None: there was no run
    age: str | None
    hours: float | None
    counts: Mapping[str, int]  # by verdict
    rate: float | None  # of the decided cases, those that passed
    low: float | None
    high: float | None
    flaky: int
    changes: Changes | None

    @property
    def decided(self) -> int:
        """How many cases passed or failed."""
        return self.counts.get("PASS", 0) + self.counts.get("FAIL", 0)

    def figures(self) -> dict[str, Any]:
        """Return the figures for summary.json; null where there was no run."""
        compared = self.changes
        ran = self.at is not None
        return {
            "hours_since_last_run": self.hours,
            **{
                name: self.counts.get(word, 0) if ran else None
                for name, word in (
                    ("passed", "PASS"), ("failed", "FAIL"), ("inconclusive", "INCONCLUSIVE"), ("errors", "ERROR"),
                )
            },
            "flaky": self.flaky if ran else None,
            "pass_rate": self.rate,
            "pass_low": self.low,
            "pass_high": self.high,
            "fixed": None if compared is None else compared.fixed,
            "broken": None if compared is None else compared.broken,
            "mcnemar_p": None if compared is None else compared.p,
        }  # fmt: skip  # one line of pairs


def last_run(facts: RegressionFacts, window: ReportWindow) -> LastRun:
    """Return the run of *facts* as the page tells it."""
    run = facts.run
    words: tuple[VerdictWord, ...] = ("PASS", "FAIL", "INCONCLUSIVE", "ERROR")
    counts: dict[str, int] = {word: 0 if run is None else run.count(word) for word in words}
    decided = counts["PASS"] + counts["FAIL"]
    low, high = wilson(counts["PASS"], decided) if decided else (None, None)
    hours = None if run is None else round((window.filters.now() - run.at) / timedelta(hours=1), 2)
    local = None if run is None else run.at.astimezone(window.zone)
    return LastRun(
        at=None if local is None else f"{local.day} {local:%b %Y, %H:%M}",
        age=None if hours is None else age_words(hours),
        hours=hours,
        counts=counts,
        rate=counts["PASS"] / decided if decided else None,
        low=low,
        high=high,
        flaky=0 if run is None else sum(each.stability == "flaky" for each in run.verdicts),
        changes=facts.changes,
    )


def state(facts: RegressionFacts, last: LastRun) -> list[str]:
    """Return how the suite stands, as sentences."""
    gating = sum(case.gates for case in facts.cases)
    if facts.run is None:
        if not facts.cases:
            return ["There is no regression case yet: quality-lab cases freeze makes one of a labelled call."]
        if not gating:
            return [
                "No case has been run, as none gates: "
                f"none of {counted(len(facts.cases), 'case')} provably catches its fault."
            ]
        return [f"{_gate(gating)}, and none has been run yet: quality-lab regressions --rerun does."]
    told = [_outcome(last)]
    if facts.run.model in (None, RECORDED) and last.counts["INCONCLUSIVE"]:
        told.append(
            "The decisions were the recorded ones, which can show that a contract refuses a fault, "
            "and never that a model makes it no more."
        )
    return [*told, *changes_words(facts)]


def _gate(number: int) -> str:
    return "1 case gates" if number == 1 else f"{number:,} cases gate"


def _outcome(last: LastRun) -> str:
    undecided, wrong = last.counts["INCONCLUSIVE"], last.counts["ERROR"]
    left = [f"{undecided:,} could not be decided"] if undecided else []
    left += [f"{wrong:,} went wrong around the agent"] if wrong else []
    rest = f"; {' and '.join(left)}" if left else ""
    if last.rate is None or last.low is None or last.high is None:
        return f"No case was decided in the last run{rest}."
    share = f"{last.counts['PASS']:,} of {counted(last.decided, 'decided case')} passed"
    if last.decided < 10:
        return f"{share}{rest}."
    return f"{share}, {percent(last.rate)} ({percent_range(last.low, last.high)}){rest}."


def changes_words(facts: RegressionFacts) -> list[str]:
    """Return what changed against the run before, as sentences; none where there is nothing to compare."""
    changes = facts.changes
    if changes is None:
        return ["There is no run before it to compare with."] if facts.run is not None else []
    if not changes.pairs:
        return ["No case was decided both in this run and in the one before, so nothing can be compared."]
    moved = f"{changes.fixed:,} fixed, {changes.broken:,} broken of {counted(changes.pairs, 'case')}"
    return [f"Against the run before: {changes.verdict} ({moved}, exact McNemar p = {changes.p:.2g})."]


def findings(facts: RegressionFacts) -> list[RegressionFinding]:
    """Return what a meeting has to know, the gravest first."""
    run, changes = facts.run, facts.changes
    broken = set(changes.broken_cases) if changes is not None else set()
    titles = {case.name: case.title for case in facts.cases}
    verdicts = sorted(
        run.verdicts if run is not None else (), key=lambda each: (each.name not in broken, each.name)
    )
    told = [_of_verdict(each, titles.get(each.name), each.name in broken) for each in verdicts]
    rank = ("case_broken", "case_failed", "case_error", "case_flaky")
    of_cases = sorted((one for one in told if one is not None), key=lambda one: rank.index(one.kind))
    return [*of_cases[:_MOST_CASES], *_the_others(of_cases[_MOST_CASES:]), *_of_suite(facts)]


def _the_others(rest: Sequence[RegressionFinding]) -> Iterator[RegressionFinding]:
    """Yield one finding for all the cases that are not told one by one."""
    if rest:
        ids = [finding.evidence["case_id"] for finding in rest]
        text = f"{counted(len(rest), 'more case')} failed, passed only at times, or could not be tried."
        yield RegressionFinding(
            kind="case_failed", tool_name=None, text=text, anchor="verdicts", evidence={"case_ids": ids}
        )


def _of_verdict(each: CaseVerdict, title: str | None, broken: bool) -> RegressionFinding | None:
    name = f"Case {each.name} on {each.tool_name}" + (f" ({title})" if title else "")
    evidence = {
        "case_id": each.case_id,
        "tenant": each.tenant,
        "verdict": each.verdict,
        "passed": each.passed,
        "trials": each.trials,
    }
    if each.stability == "flaky":
        text = f"{name} passes only at times: {each.passed} of {counted(each.trials, 'trial')}."
        kind, anchor = "case_flaky", "flaky"
    elif each.verdict == "FAIL":
        since = " since the run before" if broken else ""
        text = f"{name} fails{since}: {_cut(each.reason)}"
        kind, anchor = "case_broken" if broken else "case_failed", "failing"
    elif each.verdict == "ERROR":
        text, kind, anchor = f"{name} could not be tried: {_cut(each.reason)}", "case_error", "failing"
    else:
        return None
    return RegressionFinding(kind=kind, tool_name=each.tool_name, text=text, anchor=anchor, evidence=evidence)


def _of_suite(facts: RegressionFacts) -> Iterator[RegressionFinding]:
    if facts.cases and not any(case.gates for case in facts.cases):
        proofs = {
            proof: sum(case.proof == proof for case in facts.cases) for proof in ("not_red", "unprovable")
        }
        text = f"None of {counted(len(facts.cases), 'case')} gates: none is active and provably catches its fault."
        yield RegressionFinding(
            kind="nothing_gates", tool_name=None, text=text, anchor="gates", evidence=proofs
        )  # fmt: skip  # a line longer and it is harder to read
    for tool, label in facts.without_case[:_GROUPS_NAMED]:
        calls = facts.occurrences[tool, label]
        yield RegressionFinding(
            kind="group_without_case",
            tool_name=tool,
            text=f"{label} on {tool} stands on {counted(calls, 'reviewed call')}, and no case guards against it.",
            anchor="groups",
            evidence={"label": label, "calls": calls},
        )


def _cut(reason: str) -> str:
    return reason if len(reason) <= _LONGEST else f"{reason[:_LONGEST]}…"
