"""The five labels, and how the labels of one call become one judgement."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import get_args

from quality_lab.records import AuthorKind, Feedback, Label

FIVE: tuple[Label, ...] = get_args(Label)  # in the order in which every table shows them
ACTIONABLE: tuple[Label, ...] = ("wrong_tool", "missing_tool", "bad_args")
TOOL_FAILURES: tuple[Label, ...] = ("wrong_tool", "bad_args")  # missing_tool is not the called tool's failure
PROPOSAL_KIND: dict[str, str] = {
    "bad_args": "schema_fix",
    "wrong_tool": "routing_prompt_fix",
    "missing_tool": "tool_candidate",
}
HUMAN_ONLY: tuple[AuthorKind, ...] = ("HUMAN",)

_FOLDED: dict[str, Label] = {label.replace("_", ""): label for label in FIVE}
_SPACING = re.compile(r"[\s_-]+")
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """What the reviewers of one call say together."""

    label: Label | None  # None where nobody judged it, and where it is disputed
    disputed: bool
    adjudicated: bool
    current: tuple[
        Feedback, ...
    ]  # the labels that count, oldest first: the adjudication, or each reviewer's latest

    @property
    def reviewed(self) -> bool:
        """Say whether anybody judged the call."""
        return bool(self.current)

    @property
    def reviewed_by(self) -> tuple[str, ...]:
        """Return the names of the reviewers whose labels count; a reviewer without a name is left out."""
        return tuple(sorted({row.author for row in self.current if row.author is not None}))


def fold_label(text: str | None) -> Label | None:
    """Return the label that *text* spells, whatever its case, spaces, `-` and `_`; None for any other text.

    >>> fold_label(" Wrong-Tool "), fold_label("bad args"), fold_label("Hallucination")
    ('wrong_tool', 'bad_args', None)
    """
    return None if text is None else _FOLDED.get(_SPACING.sub("", text).casefold())


def judgement(feedback: Iterable[Feedback], *, author_kinds: Collection[str] = HUMAN_ONLY) -> Judgement:
    """Return the judgement on one call from all *feedback* about it.

    An adjudication wins (the latest, where there are several). Otherwise each reviewer's latest label counts,
    and the call is judged by the label that over half of the reviewers gave; no such label is a dispute.
    Later is by time, then by key; an undated label is older than any dated one. Labels that name no author
    are the word of as many unknown reviewers. Scores and labels outside the five judge nothing.
    """
    rows = [row for row in feedback if row.label is not None and row.author_kind in author_kinds]
    rows.sort(key=_age)
    settled = [row for row in rows if row.adjudication]
    if settled:
        return Judgement(label=settled[-1].label, disputed=False, adjudicated=True, current=(settled[-1],))
    latest = {row.author if row.author is not None else (row.key_space, row.key): row for row in rows}
    current = tuple(sorted(latest.values(), key=_age))
    votes = Counter(row.label for row in current)
    winner = next((label for label, count in votes.items() if 2 * count > len(current)), None)
    return Judgement(
        label=winner, disputed=bool(current) and winner is None, adjudicated=False, current=current
    )


def is_split(labels: Iterable[str]) -> bool:
    """Say whether no label was given by over half of those who spoke.

    >>> is_split(["bad_args", "other"]), is_split(["bad_args", "other", "other"]), is_split([])
    (True, False, False)
    """
    votes = Counter(labels)
    return bool(votes) and 2 * max(votes.values()) <= votes.total()


def age(created_at: datetime | None, key_space: str, key: str) -> tuple[datetime, int, str, str]:
    """Return what a label is ordered by, oldest first; ids that are numbers compare as numbers."""
    return (created_at or _LONG_AGO, len(key), key, key_space)


def _age(row: Feedback) -> tuple[datetime, int, str, str]:
    return age(row.created_at, row.key_space, row.key)
