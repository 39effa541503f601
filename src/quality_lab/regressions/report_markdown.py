"""The report as Markdown for people, in which no value is anything but text."""

from __future__ import annotations

import re

from quality_lab.js_text import well_formed
from quality_lab.regressions.report_plain import case_text, tool_text
from quality_lab.regressions.results import Report, Result
from quality_lab.regressions.validation import LABELS, STATUSES

MOST_CASES = 20

# What could be read as markup inside a line: code, emphasis, links, HTML, entities, tables, formulas,
# addresses, mentions. Underscores before a letter cannot end an emphasis, so names of tools stay readable.
_MARKUP = re.compile(
    r"[`*~|$<@]|\\(?![A-Za-z0-9 ])|\](?=[(\[])|_(?=_*(?:\W|\Z))|&(?=#|[A-Za-z])|:(?=//)|(?<=www)\.",
    re.IGNORECASE,
)
# What could end a line, act on a terminal, or turn a line round.
_ACTING = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SHORT = {"\n": "\\n", "\r": "\\r"}
_OWN_WORDS = {" | ".join(LABELS), " | ".join(STATUSES)}  # whose bars stand outside of any table


def markdown_page(report: Report) -> str:
    """Return the Markdown page of *report*, with the failures of its first 20 failed cases."""
    summary = report.summary
    counts = {
        "Total": summary.total,
        "Passed": summary.passed,
        "Failed": summary.failed,
        "Skipped": summary.skipped,
        "Active": summary.active,
        "Archived": summary.archived,
        "Unsupported": summary.unsupported,
    }
    lines = ["## Tool-call Regression Report", "", f"Generated: {report.stamp}", ""]
    lines += [
        "| Metric | Count |",
        "|---|---:|",
        *(f"| {name} | {count} |" for name, count in counts.items()),
        "",
    ]
    if summary.skip_reasons:
        lines += ["Skipped by reason:", ""]
        lines += [f"- {reason}: {count}" for reason, count in summary.skip_reasons.items()]
        lines.append("")
    failed = report.failed
    lines += ["### Failures", ""] if failed else ["No regression failures."]
    lines += [line for result in failed[:MOST_CASES] for line in _failed_case(result)]
    if len(failed) > MOST_CASES:
        lines.append(f"- {len(failed) - MOST_CASES} more failed cases omitted from summary.")
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    r"""Return *text* so that Markdown shows it as it is, on one line.

    >>> print(escaped("reserve_table *now*\n| a | <b>"))
    reserve_table \*now\*\n\| a \| \<b>
    """
    marked = _MARKUP.sub(r"\\\g<0>", well_formed(text))
    return _ACTING.sub(lambda acting: _SHORT.get(acting[0], f"\\u{ord(acting[0]):04x}"), marked)


def _failed_case(result: Result) -> list[str]:
    head = (
        f"- line {result.line}, case {case_text(result.case_id)}, tool {escaped(tool_text(result.tool_name))}"
    )
    return [
        head,
        *(
            f"  - {failure.path}: expected {_expected(failure.expected)}; actual {escaped(failure.actual)}"
            for failure in result.failures
        ),
    ]


def _expected(words: str) -> str:
    return words if words in _OWN_WORDS else escaped(words)
