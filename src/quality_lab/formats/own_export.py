"""The workbench's own export of calls and labels: every field of the record, under its own name.

What `quality-lab export` writes without `--compat`. A call that was seen in several kinds of files names
them all, and is as many records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from typing import Any, Final, get_type_hints

import msgspec

from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object
from quality_lab.formats.flat import FlatDecoder
from quality_lab.formats.moments import iso_moment
from quality_lab.formats.units import RawUnit
from quality_lab.formats.validation import Refused
from quality_lab.records import Feedback, Record, SeenIn, ToolCall

JSON_FIELDS: Final = frozenset({"arguments", "result", "score", "expected_arguments"})
_ABSENT = msgspec.Raw()


class _Line(msgspec.Struct):
    record_type: str


def _decoder(record: type, **other: Any) -> FlatDecoder[Any]:
    """Return the decoder of the lines of a record class; *other* are fields of another type in the line."""
    hints = get_type_hints(record)
    known: list[Any] = [("record_type", str)]
    for field in fields(record):
        kind, default = hints[field.name], field.default
        if field.name in other:
            kind, default = other[field.name], msgspec.NODEFAULT
        elif field.name in JSON_FIELDS:
            kind, default = msgspec.Raw, _ABSENT
        elif kind == datetime | None:
            kind = str | None
        known.append(
            (field.name, kind) if default in (MISSING, msgspec.NODEFAULT) else (field.name, kind, default)
        )
    return FlatDecoder(msgspec.defstruct(f"_{record.__name__}", known, kw_only=True, gc=False))


_line = msgspec.json.Decoder(_Line)
_call = _decoder(ToolCall, seen_in=list[SeenIn])
_feedback = _decoder(Feedback)


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    def records(text: bytes, line: int) -> tuple[Record, ...]:
        record_type = _line.decode(text).record_type
        if record_type == "feedback":
            return (Feedback(**_values(_feedback.decode(text, reading.notes))),)
        if record_type != "tool_call":
            raise Refused("record_type", f"wanted tool_call or feedback, got {record_type[:40]!r}")
        values = _values(_call.decode(text, reading.notes))
        seen_in = values.pop("seen_in")
        if not seen_in:
            raise Refused("seen_in", "wanted at least one of trace, feedback and case, got none")
        return tuple(ToolCall(**values, seen_in=one) for one in seen_in)

    return each_object(raws, reading, records)


def _values(found: Any) -> dict[str, Any]:
    """Return the fields of a decoded line as those of its record."""
    values = msgspec.structs.asdict(found)
    del values["record_type"]
    for name in JSON_FIELDS & values.keys():
        values[name] = str(values[name], "utf-8") or None
    if values["created_at"] is not None:
        values["created_at"] = iso_moment(values["created_at"], "created_at")
    return values


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    return {
        'the key "record_type"': found.get("record_type") in ("tool_call", "feedback"),
        'the key "key_space"': isinstance(found.get("key_space"), str),
        'the key "key"': isinstance(found.get("key"), str),
    }


FORMAT = ObjectFormat(
    name="quality_lab.export",
    title="The workbench's own export of calls and labels",
    recognised_by='Objects with "record_type" (tool_call or feedback), "key_space" and "key".',
    key="that of the format that the record came from, which stands in it",
    expectations=_expectations,
    shapes=("record_type key_space key tool_name arguments",),
    reader=_read,
)
