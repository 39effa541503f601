"""Queues and their reviewers as rows of an answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from quality_lab.people import People, shown

if TYPE_CHECKING:
    from quality_lab.metrics.queue_calls import QueuedCall
    from quality_lab.metrics.queue_lines import QueueLine

_ANYBODY = "anybody"


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueRow:
    """A queue and how far its review has come."""

    id: str = field(metadata={"help": "of the journal's line; `undo` takes it back"})
    drawn_at: datetime | None
    author: str | None = field(metadata={"help": "who drew it"})
    strategy: str
    seed: int = field(metadata={"unit": "number"})
    calls: int = field(metadata={"help": "calls drawn"})
    reviewed: int = field(metadata={"help": "of them, with a label"})
    drawn_from: int = field(metadata={"help": "eligible calls when it was drawn"})
    overlap: float = field(metadata={"unit": "share", "help": "calls that two people review"})
    reviewers: tuple[str, ...]
    filters: dict[str, Any] = field(metadata={"unit": "json", "help": "what picked the eligible calls"})
    strata: tuple[dict[str, Any], ...] = field(
        metadata={"unit": "json", "compact": False, "help": "calls and drawn calls of each stratum"}
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewerProgress:
    """A reviewer of a queue."""

    reviewer: str = field(metadata={"help": "anybody, for calls that nobody in particular is asked about"})
    asked: int = field(metadata={"help": "calls that this reviewer is asked about"})
    done: int = field(metadata={"help": "of them, calls that need no word of this reviewer any more"})
    left: int
    labelled: int = field(metadata={"help": "calls of the queue that this reviewer has labelled"})

    def __str__(self) -> str:
        """Return how far this reviewer is, in words."""
        beside = f"; {self.labelled} labelled" if self.labelled != self.done else ""
        return f"{shown(self.reviewer)}: {self.done} of {self.asked} done, {self.left} left{beside}"


def progress_of(
    reviewers: Sequence[str], calls: Sequence[QueuedCall], people: People
) -> list[ReviewerProgress]:
    """Return how far each reviewer of a queue is: those who are asked, then others who labelled calls of it.

    Ids that have one name are one person.
    """
    every = [*(reviewers or [_ANYBODY]), *sorted({name for call in calls for name in call.done_by})]
    ids = {people.name(id_): id_ for id_ in reversed(every)}  # of several ids the one that was asked
    rows = []
    for name in dict.fromkeys(map(people.name, every)):
        asked = [call for call in calls if name in map(people.name, call.reviewers or (_ANYBODY,))]
        said = [call for call in calls if name in map(people.name, call.done_by)]
        left = sum(not call.done and call not in said for call in asked)
        rows.append(
            ReviewerProgress(
                reviewer=people.person(ids[name]),
                asked=len(asked),
                done=len(asked) - left,
                left=left,
                labelled=sum(call.done for call in calls) if name == _ANYBODY else len(said),
            )
        )
    return rows


def queue_row(line: QueueLine) -> QueueRow:
    """Return a queue as a row."""
    strata = tuple(
        {"stratum": name, "calls": calls, "drawn": drawn} for name, (calls, drawn) in line.drawn_of().items()
    )
    return QueueRow(
        id=line.key,
        drawn_at=line.drawn_at,
        author=line.author,
        strategy=line.strategy,
        seed=line.seed,
        calls=line.drawn,
        reviewed=line.reviewed,
        drawn_from=sum(calls for calls, _ in line.drawn_of().values()),
        overlap=line.overlap,
        reviewers=tuple(line.reviewers),
        filters=json.loads(line.filters),
        strata=strata,
    )
