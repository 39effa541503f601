"""The quality report: its parts in order, each made when its cell asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

from quality_lab.answers import Answer
from quality_lab.masking import Masker
from quality_lab.metrics.coverage import coverage
from quality_lab.metrics.definitions import definitions
from quality_lab.metrics.failing_tools import FailingTool, failing_tools
from quality_lab.metrics.filters import Filters
from quality_lab.metrics.guards import guards
from quality_lab.metrics.label_counts import label_counts
from quality_lab.metrics.signs.reviews import label_notes, reviewed
from quality_lab.metrics.signs.shares import gate_reasons, weekly_outcomes
from quality_lab.people import People, read_people
from quality_lab.proposals import Proposal, proposals
from quality_lab.reports import figures
from quality_lab.reports.accepted import accepted
from quality_lab.reports.agreed import agreed_words
from quality_lab.reports.blocks import Html, Piece, join, paragraph, section
from quality_lab.reports.findings import Finding, findings
from quality_lab.reports.notes import Note, note
from quality_lab.reports.quality import cards, tables
from quality_lab.reports.quality.appendix import appendix
from quality_lab.reports.quality.exchange import Example, examples
from quality_lab.reports.quality.head import head, note_figures, state
from quality_lab.reports.quality.parts import Parts
from quality_lab.reports.quality.weighted import weighted, weighted_figures
from quality_lab.reports.window import ReportWindow, freshness, report_window
from quality_lab.store import Store

_CARDS = 4  # proposals told with examples; the others stand in a table
_SECTIONS = {  # where a finding's evidence stands
    "failure": "failing-tools",
    "swallowed": "over-time",
    "args_drift": "proposals",
    "early_call": "gates",
    "no_tool": "labels",
}
_FIGURES_OF_A_TOOL = (
    *("calls", "error_rate", "error_low", "error_high", "gated", "empty_results"),
    *("reviewed", "coverage", "judged_failure_rate", "judged_low", "judged_high"),
)


class HasStore(Protocol):
    """A lab, as far as a report needs one."""

    @property
    def store(self) -> Store:
        """The cache that answers."""
        ...


def quality_page(
    lab: HasStore,
    *,
    top: int = 12,
    title: str = "Tool-call quality",
    unmasked: bool = False,
    **filters: Any,
) -> QualityPage:
    """Return the quality report on *lab*; *filters* are those of every question, None and [] ask for nothing.

    Without `since` it covers the 28 days that end with the newest call. Arguments and results that it quotes
    are masked unless *unmasked*.

    Raises: UsageError for a filter that does not exist.
    """
    given = {name: value for name, value in filters.items() if value not in (None, (), [], "")}
    masker = None if unmasked else Masker(lab.store.home)
    return QualityPage(lab.store, Filters.of(**given), top=top, title=title, masker=masker)


class QualityPage:
    """One window of one lab, told part by part: every method returns something that shows itself."""

    def __init__(
        self, store: Store, filters: Filters, *, top: int, title: str, masker: Masker | None
    ) -> None:
        """Keep what is asked; each question is put when its part is."""
        self._store = store
        self._asked = filters
        self._top = top
        self._title = title
        self._masker = masker

    @cached_property
    def window(self) -> ReportWindow:
        """The window, and what it holds."""
        with self._store.together():
            found = report_window(self._store, self._asked, people=self._people)
        return replace(found, accepted=accepted(self._store.home / "reports", "quality", self._asked))

    @cached_property
    def findings(self) -> Sequence[Finding]:
        """What stands out beyond noise, the heaviest first."""
        window = self.window
        with self._store.together():
            return findings(self._store, window.filters, weeks=window.weeks)

    @cached_property
    def _people(self) -> People:
        return read_people(self._store.home)

    @cached_property
    def _tools(self) -> Answer[FailingTool]:
        return failing_tools(self._store, filters=self.window.filters, top=None)

    @cached_property
    def _proposals(self) -> Answer[Proposal]:
        return proposals(self._store, filters=self.window.filters)

    def head(self, *, evidence: bool = True) -> Piece:
        """Return the first screen: window, freshness, counts, better or worse, findings.

        With *evidence* each finding links to the part of the page that it comes from.
        """
        anchors = [self._evidence(finding) if evidence else None for finding in self.findings]
        return Piece(head(self.window, self.findings, anchors, title=self._title, tz=self.window.filters.tz))

    def _evidence(self, finding: Finding) -> str:
        """Return where on the page the evidence of a finding stands."""
        label = {"args_drift": "bad_args", "no_tool": "missing_tool"}.get(finding.kind)
        if label is None:
            return _SECTIONS[finding.kind]
        for proposal in self._proposals[:_CARDS]:
            if proposal.label == label and finding.tool_name in (None, proposal.tool_name):
                return cards.anchor(proposal)
        return _SECTIONS[finding.kind]

    def failing_tools(self) -> Parts:
        """Return the failing tools as a figure and the table beneath it."""
        figure = figures.failing_tools(self._tools, top=self._top)
        words = (
            None
            if figure is not None
            else paragraph("No tool has enough calls with a known outcome for a figure.")
        )
        return Parts(
            section("failing-tools", "What fails most", words),
            figure,
            tables.failing_tools(self._tools, top=self._top, more=self._tools.more),
            _notes(self._tools.notes),
        )

    def over_time(self) -> Parts:
        """Return what went wrong week by week, and which tools were offered differently since when."""
        rows = weekly_outcomes(self._store, filters=self.window.filters)
        figure = figures.over_time(rows, stands_out=bool(self.findings))
        weeks = len({row.week for row in rows})
        why = (
            "Nothing went wrong in any week."
            if weeks > 1
            else "There is less than two weeks of dated calls to compare."
        )
        return Parts(
            section("over-time", "What changed", None if figure is not None else paragraph(why)),
            figure,
            tables.changed_definitions(definitions(self._store, filters=self.window.filters)),
        )

    def labels(self) -> Parts:
        """Return the labels as counts, and who gave them."""
        filters = self.window.filters
        counts = label_counts(self._store, filters=_by_call(filters))
        figure = figures.labels(counts)
        nobody = paragraph("Nobody has labelled a call of this window.") if figure is None else None
        who = tables.reviewers(
            label_counts(self._store, filters=_by_call(filters), by="reviewer"), self._people
        )
        beside = tables.reviewed_beside(counts, calls=self.window.facts.reviewed)
        every = weighted(self._store, filters)
        return Parts(
            section("labels", "What reviewers say", nobody), figure, beside, who, every, _notes(counts.notes)
        )

    def coverage(self) -> Parts:
        """Return where nobody has looked: reviewed calls against volume."""
        rows = coverage(self._store, filters=self.window.filters)
        figure = figures.coverage(rows)
        nothing = paragraph("No call was seen in a trace export, so nobody can say how much was reviewed.")
        unseen = [row for row in rows if row.failures and not row.failures_reviewed]
        some = ", ".join(f"{row.tool_name} ({row.failures})" for row in unseen[:6])
        words = (
            paragraph(f"Tools that failed and where no reviewer has looked at a failure: {some}.")
            if unseen
            else None
        )
        return Parts(
            section("coverage", "Where nobody has looked", nothing if figure is None else None), figure, words
        )

    def proposals(self) -> Parts:
        """Return the proposals as cards, each with a real example, the others in a table."""
        told = self._examples(cards.example_uids(self._proposals, most=_CARDS))
        shown = cards.cards(self._proposals, told, most=_CARDS, more=self._proposals.more)
        return Parts(section("proposals", "What should change", shown))

    def _examples(self, uids: Sequence[str]) -> dict[str, Example]:
        with self._store.together():
            return dict(
                examples(self._store, self.window.filters, uids, masker=self._masker, people=self._people)
            )

    def disputes(self) -> Piece:
        """Return the calls on which reviewers disagree, with what each of them says."""
        filters = self.window.filters
        rows = reviewed(self._store, filters=filters, least_reviewers=2)
        disputed = [row.call_uid for row in rows if row.disputed]
        said = label_notes(self._store, filters=filters, chosen=disputed) if disputed else []
        agreed = agreed_words(self._store, filters=filters, people=self._people) if rows else None
        return Piece(
            section(
                "disputes",
                "Where reviewers disagree",
                tables.disputes(rows, said, self._people),
                paragraph(agreed) if agreed else None,
            )
        )

    def guards_and_gates(self) -> Piece:
        """Return what guards stopped and what the application turned away: neither is a failure of a tool."""
        filters = self.window.filters
        return Piece(
            section(
                "gates",
                "Guards and gates",
                paragraph(
                    "These are no failures: the application said “not now”, or stopped a reply.",
                    class_="quiet",
                ),
                tables.gates(gate_reasons(self._store, filters=filters)),
                tables.guards(guards(self._store, filters=filters)),
            )
        )

    def not_understood(self) -> Piece:
        """Return what could not be read or was not understood on load."""
        reports, rejects = self._store.source_reports(), self._store.rejects()
        return Piece(
            section(
                "not-understood", "What was not understood on load", tables.not_understood(reports, rejects)
            )
        )

    def definitions(self) -> Piece:
        """Return how every figure is defined."""
        return Piece(appendix())

    def note(self) -> Note:
        """Return the figures and findings for summary.json."""
        figures_of_tools = {
            row.tool_name: {name: getattr(row, name) for name in _FIGURES_OF_A_TOOL} for row in self._tools
        }
        facts = self.window.facts
        counts = f"{facts.calls:,} calls, {facts.conversations:,} conversations, {facts.reviewed:,} reviewed"
        return note(
            findings=self.findings,
            tools=figures_of_tools,
            lead=[f"{self.window.words()}: {counts}.", *state(self.window)],
            **freshness(self.window),
            **note_figures(self.window),
            **weighted_figures(self._store, self.window.filters),
        )


def _by_call(filters: Filters) -> Filters:
    """Return the filters with the window meaning the call, so that labels and calls share one window."""
    return replace(filters, time="call")


def _notes(notes: Sequence[str]) -> Html | None:
    return join([paragraph(sentence, class_="quiet") for sentence in notes]) if notes else None
