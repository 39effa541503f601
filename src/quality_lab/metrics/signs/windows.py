"""What a window holds as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from quality_lab.intervals import Rate, Sums, rate
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import Filters


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowFacts:
    """The calls and labels of a window, added up."""

    calls: int  # of the agent's side
    traced: int  # of these, seen in a trace export: only they count in rates
    conversations: int
    known: int  # traced calls whose outcome is known and that no person refused
    known_known: int
    known_conversations: int
    failed: int
    failed_failed: int
    failed_known: int
    reviewed: int
    reviewed_reviewed: int
    reviewed_traced: int
    reviewed_conversations: int
    wrong: int  # judged wrong_tool or bad_args
    wrong_wrong: int
    wrong_reviewed: int
    labels: int  # on calls and guard rows of the window
    authors: tuple[str, ...] | None  # the ids of those who gave them, in no order; None where nobody did
    first_call_at: datetime | None  # whatever the window
    newest_call_at: datetime | None  # whatever the window
    undated: int  # whatever the window

    def failed_rate(self) -> Rate | None:
        """Return failed calls / calls whose outcome is known; None where there is none."""
        return rate(
            Sums(
                n=self.known, y=self.failed, conversations=self.known_conversations,
                yy=self.failed_failed, ym=self.failed_known, mm=self.known_known,
            )
        )  # fmt: skip  # the sums read as two lines

    def wrong_rate(self) -> Rate | None:
        """Return calls judged wrong / reviewed calls; None where nobody reviewed any."""
        return rate(
            Sums(
                n=self.reviewed, y=self.wrong, conversations=self.reviewed_conversations,
                yy=self.wrong_wrong, ym=self.wrong_reviewed, mm=self.reviewed_reviewed,
            )
        )  # fmt: skip  # the sums read as two lines


def window_facts(store: Asks, *, filters: Filters) -> WindowFacts:
    """Return what the window of *filters* holds."""
    return put(store, WindowFacts, "window_facts", filters, room="quality_lab.metrics.signs")[0]
