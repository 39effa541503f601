"""The run on the page: its figures, its verdicts, what they rest on, and what changed since the run before."""

from __future__ import annotations

from collections import Counter

from quality_lab.answers.words import percent, percent_range
from quality_lab.reports.blocks import Html, items, join, paragraph, table, tag
from quality_lab.reports.findings.finding import counted
from quality_lab.reports.regressions.cases import NO_RUN
from quality_lab.reports.regressions.facts import Changes, RegressionFacts, RunFacts
from quality_lab.reports.regressions.words import LastRun, changes_words

_ROWS = 60
_GRADES = {  # in the order of what they are worth
    "live": "answered by the tool itself",
    "recorded": "recorded when the call was made",
    "simulated": "answered by a stand-in in memory",
    "edited": "written by a person",
    "unavailable": "not to be had",
}


def facts_list(facts: RegressionFacts, last: LastRun) -> Html:
    """Return the four figures of the first screen."""
    gating, active = sum(case.gates for case in facts.cases), sum(case.active for case in facts.cases)
    run, changes = facts.run, facts.changes
    shown: list[tuple[str, str, Html | str]] = [
        ("Cases that gate", f"{gating:,}", f"of {counted(active, 'active case')}"),
        ("Last run", last.at or "–", "never run" if run is None else f"{last.age} before this report"),
        ("Passed", *_passed(last)),
        ("Since the run before", *_moved(changes)),
    ]
    rows = (
        tag("div", tag("dt", name), tag("dd", value, tag("small", more))) for name, value, more in shown
    )  # fmt: skip  # one line a fact
    return tag("dl", *rows, class_="facts")


def _passed(last: LastRun) -> tuple[str, str]:
    if last.rate is None or last.low is None or last.high is None:
        return "–", "no case was decided" if last.at else "never run"
    if last.decided < 10:
        return f"{last.counts['PASS']} of {last.decided}", "decided cases"
    return percent(last.rate), f"{percent_range(last.low, last.high)}, of {last.decided:,} decided cases"


def _moved(changes: Changes | None) -> tuple[str, str]:
    if changes is None or not changes.pairs:
        return "–", "nothing to compare with"
    return f"{changes.fixed:,} fixed, {changes.broken:,} broken", changes.verdict


def changed(facts: RegressionFacts, last: LastRun) -> Html:
    """Return the comparison with the run before: what moved, whether beyond noise, what could have been seen."""
    changes, run, before = facts.changes, facts.run, facts.before
    if run is None:
        return paragraph(NO_RUN)
    sentences = changes_words(facts)
    if changes is None or before is None or not changes.pairs:
        return join(paragraph(sentence) for sentence in sentences)
    points = []
    if changes.difference is not None and changes.low is not None and changes.high is not None:
        points.append(
            f"The pass rate is {_signed(changes.difference)} against the run before, with a 95 % interval from "
            f"{_signed(changes.low)} to {_signed(changes.high)}."
        )
    if changes.detectable is not None:
        points.append(
            f"So many cases would have shown a difference of {percent(changes.detectable)} or more four times "
            "out of five; a smaller one may be there and not be seen."
        )
    if changes.fixed_cases:
        points.append(f"Fixed: {_listed(changes.fixed_cases)}.")
    if changes.broken_cases:
        points.append(f"Broken: {_listed(changes.broken_cases)}.")
    left_out = changes.undecided + changes.only_before + changes.only_after
    if left_out:
        points.append(
            f"Left out: {changes.undecided:,} not decided in one of the runs, {changes.only_before:,} only in "
            f"the one before, {changes.only_after:,} only in this one."
        )
    if (run.model, run.tools_from) != (before.model, before.tools_from):
        points.append(f"The runs were made differently: {_made(before)} before, {_made(run)} now.")
    return join([*(paragraph(sentence) for sentence in sentences), items(points)])


def _signed(difference: float) -> str:
    points = difference * 100
    return f"{points:+.1f} points".replace("-", "\u2212")


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"case {name}" for name in names[:12])
    return shown + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def _made(run: RunFacts) -> str:
    model = "the recorded decisions" if run.model in (None, "recorded") else f"the model {run.model}"
    return model + (f" with the tools of {run.tools_from}" if run.tools_from else "")


def verdicts(facts: RegressionFacts) -> Html:
    """Return a row for each case of the run."""
    run = facts.run
    if run is None:
        return paragraph(NO_RUN)
    order = {"FAIL": 0, "ERROR": 1, "INCONCLUSIVE": 2, "PASS": 3}
    told = sorted(run.verdicts, key=lambda each: order[each.verdict])
    rows = [
        [
            each.name,
            tag("code", each.tool_name),
            each.label,
            each.verdict,
            f"{each.passed} of {each.trials}",
            each.reason,
        ]
        for each in told[:_ROWS]
    ]
    left = len(told) - _ROWS
    return join(
        [
            paragraph(f"Run {run.run[:8]}, made with {_made(run)}: {_counts(run)}."),
            table(["Case", "Tool", "Label", "Verdict", "Passed", "Why"], rows),
            paragraph(f"{left:,} more in the journal.", class_="quiet") if left > 0 else None,
        ]
    )


def _counts(run: RunFacts) -> str:
    counts = Counter(each.verdict for each in run.verdicts)
    return ", ".join(f"{number:,} {verdict}" for verdict, number in counts.most_common())


def evidence(facts: RegressionFacts) -> Html | None:
    """Return what the results that the run used rest on, and which tools were refused."""
    run = facts.run
    if run is None:
        return None
    grades: Counter[str] = Counter()
    for each in run.verdicts:
        grades.update(each.evidence)
    if not grades:
        return paragraph("No result of a tool was needed in this run: contracts and arguments decided.")
    known = [*(grade for grade in _GRADES if grades[grade]), *sorted(set(grades) - set(_GRADES))]
    rows: list[list[Html | str]] = [[grade, _GRADES.get(grade, ""), f"{grades[grade]:,}"] for grade in known]
    refused = list(dict.fromkeys(tool for each in run.verdicts for tool in each.refused))
    return join(
        [
            paragraph("What the results of tools rest on:"),
            table(["Grade", "The result was", "Results"], rows, numeric=(2,)),
            paragraph(
                "Asked for and not run, as nothing can undo them: ",
                join((tag("code", tool) for tool in refused), ", "),
                ".",
            )
            if refused
            else None,
        ]
    )
