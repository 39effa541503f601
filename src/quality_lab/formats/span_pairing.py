"""Which of the calls that a model asked for ran in which span."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from quality_lab.formats.json_pieces import alike
from quality_lab.formats.said_parts import Answered, Asked
from quality_lab.formats.span_threads import Entry
from quality_lab.formats.span_tree import Node
from quality_lab.formats.tool_facts import ToolFacts

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
    for rule in (_same_id_and_trace, _same_id, _same_arguments, _no_arguments):
        found = list(_paired(asked, ran, rule))
        yield from found
        asked = _without(asked, [mine for mine, _ in found])
        ran = _without(ran, [theirs for _, theirs in found])
    yield from _in_order(asked, ran)


def _without(calls: list[Call], taken: list[Call]) -> list[Call]:
    ids = set(map(id, taken))
    return [call for call in calls if id(call) not in ids]


def _paired(
    asked: list[Call], ran: list[Call], fits: Callable[[Call, Call], bool]
) -> Iterator[tuple[Call, Call]]:
    free: dict[str, list[Call]] = defaultdict(list)
    for run in ran:
        free[folded(run.name)].append(run)
    for call in asked:
        found = next((run for run in free[folded(call.name)] if fits(call, run)), None)
        if found is not None:
            free[folded(call.name)].remove(found)
            yield call, found


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


def _same_id_and_trace(asked: Call, run: Call) -> bool:
    return asked.trace_id == run.trace_id and _same_id(asked, run)


def _same_id(asked: Call, run: Call) -> bool:
    mine = asked.asked.call_id if asked.asked else None
    return mine is not None and run.facts is not None and run.facts.call_id == mine


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


def _same_arguments(asked: Call, run: Call) -> bool:
    if asked.asked is None or run.facts is None or run.facts.arguments is None or not _may_be(asked, run):
        return False
    return alike(asked.asked.arguments) == alike(run.facts.arguments.encode())


def _no_arguments(asked: Call, run: Call) -> bool:
    if run.facts is None or not _may_be(asked, run):
        return False
    told = run.facts.arguments_state in ("object", "json_string") and run.facts.arguments != "{}"
    return not told or asked.asked is None or asked.asked.arguments is None
