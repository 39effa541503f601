"""The report of a re-run as JSON, JUnit, Markdown and text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from quality_lab.json_text import compact, parse
from quality_lab.regressions.report_junit import junit_document
from quality_lab.regressions.report_markdown import escaped, markdown_page
from quality_lab.regressions.report_plain import case_text, counts_text, failures_text, tool_text
from quality_lab.regressions.rerun_report import RerunReport
from quality_lab.replay.comparison import Comparison
from quality_lab.replay.outcome import CaseOutcome, mean_pass_hat


def rerun_json(report: RerunReport) -> str:
    """Return the JSON document: two spaces a level and a final line feed."""
    return "".join(rerun_json_parts(report))


def rerun_json_parts(report: RerunReport) -> Iterator[str]:
    """Yield the JSON document piece by piece, a result at a time."""
    members = report.document([]).items()
    for at, (key, value) in enumerate(members):
        yield ("{" if at == 0 else ",") + f"\n  {json.dumps(key)}: "
        if key == "results" and report.report.results:
            for place, result in enumerate(report.results()):
                yield ("[" if place == 0 else ",") + f"\n    {_indented(_in_json_s_terms(result), 2)}"
            yield "\n  ]"
        else:
            yield _indented(_in_json_s_terms(value), 1)
    yield "\n}\n"


def _in_json_s_terms(value: Any) -> Any:
    return parse(compact(value))


def _indented(value: Any, level: int = 0) -> str:
    inner, outer = "  " * (level + 1), "  " * level
    if isinstance(value, dict) and value:
        members = (f"{json.dumps(key)}: {_indented(held, level + 1)}" for key, held in value.items())
        return "{\n" + ",\n".join(inner + member for member in members) + f"\n{outer}}}"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(inner + _indented(held, level + 1) for held in value) + f"\n{outer}]"
    return compact(value)


def rerun_junit(report: RerunReport) -> str:
    """Return upstream's JUnit document; a case that could not be judged holds an error, not a failure."""
    errors = {outcome.line for outcome in report.outcomes.values() if outcome.verdict == "ERROR"}
    return junit_document(report.report, errors=errors)


def rerun_markdown(report: RerunReport) -> str:
    """Return upstream's page, and after it verdicts, what they rest on, and the comparison."""
    lines = [markdown_page(report.report).rstrip("\n"), "", "### Re-run", ""]
    lines += [f"- {escaped(key)}: {escaped(str(value))}" for key, value in report.settings.items()]
    lines += ["", "| Verdict | Cases |", "|---|---:|"]
    lines += [f"| {name} | {report.counts[name]} |" for name in ("PASS", "FAIL", "INCONCLUSIVE", "ERROR")]
    hats = mean_pass_hat(report.outcomes.values())
    if len(hats) > 1:
        shares = ", ".join(f"{j}: {value:.0%}" for j, value in hats.items())
        lines += ["", f"Passing so many trials in a row: {shares}"]
    lines += ["", "| Line | Case | Tool | Verdict | Why |", "|---:|---|---|---|---|"]
    lines += [_row(outcome) for outcome in report.outcomes.values()]
    notes = [(outcome, note) for outcome in report.outcomes.values() for note in _notes(outcome)]
    if notes:
        lines += ["", "What to know of the evidence:", ""]
        lines += [f"- line {outcome.line}: {escaped(note)}" for outcome, note in notes]
    if report.comparison is not None:
        lines += ["", "### Compared with the baseline", "", *comparison_lines(report.comparison)]
    return "\n".join(lines) + "\n"


def _row(outcome: CaseOutcome) -> str:
    case = case_text(outcome.case_id) if isinstance(outcome.case_id, int) else str(outcome.case_id)
    tool = escaped(tool_text(outcome.case.tool_name or None))
    why = escaped(outcome.reason)
    return f"| {outcome.line} | {escaped(case)} | {tool} | {outcome.verdict} | {why} |"


def _notes(outcome: CaseOutcome) -> list[str]:
    return list(dict.fromkeys(note for trial in outcome.trials for note in trial.notes))


def comparison_lines(comparison: Comparison) -> list[str]:
    """Return the comparison in a few lines."""
    lines = [
        f"- {comparison.verdict} (exact McNemar p = {comparison.p:.3g})",
        f"- {comparison.pairs} cases decided in both runs: {comparison.fixed} fixed, "
        f"{comparison.broken} broken, {comparison.both_pass} pass as before, "
        f"{comparison.both_fail} fail as before",
    ]
    if comparison.difference is not None and comparison.low is not None and comparison.high is not None:
        lines.append(
            f"- pass rate {comparison.difference:+.1%} (95 % interval {comparison.low:+.1%} to "
            f"{comparison.high:+.1%}); so many cases would show a difference from "
            f"{comparison.detectable:.1%} on"
        )
    if comparison.undecided or comparison.only_before or comparison.only_after:
        lines.append(
            f"- left out: {comparison.undecided} not decided in one of the runs, "
            f"{comparison.only_before} only in the baseline, {comparison.only_after} only now"
        )
    for word, groups in (("tool", comparison.by_tool), ("label", comparison.by_label)):
        lines += [
            f"- {word} {escaped(name)}: {group.fixed} fixed, {group.broken} broken of {group.pairs}"
            for name, group in groups.items()
            if group.fixed or group.broken
        ]
    return lines


def rerun_text(report: RerunReport) -> tuple[str, str]:
    """Return what is printed on stdout and on stderr."""
    counts = report.counts
    verdicts = " ".join(f"{name}={counts[name]}" for name in ("PASS", "FAIL", "INCONCLUSIVE", "ERROR"))
    out = counts_text(report.report) + f"Re-run: {verdicts}\n"
    if report.kept_trials:
        out += f"Trials taken from the run before: {report.kept_trials}\n"
    if report.spent_usd is not None:
        out += f"Spent: {report.spent_usd:.4f} dollars\n"
    if report.comparison is not None:
        out += "".join(f"{line.removeprefix('- ')}\n" for line in comparison_lines(report.comparison))
    told = [
        f"line {outcome.line}, case {case_text(outcome.case_id)}, {tool_text(outcome.case.tool_name or None)}: "
        f"{outcome.verdict}, {outcome.reason}\n"
        for outcome in report.outcomes.values()
        if outcome.verdict in ("INCONCLUSIVE", "ERROR")
    ]
    notes = [
        f"line {outcome.line}: {note}\n" for outcome in report.outcomes.values() for note in _notes(outcome)
    ]
    return out, failures_text(report.report) + "".join((*told, *notes))
