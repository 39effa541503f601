"""JSON Schemas of arguments, as production's tools show them: what is optional is not nullable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Shape = dict[str, Any]


def arguments(properties: Mapping[str, Shape] | None = None, *, required: Iterable[str] = ()) -> Shape:
    """Return the schema of an argument object that takes these keys and no others.

    >>> arguments({"query": text()}, required=["query"])["required"]
    ['query']
    """
    shape: Shape = {"type": "object", "properties": dict(properties or {}), "additionalProperties": False}
    needed = list(required)
    return {**shape, "required": needed} if needed else shape


def text(description: str | None = None) -> Shape:
    """Return the schema of a string."""
    return _described({"type": "string"}, description)


def positive(description: str | None = None) -> Shape:
    """Return the schema of a number above 0."""
    return _described({"type": "number", "exclusiveMinimum": 0}, description)


def truth(description: str | None = None) -> Shape:
    """Return the schema of a boolean."""
    return _described({"type": "boolean"}, description)


def one_of(*values: str, description: str | None = None) -> Shape:
    """Return the schema of a string out of a closed list."""
    return _described({"type": "string", "enum": list(values)}, description)


def free_keys(description: str | None = None) -> Shape:
    """Return the schema of an object with any keys."""
    return _described({"type": "object", "additionalProperties": {}}, description)


def _described(shape: Shape, description: str | None) -> Shape:
    return shape if description is None else {**shape, "description": description}
