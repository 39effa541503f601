"""Conversations out of spans: their messages, and each call once. The spans of one file are held together.

A conversation's messages are those of its main agent. What agents below it were told and said is counted,
not laid among them, since no model ever saw it so; their calls are the calls of a sub-agent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from quality_lab.formats.contract import Reading
from quality_lab.formats.definitions import Definitions
from quality_lab.formats.json_pieces import word
from quality_lab.formats.making import quick
from quality_lab.formats.model_turns import ModelTurn, model_turn, tools_of
from quality_lab.formats.span_calls import Ledger
from quality_lab.formats.span_pairing import Call, folded
from quality_lab.formats.span_records import call_record, length_ms, moment
from quality_lab.formats.span_threads import Entry, Thread
from quality_lab.formats.span_tree import Node
from quality_lab.records import Conversation, Message, Record, ToolCall

_HANDED_TO = ("handoff to ", "hand-off to ", "handoff.", "handoff: ", "transfer to ")
_message = quick(Message)


@dataclass(slots=True)
class Place:
    """Where in a conversation a span stands, for whoever judges that span."""

    conversation_id: str
    call_key: str | None = None  # of the call that it runs
    tool_name: str | None = None


@dataclass(slots=True, kw_only=True)
class Story:
    """What becomes of the spans of one file."""

    key_space: str
    reading: Reading
    definitions: Definitions
    tells_all: bool = False  # a conversation without a model or a tool is one all the same
    records: dict[int, list[Record]] = field(default_factory=lambda: defaultdict(list))  # by unit
    places: dict[tuple[str, str], Place] = field(default_factory=dict)  # by ids of trace and span

    def tell(self, nodes: Sequence[Node]) -> None:
        """Make the records of all conversations among *nodes*, which are sorted by age."""
        talks: dict[str, list[Node]] = defaultdict(list)
        for node in nodes:
            talks[node.conversation_id].append(node)
            self.places[node.span.trace_id, node.span.span_id] = Place(node.conversation_id)
        for conversation_id, members in talks.items():
            self._tell(conversation_id, members)

    def _tell(self, conversation_id: str, nodes: list[Node]) -> None:
        notes = self.reading.notes
        threads: dict[int, Thread] = defaultdict(Thread)
        ledger = Ledger(notes)
        tools = [node for node in nodes if node.role == "tool"]
        turns = _turns(nodes, self.reading)
        if not self.tells_all and all(node.role == "other" for node in nodes):
            return  # spans of a web server, a database and the like
        ledger.run(tools, _Below(tools).tool_above)
        below = _Below([call.node for call in ledger.calls if call.node is not None])
        for node, turn in turns:
            above = below.tool_above(node)
            entries = threads[id(above)].take(turn, node, notes)
            for entry in entries:
                ledger.hear(entry, above)
        main = threads[id(None)]
        entries = main.all()
        for mark, thread in threads.items():
            if mark != id(None):
                notes.count(
                    notes.missing, "message of a sub-agent, told apart from its calls", len(thread.all())
                )
        handoffs = [node for node in nodes if node.role == "handoff"]
        if handoffs:
            notes.count(notes.not_understood, "hand-off, which is no call of a tool", len(handoffs))
        if merged := sum(node.role == "merged" for node in nodes):
            notes.count(notes.merged, "results of a parallel batch, told together", merged)
        others = [node for node in nodes if node.role == "other"]
        calls = ledger.join(others, _handed_to(nodes, handoffs))
        tellers = [node for node, _ in turns if tools_of(node.span) is not None]
        offered, by_name = self._offer(tellers or [node for node in nodes if node.role in ("llm", "agent")])
        self._lay_down(conversation_id, nodes, entries, calls, offered, by_name)

    def _offer(self, nodes: list[Node]) -> tuple[tuple[str, ...] | None, dict[str, str]]:
        digests: dict[str, None] = {}
        by_name: dict[str, str] = {}
        found = False
        for node in nodes:
            tools = tools_of(node.span)
            if tools is not None:
                found = True
                offer = self.definitions.offer(msgspec.Raw(tools), moment(node.span.started))
                digests.update(dict.fromkeys(offer.digests))
                by_name.update(offer.by_name)
        return (tuple(digests) if found else None), by_name

    def _lay_down(
        self,
        conversation_id: str,
        nodes: list[Node],
        entries: list[Entry],
        calls: list[Call],
        offered: tuple[str, ...] | None,
        by_name: dict[str, str],
    ) -> None:
        options = self.reading.options
        told = [node for node in nodes if node.role != "other"] or nodes
        model = next((entry.turn.model for entry in entries if entry.turn and entry.turn.model), None)
        source = options.source or _service([node for node in told if node.role in ("llm", "tool")] or told)
        conversation = Conversation(
            key_space=self.key_space,
            conversation_id=conversation_id,
            source=source,
            model=model,
            style=options.style,
            started_at=min(filter(None, (moment(node.span.started) for node in told)), default=None),
            ended_at=max(filter(None, (moment(node.span.ended) for node in told)), default=None),
            offered=offered,
        )
        self.records[min(node.span.unit for node in told)].append(conversation)
        for entry in entries:
            self.records[entry.node.span.unit].append(self._message(entry, conversation_id))
        places = _numbered(entries, calls)
        for call in calls:
            record = call_record(
                call,
                places.get(id(call)),
                key_space=self.key_space,
                conversation_id=conversation_id,
                source=source,
                style=options.style,
                model=model,
                digest=by_name.get(call.name),
                notes=self.reading.notes,
            )
            node = call.node or (call.entry.node if call.entry else None)
            if node is not None:
                self.records[node.span.unit].append(record)
                self._place(call, record, conversation_id)

    def _place(self, call: Call, record: ToolCall, conversation_id: str) -> None:
        if call.node is None:
            return
        for span in (call.node.span, *call.node.copies):
            self.places[span.trace_id, span.span_id] = Place(conversation_id, record.key, record.tool_name)

    def _message(self, entry: Entry, conversation_id: str) -> Message:
        said, turn, span = entry.said, entry.turn, entry.node.span
        answered = said.answered[0] if said.answered else None
        text = said.text
        content = said.content
        if answered is not None and text is None and answered.result is not None:
            text = _shown(answered.result)
        return _message(
            key_space=self.key_space,
            conversation_id=conversation_id,
            position=entry.position,
            role=("user" if turn is None else "assistant") if said.role == "text" else said.role,
            text=text,
            content=None if content is None else content.decode(),
            call_id=answered.call_id if answered is not None else None,
            name=said.name or (answered.name if answered is not None else None),
            model=turn.model if turn is not None else None,
            created_at=moment(span.ended) if turn is not None else None,
            latency_ms=length_ms(span.started, span.ended) if entry.leads else None,
            input_tokens=turn.input_tokens if turn is not None and entry.leads else None,
            output_tokens=turn.output_tokens if turn is not None and entry.leads else None,
            cost_usd=turn.cost_usd if turn is not None and entry.leads else None,
            finish_reason=said.finish_reason,
        )


class _Below:
    """Which call of a tool an agent works for."""

    def __init__(self, tools: list[Node]) -> None:
        self._tools: dict[str, list[Node]] = defaultdict(list)
        for tool in tools:
            self._tools[tool.span.trace_id].append(tool)
        self._known: dict[int, Node | None] = {}  # by agent

    def tool_above(self, node: Node) -> Node | None:
        """Return the span of the tool below which *node*'s agent works; None where it is the main agent's."""
        agent: Node | None = None
        for above in node.above():
            if above.role == "tool":
                return above
            if above.role == "agent" and agent is None:
                agent = above
        if agent is None:
            return None
        if id(agent) not in self._known:
            around = (tool for tool in self._tools[agent.span.trace_id] if agent.within(tool))
            outside = (tool for tool in around if not any(above is agent for above in tool.above()))
            self._known[id(agent)] = max(outside, key=lambda tool: tool.age, default=None)
        return self._known[id(agent)]


def _turns(nodes: list[Node], reading: Reading) -> list[tuple[Node, ModelTurn]]:
    """Return the answers of models, each once, by age: of spans in one another the innermost that tells."""
    turns = {id(node): (node, model_turn(node.span)) for node in nodes if node.role == "llm"}
    dropped: set[int] = set()
    for node, turn in turns.values():
        for above in node.above():
            if above.role in ("tool", "agent"):
                break
            if id(above) in turns:
                outer = turns[id(above)][1]
                dropped.add(id(node) if turn.worth < outer.worth else id(above))
    found: list[tuple[Node, ModelTurn]] = []
    seen: set[str] = set()
    for node, turn in turns.values():
        if turn.response_id is not None and turn.response_id in seen:
            dropped.add(id(node))
        elif id(node) not in dropped and turn.worth:
            found.append((node, turn))
            seen.add(turn.response_id or "")
    if dropped:
        reading.notes.count(
            reading.notes.merged, "span of a model's answer inside another of it", len(dropped)
        )
    telling = {node.span.trace_id for node, turn in found if turn.worth > 1}
    for node in nodes:
        if node.role == "agent" and node.span.trace_id not in telling:
            turn = model_turn(node.span)
            if turn.worth > 1 and not any(above.role == "agent" for above in node.above()):
                found = [one for one in found if one[0].span.trace_id != node.span.trace_id] + [(node, turn)]
    return sorted(found, key=lambda one: one[0].age)


def _handed_to(nodes: list[Node], handoffs: list[Node]) -> set[str]:
    """Return the names, folded, of the agents that hand-offs lead to."""
    names: set[str] = set()
    for node in handoffs:
        stated = word(node.span.attributes, "gen_ai.handoff.to_agent", "output.value")
        if stated is not None:
            names.add(folded(stated))
        name = node.span.name
        target = next((name[len(start) :] for start in _HANDED_TO if name.casefold().startswith(start)), name)
        names.add(folded(target))
    return names


def _numbered(entries: list[Entry], calls: list[Call]) -> dict[int, tuple[int, int, int, int, int]]:
    """Return turn, cycle, index in the turn and in the cycle, and message of each of the main agent's."""
    by_entry: dict[int, list[Call]] = defaultdict(list)
    for call in calls:
        if call.entry is not None and call.thread is None:
            by_entry[id(call.entry)].append(call)
    numbered: dict[int, tuple[int, int, int, int, int]] = {}
    turn, cycle, index, in_cycle, answered, last = 0, -1, 0, 0, False, object()
    for entry in entries:
        role = entry.said.role
        if role == "user" and answered:
            turn, cycle, index, answered = turn + 1, -1, 0, False
        if role == "assistant" or entry.said.asked:
            answered = True
            if entry.turn is None or entry.turn is not last or (in_cycle and entry.said.text):
                cycle, in_cycle = cycle + 1, 0
            last = entry.turn
            for call in sorted(by_entry[id(entry)], key=lambda call: call.index):
                numbered[id(call)] = turn, cycle, index, in_cycle, entry.position
                index, in_cycle = index + 1, in_cycle + 1
        elif role == "tool":
            answered = True
    return numbered


def _service(nodes: list[Node]) -> str | None:
    names = (_shown(node.span.resource.get("service.name", b"null")) for node in nodes)
    return next((name for name in names if name and not name.startswith("unknown_service")), None)


def _shown(raw: bytes) -> str | None:
    if raw == b"null":
        return None
    return msgspec.json.decode(raw, type=str) if raw.startswith(b'"') else raw.decode()
