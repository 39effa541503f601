"""Run a report: a template, its values, one kernel; out comes a folder that is whole or is not there.

What a run leaves: `report.ipynb` (executed), `report.html` (for people), `summary.json` (for machines),
`summary.md` (for a chat), and what its cells attach: a meeting's `agenda.json` and `slides.html`. A cell that
fails ends the run; the folder is written all the same, says so, and is not fine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from quality_lab.answers.columns import plain
from quality_lab.errors import NoData, NotFine, QualityLabError, UnknownName, UsageError
from quality_lab.masking import Masker
from quality_lab.reports.attached import attached
from quality_lab.reports.export_html import export_html
from quality_lab.reports.kernel import early_kernel
from quality_lab.reports.known_figures import KNOWN_FIGURES
from quality_lab.reports.light_imports import no_iri_grammar
from quality_lab.reports.masked import masked_notebook
from quality_lab.reports.notes import Note, collect
from quality_lab.reports.shelf import moment, new_folder, put_on_shelf, write_index
from quality_lab.reports.summary import summary_md
from quality_lab.reports.templates import (
    Parameter,
    Template,
    find_template,
    literal,
    typed_values,
)
from quality_lab.reports.thresholds import Checked, Threshold, check, read_threshold, refuse_unknown

if TYPE_CHECKING:
    from quality_lab.metrics.filters import Filters

ALWAYS = ("home", "tz", "as_of")  # given to every template that declares them, asked for or not
# What a cell raises where it was asked for something that cannot be: a tool or a run that is not here.
_MISUSED: Mapping[str, type[QualityLabError]] = {"UsageError": UsageError, "UnknownName": UnknownName}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}")


@dataclass(frozen=True, slots=True)
class ReportRun:
    """A report that was run, and where it lies."""

    folder: Path
    summary: Mapping[str, Any]  # as it stands in summary.json
    problem: QualityLabError | None  # why it is not fine: a cell failed, nothing in the window, a threshold

    @property
    def ok(self) -> bool:
        """Return whether it ran to its end and had something to report."""
        return self.problem is None

    @property
    def html(self) -> Path:
        """Return the page for people."""
        return self.folder / "report.html"

    @property
    def notebook(self) -> Path:
        """Return the executed notebook."""
        return self.folder / "report.ipynb"

    def _repr_html_(self) -> str:
        from quality_lab.reports.blocks import paragraph, tag

        state = "" if self.problem is None else tag("span", f" {self.problem}", class_="warn")
        return str(paragraph(tag("a", str(self.html), href=self.html.absolute().as_uri()), state))


def run(
    home: Path,
    name: str,
    parameters: Mapping[str, object] | None = None,
    *,
    filters: Mapping[str, object] | None = None,
    out: Path | None = None,
    run_name: str | None = None,
    allow_empty: bool = False,
    mask: bool = True,
    fail_on: Sequence[str] = (),
    now: datetime | None = None,
) -> ReportRun:
    """Return the run of report *name* on the lab at *home*, written to `<out>/<date>-<run_name>/`.

    *parameters* are the template's own (text is taken as the type of the default); *filters* are the standard
    ones: the filters of every question, since, until, tz and as_of, left out where they are None or empty.
    *out* is `<home>/reports` unless given, *run_name* the report's name. A report that failed, or found
    nothing in its window (unless *allow_empty*), is written too and says so in `problem`.

    *fail_on* are thresholds (`reports.thresholds`): where one is passed the run is not fine. Where one names a figure
    that the report does not have, or a cell is asked for what is not here, that is wrong usage and leaves no folder.

    With *mask*, secrets and payment data stand as stand-ins in all four files; without it a template that
    declares `unmasked` is told so.

    Raises: UsageError for an unknown report, parameter or value; OutputError.
    """
    home = home.absolute()
    template = find_template(home, name)
    shelf = (out or home / "reports").absolute()
    run_name = run_name or name
    if not _NAME.fullmatch(run_name):
        raise UsageError(f"a run's name is letters, digits, '.', '_' and '-'; got {run_name!r}")
    thresholds = [read_threshold(expression) for expression in fail_on]
    if name in KNOWN_FIGURES and template.path.parent != home / "notebooks":  # the shipped one
        refuse_unknown(thresholds, KNOWN_FIGURES[name])
    started = now or datetime.now(UTC)
    with early_kernel(home) as kernel, new_folder(shelf) as folder:
        declared = template.parameters()
        asked = {**_standard(declared, filters or {}, home=home, started=started), **(parameters or {})}
        if not mask and "unmasked" in declared:
            asked["unmasked"] = True
        values = typed_values(name, declared, asked)
        _filters_of(values)  # a date, a zone or a label that does not exist is refused before anything runs
        problem: QualityLabError | None
        notebook, problem = _execute(template, values, folder, kernel=kernel)
        if mask:
            masker = Masker(home)
            notebook = masked_notebook(notebook, masker)
            problem = problem and type(problem)(masker.text(str(problem)))
        if isinstance(problem, UsageError):
            raise problem
        note = collect(notebook)
        figures = (
            note.figures
            if "calls_in_window" in note.figures
            else {**_freshness(home, values), **note.figures}
        )
        if problem is None and not allow_empty and _is_empty(figures):
            problem = NoData(f"no_data: {name} found no call and no label in its window")
        checked, passed = _checked(thresholds, figures, note)
        problem = problem or passed
        if isinstance(problem, UsageError):
            raise problem
        summary = {
            "report": name,
            "parameters": {**{one.name: one.default for one in declared.values()}, **values},
            "generated_at": moment(started),
            "as_of": str(values.get("as_of") or moment(started)),
            "tz": str(values.get("tz") or "UTC"),
            "figures": figures,
            "findings": list(note.findings),
            "tools": note.tools,
            "thresholds": plain(checked),
            "ok": problem is None,
            "problem": None if problem is None else str(problem),
        }
        _write(folder, notebook, summary, note, started=started)
        place = put_on_shelf(folder, shelf, _day(summary), run_name)
    write_index(shelf)
    return ReportRun(place, summary, problem)


def _standard(
    declared: Mapping[str, Parameter], filters: Mapping[str, object], *, home: Path, started: datetime
) -> dict[str, object]:
    """Return the standard parameters that this template gets: those it declares, and no filter in silence."""
    asked = {name: value for name, value in filters.items() if value not in (None, "", (), [])}
    given: dict[str, object] = {"home": str(home), "as_of": moment(started), "tz": "UTC", **asked}
    return {
        name: value
        for name, value in given.items()
        if name in declared or (name in asked and name not in ALWAYS)
    }


def _execute(
    template: Template, values: Mapping[str, Any], folder: Path, *, kernel: Any
) -> tuple[dict[str, Any], QualityLabError | None]:
    """Return the executed notebook, as far as it came, and what went wrong in it."""
    with no_iri_grammar():
        import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    target = folder / "report.ipynb"
    problem: QualityLabError | None = None
    try:
        papermill.execute_notebook(
            literal(template.path),
            literal(target),
            parameters=dict(values),
            kernel_name="python3",
            progress_bar=False,
            km=kernel,
        )
    except PapermillExecutionError as error:
        if misused := _MISUSED.get(error.ename):
            problem = misused(f"report {template.name}: {error.evalue}")
        else:
            told = f"{error.ename}: {error.evalue}"
            problem = NotFine(f"report {template.name} failed in its cell {error.exec_count}: {told}")
    except (DeadKernelError, CellTimeoutError) as error:
        problem = NotFine(f"report {template.name} lost its kernel: {error}")
    notebook: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))
    notebook["metadata"].get("papermill", {}).update(input_path=template.path.name, output_path=target.name)
    return notebook, problem


def _checked(
    thresholds: Sequence[Threshold], figures: Mapping[str, Any], note: Note
) -> tuple[list[Checked], QualityLabError | None]:
    """Return the thresholds with what came of them, and what is not fine about it."""
    try:
        checked = check(thresholds, figures, note.tools)
    except UsageError as error:
        return [], error
    failed = [one.why for one in checked if one.why]
    return checked, NotFine(f"threshold passed: {'; '.join(failed)}") if failed else None


def _freshness(home: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of freshness for a report that did not hand them over itself."""
    from quality_lab.reports.window import freshness, report_window
    from quality_lab.store import Store

    found: dict[str, Any] = plain(freshness(report_window(Store(home), _filters_of(values))))
    return found


