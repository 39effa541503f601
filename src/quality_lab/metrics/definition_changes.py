"""What changed between two definitions of a tool, in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

_SAID = (
    "type",
    "format",
    "pattern",
    "default",
    "const",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
)
_LONGEST = 60  # characters of a value that is quoted


class Defined(Protocol):
    """Whatever has the two parts of a definition that a model reads beside the name."""

    @property
    def description(self) -> str | None: ...
    @property
    def parameters(self) -> str | None: ...


def changes(before: Defined, after: Defined) -> tuple[str, ...]:
    """Return one sentence for each difference between two definitions: parameters first, then descriptions.

    Parameters are named by their path: `amount`, `items[].qty`. Differences that these sentences have no
    words for are told as "schema changed".
    """
    old, new = _schema(before.parameters), _schema(after.parameters)
    found: list[str] = []
    if old is not None and new is not None:
        found += _differences(old, new, "")
        if not found and old != new:
            found.append("schema changed")
    elif (old is None) != (new is None):
        found.append(
            "the schema was captured before, not any more" if new is None else "the schema is captured now"
        )
    if (before.description or "") != (after.description or ""):
        found.append("its own description changed" if before.description and after.description else
                     "description added" if after.description else "description removed")  # fmt: skip
    return tuple(found)


def _schema(text: str | None) -> Mapping[str, Any] | None:
    try:
        value = json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _differences(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> Iterator[str]:
    """Yield the differences of two object schemas whose parameters lie below *path*."""
    was, now = _properties(old), _properties(new)
    needed_before, needed_now = _required(old), _required(new)
    for name in [*was, *(name for name in now if name not in was)]:
        full = f"{path}{name}"
        if name not in now:
            yield f"{full} removed"
        elif name not in was:
            needed = ", required" if name in needed_now else ", optional"
            yield f"{full} added ({_type(now[name])}{needed})"
        else:
            if (name in needed_before) != (name in needed_now):
                yield f"{full} is {'required now' if name in needed_now else 'optional now'}"
            yield from _of_one(was[name], now[name], full)


def _of_one(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> Iterator[str]:
    """Yield the differences of one parameter's schema."""
    for word in _SAID:
        if old.get(word) != new.get(word):
            yield f"{path}: {word} {_value(old, word)} became {_value(new, word)}"
    was, now = old.get("enum"), new.get("enum")
    if isinstance(was, list) and isinstance(now, list):
        gone, come = [one for one in was if one not in now], [one for one in now if one not in was]
        if gone:
            yield f"{path}: no longer allows {', '.join(map(_quoted, gone))}"
        if come:
            yield f"{path}: allows {', '.join(map(_quoted, come))} too"
    elif was != now:
        listed = now if isinstance(now, list) else was if isinstance(was, list) else []
        allows = "allows only" if now else "allows any value, not only"
        yield f"{path}: {allows} {', '.join(map(_quoted, listed))}"
    if old.get("description") != new.get("description"):
        yield f"{path}: description changed"
    yield from _differences(old, new, f"{path}.")
    was_items, now_items = old.get("items"), new.get("items")
    if isinstance(was_items, dict) and isinstance(now_items, dict):
        yield from _of_one(was_items, now_items, f"{path}[]")


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    found = schema.get("properties")
    return (
        {name: one for name, one in found.items() if isinstance(one, dict)} if isinstance(found, dict) else {}
    )


def _required(schema: Mapping[str, Any]) -> frozenset[str]:
    found = schema.get("required")
    return (
        frozenset(name for name in found if isinstance(name, str)) if isinstance(found, list) else frozenset()
    )


def _type(schema: Mapping[str, Any]) -> str:
    found = schema.get("type")
    if isinstance(found, list):
        return " or ".join(map(str, found))
    return found if isinstance(found, str) else "any type"


def _value(schema: Mapping[str, Any], word: str) -> str:
    return _quoted(schema[word]) if word in schema else "unstated"


def _quoted(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
