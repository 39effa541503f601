"""The calls of a queue: who is asked about each, and who has answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING
from quality_lab.people import NOBODY, People


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewedCall:
    """A row of the query: a drawn call with one of those who reviewed it."""

    key: str
    call_uid: str
    conversation_id: str | None
    tool_name: str
    outcome: str | None
    error_text: str | None
    source: str | None
    created_at: datetime | None
    stratum: str
    probability: float
    position: int
    reviewers: tuple[str, ...]
    author: str | None
    adjudicated: int | None
    labels: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class QueuedCall:
    """A call that was drawn to be reviewed."""

    position: int = field(metadata={"unit": "number", "help": "1-based, in the order of review"})
    call_uid: str
    tool_name: str
    outcome: str | None = field(metadata={"help": "null where the call is not in this lab"})
    stratum: str = field(metadata={"help": "that it was drawn from: disputed, error, rare or rest"})
    probability: float = field(metadata={"unit": "share", "help": "with which it was drawn"})
    reviewers: tuple[str, ...] = field(metadata={"help": "who is asked; anybody where nobody is named"})
    done_by: tuple[str, ...] = field(metadata={"help": "who has labelled it"})
    waiting_for: tuple[str, ...] = field(metadata={"help": "who is asked and has not labelled it yet"})
    done: bool = field(metadata={"help": "as many people as were asked, or an adjudication, have said it"})
    conversation_id: str | None
    created_at: datetime | None
    source: str | None = field(metadata={"compact": False})
    error_text: str | None = field(metadata={"compact": False})
    queue: str = field(metadata={"compact": False, "help": "id of the queue; `undo` takes it back"})


def queue_calls(store: Asks, *, queue: str, people: People = NOBODY) -> list[QueuedCall]:
    """Return the calls of the queue whose id is *queue*, in the order of review.

    A call is done when as many people as were asked have labelled it, whoever they are, or somebody has
    adjudicated it. A call that was drawn because it was disputed wants labels later than the draw. Ids that
    have one name among *people* are one person, whichever of them was asked and whichever answered.
    """
    rows = put(store, ReviewedCall, "queue_calls", EVERYTHING, queue=queue)
    return [
        _call(list(several), queue=queue, people=people)
        for _, several in groupby(rows, key=lambda row: (row.position, row.key))
    ]


def _call(rows: list[ReviewedCall], *, queue: str, people: People) -> QueuedCall:
    one = rows[0]
    said = [row for row in rows if row.labels]
    named = [row.author for row in said if row.author is not None]
    heard = {people.name(author) for author in named}
    voices = len(heard) + sum(row.labels or 0 for row in said if row.author is None)
    done = voices >= max(1, len(one.reviewers)) or any(row.adjudicated for row in said)
    waiting = () if done else tuple(name for name in one.reviewers if people.name(name) not in heard)
    return QueuedCall(
        position=one.position,
        call_uid=one.call_uid,
        tool_name=one.tool_name,
        outcome=one.outcome,
        stratum=one.stratum,
        probability=one.probability,
        reviewers=tuple(map(people.person, one.reviewers)),
        done_by=tuple(map(people.person, named)),
        waiting_for=tuple(map(people.person, waiting)),
        done=done,
        conversation_id=one.conversation_id,
        created_at=one.created_at,
        source=one.source,
        error_text=one.error_text,
        queue=queue,
    )
