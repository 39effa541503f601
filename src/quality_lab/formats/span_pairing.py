"""Which of the calls that a model asked for ran in which span."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from quality_lab.formats.json_pieces import alike
from quality_lab.formats.said_parts import Answered, Asked
from quality_lab.formats.span_threads import Entry
from quality_lab.formats.span_tree import Node
from quality_lab.formats.tool_facts import ToolFacts

_LOOKED_AT = 64  # spans of equal calls among which one is looked for that may be meant
Mark = tuple[str, ...] | None  # what two accounts of a call have in common
_LAST_PART = re.compile(r".*(?:__|[./:])(?=.)", re.DOTALL)


@dataclass(slots=True, eq=False)
class Call:
    """One call, as far as it was told."""

    name: str
    thread: Node | None  # the call of a tool below which a sub-agent made it; None is the main agent
    trace_id: str
    node: Node | None = None  # its own span
    facts: ToolFacts | None = None
    asked: Asked | None = None
    told_in: list[tuple[Entry, int]] = field(default_factory=list)  # messages that make it, and place in each
    from_prompt: bool = False  # known only from a history
    answer: Answered | None = None
    seen_again: set[int] = field(default_factory=set)  # answers in whose prompts it was met

    @property
    def entry(self) -> Entry | None:
        """Return the message that made it: the first that still stands in its thread."""
        standing = (entry for entry, _ in self.told_in if entry.position >= 0)
        return next(standing, self.told_in[0][0] if self.told_in else None)

    @property
    def index(self) -> int:
        """Return its place in that message."""
        mine = self.entry
        return next((index for entry, index in self.told_in if entry is mine), 0)

    @property
    def call_id(self) -> str | None:
        own = self.facts.call_id if self.facts else None
        return own if own is not None or self.asked is None else self.asked.call_id

    @property
    def age(self) -> tuple[int, int]:
        if self.node is not None:
            return self.node.age
        return self.entry.node.age if self.entry is not None else (1 << 71, 0)


def folded(name: str) -> str:
    """Return a tool's name without its server and spelling: `github.Search-Issues` is `searchissues`."""
    return re.sub(r"[\s_-]+", "", _LAST_PART.sub("", name)).casefold()


def pairs(asked: list[Call], ran: list[Call]) -> Iterator[tuple[Call, Call]]:
    """Yield each call that was asked for with the one that ran, where the two are one.

    By the id of both in one trace, by that in any, by tool and arguments, by tool where the span tells no
    arguments, and by order where as many of a tool ran in a trace as were asked for: the surest first.
    """
    for mark in (_id_and_trace, _id, _arguments, _no_arguments):
        found = list(_paired(asked, ran, mark))
        yield from found
        asked = _without(asked, [mine for mine, _ in found])
        ran = _without(ran, [theirs for _, theirs in found])
    yield from _in_order(asked, ran)


def _without(calls: list[Call], taken: list[Call]) -> list[Call]:
    ids = set(map(id, taken))
    return [call for call in calls if id(call) not in ids]


def _paired(
    asked: list[Call], ran: list[Call], mark_of: Callable[[Call], Mark]
) -> Iterator[tuple[Call, Call]]:
    """Yield pairs of calls whose marks are equal, in order; a call without a mark has no pair."""
    free: dict[Mark, deque[Call]] = defaultdict(deque)
    for run in ran:
        mark = mark_of(run)
        if mark is not None:
            free[mark].append(run)
    by_id = mark_of in (_id, _id_and_trace)
    for call in asked if free else ():
        waiting = free.get(mark_of(call), deque())
        for place, run in enumerate(islice(waiting, _LOOKED_AT)):
            if by_id or _may_be(call, run):
                del waiting[place]
                yield call, run
                break


def _in_order(asked: list[Call], ran: list[Call]) -> Iterator[tuple[Call, Call]]:
    free: dict[tuple[str, str], list[Call]] = defaultdict(list)
    wanted: dict[tuple[str, str], list[Call]] = defaultdict(list)
    for run in ran:
        free[run.trace_id, folded(run.name)].append(run)
    for call in asked:
        wanted[call.trace_id, folded(call.name)].append(call)
    for mark, calls in wanted.items():
        if len(free[mark]) == len(calls) and all(map(_may_be, calls, free[mark])):
            yield from zip(calls, free[mark], strict=True)


def _id(call: Call) -> Mark:
    """Return the id by which the call was asked for, or by which it says that it ran."""
    own = (
        call.facts.call_id
        if call.facts is not None
        else call.asked.call_id
        if call.asked is not None
        else None
    )
    return None if own is None else (folded(call.name), own)


def _id_and_trace(call: Call) -> Mark:
    own = _id(call)
    return None if own is None else (*own, call.trace_id)


def _arguments(call: Call) -> Mark:
    told: str | bytes | None = call.facts.arguments if call.facts is not None else None
    if call.facts is None and call.asked is not None:
        told = call.asked.arguments
    raw = told.encode() if isinstance(told, str) else told
    return None if raw is None else (call.trace_id, folded(call.name), alike(raw).decode("utf-8", "replace"))


def _no_arguments(call: Call) -> Mark:
    """Return a mark for a call that was asked for, and for one whose span tells no arguments."""
    facts = call.facts
    tells = (
        facts is not None and facts.arguments_state in ("object", "json_string") and facts.arguments != "{}"
    )
    return None if tells else (call.trace_id, folded(call.name))


def _may_be(asked: Call, run: Call) -> bool:
    """Say whether nothing speaks against it: one trace, no two ids, asked for before it ran."""
    mine = asked.asked.call_id if asked.asked else None
    theirs = run.facts.call_id if run.facts else None
    made_up = theirs is not None and theirs.startswith("adk-")  # by ADK, for the span alone
    two_ids = mine is not None and theirs is not None and not made_up
    if asked.trace_id != run.trace_id or (two_ids and not asked.from_prompt):
        return False
    if asked.entry is None or run.node is None or asked.from_prompt:
        return True
    started, ran = asked.entry.node.span.started, run.node.span.started
    return started is None or ran is None or started <= ran