def _filters_of(values: Mapping[str, Any]) -> Filters:
    """Return the filters among a template's values. Raises: UsageError for one that means nothing."""
    from quality_lab.metrics.filters import Filters

    found = Filters.of(
        **{name: value for name, value in values.items() if name in Filters.__dataclass_fields__}
    )
    found.zone()
    found.now()
    return found


def _is_empty(figures: Mapping[str, Any]) -> bool:
    held = (figures.get(name) for name in ("calls_in_window", "labels_in_window", "cases"))
    return figures.get("calls_in_window") == 0 and not any(held)


def _day(summary: Mapping[str, Any]) -> date:
    """Return the day of the run in the report's own zone."""
    try:
        zone = ZoneInfo(str(summary["tz"]))
    except (ZoneInfoNotFoundError, ValueError):
        return datetime.fromisoformat(str(summary["generated_at"])).date()
    return datetime.fromisoformat(str(summary["generated_at"])).astimezone(zone).date()


def _write(
    folder: Path, notebook: dict[str, Any], summary: Mapping[str, Any], note: Note, *, started: datetime
) -> None:
    """Write the files of a run into its folder."""
    title = f"{summary['report']} report, {_day(summary).isoformat()}"
    page = export_html(notebook, title=title, parameters=summary["parameters"], problem=summary["problem"])
    written = {
        "report.ipynb": json.dumps(notebook, indent=1, ensure_ascii=False),
        "report.html": page,
        "summary.json": json.dumps(summary, indent=2, ensure_ascii=False),
        "summary.md": summary_md(title, summary, note.lead),
        **attached(notebook, prepared_at=started),
    }
    for name, content in written.items():
        # what UTF-8 cannot hold (half of a surrogate pair) is written as its escape, which JSON reads back
        (folder / name).write_text(content.rstrip("\n") + "\n", encoding="utf-8", errors="backslashreplace")
