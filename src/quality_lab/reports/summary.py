"""A run in a few lines of Markdown, for a chat or a merge request: text from traces stands there as text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from quality_lab.answers import visible
from quality_lab.answers.words import number, percent, percent_range

_SPECIAL = re.compile(r"([\\`*_\[\]|~@])")
_AT_THE_START = re.compile(r"^(\s*(?:\d+(?=[.)]\s))?)([#>+=.)-])")  # what would begin a list or a heading
RATES = ("rate", "share", "coverage")  # how the names of shares end


def markdown_text(words: str) -> str:
    r"""Return *words* so that Markdown shows them and does nothing else.

    >>> markdown_text("a_b <img src=x> [x](javascript:y)")
    'a\\_b &lt;img src=x&gt; \\[x\\](javascript:y)'
    """
    flat = visible(words).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _AT_THE_START.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", flat))


def summary_md(title: str, summary: Mapping[str, Any], lead: Sequence[str]) -> str:
    """Return the run's title, state, findings and figures."""
    lines = [f"# {markdown_text(title)}", ""]
    if summary["problem"]:
        lines += [f"**Not fine:** {markdown_text(str(summary['problem']))}", ""]
    lines += [f"{markdown_text(sentence)}\n" for sentence in lead]
    findings = summary["findings"]
    lines += [f"- {markdown_text(str(finding['text']))}" for finding in findings] or ["No finding."]
    figures = summary["figures"]
    if figures:
        lines += ["", "| figure | value |", "|---|---|"]
        lines += [
            f"| {markdown_text(name)} | {markdown_text(_figure(name, figures))} |"
            for name in figures
            if not name.endswith(("_low", "_high"))
        ]
    lines += ["", "The whole report: report.html, beside this file."]
    return "\n".join(lines) + "\n"


def _figure(name: str, figures: Mapping[str, Any]) -> str:
    value = figures[name]
    if value is None:
        return "not known"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if not name.endswith(RATES):
        return number(value)
    stem = bounds_stem(name, figures) or name
    low, high = figures.get(f"{stem}_low"), figures.get(f"{stem}_high")
    interval = f" ({percent_range(low, high)})" if low is not None and high is not None else ""
    return f"{percent(value)}{interval}"


def bounds_stem(name: str, figures: Mapping[str, Any]) -> str | None:
    """Return what the names of a rate's bounds begin with (judged_failure_rate: judged); None without bounds."""
    words = name.split("_")
    stems = ["_".join(words[:length]) for length in range(len(words), 0, -1)]  # judged_failure, judged
    return next((stem for stem in stems if f"{stem}_low" in figures), None)
