"""Arguments that are new in every call and that nobody told the agent: ids it made up, and the time it was.

A rule that pins such a value would never match again. But an id that the agent was told is what a case is
often about, so a value that was said before, or came back from a call, is never taken for volatile.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from quality_lab.json_text import JsonTextError, canonical, parse
from quality_lab.metrics.argument_samples import ArgumentSample

Path = tuple[str, ...]
ANY = {"$any": True}
_CALLS_TO_COMPARE = 3  # fewer say nothing about "every"
_SECONDS_AROUND_A_CALL = 300.0  # a time that is "now" lies that near to the call
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_OPAQUE = re.compile(r"(?:[a-z]{1,8}[_-])?(?=(?:[a-zA-Z]*\d){4})(?=(?:\d*[a-zA-Z]){4})[0-9a-zA-Z]{16,}")


def volatile_paths(
    arguments: Any, samples: Sequence[ArgumentSample], *, told: str, called_at: datetime | None
) -> set[Path]:
    """Return the paths in *arguments* whose values were made for this call alone.

    Such a value looks like an id or like the time of the call, differs in each of the *samples* that have it
    (at least three), and does not stand in *told*, which is all that the agent could have it from.

    >>> calls = [ArgumentSample(arguments=f'{{"key": "0000000a-0000-4000-8000-00000000000{n}", "sum": {n}}}',
    ...                         created_at=None) for n in range(3)]
    >>> volatile_paths(parse(calls[0].arguments), calls, told="", called_at=None)
    {('key',)}
    >>> volatile_paths(parse(calls[0].arguments), calls, told="0000000a-0000-4000-8000-000000000000", called_at=None)
    set()
    """
    suspects = {
        path: value
        for path, value in _leaves(arguments)
        if _is_made_up(value, called_at) and str(value) not in told
    }
    if not suspects:
        return set()
    seen: dict[Path, list[str]] = {path: [] for path in suspects}
    for sample in samples:
        try:
            leaves = dict(_leaves(parse(sample.arguments)))
        except JsonTextError:
            continue
        for path, values in seen.items():
            if path in leaves:
                values.append(canonical(leaves[path]))
    return {
        path
        for path, values in seen.items()
        if len(values) >= _CALLS_TO_COMPARE and len(set(values)) == len(values)
    }


def loosened(rules: Any, paths: set[Path], *, keep_one: bool = False) -> Any:
    """Return argument *rules* that take any value at *paths*.

    With *keep_one* (of a forbidden call) they stay as they are where no other argument would be left to tell
    the wrong call from a right one.
    """
    if not paths or (keep_one and not set(dict(_leaves(rules))) - paths):
        return rules
    return _loosened(rules, paths, ())


def _loosened(rules: Any, paths: set[Path], here: Path) -> Any:
    if here in paths:
        return dict(ANY)
    if isinstance(rules, Mapping) and "$literal" not in rules:
        return {key: _loosened(value, paths, (*here, key)) for key, value in rules.items()}
    return rules


def _leaves(value: Any, here: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the values in objects by their path; a list is one value, since its places move."""
    if isinstance(value, Mapping):
        for key, held in value.items():
            yield from _leaves(held, (*here, key))
    else:
        yield here, value


def _is_made_up(value: Any, called_at: datetime | None) -> bool:
    if isinstance(value, str):
        return bool(_UUID.fullmatch(value) or _OPAQUE.fullmatch(value)) or _is_now(_moment(value), called_at)
    if isinstance(value, int) and not isinstance(value, bool):
        return _is_now(float(value), called_at) or _is_now(value / 1000, called_at)
    return False


def _moment(text: str) -> float | None:
    if "T" not in text and " " not in text:
        return None  # a day is a wish, not a clock
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _is_now(moment: float | None, called_at: datetime | None) -> bool:
    if moment is None or called_at is None:
        return False
    return abs(moment - called_at.timestamp()) <= _SECONDS_AROUND_A_CALL
