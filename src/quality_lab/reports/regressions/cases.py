"""Cases on the page: those that failed, told step by step, those that are flaky, and those that gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from quality_lab.reports.blocks import Html, folded, join, paragraph, table, tag, text
from quality_lab.reports.findings.finding import counted
from quality_lab.reports.regressions.facts import CaseFacts, CaseVerdict, FailureTold, RegressionFacts

_CARDS = 20  # cases told one by one; the others stand in the table of verdicts
_ROWS = 40
NO_RUN = "No run is in the journal yet: quality-lab regressions --rerun writes one."


def failing(facts: RegressionFacts) -> Html:
    """Return a card for each case that failed, or could not be tried."""
    if facts.run is None:
        return paragraph(NO_RUN)
    failed = [each for each in facts.run.verdicts if each.verdict == "FAIL"]
    wrong = [each for each in facts.run.verdicts if each.verdict == "ERROR"]
    if not failed and not wrong:
        return paragraph(f"Nothing: no case of {counted(len(facts.run.verdicts), 'case')} failed.")
    broken = set(facts.changes.broken_cases) if facts.changes is not None else set()
    titles = {case.name: case.title for case in facts.cases}
    told = sorted([*failed, *wrong], key=lambda each: each.name not in broken)
    cards = [_card(each, titles.get(each.name), each.name in broken) for each in told[:_CARDS]]
    left = len(told) - _CARDS
    return join(
        [*cards, paragraph(f"{left:,} more in the table below.", class_="quiet") if left > 0 else None]
    )


def _card(each: CaseVerdict, title: str | None, broken: bool) -> Html:
    marks = tag(
        "p",
        tag("span", "could not be tried" if each.verdict == "ERROR" else "fails", class_="mark high"),
        tag("span", "passed in the run before", class_="mark high") if broken else None,
        tag("span", "by rules nobody wrote", class_="mark") if each.drafted else None,
        f"{each.label} on ",
        tag("code", each.tool_name),
        f", case {each.name}",
        class_="marks",
    )
    return tag(
        "article",
        tag("h3", title or f"Case {each.name}"),
        marks,
        paragraph(f"{each.passed} of {counted(each.trials, 'trial')} passed.") if each.trials > 1 else None,
        _failures(each.failures) if each.failures else paragraph(each.reason),
        class_="card",
    )


def _failures(failures: Sequence[FailureTold]) -> Html:
    rows = [
        [
            "–" if each.step is None else f"{each.step + 1}",
            tag("code", each.rule),
            tag("code", each.path),
            text(each.expected),
            text(each.got),
        ]
        for each in failures
    ]
    return table(["Call", "Rule", "Where", "Expected", "Got"], rows)


def flaky(facts: RegressionFacts) -> Html:
    """Return the cases whose trials disagree."""
    if facts.run is None:
        return paragraph(NO_RUN)
    found = [each for each in facts.run.verdicts if each.stability == "flaky"]
    most = max((each.trials for each in facts.run.verdicts), default=0)
    if not found:
        why = (
            "Each case was tried once, so nobody can say."
            if most <= 1
            else "Nothing: all trials of a case agree."
        )
        return paragraph(why)
    rows = [
        [each.name, tag("code", each.tool_name), each.label, f"{each.passed} of {each.trials}"]
        for each in found
    ]
    return table(["Case", "Tool", "Label", "Trials that passed"], rows, numeric=(3,))


def gates(facts: RegressionFacts) -> Html:
    """Return the cases that gate as a table, the others with what keeps them from it."""
    if not facts.cases:
        return paragraph("There is no regression case in this lab.")
    gating = [case for case in facts.cases if case.gates]
    others = [case for case in facts.cases if not case.gates]
    shown = (
        _gating(gating)
        if gating
        else paragraph("No case gates: none is active and provably catches its fault.")
    )
    return join([shown, _others(others)])


def _gating(gating: Sequence[CaseFacts]) -> Html:
    rows = [
        [
            case.name,
            tag("code", case.tool_name),
            case.label,
            "good reply" if case.positive else "fault",
            case.title,
        ]
        for case in gating[:_ROWS]
    ]
    left = len(gating) - _ROWS
    words = "1 case gates" if len(gating) == 1 else f"{len(gating):,} cases gate"
    return join(
        [
            paragraph(f"{words}: what was recorded proves that each tells right from wrong."),
            table(["Case", "Tool", "Label", "Made from a", "Title"], rows),
            paragraph(f"{left:,} more: quality-lab cases.", class_="quiet") if left > 0 else None,
        ]
    )


def _others(others: Sequence[CaseFacts]) -> Html | None:
    if not others:
        return None
    reasons = Counter(_code(case.why) for case in others)
    said = ", ".join(f"{reason} ({number})" for reason, number in reasons.most_common())
    rows = [[case.name, tag("code", case.tool_name), case.title, case.why] for case in others[:_ROWS]]
    left = len(others) - _ROWS
    words = "1 case does not gate" if len(others) == 1 else f"{len(others):,} cases do not gate"
    return join(
        [
            paragraph(f"{words}: {said}."),
            folded("Which, and why", table(["Case", "Tool", "Title", "Why it does not gate"], rows)),
            paragraph(f"{left:,} more: quality-lab cases.", class_="quiet") if left > 0 else None,
        ]
    )


def _code(why: str) -> str:
    """Return the words of a reason without the case's own."""
    return why.partition(": ")[0].replace("_", " ")
