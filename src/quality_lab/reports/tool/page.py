"""The report on one tool in depth: its parts in order, each made when its cell asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from quality_lab.errors import UnknownName, UsageError
from quality_lab.masking import Masker
from quality_lab.metrics.calls import calls
from quality_lab.metrics.definitions import definitions
from quality_lab.metrics.failing_tools import FailingTool, failing_tools
from quality_lab.metrics.filters import Filters
from quality_lab.metrics.label_counts import label_counts
from quality_lab.metrics.latency import latency
from quality_lab.metrics.signs.reviews import argument_values, label_notes, reviewed
from quality_lab.metrics.signs.shares import failure_words, gate_reasons, weekly_outcomes
from quality_lab.people import People, read_people
from quality_lab.proposals import Proposal, proposals
from quality_lab.reports import figures
from quality_lab.reports.blocks import Html, Piece, folded, join, paragraph, section, tag
from quality_lab.reports.findings import Finding, findings
from quality_lab.reports.notes import Note, note
from quality_lab.reports.quality import cards
from quality_lab.reports.quality import tables as shared
from quality_lab.reports.quality.appendix import appendix
from quality_lab.reports.quality.exchange import Example, examples, exchange
from quality_lab.reports.quality.head import head, note_figures, state
from quality_lab.reports.quality.page import HasStore
from quality_lab.reports.quality.parts import Parts
from quality_lab.reports.tool import facts, tables
from quality_lab.reports.window import ReportWindow, freshness, report_window
from quality_lab.store import Store

_FAILED = ("error", "soft_error")
_MOST_CARDS = 3
_SECTIONS = {  # where a finding's evidence stands
    "failure": "failures",
    "swallowed": "over-time",
    "args_drift": "arguments",
    "early_call": "turned-away",
}
_FIGURES = (
    *("calls", "conversations", "errors", "soft_errors", "gated", "rejected", "unknown", "empty_results"),
    *("error_rate", "error_low", "error_high", "reviewed", "coverage"),
    *("judged_failure_rate", "judged_low", "judged_high", "disputed"),
)


def tool_page(
    lab: HasStore, *, tool: str | Sequence[str] = (), unmasked: bool = False, **filters: Any
) -> ToolPage:
    """Return the report on one *tool*; none named: the one that fails worst. *filters* are those of every question.

    Without `since` it covers the 28 days that end with the tool's newest call. Arguments and results that it
    quotes are masked unless *unmasked*.

    Raises: UsageError for several tools, or a filter that does not exist; UnknownName for a tool that was never
    called.
    """
    names = [tool] if isinstance(tool, str) else list(tool)
    if len(names) > 1:
        raise UsageError(f"this report is on one tool; came {', '.join(names)}")
    given = {name: value for name, value in filters.items() if value not in (None, (), [], "")}
    masker = None if unmasked else Masker(lab.store.home)
    return ToolPage(lab.store, Filters.of(**given), tool=next(iter(names), ""), masker=masker)


class ToolPage:
    """One tool in one window of one lab, told part by part: every method returns something that shows itself."""

    def __init__(self, store: Store, filters: Filters, *, tool: str, masker: Masker | None) -> None:
        """Keep what is asked; each question is put when its part is."""
        self._store = store
        self._asked = filters
        self._named = tool
        self._masker = masker

    @cached_property
    def tool(self) -> str | None:
        """The tool: the one named, else the one that fails worst; None where no tool was called.

        Raises: UnknownName where the one named was never called.
        """
        known = failing_tools(self._store, filters=Filters(tenant=self._asked.tenant), top=None)
        if self._named and all(row.tool_name != self._named for row in known):
            names = ", ".join(row.tool_name for row in known[:10]) or "none"
            raise UnknownName(f"no call of a tool {self._named} is in this lab; there are {names}")
        if self._named or not known:
            return self._named or None
        inside = failing_tools(self._store, filters=report_window(self._store, self._asked).filters, top=1)
        return inside[0].tool_name if inside else known[0].tool_name

    @property
    def picked(self) -> str | None:
        """Which tool was picked and why, where none was named; None where one was, or none was called."""
        if self._named or self.tool is None:
            return None
        first, row = f"No tool was named, so this is on {self.tool}, the first of failing-tools", self._row
        if row is None or row.calls is None:
            return f"{first}."
        failed = (row.errors or 0) + (row.soft_errors or 0)
        return f"{first}: {failed:,} of its {row.calls:,} calls failed."

    @cached_property
    def window(self) -> ReportWindow:
        """The window, and what it holds of the tool."""
        only = () if self.tool is None else (self.tool,)
        with self._store.together():
            return report_window(self._store, replace(self._asked, tool=only), people=self._people)

    @cached_property
    def findings(self) -> Sequence[Finding]:
        """What stands out in the tool against all others, beyond noise."""
        everybody = replace(self.window.filters, tool=())
        with self._store.together():
            found = findings(self._store, everybody, weeks=self.window.weeks)
        return [one for one in found if one.tool_name == self.tool is not None]

    @cached_property
    def _row(self) -> FailingTool | None:
        return next(iter(failing_tools(self._store, filters=self.window.filters, top=None)), None)

    @cached_property
    def _proposals(self) -> Sequence[Proposal]:
        return proposals(self._store, filters=self.window.filters)

    @cached_property
    def _people(self) -> People:
        return read_people(self._store.home)

    def head(self) -> Piece:
        """Return the first screen: window, freshness, counts, better or worse, findings."""
        anchors = [_SECTIONS.get(finding.kind) for finding in self.findings]
        title = self.tool or "No tool was called"
        about, tz = self.picked or "", self.window.filters.tz
        return Piece(head(self.window, self.findings, anchors, title=title, tz=tz, about=about))

    def over_time(self) -> Parts:
        """Return how its calls end, in all and week by week, and how long they took."""
        rows = weekly_outcomes(self._store, filters=self.window.filters)
        figure = figures.over_time(rows, stands_out=bool(self.findings))
        weeks = len({row.week for row in rows})
        why = (
            "Nothing went wrong in any week."
            if weeks > 1
            else "There is less than two weeks of dated calls to compare."
        )
        ends = None if self._row is None else tables.endings(self._row)
        bare = paragraph("No trace export holds calls of this tool, so nobody can say how they end.")
        return Parts(
            section("over-time", "How its calls end", bare if ends is None else ends),
            figure if figure is not None else paragraph(why),
            tables.latency(latency(self._store, filters=self.window.filters)),
        )

    def failures(self) -> Piece:
        """Return what failed calls say, with three of them as the exchange they were."""
        chosen = [] if self.tool is None else [self.tool]
        said = facts.failures(failure_words(self._store, filters=self.window.filters, chosen=chosen))
        failed = replace(self.window.filters, outcome=_FAILED)
        uids = [row.call_uid for row in calls(self._store, filters=failed, limit=3)] if said else []
        told = list(self._examples(uids).values())
        shown = tables.failures(said) or paragraph("No call failed.")
        return Piece(section("failures", "What failures say", shown, _exchanges(told)))

    def turned_away(self) -> Piece:
        """Return why the application said "not now"."""
        rows = gate_reasons(self._store, filters=self.window.filters)
        return Piece(section("turned-away", "What was turned away", shared.gates(rows)))

    def arguments(self) -> Piece:
        """Return its arguments by their values, and how the calls with each were judged."""
        chosen, masker = self.tool, self._masker
        rows = (
            [] if chosen is None else argument_values(self._store, filters=self.window.filters, chosen=chosen)
        )
        if masker is not None:  # here, where a member's name still tells a password
            rows = [replace(row, arguments=masker.json_text(row.arguments)) for row in rows]
        shown = tables.arguments(facts.arguments(rows))
        return Piece(section("arguments", "How it is called", shown))

    def labels(self) -> Parts:
        """Return what reviewers say: labels as counts, what should change, and where they disagree."""
        filters = self.window.filters
        counts = label_counts(self._store, filters=replace(filters, time="call"))
        figure = figures.labels(counts)
        nobody = paragraph("Nobody has labelled a call of this tool.") if figure is None else None
        told = self._examples(cards.example_uids(self._proposals, most=_MOST_CARDS))
        rows = reviewed(self._store, filters=filters, least_reviewers=2)
        disputed = [row.call_uid for row in rows if row.disputed]
        notes = label_notes(self._store, filters=filters, chosen=disputed) if disputed else []
        return Parts(
            section("labels", "What reviewers say", nobody),
            figure,
            cards.cards(self._proposals, told, most=_MOST_CARDS, more=0) if figure is not None else None,
            section("disputes", "Where they disagree", shared.disputes(rows, notes, self._people)),
        )

    def offered(self) -> Piece:
        """Return how the tool was offered to the model, since when, and how its calls fared."""
        rows = definitions(self._store, filters=self.window.filters)
        mine = [row for row in rows if row.tool_name == self.tool]
        return Piece(section("offered", "How it was offered", tables.definitions(mine, self.window.zone)))

    def definitions(self) -> Piece:
        """Return how every figure is defined."""
        return Piece(appendix())

    def note(self) -> Note:
        """Return the figures and findings for summary.json."""
        row, held = self._row, self.window.facts
        of_tool = {} if row is None else {name: getattr(row, name) for name in _FIGURES}
        counts = f"{held.calls:,} calls, {held.conversations:,} conversations, {held.reviewed:,} reviewed"
        return note(
            findings=self.findings,
            tools={} if row is None else {row.tool_name: of_tool},
            lead=[f"{self.tool or 'No tool'}, {self.window.words()}: {counts}.", *state(self.window)],
            tool=self.tool,
            picked=self.picked,
            **freshness(self.window),
            **note_figures(self.window),
        )

    def _examples(self, uids: Sequence[str]) -> dict[str, Example]:
        with self._store.together():
            return dict(
                examples(self._store, self.window.filters, uids, masker=self._masker, people=self._people)
            )


def _exchanges(told: Sequence[Example]) -> Html | None:
    if not told:
        return None
    more = folded("Two more" if len(told) > 2 else "One more", *map(exchange, told[1:])) if told[1:] else None
    return join([tag("h3", "The newest of them"), exchange(told[0]), more])
