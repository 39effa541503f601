"""Which tool was called in place of which, as reviewers say, and how much alike the two are."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from difflib import SequenceMatcher

from quality_lab.answers import Answer
from quality_lab.intervals import Sums, rate
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.undated import undated_notes

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedInstead:
    """A row of the query."""

    called: str
    expected: str
    y: int
    yy: int
    ym: int
    n: int
    conversations: int
    mm: int
    wrong_tool: int
    missing_tool: int
    last_at: datetime | None
    example_1: str | None
    example_2: str | None
    example_3: str | None
    called_description: str | None
    expected_description: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Confusion:
    """A tool that was called, and another that reviewers named in its place."""

    called: str
    expected: str = field(metadata={"help": "the tool that reviewers named"})
    calls: int = field(metadata={"help": "calls of the one of which the other was named"})
    reviewed: int = field(metadata={"help": "reviewed calls of the tool that was called"})
    share: float | None = field(metadata={"unit": "share", "help": "calls of the reviewed ones"})
    low: float | None = field(metadata={"unit": "share", "help": "lower 95 % bound of the share"})
    high: float | None = field(metadata={"unit": "share", "help": "upper 95 % bound of the share"})
    similarity: float = field(metadata={"help": "0 to 1: of the names or of the descriptions, the larger"})
    wrong_tool: int = field(metadata={"help": "of the calls, those labelled wrong_tool"})
    missing_tool: int = field(metadata={"help": "of the calls, those labelled missing_tool"})
    name_similarity: float = field(
        metadata={"compact": False, "help": "0 to 1, Ratcliff/Obershelp by characters"}
    )
    description_similarity: float | None = field(
        metadata={
            "compact": False,
            "help": "0 to 1, Ratcliff/Obershelp by words; null where one is not known",
        }
    )
    conversations: int = field(metadata={"help": "conversations of the reviewed calls"})
    last_at: datetime | None = field(metadata={"help": "time of the newest such call"})
    examples: tuple[str, ...] = field(
        metadata={"compact": False, "help": "uids of up to three, newest first"}
    )
    flags: tuple[str, ...] = field(
        metadata={"help": "few_conversations: the interval takes calls for independent"}
    )


def confusion(store: Asks, *, filters: Filters = EVERYTHING, top: int | None = None) -> Answer[Confusion]:
    """Return pairs of a called tool and the one that reviewers named in its place, by calls, most first.

    A reviewer names a tool with `label --expected-tool`. Counted are calls on which a label other than
    good_reply stands that names another tool; where a call was settled, labels of the settled kind alone. A
    call of which two other tools were named stands in two rows. share is of the reviewed calls of the tool
    that was called, with Wilson's interval at the calls that their conversations are worth.

    similarity is the larger of two, each from 0 to 1 by Ratcliff and Obershelp's measure (Python's difflib):
    of the names, character by character without case, `-` and `_`; of the newest descriptions, word by word.
    """
    rows = [_confusion(row) for row in put(store, NamedInstead, "confusion", filters)]
    notes = undated_notes(store, filters, time="call")
    if not rows:
        notes.append("no reviewer named another tool than the one that was called")
    shown = rows if top is None else rows[:top]
    return Answer(shown, Confusion, title="Confusion of tools", notes=notes, more=len(rows) - len(shown))


def _confusion(row: NamedInstead) -> Confusion:
    found = rate(Sums(n=row.n, y=row.y, conversations=row.conversations, yy=row.yy, ym=row.ym, mm=row.mm))
    names = name_similarity(row.called, row.expected)
    words = (
        None
        if row.called_description is None or row.expected_description is None
        else description_similarity(row.called_description, row.expected_description)
    )
    return Confusion(
        called=row.called,
        expected=row.expected,
        calls=row.y,
        reviewed=row.n,
        share=found.value if found else None,
        low=found.low if found else None,
        high=found.high if found else None,
        similarity=max(names, words or 0.0),
        wrong_tool=row.wrong_tool,
        missing_tool=row.missing_tool,
        name_similarity=names,
        description_similarity=words,
        conversations=row.conversations,
        last_at=row.last_at,
        examples=tuple(uid for uid in (row.example_1, row.example_2, row.example_3) if uid is not None),
        flags=("few_conversations",) if found and found.few else (),
    )


def name_similarity(one: str, other: str) -> float:
    """Return how much alike two names of tools are, from 0 to 1, whatever their case, `-` and `_`.

    >>> name_similarity("getTransferOptions", "get_transfer_options"), name_similarity("abc", "xyz")
    (1.0, 0.0)
    """
    return _alike("".join(_words(one)), "".join(_words(other)))


def description_similarity(one: str, other: str) -> float:
    """Return how much alike two descriptions are, from 0 to 1, word by word and in order.

    >>> description_similarity("Lists free slots of a day.", "lists booked slots of a day")
    0.833...
    """
    return _alike(_words(one), _words(other))


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(_HUMP.sub(" ", text[:4000]))]


def _alike(one: str | list[str], other: str | list[str]) -> float:
    """Return the measure, which depends a little on the order of the two, in the order that it is larger."""
    if not one and not other:
        return 1.0
    return max(
        SequenceMatcher(None, one, other, autojunk=False).ratio(),
        SequenceMatcher(None, other, one, autojunk=False).ratio(),
    )
