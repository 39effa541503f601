"""Reports: notebooks that are run with nobody watching, and what they show.

    from quality_lab import reports
    page = reports.quality_page(lab)     # the parts of the quality report, for a notebook's cells
    page = reports.regressions_page(lab) # those of the report on regression cases
    page = reports.tool_page(lab, tool="pay")  # those of the report on one tool
    page = reports.coach_review_page(lab)  # those of a meeting's agenda
    reports.note(calls_in_window=401)    # hand figures over to summary.json
    reports.run(home, "quality")         # run a template; what `quality-lab report` does

Figures for any notebook are in `reports.figures`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quality_lab.reports.notes import note
from quality_lab.reports.run import ReportRun, run
from quality_lab.reports.shelf import Run, runs
from quality_lab.reports.templates import Parameter, Template, find_template, templates

if TYPE_CHECKING:
    from quality_lab.reports.coach_review.page import coach_review_page as coach_review_page
    from quality_lab.reports.quality import quality_page as quality_page
    from quality_lab.reports.regressions.page import regressions_page as regressions_page
    from quality_lab.reports.tool.page import tool_page as tool_page

__all__ = [
    "Parameter",
    "ReportRun",
    "Run",
    "Template",
    "coach_review_page",
    "find_template",
    "note",
    "quality_page",
    "regressions_page",
    "run",
    "runs",
    "templates",
    "tool_page",
]


def __getattr__(name: str) -> object:
    if name == "quality_page":  # it needs the store, which the runner does without
        from quality_lab.reports.quality import quality_page

        return quality_page
    if name == "coach_review_page":
        from quality_lab.reports.coach_review.page import coach_review_page

        return coach_review_page
    if name == "regressions_page":
        from quality_lab.reports.regressions.page import regressions_page

        return regressions_page
    if name == "tool_page":
        from quality_lab.reports.tool.page import tool_page

        return tool_page
    if name == "figures":
        from importlib import import_module

        return import_module("quality_lab.reports.figures")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
