"""Records of several kinds in one file: told apart by a field, and a call's start paired with its end."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from quality_lab.formats.mapping import field_words as words
from quality_lab.formats.mapping.paths import Node
from quality_lab.formats.mapping.survey import Field, fields_of, folded
from quality_lab.formats.toml_reading import quoted

_MOST_KINDS = 20
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """The records of one kind: those whose *field* has one of these *values* (no field: all there are)."""

    records: Sequence[Node]
    field: Field | None = None
    values: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()  # those of the values that say that a call failed
    answers: bool = False  # they tell how a call of another record ended
    calls: bool = False

    def condition(self) -> str:
        """Return the condition by which a map tells these records, in TOML."""
        assert self.field is not None  # only then are there several kinds
        values = [quoted(value) for value in self.values]
        wanted = values[0] if len(values) == 1 else f"[{', '.join(values)}]"
        return f"{{ path = {quoted(self.field.path)}, equals = {wanted} }}"


def events_of(records: Sequence[Node]) -> list[Event]:
    """Return the kinds of *records*, calls first; nothing where there is only one kind."""
    fields = fields_of(records)
    for word in words.KIND:
        for keys, one in fields.items():
            if (
                len(keys) == 1
                and one.word == word
                and one.mostly("string")
                and 2 <= len(one.values) <= _MOST_KINDS
            ):
                found = _kinds(records, one)
                if found:
                    return found
    return []


def _kinds(records: Sequence[Node], by: Field) -> list[Event]:
    groups: dict[str, list[Node]] = defaultdict(list)
    for record in records:
        node = record.members.get(by.keys[0])
        groups[(node.text if node is not None else None) or ""].append(record)
    if "" in groups:
        return []
    stems: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for value in groups:
        stem, part = _stem_of(value)
        stems[stem][part].append(value)
    events: list[Event] = []
    paired: set[str] = set()
    for stem, parts in stems.items():
        ends = [*parts["end"], *parts["fail"]]
        if parts["start"] and ends:
            paired.update(parts["start"], ends)
            events += [
                _event(groups, by, parts["start"], calls=True),
                _event(groups, by, ends, failing=tuple(parts["fail"]), answers=True),
            ]
        elif stem and parts["end"] and parts["fail"]:
            paired.update(ends)
            events.append(_event(groups, by, ends, failing=tuple(parts["fail"]), calls=True))
    others = [value for value in groups if value not in paired]
    shapes = {
        tuple(sorted({name for record in groups[value] for name in record.members})) for value in groups
    }
    if not events and (len(shapes) == 1 or not _are_apart(groups)):
        return []
    return events + [_event(groups, by, [value]) for value in others]


def _event(
    groups: dict[str, list[Node]],
    by: Field,
    values: list[str],
    *,
    failing: tuple[str, ...] = (),
    answers: bool = False,
    calls: bool = False,
) -> Event:
    records = [record for value in values for record in groups[value]]
    return Event(
        records=records, field=by, values=tuple(values), failing=failing, answers=answers, calls=calls
    )


def _stem_of(value: str) -> tuple[str, str]:
    """Return what an event is about, and which part of it: start, end, fail, or nothing of these."""
    parts = [part.casefold() for part in _PARTS.findall(value)]
    for last, kind in ((words.STARTS, "start"), (words.FAILS, "fail"), (words.ENDS, "end")):
        if parts and parts[-1] in last:
            return "_".join(parts[:-1]), kind
    return folded(value), ""


def _are_apart(groups: dict[str, list[Node]]) -> bool:
    """Say whether some two kinds share less than half of their fields."""
    names = [{name for record in group for name in record.members} for group in groups.values()]
    return any(
        len(one & other) < len(one | other) / 2
        for place, one in enumerate(names)
        for other in names[place + 1 :]
    )
