"""Answers brought to their calls, and calls put in the order of their times, once a file is read to its end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from quality_lab.formats.contract import Unit
from quality_lab.formats.mapping.endings import Answer, answered
from quality_lab.formats.mapping.rules import Map
from quality_lab.records import ReadNotes, Record, SetAside, ToolCall

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_ANSWER = SetAside(kind="answer", reason="its result stands with its call")
_STRAY = SetAside(kind="answer", reason="no call is here that it could belong to")
Where = tuple[int, int]  # unit, record


def joined(units: Iterable[Unit], a_map: Map, notes: ReadNotes) -> Iterator[Unit]:
    """Yield *units* with each answer's result in its call; the answers themselves are set aside.

    An answer belongs to the oldest call of its conversation that waits for one: with its id where both name
    one, else of its tool, where it names one.
    """
    held = list(units)
    records: list[list[Record | Answer]] = [list(unit.records) for unit in held]
    waiting: dict[str, list[Where]] = defaultdict(list)
    for unit, made in enumerate(records):
        for place, record in enumerate(made):
            if isinstance(record, ToolCall):
                waiting[record.conversation_id].append((unit, place))
            elif isinstance(record, Answer):
                found = _call_of(record, waiting[record.conversation_id], records)
                if found is None:
                    notes.count(notes.missing, "result without call")
                    made[place] = _STRAY
                    continue
                waiting[record.conversation_id].remove(found)
                call = records[found[0]][found[1]]
                assert isinstance(call, ToolCall)  # only calls wait
                records[found[0]][found[1]] = answered(call, record)
                made[place] = _ANSWER
                notes.count(notes.merged, "call told at its start and at its end")
    if any(rule.answers for rule in a_map.records):
        _settle(waiting, records, notes)
    if a_map.file.by_time:
        _number_by_time(records)
    for one, made in zip(held, records, strict=True):
        kept = tuple(record for record in made if not isinstance(record, Answer))
        yield Unit(one.line, kept, one.rejects, one.blank)


def _call_of(answer: Answer, waiting: list[Where], records: list[list[Record | Answer]]) -> Where | None:
    for where in waiting:
        call = records[where[0]][where[1]]
        assert isinstance(call, ToolCall)  # only calls wait
        if answer.call_id is not None and call.call_id is not None:
            if answer.call_id == call.call_id:
                return where
        elif answer.tool_name is None or answer.tool_name == call.tool_name:
            return where
    return None


def _settle(waiting: dict[str, list[Where]], records: list[list[Record | Answer]], notes: ReadNotes) -> None:
    """Say of calls that no answer came for that they have no result."""
    for unit, place in (where for several in waiting.values() for where in several):
        call = records[unit][place]
        assert isinstance(call, ToolCall)  # only calls wait
        if call.result_state in ("not_captured", "absent"):
            records[unit][place] = replace(call, result_state="absent")
            notes.count(notes.missing, "call without result")


def _number_by_time(records: list[list[Record | Answer]]) -> None:
    """Give the calls of each turn their places anew, in the order of their times."""
    turns: dict[tuple[str, int | None], list[tuple[datetime, Where]]] = defaultdict(list)
    for unit, made in enumerate(records):
        for place, record in enumerate(made):
            if isinstance(record, ToolCall):
                at = record.created_at or _LONG_AGO
                turns[record.conversation_id, record.turn].append((at, (unit, place)))
    for calls in turns.values():
        for number, (_, (unit, place)) in enumerate(sorted(calls)):
            call = records[unit][place]
            assert isinstance(call, ToolCall)  # as found above
            records[unit][place] = replace(call, call_index=number)
