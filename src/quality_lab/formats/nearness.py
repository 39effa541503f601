"""How near a file that no format takes is to each: the keys of a format that stand in it, and whether in their place.

A *shape* is what an object of a format is told by, as paths of keys with blanks between them: ``messages.role``
is the key ``role`` of the object under ``messages``, or of any object in the list there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_ELSEWHERE = 0.5  # of a key that is there, but not in its place
_SAYS_LITTLE = frozenset(
    ("id", "type", "name", "object", "status", "label", "value", "input", "description", "info", "model")
)
_DEEPEST = 6
_MOST_KEYS = 20_000  # of one object


def nearness(objects: Sequence[Mapping[str, Any]], shapes: Sequence[str]) -> float:
    """Return from 0 to 1 how near the nearest of *objects* comes to the nearest of *shapes*.

    It is the share of the shape's keys that are there; one that stands in another place counts half, or nothing
    where it stands in files of every kind.

    >>> nearness([{"messages": [{"role": "user"}]}], ["messages.role messages.content"])
    0.5
    >>> nearness([{"history": [{"role": "user"}]}], ["messages.role messages.content"])
    0.25
    """
    paths = [[path.split(".") for path in shape.split()] for shape in shapes]
    best = 0.0
    for one in objects:
        anywhere = set(_keys(one)) - _SAYS_LITTLE
        for shape in paths:
            met = sum(
                1.0 if _stands(one, path) else _ELSEWHERE if path[-1] in anywhere else 0.0 for path in shape
            )
            best = max(best, met / len(shape))
    return best


def _stands(value: Any, path: Sequence[str]) -> bool:
    if isinstance(value, list):
        return any(_stands(one, path) for one in value[:20])
    if not isinstance(value, Mapping) or path[0] not in value:
        return False
    return len(path) == 1 or _stands(value[path[0]], path[1:])


def _keys(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys in an object and in what it holds, those near the top first."""
    level: list[Any] = [value]
    seen = 0
    for _ in range(_DEEPEST):
        below: list[Any] = []
        for one in level:
            if isinstance(one, Mapping):
                yield from one
                seen += len(one)
                below.extend(one.values())
            elif isinstance(one, list):
                below.extend(one[:20])
            if seen > _MOST_KEYS:
                return
        level = below
