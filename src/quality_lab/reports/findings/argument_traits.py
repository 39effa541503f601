"""What holds of a call's arguments, one path at a time, so that wrong calls can be told from right ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from quality_lab import json_text

_DEEPEST = 6
_MOST_TRAITS = 400  # of one call: an argument of a thousand entries is not read one by one


@dataclass(frozen=True, slots=True, order=True)
class Trait:
    """One thing that holds of the argument at a path."""

    path: str  # `$.amountMode`; entries of a list are `$.items[]`
    kind: str  # value, type, size, shape
    value: str

    @property
    def name(self) -> str:
        """Return the argument's own name, without the path to it.

        >>> Trait("$.order.items[].qty", "type", "text").name
        'qty'
        """
        return self.path.removeprefix("$").replace("[]", "").rpartition(".")[2] or self.path

    def words(self) -> str:
        """Return the trait as it reads after the argument's name."""
        if self.kind == "value":
            return f"is {self.value}"
        return f"is a {self.value}" if self.kind == "type" else f"looks like {self.value}"


def traits(arguments: str) -> frozenset[Trait]:
    """Return what holds of a call's arguments (JSON text); nothing where they cannot be read.

    >>> sorted(trait.value for trait in traits('{"amount": 20000}'))
    ['20000', 'between 10,000 and 100,000', 'number']
    """
    try:
        value = json_text.parse(arguments)
    except (ValueError, RecursionError):
        return frozenset()
    found: set[Trait] = set()
    for trait in _walk(value, "$", 0):
        found.add(trait)
        if len(found) >= _MOST_TRAITS:
            break
    return frozenset(found)


def paths_that_differ(arguments: str, expected: str) -> frozenset[str]:
    """Return the paths at which two arguments differ, at the first level of objects alone.

    >>> sorted(paths_that_differ('{"a": 1, "b": 2}', '{"a": 1.0, "b": 3, "c": 4}'))
    ['$.b', '$.c']
    """
    try:
        made, wanted = json_text.parse(arguments), json_text.parse(expected)
    except (ValueError, RecursionError):
        return frozenset()
    if not isinstance(made, dict) or not isinstance(wanted, dict):
        return frozenset()
    absent = object()
    return frozenset(
        f"$.{key}" for key in {*made, *wanted} if made.get(key, absent) != wanted.get(key, absent)
    )


def _walk(value: Any, path: str, depth: int) -> Iterator[Trait]:
    if isinstance(value, dict) and depth < _DEEPEST:
        for key, inner in value.items():
            yield from _walk(inner, f"{path}.{key}", depth + 1)
        return
    if isinstance(value, list) and depth < _DEEPEST:
        for inner in value:
            yield from _walk(inner, f"{path}[]", depth + 1)
        return
    yield from _of_one(value, path)


def _of_one(value: Any, path: str) -> Iterator[Trait]:
    if isinstance(value, bool):
        yield Trait(path, "type", "boolean")
        yield Trait(path, "value", "true" if value else "false")
    elif value is None:
        yield Trait(path, "value", "null")
    elif isinstance(value, (int, Decimal, float)):
        yield Trait(path, "type", "number")
        yield Trait(path, "value", str(value))
        yield Trait(path, "size", _size(value))
    elif isinstance(value, str):
        yield Trait(path, "type", "text")
        yield Trait(path, "value", f'"{value[:80]}"')
        yield Trait(path, "shape", _shape(value))


def _size(number: int | Decimal | float) -> str:
    if number == 0:
        return "0"
    power = Decimal(str(number)).adjusted()
    low, high = Decimal(10) ** power, Decimal(10) ** (power + 1)
    sign = "-" if number < 0 else ""
    return f"between {sign}{low:,f} and {sign}{high:,f}"


def _shape(text: str) -> str:
    """Return the shape of a text: letters and digits by their kind, so that dates and codes look alike.

    >>> _shape("2026-05-12"), _shape("12/05/2026"), _shape("USDT")
    ('9999-99-99', '99/99/9999', 'a')
    """
    digits = re.sub(r"\d", "9", text[:40])
    return re.sub(r"[^\W\d_]+", "a", digits)
