"""Spans joined by their ids: who stands below whom, in which conversation, and what each is.

Files write children before their parents, write a span in two halves, or write its events elsewhere. All that
is settled here, on the spans of one file at a time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from quality_lab.formats.json_pieces import word
from quality_lab.formats.span_bodies import with_bodies
from quality_lab.formats.span_roles import Role, role_of
from quality_lab.formats.spans import Span
from quality_lab.records import ReadNotes

_CONVERSATIONS = (
    "gen_ai.conversation.id", "session.id", "gcp.vertex.agent.session_id", "langfuse.session.id",
    "traceloop.association.properties.session_id", "traceloop.association.properties.conversation_id",
    "traceloop.association.properties.thread_id", "traceloop.association.properties.chat_id",
    "ai.telemetry.metadata.sessionId", "ai.telemetry.metadata.threadId", "langsmith.metadata.thread_id",
    "langsmith.metadata.session_id", "thread.id", "gen_ai.thread.id", "gen_ai.session.id",
)  # fmt: skip
_FAR_BELOW = 200  # levels; a longer chain of parents is a circle or worse


@dataclass(slots=True, eq=False)
class Node:
    """A span in its place."""

    span: Span
    role: Role
    order: int  # of its coming in the file
    parent: Node | None = None
    conversation_id: str = ""
    copies: list[Span] = field(default_factory=list)  # spans that told of the same call

    @property
    def age(self) -> tuple[int, int]:
        """Return what nodes are ordered by: when they began, then how they came; undated ones come last."""
        return (self.span.started if self.span.started is not None else 1 << 70, self.order)

    def above(self) -> Iterator[Node]:
        """Yield the nodes above this one, the nearest first."""
        node, steps = self.parent, 0
        while node is not None and steps < _FAR_BELOW:
            yield node
            node, steps = node.parent, steps + 1

    def within(self, other: Node) -> bool:
        """Say whether this began and ended while *other* ran."""
        mine, theirs = self.span, other.span
        if None in (mine.started, mine.ended, theirs.started, theirs.ended):
            return False
        return theirs.started <= mine.started and mine.ended <= theirs.ended  # type: ignore[operator]  # none is None


def nodes_of(spans: Iterable[Span], notes: ReadNotes) -> list[Node]:
    """Return one node for each span of a file, by age, in its conversation."""
    unique = _unique(spans, notes)
    nodes = {ids: Node(span, role_of(span, notes), order) for order, (ids, span) in enumerate(unique.items())}
    for (trace_id, _), node in nodes.items():
        if node.span.parent_id is not None:
            parent = nodes.get((trace_id, node.span.parent_id))
            node.parent = None if parent is node else parent
    traces: dict[str, list[Node]] = defaultdict(list)
    for node in nodes.values():
        traces[node.span.trace_id].append(node)
    for trace in traces.values():
        _name_conversations(trace)
    return sorted(nodes.values(), key=lambda node: node.age)


def _unique(spans: Iterable[Span], notes: ReadNotes) -> dict[tuple[str, str], Span]:
    """Return spans by their ids; what was written in several pieces is one."""
    unique: dict[tuple[str, str], Span] = {}
    logs: list[Span] = []
    for span in spans:
        ids = span.trace_id, span.span_id
        if span.is_log:
            logs.append(span)
        elif ids not in unique:
            unique[ids] = span
        else:
            notes.count(notes.merged, "span written more than once")
            _join(unique[ids], span)
    for log in logs:
        known = unique.setdefault((log.trace_id, log.span_id), log)
        if known is not log:
            known.events.extend(log.events)
    return {ids: with_bodies(span) if span.events else span for ids, span in unique.items()}


def _join(span: Span, other: Span) -> None:
    """Lay a second writing of a span over the first: what it says in addition, or later, counts."""
    span.attributes = {**span.attributes, **other.attributes}
    span.events += [event for event in other.events if event not in span.events]
    span.annotations += [one for one in other.annotations if one not in span.annotations]
    span.name, span.kind = span.name or other.name, span.kind or other.kind
    span.parent_id, span.scope = span.parent_id or other.parent_id, span.scope or other.scope
    span.started = span.started if span.started is not None else other.started
    span.ended = other.ended if span.ended is None else max(span.ended, other.ended or span.ended)
    span.failed = other.failed if span.failed is None else span.failed
    span.status_text = span.status_text or other.status_text
    span.resource = span.resource or other.resource


def _name_conversations(trace: list[Node]) -> None:
    """Name each node's conversation: its own, that of the nearest above, the trace's first, or the trace."""
    names = ((node, _own_conversation(node.span)) for node in trace)
    own = {id(node): name for node, name in names if name is not None}
    named = [node for node in trace if id(node) in own]
    usual = own[id(min(named, key=lambda node: node.age))] if named else trace[0].span.trace_id
    for node in trace:
        line = (node, *node.above()) if named else ()
        node.conversation_id = next((own[id(one)] for one in line if id(one) in own), usual)


def _own_conversation(span: Span) -> str | None:
    if span.conversation_id is not None or not span.attributes:
        return span.conversation_id
    return word(span.attributes, *_CONVERSATIONS)
