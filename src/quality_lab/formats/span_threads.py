"""The messages of one agent, told by one answer of a model after the other.

Each answer's span writes the history again, whole or in part, and each instrumentation writes it a little
differently. A thread takes in only what is new: where what the model was told goes on from what is known,
the rest is new; where it begins alike and then differs, it is the truer account of the same beginning.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from quality_lab.formats.json_pieces import alike
from quality_lab.formats.model_turns import ModelTurn
from quality_lab.formats.said_parts import Said
from quality_lab.formats.span_tree import Node
from quality_lab.records import ReadNotes


@dataclass(slots=True, eq=False)
class Entry:
    """A message in its thread."""

    said: Said
    node: Node  # whose span told of it first
    print: int  # equal for messages that say the same
    turn: ModelTurn | None = None  # the answer that it is, where it is one
    leads: bool = False  # it is the first message of that answer
    told_at: int = 0  # its place in the prompt that told of it
    position: int = -1  # in its thread; -1 where another account took its place


@dataclass(slots=True)
class Thread:
    """What one agent was told and said."""

    entries: list[Entry] = field(default_factory=list)
    system: list[Entry] = field(default_factory=list)

    def take(self, turn: ModelTurn, node: Node, notes: ReadNotes) -> list[Entry]:
        """Take in one answer and return the entries that are new or newly written, told before said."""
        told = [one for one in turn.told if one.role != "system"]
        self._take_system([one for one in turn.told if one.role == "system"], node, notes)
        prints = [print_of(one) for one in told]
        known = [entry.print for entry in self.entries]
        keep, since = _overlap(known, prints)
        if since:
            notes.count(notes.merged, "message in the history of a prompt", since)
        if self._would_lose(keep, prints[since:]):  # the history leaves out a call that was made
            keep = len(self.entries)
        replaced = self.entries[keep:]
        fresh = [Entry(told[at], node, prints[at], told_at=at) for at in range(since, len(told))]
        for old, new in zip(replaced, fresh, strict=False):
            if old.said.role == new.said.role:
                new.node, new.turn, new.leads = old.node, old.turn, old.leads
        answers = [Entry(one, node, print_of(one), turn, leads=not at) for at, one in enumerate(turn.said)]
        self.entries[keep:] = [*fresh, *answers]
        return [*fresh, *answers]

    def _would_lose(self, keep: int, prints: list[int]) -> bool:
        told = set(prints)
        return any(entry.said.asked and entry.print not in told for entry in self.entries[keep:])

    def all(self) -> list[Entry]:
        """Return every entry with its position."""
        entries = [*self.system, *self.entries]
        for position, entry in enumerate(entries):
            entry.position = position
        return entries

    def _take_system(self, told: list[Said], node: Node, notes: ReadNotes) -> None:
        known = {entry.print for entry in self.system}
        for one in told:
            if not self.entries and print_of(one) not in known:
                self.system.append(Entry(one, node, print_of(one)))
            elif print_of(one) not in known:
                notes.count(notes.not_understood, "system message that came later")


@lru_cache(maxsize=2048)
def print_of(said: Said) -> int:
    """Return a number that is equal for messages that say the same, whatever ids their calls have."""
    asked = tuple((one.name, alike(one.arguments)) for one in said.asked)
    answered = tuple(alike(one.result) for one in said.answered)
    text = None if said.answered and said.role == "tool" else (said.text or "").strip() or None
    return hash((said.role, text, asked, answered, said.content))


def _overlap(known: list[int], told: list[int]) -> tuple[int, int]:
    """Return how many of the *known* messages stay, and since which of the *told* ones there is news."""
    for length in range(min(len(known), len(told)), 0, -1):
        if told[length - 1] == known[-1] and told[:length] == known[-length:]:
            return len(known), length
    if told == known[: len(told)]:
        return len(known), len(told)
    alike_so_far = 0
    for mine, theirs in zip(known, told, strict=False):
        if mine != theirs:
            break
        alike_so_far += 1
    if alike_so_far and len(told) >= len(known):
        return alike_so_far, alike_so_far
    return len(known), alike_so_far
