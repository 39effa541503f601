"""The report as plain text: counts for stdout, and a block of six lines a failure for stderr."""

from __future__ import annotations

from quality_lab.js_text import number_text, well_formed
from quality_lab.regressions.results import Failure, Report

SIX_LINES = "line={}\ncase={}\ntool={}\npath={}\nexpected={}\nactual={}"


def counts_text(report: Report) -> str:
    """Return the line of counts, and one of skip reasons where any case was skipped."""
    summary = report.summary
    lines = [
        f"Tool-call regression cases: total={summary.total} passed={summary.passed} "
        f"failed={summary.failed} skipped={summary.skipped}"
    ]
    if summary.skip_reasons:
        reasons = " ".join(f"{reason}={count}" for reason, count in summary.skip_reasons.items())
        lines.append(f"Skipped: {reasons}")
    return "\n".join(lines) + "\n"


def failures_text(report: Report) -> str:
    """Return the failures under their heading; nothing where there are none."""
    blocks = [failure_block(failure) for result in report.failed for failure in result.failures]
    return well_formed("\nFailures:\n\n" + "\n\n".join(blocks) + "\n") if blocks else ""


def failure_block(failure: Failure) -> str:
    """Return the six lines of a failure; a value that has line feeds makes them more."""
    case, tool = case_text(failure.case_id), tool_text(failure.tool_name)
    return SIX_LINES.format(failure.line, case, tool, failure.path, failure.expected, failure.actual)


def case_text(case_id: float | None) -> str:
    """Return how a case is called in text."""
    return "unknown" if case_id is None else number_text(case_id)


def tool_text(tool_name: str | None) -> str:
    """Return how a tool is called in text."""
    return "unknown" if tool_name is None else tool_name
