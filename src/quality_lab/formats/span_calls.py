"""Each call of a conversation once, though its spans tell of it two to four times.

A call is asked for in a model's answer, runs in a span of its own (sometimes in two, one inside the other),
and is told again in the history of later prompts, with its result. The model's word and the span are joined
by the call's id where both have it, else by tool and arguments, else by tool and order. A call that has only
one of them is still a call.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from quality_lab.formats.json_pieces import alike, is_nothing
from quality_lab.formats.said_parts import Answered, Asked
from quality_lab.formats.span_pairing import Call, folded, pairs
from quality_lab.formats.span_threads import Entry
from quality_lab.formats.span_tree import Node
from quality_lab.formats.tool_facts import ToolFacts, tool_facts, wrapped_tool
from quality_lab.records import ReadNotes

_STEP = re.compile(r"(tool\..+)\.(start|success|finish|error|retry)")
_IGNORED = b"Multiple handoffs detected"  # what the Agents SDK answers to a second one at once
_OWN_INPUT = ("input.value", "langfuse.observation.input", "input")


@dataclass(slots=True)
class Ledger:
    """The calls of one conversation."""

    notes: ReadNotes
    calls: list[Call] = field(default_factory=list)
    _asked: list[Call] = field(default_factory=list)
    _by_id: dict[str, list[Call]] = field(default_factory=lambda: defaultdict(list))
    _ran: dict[tuple[str, str], list[Call]] = field(default_factory=lambda: defaultdict(list))
    _by_name: dict[tuple[str, str], list[Call]] = field(default_factory=lambda: defaultdict(list))

    # -- spans ------------------------------------------------------------------------------------------

    def run(self, nodes: Iterable[Node], thread_of: Callable[[Node], Node | None]) -> None:
        """Take in the spans that run tools, by age; a span of the same call as another is laid into it."""
        by_node: dict[int, Call] = {}
        steps: dict[tuple[int, str], Call] = {}
        for node in nodes:
            facts = tool_facts(node.span)
            call = self._same_call(node, facts, by_node)
            step = _STEP.fullmatch(facts.name) or _STEP.fullmatch(_target(node))
            if call is None and step is not None:  # BeeAI: a span for each step of a call
                facts.name = step[1].rpartition(".")[2]
                mark = id(node.parent), step[1]
                call = None if step[2] == "start" else steps.get(mark)
                self._fail(facts, step[2])
            if call is not None:
                self._lay_in(call, node, facts)
            else:
                call = Call(facts.name, thread_of(node), node.span.trace_id, node, facts)
                self.calls.append(call)
                if facts.call_id is not None:
                    self._ran[node.span.trace_id, facts.call_id].append(call)
            if step is not None:
                steps[id(node.parent), step[1]] = call
            by_node[id(node)] = call

    @staticmethod
    def _fail(facts: ToolFacts, step: str) -> None:
        facts.failed = {"error": True, "success": False}.get(step, facts.failed)

    def _same_call(self, node: Node, facts: ToolFacts, by_node: dict[int, Call]) -> Call | None:
        """Return the call that *node* tells of once more, from inside its span or beside it."""
        for above in node.above():
            if above.role in ("llm", "agent"):
                break
            call = by_node.get(id(above))
            if call is not None and call.facts is not None:
                behind = wrapped_tool(call.name, call.facts.arguments)[0]
                same = folded(call.name) == folded(facts.name)
                return call if same or (behind and folded(behind) == folded(facts.name)) else None
        for call in self._ran.get((node.span.trace_id, facts.call_id or ""), ()):
            if call.node is not None and folded(call.name) == folded(facts.name) and node.within(call.node):
                return call
        return None

    def _lay_in(self, call: Call, node: Node, facts: ToolFacts) -> None:
        self.notes.count(self.notes.merged, "span of a call inside another of it")
        mine = call.facts
        if mine is None or call.node is None:
            return
        call.node.copies.append(node.span)
        if (
            mine.arguments_state != "object"
            and facts.arguments is not None
            and mine.arguments in (None, "{}")
        ):
            mine.arguments, mine.arguments_state = facts.arguments, facts.arguments_state
        mine.result = mine.result if mine.result is not None else facts.result
        mine.call_id, mine.server = mine.call_id or facts.call_id, mine.server or facts.server
        mine.failed = facts.failed if mine.failed is None else mine.failed
        mine.description = mine.description or facts.description
        ended = call.node.span.ended
        if _STEP.fullmatch(_target(node)) and node.span.started is not None and ended is not None:
            call.node.span.ended = node.span.started  # the span of a step ends with its agent, not with it

    # -- messages ---------------------------------------------------------------------------------------

    def hear(self, entry: Entry, thread: Node | None) -> None:
        """Take in the calls and the results of one new message."""
        trace_id = entry.node.span.trace_id
        for index, asked in enumerate(entry.said.asked):
            known = None if entry.turn is not None else self._known(asked, id(entry.node))
            if known is None:
                known = Call(asked.name, thread, trace_id, asked=asked, from_prompt=entry.turn is None)
                self._asked.append(known)
                self._by_name[asked.name, _arguments(asked)].append(known)
                if asked.call_id is not None:
                    self._by_id[asked.call_id].append(known)
            else:
                self.notes.count(self.notes.merged, "call in the history of a prompt")
            known.seen_again.add(id(entry.node))
            known.told_in.append((entry, index))
        for answered in entry.said.answered:
            self._answer(answered, trace_id)

    def _known(self, asked: Asked, prompt: int) -> Call | None:
        """Return the call that a history tells of, if it was met before: by its id, else by what it says."""
        by_id = self._by_id.get(asked.call_id, []) if asked.call_id is not None else []
        alike_to = self._by_name.get((asked.name, _arguments(asked)), [])
        for call in (*(one for one in by_id if one.name == asked.name), *alike_to):
            if prompt not in call.seen_again:
                return call
        return None

    def _answer(self, answered: Answered, trace_id: str) -> None:
        waiting = self._by_id.get(answered.call_id, []) if answered.call_id is not None else []
        if not waiting:
            waiting = [
                call
                for call in self._asked
                if (answered.name in (None, call.name))
                and (answered.call_id is None or call.asked is None or call.asked.call_id is None)
            ]
        still_open = [call for call in waiting if call.answer is None]
        if still_open:  # an id may come back: it is the latest message that made a call of it that is meant
            latest = still_open[-1].told_in[-1][0] if answered.call_id is not None else None
            meant = (call for call in still_open if latest is None or call.told_in[-1][0] is latest)
            next(meant).answer = answered
        elif not waiting and not self._answers_a_span(answered, trace_id):
            self.notes.count(self.notes.missing, "result without call")

    def _answers_a_span(self, answered: Answered, trace_id: str) -> bool:
        for call in self._ran.get((trace_id, answered.call_id or ""), ()):
            call.answer = call.answer or answered
            return True
        return False

    # -- both -------------------------------------------------------------------------------------------

    def join(self, others: Iterable[Node], handed_to: set[str]) -> list[Call]:
        """Return every call once, by age: what was asked for, joined with what ran.

        *others* are spans that may turn out to run a tool that was asked for; *handed_to* are the names,
        folded, of agents that work was handed to: `transfer_to_<agent>` is such a hand-off and no call.
        """
        handoffs = {id(call) for call in self._asked if _is_handoff(call, handed_to)}
        if handoffs:
            self.notes.count(self.notes.not_understood, "hand-off, which is no call of a tool", len(handoffs))
        open_calls = [call for call in self._asked if id(call) not in handoffs]
        married: set[int] = set()
        for call, run in pairs(open_calls, self.calls):
            self._marry(call, run)
            married.add(id(call))
        left = [call for call in open_calls if id(call) not in married]
        self._adopt(left, others)
        return sorted((*self.calls, *left), key=lambda call: call.age)

    def _marry(self, call: Call, run: Call) -> None:
        run.asked, run.told_in, run.thread = call.asked, call.told_in, call.thread
        run.answer = call.answer or run.answer
        self.notes.count(self.notes.merged, "call in a model's answer and in a span of its own")

    def _adopt(self, asked: list[Call], others: Iterable[Node]) -> None:
        """Give calls that were asked for the spans under their tool's name which say not what they are."""
        wanted = {folded(call.name) for call in asked}
        free: dict[str, list[Node]] = defaultdict(list)
        for node in others if wanted else ():
            has_input = any(not is_nothing(node.span.attributes.get(name)) for name in _OWN_INPUT)
            if has_input and folded(node.span.name) in wanted:
                free[folded(node.span.name)].append(node)
        for call in asked:
            for node in free[folded(call.name)]:
                if node.span.trace_id == call.trace_id and (
                    call.entry is None or node.age >= call.entry.node.age
                ):
                    free[folded(call.name)].remove(node)
                    call.node, call.facts = node, tool_facts(node.span)
                    call.facts.name = call.name
                    self.notes.count(self.notes.merged, "call in a model's answer and in a span of its own")
                    break


def _target(node: Node) -> str:
    raw = node.span.attributes.get("target", b"")
    return raw[1:-1].decode() if raw.startswith(b'"') else ""


def _arguments(asked: Asked) -> str:
    return alike(asked.arguments).decode("utf-8", "replace")


def _is_handoff(call: Call, handed_to: set[str]) -> bool:
    """Say whether a call handed the work to another agent, or tried to beside one that did."""
    name = folded(call.name)
    target = name.removeprefix("transferto")
    if target == name:
        return False
    ignored = call.answer is not None and _IGNORED in (call.answer.result or b"")
    return target in handed_to or ignored or (target == "agent" and bool(handed_to))
