"""The three report files of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from quality_lab.errors import OutputError
from quality_lab.js_text import well_formed
from quality_lab.regressions.arguments import Settings
from quality_lab.regressions.report_json import json_document
from quality_lab.regressions.report_junit import junit_document
from quality_lab.regressions.report_markdown import markdown_page
from quality_lab.regressions.results import Report


def write_reports(report: Report, settings: Settings) -> None:
    """Write the files that *settings* ask for, making their folders; those before a bad one stay written.

    Raises:
        OutputError: a file or folder that cannot be written.
    """
    for path, document in _asked_for(settings):
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_bytes(document(report).encode("utf-8"))
        except OSError as problem:
            reason = problem.strerror or type(problem).__name__
            raise OutputError(f"wanted to write {well_formed(path)}, got: {reason}") from problem


def _asked_for(settings: Settings) -> Iterator[tuple[str, Callable[[Report], str]]]:
    if settings.out_json is not None:
        yield settings.out_json, json_document
    if settings.out_junit is not None:
        yield settings.out_junit, junit_document
    if settings.out_markdown is not None:
        yield settings.out_markdown, markdown_page
