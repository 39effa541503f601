"""Failure groups on the page: how often each occurs, which have a case, and the rate that weighs them."""

from __future__ import annotations

from collections import Counter

from quality_lab.answers.words import percent
from quality_lab.reports.blocks import Html, folded, items, join, paragraph, table, tag
from quality_lab.reports.findings.finding import counted
from quality_lab.reports.regressions.facts import Group, RegressionFacts
from quality_lab.reports.window import ReportWindow

_ROWS = 25
_DEFINED = (
    "A case gates where it is active and red: what was recorded fails its rules, or passes them where the "
    "case was made from a good reply.",
    "PASS and FAIL are decisions. INCONCLUSIVE means that nothing decided, ERROR that something around the agent "
    "went wrong; neither is in the pass rate.",
    "The interval of the pass rate is Wilson's, 95 %.",
    "A flaky case passes in some trials and fails in others; its verdict is FAIL.",
    "Two runs are compared over the cases that both decided, by the exact two-sided McNemar test at 5 %; the "
    "interval of the difference is Bonett and Price's.",
    "A failure group is a tool with one of the labels wrong_tool, missing_tool and bad_args; it occurs on as many "
    "calls as carry that label in the window.",
    "The weighted pass rate counts each group as often as it occurs; groups without a decided case are left out.",
)


def groups(facts: RegressionFacts, window: ReportWindow) -> Html:
    """Return the groups with the cases that guard them, and the weighted pass rate."""
    if not facts.occurrences:
        return paragraph(f"{window.words()}: no call carries a label that a case could be made from.")
    gating = Counter((case.tool_name, case.label) for case in facts.cases if case.gates and not case.positive)
    passed = _passed(facts)
    without = set(facts.without_case)
    rows = [
        [
            tag("code", group[0]),
            group[1],
            f"{calls:,}",
            tag("span", "none", class_="warn") if group in without else f"{gating[group]:,}",
            passed.get(group, "–"),
        ]
        for group, calls in list(facts.occurrences.items())[:_ROWS]
    ]
    left = len(facts.occurrences) - _ROWS
    return join(
        [
            *(paragraph(sentence) for sentence in _sentences(facts)),
            table(["Tool", "Label", "Labelled calls", "Cases that gate", "Passed"], rows, numeric=(2, 3, 4)),
            paragraph(f"{left:,} more groups.", class_="quiet") if left > 0 else None,
        ]
    )


def _sentences(facts: RegressionFacts) -> list[str]:
    total = sum(facts.occurrences.values())
    bare = sum(facts.occurrences[group] for group in facts.without_case)
    all_groups = counted(len(facts.occurrences), "failure group")
    if not facts.without_case:
        told = [f"Every one of {all_groups} has a case that gates."]
    else:
        told = [
            f"{len(facts.without_case):,} of {all_groups} have no case that gates; they stand for "
            f"{bare:,} of {counted(total, 'labelled call')}."
        ]
    if facts.run is None:
        return told
    if facts.weighted is None or facts.covered is None:
        return [*told, "No group that occurs has a decided case, so there is no weighted pass rate."]
    return [
        *told,
        f"Weighted by how often each group occurs, {percent(facts.weighted)} pass; the decided cases stand for "
        f"{percent(facts.covered)} of the labelled calls.",
    ]


def _passed(facts: RegressionFacts) -> dict[Group, str]:
    """Return of each group how many of its decided cases passed."""
    positive = {case.name for case in facts.cases if case.positive}
    decided: Counter[Group] = Counter()
    passed: Counter[Group] = Counter()
    for each in facts.run.verdicts if facts.run is not None else ():
        if each.verdict in ("PASS", "FAIL") and each.name not in positive:
            decided[each.tool_name, each.label] += 1
            passed[each.tool_name, each.label] += each.verdict == "PASS"
    return {group: f"{passed[group]} of {number}" for group, number in decided.items()}


def definitions() -> Html:
    """Return how the figures of this report are defined."""
    return tag("section", folded("How the figures are defined", items(_DEFINED)), id="definitions")
