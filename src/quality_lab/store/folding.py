"""What several versions of one call or one label come to: one row, or a conflict in which neither counts.

A pure rule over the set of versions, so that the order in which files are loaded cannot matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from quality_lab.json_text import same_value

Row = Mapping[str, object]

# Upstream sets these to null when the thing they point to is deleted: null then yields to the value.
_NULLED_UPSTREAM = frozenset({"contact_id", "message_id", "outbound_id", "author"})
# Of upstream's exports who loads a file says it, and may say it of one and not of the other.
_SAID_OF_A_FILE = frozenset({"style"})
# A shorter record of the same label does not know these.
_NOT_IN_EVERY_EXPORT = frozenset({"source", "tool_name", "conversation_uid"})
_JSON_COLUMNS = frozenset({"arguments", "result", "score", "expected_arguments"})
# What came back, and what was read from it: it stands and falls together.
_ANSWER = (
    "result",
    "result_state",
    "empty_result",
    "is_error",
    "error_origin",
    "error_kind",
    "error_text",
    "outcome",
    "gate_reason",
)
_UNANSWERED = frozenset({"absent", "pending", "not_captured"})
_FLAGS = ("in_trace", "in_feedback", "in_case")
_ORIGIN = ("source_id", "line")


@dataclass(frozen=True, slots=True)
class Folded:
    """One row that stands for all versions, or None where they contradict each other."""

    row: dict[str, object] | None
    columns: tuple[str, ...] = ()  # on which they contradict each other


def fold_call(versions: Sequence[Row]) -> Folded:
    """Return the call that the *versions* come to; copies in regression cases yield to what an export says."""
    exported = [one for one in versions if one["in_trace"] or one["in_feedback"]]
    if not exported:
        fullest: Row = max(versions, key=_completeness)
        return Folded(dict(fullest))
    folded = _fold(exported, _forgiving(exported, answer=True))
    if folded.row is None:
        return folded
    for flag in _FLAGS:
        folded.row[flag] = any(one[flag] for one in versions)
    best = min(exported, key=lambda one: (not one["in_trace"], *_origin(one)))
    folded.row["source_id"], folded.row["line"] = best["source_id"], best["line"]
    return folded


def fold_feedback(versions: Sequence[Row]) -> Folded:
    """Return the label that the *versions* come to."""
    folded = _fold(versions, _forgiving(versions, answer=False))
    if folded.row is not None:
        folded.row["source_id"], folded.row["line"] = min(_origin(one) for one in versions)
    return folded


def _forgiving(versions: Sequence[Row], *, answer: bool) -> Callable[[str], bool]:
    if any(one["key_space"] == "quality_lab" for one in versions):
        allowed = _NULLED_UPSTREAM | (_SAID_OF_A_FILE if answer else _NOT_IN_EVERY_EXPORT)
        return allowed.__contains__
    return lambda column: True


def _fold(versions: Sequence[Row], forgiving: Callable[[str], bool]) -> Folded:
    row: dict[str, object] = {}
    against: list[str] = []
    answered = [one for one in versions if one.get("result_state") not in _UNANSWERED]
    for column in versions[0]:
        if column in _FLAGS or column in _ORIGIN:
            continue
        first = versions[0][column]
        if _all_are(first, column, versions):
            row[column] = first
            continue
        group = (answered or versions) if column in _ANSWER and forgiving(column) else versions
        values = _distinct(column, (one[column] for one in group))
        if len(values) > 1 and forgiving(column):
            values = [value for value in values if value is not None]
        row[column] = min(values, key=_text) if values else None
        if len(values) > 1:
            against.append(column)
    return Folded(None, tuple(against)) if against else Folded(row)


def _all_are(value: object, column: str, versions: Sequence[Row]) -> bool:
    """Say whether all versions have the *value* in a column, as they have in nearly every one."""
    if isinstance(value, float):  # 0.0 is written in two ways
        return False
    for one in versions:
        other = one[column]
        if other is not value and (other != value or type(other) is not type(value)):
            return False
    return True


def _distinct(column: str, values: Iterable[object]) -> list[object]:
    found: list[object] = []
    same: list[object] = []  # texts equal in value to one of `found`: the least of them stands
    for value in values:
        if not any(_equal(column, value, known) for known in found):
            found.append(value)
        else:
            same.append(value)
    for index, known in enumerate(found):
        twins = [value for value in same if _equal(column, value, known)]
        found[index] = min([known, *twins], key=_text)
    return found


def _equal(column: str, left: object, right: object) -> bool:
    if left == right and type(left) is type(right):
        return True
    if column in _JSON_COLUMNS and isinstance(left, str) and isinstance(right, str):
        return same_value(left, right)
    return False


def _text(value: object) -> tuple[int, str]:
    text = "" if value is None else str(value)
    return (len(text), text)


def _origin(version: Row) -> tuple[int, int]:
    source_id, line = version["source_id"], version["line"]
    assert isinstance(source_id, int)  # columns of the schema that are never null
    assert isinstance(line, int)
    return (source_id, line)


def _completeness(version: Row) -> tuple[int, str]:
    known = sum(value is not None for value in version.values())
    return (known, str(sorted((name, str(value)) for name, value in version.items())))
