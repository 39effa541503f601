"""The columns of an answer, read off the annotations of its row class: their types, units and intervals."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from typing import Any, Literal
from uuid import UUID

Kind = Literal["text", "integer", "number", "flag", "time", "date", "list", "record", "json"]
Unit = Literal["share", "count", "number", "ms", "time", "text", "path", "uid", "json", "flag"]

_KINDS: dict[type, Kind] = {
    bool: "flag", int: "integer", float: "number", Decimal: "number",
    str: "text", UUID: "text", datetime: "time", date: "date",
}  # fmt: skip  # one line a family
_UNITS: dict[Kind, Unit] = {
    "text": "text", "integer": "count", "number": "number", "flag": "flag", "time": "time",
    "date": "time", "list": "text", "record": "json", "json": "json",
}  # fmt: skip  # one line a family


@dataclass(frozen=True, slots=True)
class Shape:
    """The type of a value: its kind, and what it is made of where it is a list or a record."""

    kind: Kind
    element: Shape | None = None  # of a list
    fields: tuple[tuple[str, Shape], ...] = ()  # of a record


@dataclass(frozen=True, slots=True)
class Column:
    """One column of an answer."""

    name: str
    shape: Shape
    unit: Unit
    help: str  # what it means, one sentence; "" where its row class does not say
    compact: bool  # False: left out where the answer is shown on a page or a terminal
    interval: tuple[str, str] | None  # the columns with its lower and upper bound

    @property
    def is_number(self) -> bool:
        """Return whether its values are right-aligned figures."""
        return self.unit in ("share", "count", "number", "ms") and self.shape.kind in ("integer", "number")


@cache
def columns_of(row_class: type) -> tuple[Column, ...]:
    """Return the columns of a row class in the order of its fields.

    A field's metadata may say `unit`, `help`, `compact` and `interval` (two column names). Without the last,
    a share looks for its bounds under its own first words (`error_rate`: `error_low`, `error_high`), then
    under `low` and `high`.

    Raises: TypeError if *row_class* is not a dataclass.
    """
    if not dataclasses.is_dataclass(row_class):
        raise TypeError(f"an answer's row class is a dataclass; got {row_class!r}")
    hints = typing.get_type_hints(row_class)
    names = {field.name for field in dataclasses.fields(row_class)}
    found = []
    for field in dataclasses.fields(row_class):
        shape = _shape(hints[field.name])
        unit: Unit = field.metadata.get("unit") or _unit(field.name, shape)
        found_bounds = _interval(field.name, names) if unit == "share" else None
        found.append(
            Column(
                name=field.name,
                shape=shape,
                unit=unit,
                help=field.metadata.get("help", ""),
                compact=field.metadata.get("compact", True),
                interval=field.metadata.get("interval", found_bounds),
            )
        )
    return tuple(found)


def _unit(name: str, shape: Shape) -> Unit:
    if shape.kind == "text" and name == "file":
        return "path"
    return "uid" if shape.kind == "text" and name.endswith("_uid") else _UNITS[shape.kind]


def _interval(name: str, names: set[str]) -> tuple[str, str] | None:
    if name.endswith(("low", "high")):
        return None
    words = name.split("_")
    for length in range(len(words), 0, -1):
        start = "_".join(words[:length])
        if {f"{start}_low", f"{start}_high"} <= names:
            return f"{start}_low", f"{start}_high"
    is_rate = words[-1] in ("rate", "share")
    return ("low", "high") if is_rate and {"low", "high"} <= names else None


def _shape(hint: Any) -> Shape:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        some = [argument for argument in arguments if argument is not type(None)]
        return _shape(some[0]) if len(some) == 1 else Shape("json")
    if origin is Literal:
        return _shape(type(arguments[0]))
    if isinstance(origin, type) and issubclass(origin, Iterable) and not issubclass(origin, Mapping):
        return Shape("list", element=_shape(arguments[0]))
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        names = [field.name for field in dataclasses.fields(hint)]
        return Shape("record", fields=tuple((name, _shape(hints[name])) for name in names))
    return Shape(_KINDS.get(hint, "json"))


def plain(value: Any) -> Any:
    """Return *value* as something that `json.dumps` takes: times in ISO 8601 with Z, rows as dictionaries.

    >>> plain(datetime(2026, 6, 1, 8, tzinfo=UTC))
    '2026-06-01T08:00:00Z'
    """
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Iterable):
        return [plain(inner) for inner in value]
    return float(value) if isinstance(value, Decimal) else str(value)


def for_arrow(value: Any, shape: Shape) -> Any:
    """Return *value* as Arrow takes it for a column of this shape; JSON of unknown shape goes as its text."""
    if value is None:
        return None
    if shape.kind == "list" and shape.element is not None:
        return [for_arrow(inner, shape.element) for inner in value]
    if shape.kind == "record":
        return {name: for_arrow(getattr(value, name), inner) for name, inner in shape.fields}
    if shape.kind == "json":
        return json.dumps(plain(value), ensure_ascii=False)
    if shape.kind == "number":
        return float(value)
    return str(value) if shape.kind == "text" else value
