"""Orders of calls that look like a loop, a retry without thought, or an act that should not have been."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from quality_lab.answers import Answer
from quality_lab.errors import UsageError
from quality_lab.intervals import Sums, rate
from quality_lab.json_text import JsonTextError, canonical, parse
from quality_lab.metrics.asking import Asks, put, together
from quality_lab.metrics.called_tools import CalledTool, called_tools
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.undated import undated_notes

RULES = {
    "repeated_call": "the same call again, right after it had gone well in the same turn",
    "repeated_after_error": "the same call again, unchanged, right after it had failed in the same turn",
    "repeated_after_gate": "the same call again, unchanged, right after the application had said “not now”",
    "ping_pong": "two calls of two tools, in turn, and then the same two again",
    "cycle_limit": "called in the last round that the loop allows, so no answer could follow",
    "write_after_failed_read": "a tool that writes, right after a tool that reads had failed in the same turn",
    "written_twice": "the same call of a tool that writes, and both times it was done, in one conversation",
}
_EXAMPLES = 3
_OF_EFFECTS = ("write_after_failed_read", "written_twice")


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A row of the query: a call that may stand to those before it as a rule says."""

    rule: str
    call_uid: str
    before_uid: str | None
    conversation_uid: str
    conversation_id: str
    tool_name: str
    created_at: datetime | None
    of_conversation: int
    picked: bool  # by the filters; no: a write that a picked one may equal
    place: int | None  # of a write, among those of its conversation
    equal_text: bool
    arguments: str | None
    before_arguments: str | None
    pair_arguments: str | None
    pair_before_arguments: str | None

    def holds(self) -> bool:
        """Say whether the arguments are equal as values, whatever the order of their keys."""
        if self.place is not None:
            return self.before_uid is not None
        return self.equal_text or (
            _equal(self.arguments, self.before_arguments)
            and _equal(self.pair_arguments, self.pair_before_arguments)
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SequenceExample:
    """A call that a rule found, and the earlier one that it repeats or follows."""

    call_uid: str
    before_uid: str | None
    conversation_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CallSequence:
    """A rule on the order of calls, and how many calls of a tool it finds."""

    rule: str
    tool_name: str
    calls: int = field(metadata={"help": "calls that the rule finds"})
    conversations: int = field(metadata={"help": "conversations that they were made in"})
    of_calls: int = field(metadata={"help": "all calls of the tool seen in a trace export"})
    of_conversations: int = field(metadata={"help": "conversations with a call of the tool"})
    share: float | None = field(metadata={"unit": "share", "help": "calls of all calls of the tool"})
    low: float | None = field(metadata={"unit": "share", "help": "lower 95 % bound of the share"})
    high: float | None = field(metadata={"unit": "share", "help": "upper 95 % bound of the share"})
    meaning: str = field(metadata={"help": "what the rule looks for"})
    last_at: datetime | None = field(metadata={"help": "time of the newest such call"})
    examples: tuple[SequenceExample, ...] = field(
        metadata={"compact": False, "help": "up to three, the newest first"}
    )
    flags: tuple[str, ...] = field(
        metadata={"help": "few_conversations: the interval takes calls for independent"}
    )


def sequences(
    store: Asks, *, filters: Filters = EVERYTHING, cycle_limit: int | None = None
) -> Answer[CallSequence]:
    """Return what the rules find, a row for each rule and tool, in the order of `RULES`, most calls first.

    The calls of a turn are looked at in order, the agent's alone, as far as a trace export holds them; where a
    format knows no turns, upstream's calls of one second are one, any other conversation is one. Arguments
    are equal as values, whatever the order of keys; where they were not captured they equal nothing.

    - repeated_call: directly before, in the same turn, the same tool was called with equal arguments and it
      ended ok. repeated_after_error, repeated_after_gate: it ended in an error or a soft error, or was gated,
      and this is a later round of the model.
    - ping_pong: the four calls that end here are a, b, a, b: two tools, each with equal arguments.
    - cycle_limit: the call was made in the last of *cycle_limit* rounds of a turn. Upstream allows 4; of
      other formats the limit is not known, so there the rule needs one.
    - write_after_failed_read: the call directly before, in the same turn, read and failed.
    - written_twice: an equal call before it in the conversation, in any turn, ended ok as this one did.
      These two go by the effect that definitions state, and are silent of tools without one.

    share is of all traced calls of the tool, with Wilson's interval at what their conversations are worth.

    Raises:
        UsageError: *cycle_limit* is below 1.
    """
    if cycle_limit is not None and cycle_limit < 1:
        raise UsageError(f"a loop has at least one round, not {cycle_limit}")
    with together(store):
        candidates = put(store, Candidate, "sequences", filters, cycle_limit=cycle_limit)
        tools = called_tools(store, filters=filters)
        notes = undated_notes(store, filters, time="call")
    written = _written_before(candidates)
    found: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.place is not None and not candidate.equal_text:
            candidate = replace(candidate, before_uid=written.get(candidate.call_uid))
        if candidate.picked and candidate.holds():
            found[candidate.rule, candidate.tool_name].append(candidate)
    rows = [_sequence(rule, tools[tool_name], calls) for (rule, tool_name), calls in found.items()]
    order = list(RULES)
    rows.sort(key=lambda row: (order.index(row.rule), -row.calls, row.tool_name))
    return Answer(rows, CallSequence, title="Sequences of calls", notes=[*notes, *_notes(tools)])


def _sequence(rule: str, tool: CalledTool, calls: Sequence[Candidate]) -> CallSequence:
    hits = Counter(call.conversation_uid for call in calls)
    sizes = {call.conversation_uid: call.of_conversation for call in calls}
    share = rate(
        Sums(
            n=tool.calls,
            y=len(calls),
            conversations=tool.conversations,
            yy=sum(count * count for count in hits.values()),
            ym=sum(count * sizes[uid] for uid, count in hits.items()),
            mm=tool.mm,
        )
    )
    return CallSequence(
        rule=rule,
        tool_name=tool.tool_name,
        calls=len(calls),
        conversations=len(hits),
        of_calls=tool.calls,
        of_conversations=tool.conversations,
        share=share.value if share else None,
        low=share.low if share else None,
        high=share.high if share else None,
        meaning=RULES[rule],
        last_at=max((call.created_at for call in calls if call.created_at), default=None),
        examples=tuple(
            SequenceExample(
                call_uid=call.call_uid, before_uid=call.before_uid, conversation_id=call.conversation_id
            )
            for call in calls[:_EXAMPLES]
        ),
        flags=("few_conversations",) if share and share.few else (),
    )


def _written_before(candidates: Sequence[Candidate]) -> dict[str, str]:
    """Return for each write that equals an earlier one as a value, and not as a text, which that is."""
    firsts = [one for one in candidates if one.place is not None and not one.equal_text]
    seen: dict[tuple[str, str, int, str], str] = {}
    found = {}
    for one in sorted(firsts, key=lambda one: one.place or 0):
        text = one.arguments or ""
        value = (one.conversation_uid, one.tool_name, len(text), _value(text))
        if value in seen:
            found[one.call_uid] = seen[value]
        else:
            seen[value] = one.call_uid
    return found


def _value(text: str) -> str:
    try:
        return canonical(parse(text))
    except JsonTextError:
        return text


def _equal(one: str | None, other: str | None) -> bool:
    if one is None or other is None:
        return one is other
    return _value(one) == _value(other)


def _notes(tools: dict[str, CalledTool]) -> list[str]:
    if not tools:
        return ["no call that was asked for was seen in a trace export, so no order is known"]
    silent = sum(not tool.states_effect for tool in tools.values())
    if not silent:
        return []
    rules = " and ".join(_OF_EFFECTS)
    of = f"{silent} of the {len(tools)} tools" if len(tools) > 1 else "the tool"
    return [f"effects_not_stated: no definition says whether {of} read or write; {rules} pass them over"]
