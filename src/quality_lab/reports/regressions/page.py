"""The report on regression cases: its parts in order, each made when its cell asks for it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from quality_lab.masking import Masker
from quality_lab.metrics.filters import Filters
from quality_lab.reports.blocks import Piece, join, paragraph, section, tag
from quality_lab.reports.notes import Note, note
from quality_lab.reports.regressions import cases, groups, runs
from quality_lab.reports.regressions.facts import HasRuns, RegressionFacts, masked
from quality_lab.reports.regressions.words import LastRun, RegressionFinding, findings, last_run, state
from quality_lab.reports.window import ReportWindow, freshness, report_window

_MOST_FINDINGS = 5


def regressions_page(
    lab: HasRuns,
    *,
    run: str | None = None,
    against: str | None = None,
    title: str = "Regression cases",
    unmasked: bool = False,
    **filters: Any,
) -> RegressionsPage:
    """Return the report on the cases of *lab*; *filters* pick the labels that cases are held against.

    *run* is the run that is told of (the beginning of its name is enough), by default the newest; *against*
    the one that it is compared with, by default the one before. Without `since` the labels are those of the
    28 days that end with the newest call. Secrets and payment data are shown as stand-ins unless *unmasked*;
    what the journal holds was masked before.

    Raises: UsageError for a filter that does not exist.
    """
    given = {name: value for name, value in filters.items() if value not in (None, (), [], "")}
    masker = None if unmasked else Masker(lab.store.home)
    return RegressionsPage(lab, Filters.of(**given), run=run, against=against, title=title, masker=masker)


class RegressionsPage:
    """The cases of one lab, told part by part: every method returns something that shows itself."""

    def __init__(
        self,
        lab: HasRuns,
        filters: Filters,
        *,
        run: str | None,
        against: str | None,
        title: str,
        masker: Masker | None,
    ) -> None:
        """Keep what is asked; nothing is read yet."""
        self._lab = lab
        self._asked = filters
        self._run = run
        self._against = against
        self._title = title
        self._masker = masker

    @cached_property
    def window(self) -> ReportWindow:
        """The window of the labels, and what it holds."""
        with self._lab.store.together():
            return report_window(self._lab.store, self._asked)

    @cached_property
    def facts(self) -> RegressionFacts:
        """Cases, runs and labels. Raises: UsageError for a run that the journal does not know."""
        found = self._lab.regression_facts(self.window.filters, run=self._run, against=self._against)
        return found if self._masker is None else masked(found, self._masker)

    @cached_property
    def findings(self) -> list[RegressionFinding]:
        """What a meeting has to know, the gravest first."""
        return findings(self.facts)

    @cached_property
    def _last(self) -> LastRun:
        return last_run(self.facts, self.window)

    def head(self) -> Piece:
        """Return the first screen: what gates, what came of it, better or worse than before, findings."""
        about = f"Labels: {self.window.words()}. Times are those of {self.window.filters.tz}."
        shown = [
            tag("li", finding.text, " ", tag("a", "Evidence", href=f"#{finding.anchor}"))
            for finding in self.findings[:_MOST_FINDINGS]
        ]
        rest = len(self.findings) - _MOST_FINDINGS
        return Piece(
            join(
                [
                    tag("h1", self._title) if self._title else None,
                    paragraph(about, class_="quiet"),
                    runs.facts_list(self.facts, self._last),
                    paragraph(" ".join(state(self.facts, self._last)), class_="state"),
                    tag("ol", *shown, class_="findings") if shown else None,
                    paragraph(f"{rest} more in summary.json.", class_="quiet") if rest > 0 else None,
                ]
            )
        )

    def failing(self) -> Piece:
        """Return the cases that failed in the run: step, rule, path, what was wanted, what came."""
        return Piece(section("failing", "What fails", cases.failing(self.facts)))

    def flaky(self) -> Piece:
        """Return the cases that pass at times and fail at times."""
        return Piece(section("flaky", "What passes only at times", cases.flaky(self.facts)))

    def changed(self) -> Piece:
        """Return what changed against the run before, and whether that is beyond noise."""
        return Piece(section("changed", "What changed", runs.changed(self.facts, self._last)))

    def verdicts(self) -> Piece:
        """Return every verdict of the run, and what the results behind them rest on."""
        return Piece(
            section(
                "verdicts", "All verdicts of the run", runs.verdicts(self.facts), runs.evidence(self.facts)
            )
        )

    def gates(self) -> Piece:
        """Return the cases that gate, and those that do not, with the reason."""
        return Piece(section("gates", "What gates", cases.gates(self.facts)))

    def groups(self) -> Piece:
        """Return the groups of labelled failures, how often each occurs, and those that have no case."""
        return Piece(section("groups", "What the cases stand for", groups.groups(self.facts, self.window)))

    def definitions(self) -> Piece:
        """Return how every figure is defined."""
        return Piece(groups.definitions())

    def note(self) -> Note:
        """Return the figures and findings for summary.json."""
        facts, last = self.facts, self._last
        return note(
            findings=self.findings,
            lead=state(facts, last),
            cases=len(facts.cases),
            cases_that_gate=sum(case.gates for case in facts.cases),
            runs=facts.runs,
            **last.figures(),
            groups=len(facts.occurrences),
            groups_without_case=len(facts.without_case),
            weighted_pass_rate=facts.weighted,
            occurrences_covered=facts.covered,
            **freshness(self.window),
        )
