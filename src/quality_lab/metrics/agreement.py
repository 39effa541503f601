"""How far reviewers agree beyond chance, over all labels and label by label."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import combinations
from typing import Literal

from quality_lab.agreement import Measure, Rating, krippendorff_alpha, mean_kappa
from quality_lab.answers import Answer
from quality_lab.errors import UsageError
from quality_lab.intervals import FEW_CONVERSATIONS
from quality_lab.labels import FIVE, age, is_split
from quality_lab.metrics.asking import Asks, put, together
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.undated import undated_notes
from quality_lab.people import NOBODY, People

AgreementBy = Literal["tool", "guide", "pair"]
BY: tuple[AgreementBy, ...] = ("tool", "guide", "pair")
ALL = "all"


@dataclass(frozen=True, kw_only=True, slots=True)
class RatedCall:
    """A row of the query: what one reviewer said last of a call of which several spoke."""

    call_uid: str
    conversation_uid: str
    tool_name: str | None
    author: str | None
    label: str
    guide_version: str | None
    settled: bool
    disputed: bool
    created_at: datetime | None
    key_space: str
    key: str
    in_sight: bool  # of what others say of the call


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    """How far the reviewers of the same calls agree: on everything, or on whether one label fits."""

    group: str | None = field(
        metadata={"help": "the tool, guide or pair, where agreement was asked for by one"}
    )
    label: str = field(metadata={"help": "all: the five labels; else this label against the other four"})
    calls: int = field(metadata={"help": "calls that at least two reviewers labelled"})
    reviewers: int = field(metadata={"help": "people who labelled them"})
    agreed: int = field(metadata={"help": "of the calls, those of which all reviewers said the same"})
    kappa: float | None = field(
        metadata={"help": "Cohen's; of several pairs the mean", "interval": ("kappa_low", "kappa_high")}
    )
    kappa_low: float | None = field(metadata={"help": "lower 95 % bound"})
    kappa_high: float | None = field(metadata={"help": "upper 95 % bound"})
    alpha: float | None = field(
        metadata={"help": "Krippendorff's, nominal", "interval": ("alpha_low", "alpha_high")}
    )
    alpha_low: float | None = field(metadata={"help": "lower 95 % bound"})
    alpha_high: float | None = field(metadata={"help": "upper 95 % bound"})
    disputed: int = field(metadata={"help": "of the calls, those without a majority that nobody settled"})
    settled: int = field(metadata={"help": "of the calls, those with an adjudication"})
    given: int = field(metadata={"help": "of the calls, those to which somebody gave the label"})
    pairs: int = field(metadata={"help": "pairs of reviewers whom kappa is about"})
    conversations: int
    reason: str | None = field(metadata={"help": "why there is no kappa or no alpha"})
    flags: tuple[str, ...] = field(metadata={"help": "few_conversations: under ten, so the bounds are rough"})


def agreement(
    store: Asks,
    *,
    filters: Filters = EVERYTHING,
    by: AgreementBy | None = None,
    people: People = NOBODY,
) -> Answer[Agreement]:
    """Return kappa and alpha over all labels, then of each label against the rest; with *by*, of each group.

    A reviewer's rating of a call is the label given last; adjudications are none. Ids that have one name among
    *people* are one reviewer, in a pair the least of them: nobody agrees with, or disputes, what they said
    themselves. kappa is Cohen's for two
    reviewers, with the standard error of Fleiss, Cohen and Everitt; for more it is the mean over pairs,
    weighted by the calls that both labelled. alpha is Krippendorff's. The bounds of alpha, and of a mean of
    kappas, come from a jackknife over conversations. Where chance agreement is 1 a value is null, with the
    reason `no_variation`; `no_pairs` says that no call has two reviewers, `unnamed_reviewers` that nobody
    knows who gave the labels. A label given in sight of others' (the review widget notes `"blind": false` in
    its journal line) is no rating: what its reviewer said before is, and a note counts those left out.

    With *by* there is one row a group, and one for each label that the filters name. By `guide` the labels
    given under one version of the labelling guide are compared with each other, by `pair` each two reviewers.
    Groups come by calls, most first. The window means the time of the label.

    Raises:
        UsageError: *by* is nothing that agreement is told by.
    """
    if by is not None and by not in BY:
        raise UsageError(f"agreement is told by {', '.join(BY)}, not by {by!r}")
    with together(store):
        said = put(store, RatedCall, "agreement", filters, time="label")
        rated = _by_person([row for row in said if not row.in_sight], people)
        notes = undated_notes(store, filters, time="label")
    groups = {name: found for name, rows in _groups(rated, by) if (found := _several(rows)) or by is None}
    ordered = sorted(groups, key=lambda name: (-len({row.call_uid for row in groups[name]}), name or ""))
    asked_for = filters.label or (FIVE if by is None else ())
    wanted = [ALL, *(label for label in FIVE if label in asked_for)]
    rows = [_agreement(name, groups[name], label) for name in ordered for label in wanted]
    return Answer(
        rows,
        Agreement,
        title="Agreement of reviewers" if by is None else f"Agreement of reviewers by {by}",
        notes=[*notes, *_notes(rated, rows, left_out=sum(row.in_sight for row in said))],
    )


def _by_person(rated: list[RatedCall], people: People) -> list[RatedCall]:
    """Return what each person said last of a call of which several spoke."""
    if not people:
        return rated
    ids = people.one_id(row.author for row in rated if row.author is not None)
    latest: dict[tuple[str, ...], RatedCall] = {}
    for row in sorted(rated, key=lambda row: age(row.created_at, row.key_space, row.key)):
        if row.author is None:
            latest[row.call_uid, row.key_space, row.key] = row
        else:
            latest[row.call_uid, ids[row.author]] = replace(row, author=ids[row.author])
    said: dict[str, list[RatedCall]] = defaultdict(list)
    for row in sorted(latest.values(), key=lambda row: (row.author is None, row.author, row.key)):
        said[row.call_uid].append(row)
    return [
        replace(row, disputed=not row.settled and is_split(row.label for row in rows))
        for _, rows in sorted(said.items())
        for row in rows
        if len(rows) > 1
    ]


def _groups(
    rated: Sequence[RatedCall], by: AgreementBy | None
) -> Iterator[tuple[str | None, list[RatedCall]]]:
    if by is None:
        yield None, list(rated)
    elif by == "pair":
        theirs: Mapping[str, list[RatedCall]] = _split(rated)
        for one, other in combinations(sorted(theirs), 2):
            yield f"{one} and {other}", [*theirs[one], *theirs[other]]
    else:
        split: dict[str | None, list[RatedCall]] = defaultdict(list)
        for row in rated:
            split[row.tool_name if by == "tool" else row.guide_version].append(row)
        yield from split.items()


def _split(rated: Sequence[RatedCall]) -> dict[str, list[RatedCall]]:
    """Return the rows of each reviewer whose name is known."""
    theirs: dict[str, list[RatedCall]] = defaultdict(list)
    for row in rated:
        if row.author is not None:
            theirs[row.author].append(row)
    return theirs


def _several(rows: Sequence[RatedCall]) -> list[RatedCall]:
    """Return those rows whose call has at least two among them."""
    count: dict[str, int] = defaultdict(int)
    for row in rows:
        count[row.call_uid] += 1
    return [row for row in rows if count[row.call_uid] > 1]


def _agreement(group: str | None, rated: Sequence[RatedCall], label: str) -> Agreement:
    said: dict[str, list[RatedCall]] = defaultdict(list)
    for row in rated:
        said[row.call_uid].append(row)
    ratings = [
        Rating(row.call_uid, row.conversation_uid, row.author, _value(row.label, label)) for row in rated
    ]
    kappa, alpha = mean_kappa(ratings), krippendorff_alpha(ratings)
    given = {uid for uid, rows in said.items() if label in (ALL, *(row.label for row in rows))}
    conversations = len({row.conversation_uid for row in rated})
    return Agreement(
        group=group,
        label=label,
        calls=len(said),
        reviewers=len({row.author for row in rated if row.author is not None}),
        agreed=sum(len({_value(row.label, label) for row in rows}) == 1 for rows in said.values()),
        kappa=kappa.value,
        kappa_low=kappa.low,
        kappa_high=kappa.high,
        alpha=alpha.value,
        alpha_low=alpha.low,
        alpha_high=alpha.high,
        disputed=_calls(rated, given, "disputed"),
        settled=_calls(rated, given, "settled"),
        given=len(given),
        pairs=kappa.pairs,
        conversations=conversations,
        reason=_reason(alpha, kappa),
        flags=("few_conversations",) if 0 < conversations < FEW_CONVERSATIONS else (),
    )


def _value(said: str, label: str) -> str | bool:
    return said if label == ALL else said == label


def _calls(rated: Sequence[RatedCall], given: Collection[str], state: Literal["disputed", "settled"]) -> int:
    return len({row.call_uid for row in rated if row.call_uid in given and getattr(row, state)})


def _reason(alpha: Measure, kappa: Measure) -> str | None:
    return alpha.reason or kappa.reason


def _notes(rated: Sequence[RatedCall], rows: Sequence[Agreement], *, left_out: int) -> list[str]:
    notes = []
    if left_out:
        notes.append(f"in_sight: {left_out} labels were given in sight of others', and are left out")
    unnamed = sum(row.author is None for row in rated)
    if unnamed:
        notes.append(f"unnamed: {unnamed} labels name no reviewer; alpha counts them, kappa cannot")
    if any(row.pairs > 1 for row in rows):
        notes.append("kappa is the mean over pairs of reviewers, weighted by the calls that both labelled")
    if not rated:
        notes.append("no call was labelled by two reviewers")
    return notes
