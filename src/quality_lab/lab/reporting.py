"""What a lab does with notebooks: run them as reports, list what was run, lay them out for the analyst."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from quality_lab.answers import Answer
from quality_lab.errors import OutputError
from quality_lab.lab.filter_words import FilterWords

if TYPE_CHECKING:
    from quality_lab.reports.accepted import Accepted
    from quality_lab.reports.run import ReportRun
    from quality_lab.store import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportParameter:
    """A parameter that a report's template declares."""

    name: str
    default: str = field(metadata={"unit": "json"})  # JSON text
    meaning: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PastReport:
    """A report that was run."""

    run: str  # name of its folder
    report: str
    generated_at: str  # ISO 8601
    ok: bool
    calls_in_window: int | None
    findings: int
    problem: str | None
    folder: str = field(metadata={"unit": "path"})


class Reporting:
    """What may be done with the notebooks of a home."""

    home: Path
    store: Store

    def report(
        self,
        name: str,
        *,
        parameters: Mapping[str, object] | None = None,
        out: Path | str | None = None,
        run_name: str | None = None,
        allow_empty: bool = False,
        mask: bool = True,
        fail_on: Sequence[str] = (),
        **filters: Unpack[FilterWords],
    ) -> ReportRun:
        """Return the run of report *name*: its folder, its page, and what was wrong where it is not `ok`.

        *parameters* are the template's own; the common filters go to those templates that declare them. It is
        written to `<out>/<date>-<run_name>/`, by default below the home's `reports/`:
        `lab.report("quality", since="7d").html` is the path of a page to show. Secrets and payment data are
        shown as stand-ins unless *mask* is False. Thresholds in *fail_on*, such as "error_rate@pay>0.2", make a run
        that passes one not `ok`; a rate is compared by its lower bound, `error_rate.point` by the rate itself.

        >>> import quality_lab as ql
        >>> ql.open_demo().report("horoscope")
        Traceback (most recent call last):
        quality_lab.errors.UsageError: there is no report 'horoscope'; there are coach-review, explore, ...

        Raises: UsageError for an unknown report, parameter or value; StoreError and StoreBusy where the database
        cannot be opened, before anything runs; OutputError.
        """
        from quality_lab.reports.run import run
        from quality_lab.reports.templates import find_template

        find_template(self.home, name)
        with self.store.question():  # the wait that was asked for, which a kernel of its own knows nothing of
            pass
        return run(
            self.home,
            name,
            parameters,
            filters=filters,
            out=None if out is None else Path(out),
            run_name=run_name,
            allow_empty=allow_empty,
            mask=mask,
            fail_on=fail_on,
        )

    def report_parameters(self, name: str) -> Answer[ReportParameter]:
        """Return the parameters of report *name*, with their defaults.

        >>> import quality_lab as ql
        >>> {row.name: row.default for row in ql.open_demo().report_parameters("quality")}["tz"]
        '"UTC"'

        Raises: UsageError for an unknown report, naming those that there are.
        """
        from quality_lab.reports.templates import find_template

        rows = [
            ReportParameter(
                name=one.name, default=json.dumps(one.default, ensure_ascii=False), meaning=one.help
            )
            for one in find_template(self.home, name).parameters().values()
        ]
        return Answer(rows, ReportParameter, title=f"Parameters of report {name}")

    def reports(self, out: Path | str | None = None) -> Answer[PastReport]:
        """Return the reports that were run into *out*, by default the home's `reports/`, newest first.

        >>> import quality_lab as ql
        >>> [row.report for row in ql.open_demo().reports()]
        []
        """
        from quality_lab.reports.shelf import runs

        rows = []
        for run in runs(self.home / "reports" if out is None else Path(out)):
            figures = run.summary.get("figures") or {}
            rows.append(
                PastReport(
                    run=run.folder.name,
                    report=run.report,
                    generated_at=run.generated_at,
                    ok=run.ok,
                    calls_in_window=figures.get("calls_in_window"),
                    findings=len(run.summary.get("findings") or ()),
                    problem=run.summary.get("problem"),
                    folder=str(run.folder),
                )
            )
        return Answer(rows, PastReport, title="Reports")

    def prune_reports(self, *, keep: int, out: Path | str | None = None) -> list[Path]:
        """Return the folders of runs that were removed from *out*, by default the home's `reports/`.

        Of each report the *keep* newest runs stay, the accepted one, and every run that holds a meeting's minutes.

        >>> import quality_lab as ql
        >>> ql.open_demo().prune_reports(keep=5)
        []

        Raises: UsageError where nothing would be kept, OutputError.
        """
        from quality_lab.reports.accepted import accepted_runs
        from quality_lab.reports.shelf import prune

        shelf = self.home / "reports" if out is None else Path(out)
        return prune(shelf, keep=keep, stays=accepted_runs(shelf))

    def accept_report(self, run: str) -> Accepted:
        """Return the run of that name, accepted: later quality reports say better or worse than in it.

        Its figures are kept in `reports/accepted.json`, until another run of the report is accepted. A report on
        other calls (other filters) goes on being compared with the equal window before it.

        >>> import quality_lab as ql
        >>> ql.open_demo().accept_report("2026-06-01-horoscope")
        Traceback (most recent call last):
        quality_lab.errors.UnknownName: wanted a run in ..., came '2026-06-01-horoscope'; ...

        Raises: UnknownName where there is no such run, UsageError where it is of another report than quality,
        NotFine where it is not fine itself, OutputError.
        """
        from quality_lab.reports.accepted import accept

        return accept(self.home / "reports", run)

    def notebooks(self) -> Path:
        """Return the home's `notebooks/`, in which every template lies; those that were there are untouched.

        >>> import quality_lab as ql
        >>> sorted(path.stem for path in ql.open_demo().notebooks().iterdir())[:2]
        ['coach-review', 'explore']

        Raises: OutputError where the folder cannot be written.
        """
        from quality_lab.reports.templates import templates

        folder = self.home / "notebooks"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for template in templates(self.home):
                if template.path.parent != folder:
                    shutil.copyfile(template.path, folder / template.path.name)
        except OSError as error:
            raise OutputError(f"{folder} cannot be filled: {error.strerror or error}") from error
        return folder
