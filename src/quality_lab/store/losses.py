"""What is noted of each record on its way into the tables: what foreign labels mean, and what was not captured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from quality_lab.formats.label_aliases import LabelAliases, score_in_words
from quality_lab.formats.validation import cut_name, tally
from quality_lab.records import Feedback, Message, ReadNotes, Record, ToolCall

if TYPE_CHECKING:
    from quality_lab.formats.columns import Batch

_WHOLE = frozenset({"object", "json_string", "invalid_json", "present"})


@dataclass(kw_only=True, slots=True)
class Losses:
    """What was noted of the records of one file; *tables* are asked in their order what a label means."""

    format_name: str = ""
    tables: tuple[LabelAliases, ...] = ()
    made: dict[str, int] = field(default_factory=dict)  # tool_calls, messages → records
    not_captured: dict[str, int] = field(default_factory=dict)  # e.g. "result absent" → calls

    def noted(self, record: Record, notes: ReadNotes) -> Record:
        """Return *record*, labelled as the tables say, and count what it tells of its file."""
        if isinstance(record, ToolCall):
            self.made["tool_calls"] = self.made.get("tool_calls", 0) + 1
            if record.arguments_state not in _WHOLE:
                name = f"arguments {record.arguments_state}"
                self.not_captured[name] = self.not_captured.get(name, 0) + 1
            if record.result_state not in _WHOLE:
                name = f"result {record.result_state}"
                self.not_captured[name] = self.not_captured.get(name, 0) + 1
        elif isinstance(record, Message):
            self.made["messages"] = self.made.get("messages", 0) + 1
        elif isinstance(record, Feedback) and record.label is None:
            return self._labelled(record, notes)
        return record

    def noted_at_once(self, batch: Batch) -> None:
        """Count what calls that were read many at once tell of their file."""
        self.made["tool_calls"] = self.made.get("tool_calls", 0) + len(batch.lines)
        for state, count in batch.arguments_states().items():
            if state not in _WHOLE:
                name = f"arguments {state}"
                self.not_captured[name] = self.not_captured.get(name, 0) + count

    def _labelled(self, feedback: Feedback, notes: ReadNotes) -> Feedback:
        for table in self.tables:
            found, known = table.labelled(feedback, format_name=self.format_name)
            if known:
                if feedback.label_raw is not None:
                    _untally(notes.unmapped_labels, feedback.label_raw)
                return found
        score = score_in_words(feedback) if feedback.label_raw is None else None
        if score is not None:
            tally(notes, notes.unmapped_labels, score)
        return feedback


def _untally(counts: dict[str, int], name: str) -> None:
    """Take back that a reader, which knows no table, counted *name* as a label that nobody knows."""
    counted = cut_name(name) if cut_name(name) in counts else "…"
    if counts.get(counted, 0) > 1:
        counts[counted] -= 1
    else:
        counts.pop(counted, None)


def merged_from(rules: Mapping[str, int], made: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Return how many calls and messages a file holds as written, and how many they are.

    >>> merged_from({"call in the history of a prompt": 3, "span written again": 1}, {"tool_calls": 2})
    {'tool_calls': {'before': 5, 'after': 2}}
    """
    found = {}
    for table, word in (("tool_calls", "call"), ("messages", "message")):
        again = sum(times for rule, times in rules.items() if word in rule.split())
        if again:
            found[table] = {"before": made.get(table, 0) + again, "after": made.get(table, 0)}
    return found
