"""The calls on which reviewers disagree, with what each of them says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from math import inf

from quality_lab.answers import Answer
from quality_lab.labels import FIVE, age, is_split
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.undated import undated_notes
from quality_lab.people import NOBODY, People


@dataclass(frozen=True, kw_only=True, slots=True)
class DisputedLabel:
    """A row of the query: a disputed call with what one reviewer says of it."""

    call_uid: str
    conversation_uid: str
    conversation_id: str
    tool_name: str
    source: str | None
    style: str | None
    arguments: str | None
    outcome: str
    created_at: datetime | None
    settled: bool
    last_at: datetime | None
    author: str | None
    label: str
    note: str | None
    expected_tool: str | None
    expected_arguments: str | None
    guide_version: str | None
    labelled_at: datetime | None
    adjudication: bool
    key_space: str
    key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Opinion:
    """What one reviewer says of a call."""

    reviewer: str | None
    label: str
    note: str | None
    expected_tool: str | None
    expected_arguments: str | None  # JSON text
    guide_version: str | None
    at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Dispute:
    """A call of which no label has a majority."""

    call_uid: str
    tool_name: str
    conversation_id: str
    says: tuple[str, ...] = field(metadata={"help": "who says what, the oldest word first"})
    settled_as: str | None = field(metadata={"help": "the label of the adjudication, where there is one"})
    reviewers: int
    arguments: str | None = field(metadata={"unit": "json"})
    outcome: str
    created_at: datetime | None = field(metadata={"help": "time of the call"})
    last_at: datetime | None = field(metadata={"help": "time of the newest label"})
    opinions: tuple[Opinion, ...] = field(
        metadata={"compact": False, "help": "the same with notes and times"}
    )
    labels: tuple[str, ...] = field(metadata={"compact": False, "help": "the labels given, in fixed order"})
    source: str | None
    style: str | None
    conversation_uid: str = field(metadata={"compact": False})


def disputes(
    store: Asks, *, filters: Filters = EVERYTHING, settled: bool = False, people: People = NOBODY
) -> Answer[Dispute]:
    """Return the calls on which no label has a majority, those first on which most people spoke; newest first.

    With *settled* those come after them whose dispute an adjudication settled; `settled_as` is its label. The
    reviewers' own words stand in `opinions`. Ids that have one name among *people* are one reviewer, whose
    latest label counts. A label filter picks calls of which somebody says so, a reviewer
    filter whose words count; the window means the time of the call.
    """
    rows = put(store, DisputedLabel, "disputes", filters, settled=settled, every=bool(people))
    calls = [list(several) for _, several in groupby(rows, key=lambda row: row.call_uid)]
    if people:
        calls = _among_persons(calls, people, labels=filters.label)
    found = [_dispute(call) for call in calls]
    notes = undated_notes(store, filters, time="call")
    return Answer(found, Dispute, title="Disputed calls", notes=notes)


def _among_persons(
    calls: Iterable[list[DisputedLabel]], people: People, *, labels: Collection[str]
) -> list[list[DisputedLabel]]:
    """Return those calls on which persons disagree, each with the latest label of a person, in order."""
    found = []
    for rows in calls:
        latest: dict[tuple[str, ...], DisputedLabel] = {}
        for row in sorted(rows, key=lambda row: age(row.labelled_at, row.key_space, row.key)):
            if row.adjudication or row.author is None:
                latest[row.key_space, row.key] = row
            else:
                latest[(people.name(row.author),)] = row
        kept = set(latest.values())
        call = [row for row in rows if row in kept]
        asked_about = not labels or any(row.label in labels for row in call)
        if asked_about and is_split(row.label for row in call if not row.adjudication):
            found.append(call)
    return sorted(found, key=_place)


def _place(call: list[DisputedLabel]) -> tuple[bool, int, float, str]:
    """Return what disputes are ordered by, as the query orders them by the ids that spoke."""
    one, voices = call[0], sum(not row.adjudication for row in call)
    newest = inf if one.last_at is None else -one.last_at.timestamp()
    return one.settled, -voices, newest, one.call_uid


def _dispute(rows: list[DisputedLabel]) -> Dispute:
    call = rows[0]
    opinions = tuple(
        Opinion(
            reviewer=row.author,
            label=row.label,
            note=row.note,
            expected_tool=row.expected_tool,
            expected_arguments=row.expected_arguments,
            guide_version=row.guide_version,
            at=row.labelled_at,
        )
        for row in rows
        if not row.adjudication
    )
    given = Counter(opinion.label for opinion in opinions)
    return Dispute(
        call_uid=call.call_uid,
        tool_name=call.tool_name,
        conversation_id=call.conversation_id,
        says=tuple(f"{opinion.reviewer or 'somebody'}: {opinion.label}" for opinion in opinions),
        settled_as=next((row.label for row in rows if row.adjudication), None),
        reviewers=len(opinions),
        arguments=call.arguments,
        outcome=call.outcome,
        created_at=call.created_at,
        last_at=call.last_at,
        opinions=opinions,
        labels=tuple(label for label in FIVE if label in given),
        source=call.source,
        style=call.style,
        conversation_uid=call.conversation_uid,
    )
