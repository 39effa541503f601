"""Recorded results that a re-run may serve, each once, by one of three policies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from quality_lab.json_text import canonical
from quality_lab.matching.case import Case

Policy = Literal["fifo", "strict", "by_args"]
POLICIES: tuple[Policy, ...] = ("fifo", "strict", "by_args")
_LONG = 10**15  # a longer number may be written in another way
Grade = Literal["recorded", "edited", "simulated", "live", "unavailable"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TapeRecord:
    """One result, for the call with these arguments."""

    tool: str
    args: str | None  # canonical JSON; None where they were not captured
    result: Any
    error: bool
    grade: Grade  # recorded as it was, or edited by a person


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """A record that was served, and whether it was recorded for other arguments than the call's."""

    record: TapeRecord
    drift: bool


class Tape:
    """The records of one trial.

    `fifo` serves a tool's records in order, whatever the arguments, and tells of drift. `strict` and
    `by_args` serve the first unused record of equal arguments; under `strict` a record that was not used is
    a failure.
    """

    def __init__(self, records: Sequence[TapeRecord], policy: Policy) -> None:
        self.policy = policy
        self._waiting = list(records)

    def serve(self, tool: str, args: Any) -> Served | None:
        """Return the record for a call, and take it off the tape; None is a miss."""
        wanted = args_key(args)
        for at, record in enumerate(self._waiting):
            if record.tool == tool and (self.policy == "fifo" or record.args == wanted):
                return Served(record=self._waiting.pop(at), drift=record.args != wanted)
        return None

    @property
    def unused(self) -> tuple[TapeRecord, ...]:
        """The records that nobody asked for."""
        return tuple(self._waiting)


def args_key(args: Any) -> str:
    """Return the canonical text of arguments; plain ones by a shorter way to the same text.

    >>> args_key({"b": "x", "a": 1}) == canonical({"a": 1, "b": "x"}) == '{"a":1,"b":"x"}'
    True
    """
    if type(args) is dict and all(map(_is_plain, args.values())):
        text = json.dumps(args, sort_keys=True, separators=(",", ":"))
        if "\\" not in text:
            return text
    return canonical(args)


def _is_plain(value: Any) -> bool:
    kind = type(value)
    return kind is str or kind is bool or value is None or (kind is int and -_LONG < value < _LONG)


def tape_of(case: Case) -> list[TapeRecord]:
    """Return the results that a re-run of *case* may serve: its tape, else those of its recorded and its
    corrected calls.
    """
    recorded = [_record(call, "recorded") for call in case.kept_calls if "result" in call]
    if case.tape is None:
        corrected = (_record(call, "edited") for call in case.corrected or () if "result" in call)
        return [*recorded, *corrected]
    return [_record(call, _grade(call, recorded)) for call in case.tape if "result" in call]


def _record(call: Mapping[str, Any], grade: Grade) -> TapeRecord:
    return TapeRecord(
        tool=call["tool"],
        args=args_key(call["args"]) if "args" in call else None,
        result=call["result"],
        error=call.get("error") is True,
        grade=grade,
    )


def _grade(call: Mapping[str, Any], recorded: Sequence[TapeRecord]) -> Grade:
    """Return "recorded" for a record that says what a recorded call says, "edited" for any other."""
    as_recorded = _record(call, "recorded")
    wanted = (as_recorded.tool, as_recorded.args, canonical(as_recorded.result), as_recorded.error)
    kept = ((each.tool, each.args, canonical(each.result), each.error) for each in recorded)
    return "recorded" if wanted in kept else "edited"
