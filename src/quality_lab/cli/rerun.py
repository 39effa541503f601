"""`quality-lab regressions --rerun`: cases put to a model again, or their decisions to today's contracts."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from quality_lab.cli.notices import say
from quality_lab.errors import OutputError
from quality_lab.js_text import well_formed

if TYPE_CHECKING:
    from quality_lab.regressions import Settings
    from quality_lab.regressions.rerun_report import RerunReport
    from quality_lab.regressions.results import Metadata
    from quality_lab.replay.rerun import Progress

Write = Callable[[TextIO, str], None]


def rerun(arguments: Sequence[str], *, write: Write, home: str | None) -> int:
    """Return the exit code of a re-run, once its report files are written and its streams have spoken."""
    from quality_lab.lab import open_lab
    from quality_lab.lab.rerun_lines import cases_of, rerun_lines
    from quality_lab.regressions import parse_arguments
    from quality_lab.regressions.rerun_arguments import split_arguments
    from quality_lab.regressions.rerun_documents import rerun_json, rerun_text

    asked, left = split_arguments(arguments)
    settings = parse_arguments(left, env=os.environ, folder=str(Path.cwd()))
    lab = open_lab(asked.home or home, wait_s=asked.wait_s, on_wait=say)
    names_cases = any(each.split("=")[0] in ("--file", "--api-base") for each in left)
    if names_cases:
        lines, metadata = _from_source(settings)
        tenants: Sequence[str] = ()
    else:
        lines, tenants = cases_of(lab.store)
        metadata = {"source": "lab", "home": str(lab.home)}
    report = asyncio.run(
        rerun_lines(
            lines,
            asked,
            home=lab.home,
            metadata=metadata,
            tenants=tenants,
            only_red=not names_cases,
            include_archived=settings.include_archived,
            supported_tools=settings.supported_tools,
            skip_unsupported=settings.skip_unsupported,
            progress=_progress if sys.stderr.isatty() else None,
        )
    )
    _write_files(report, settings)
    if settings.as_json:
        write(sys.stdout, rerun_json(report))
    else:
        out, told = rerun_text(report)
        write(sys.stdout, out)
        write(sys.stderr, told)
    if not names_cases:
        from quality_lab.lab.kept_verdicts import keep_verdicts

        keep_verdicts(lab.home, report)
    if not report.outcomes:
        where = "in what was named" if names_cases else f"among the active red ones of {lab.home}"
        write(sys.stderr, f"no_data: there is no case to run {where}\n")
    return report.exit_code(strict=asked.strict)


def _from_source(settings: Settings) -> tuple[list[bytes], Metadata]:
    """Return the lines of the file or the API that was named, and what the report says of it."""
    from quality_lab.lab.rerun_lines import lines_of
    from quality_lab.regressions import FileSource

    source = settings.source
    if isinstance(source, FileSource):
        return lines_of(Path(source.path)), settings.metadata
    from quality_lab.quality_api import fetch_regression_cases, without_token

    body = fetch_regression_cases(source.base, token=source.token, status=source.status, limit=source.limit)
    text = without_token(body.decode("utf-8", "replace"), source.token)  # before anything is made of it
    return text.encode().split(b"\n"), settings.metadata


def _write_files(report: RerunReport, settings: Settings) -> None:
    from quality_lab.regressions.rerun_documents import rerun_json_parts, rerun_junit, rerun_markdown

    for path, document in (
        (settings.out_json, rerun_json_parts),
        (settings.out_junit, rerun_junit),
        (settings.out_markdown, rerun_markdown),
    ):
        if path is None:
            continue
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            told = document(report)  # a whole text, or its pieces
            with Path(path).open("w", encoding="utf-8", newline="\n") as file:
                file.writelines([told] if isinstance(told, str) else told)
        except OSError as problem:
            reason = problem.strerror or type(problem).__name__
            raise OutputError(f"wanted to write {well_formed(path)}, got: {reason}") from problem


def _progress(progress: Progress) -> None:
    spent = f", {progress.spent_usd:.4f} dollars" if progress.spent_usd else ""
    end = "\n" if progress.done == progress.total else ""
    sys.stderr.write(f"\r{progress.done} of {progress.total} trials{spent}{end}")
    sys.stderr.flush()
