"""Lone surrogates, which JSON may hold and UTF-8 cannot: taken out before parsing, put back afterwards.

`"\\ud83d"` without its other half is legal JSON text and a legal value. The parser refuses it, so each
stands in for itself under a name made of plain letters while the line is parsed, and comes back as the
escape it was: inside JSON text (arguments, results) that is the value that came, inside plain text (a note)
it is what a reader can see.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from operator import attrgetter
from typing import Any, TypeVar, get_args

import msgspec

from quality_lab import json_text
from quality_lab.records import Record

AnyRecord = TypeVar("AnyRecord", bound=Record)

_MARK = "lone-surrogate-7c1f5e2a-"
_MARKED = re.compile(_MARK + r"([0-9a-fA-F]{4})\.")
_ESCAPE = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|[^u])", re.DOTALL)
_NAMES = {kind: tuple(field.name for field in fields(kind)) for kind in get_args(Record)}
_VALUES_OF = {kind: attrgetter(*names) for kind, names in _NAMES.items()}


def is_json(text: bytes) -> bool:
    """Say whether *text* is JSON that a reader can take: not nested beyond reason."""
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except RecursionError:
        return False
    except msgspec.DecodeError:
        if b"\\u" not in text:
            return False
        try:
            json_text.parse(text)
        except json_text.JsonTextError:
            return False
    return True


def without_lone_surrogates(text: bytes) -> bytes | None:
    """Return *text* with its lone surrogate escapes marked, or None where it has none.

    A text that holds a mark of its own accord is left alone.
    """
    if b"\\u" not in text or _MARK.encode() in text:
        return None
    parts: list[bytes] = []
    done, high = 0, None  # `high` is an escape that waits for its other half
    for escape in _ESCAPE.finditer(text):
        code = int(escape[1], 16) if escape[1] else 0
        if high is not None and not (0xDC00 <= code < 0xE000 and escape.start() == high.end()):
            parts += text[done : high.start()], _marked(high)
            done, high = high.end(), None
        if 0xD800 <= code < 0xDC00:
            high = escape
        elif 0xDC00 <= code < 0xE000 and high is None:
            parts += text[done : escape.start()], _marked(escape)
            done = escape.end()
        else:
            high = None
    if high is not None:
        parts += text[done : high.start()], _marked(high)
        done = high.end()
    return b"".join((*parts, text[done:])) if parts else None


def restored(record: AnyRecord) -> AnyRecord:
    """Return *record* with each mark in its texts as the escape it stands for."""
    kind = type(record)
    changed: dict[str, Any] = {
        name: restored_text(value)
        for name, value in zip(_NAMES[kind], _VALUES_OF[kind](record), strict=True)
        if isinstance(value, str) and _MARK in value
    }
    return replace(record, **changed) if changed else record


def restored_names(counts: dict[str, int]) -> None:
    """Put the escapes back into the names that are counted."""
    for name in [name for name in counts if _MARK in name]:
        times = counts.pop(name)
        counts[restored_text(name)] = counts.get(restored_text(name), 0) + times


def restored_text(text: str) -> str:
    """Return *text* with each mark as the escape it stands for."""
    return _MARKED.sub(lambda found: "\\u" + found[1], text)


def _marked(escape: re.Match[bytes]) -> bytes:
    return _MARK.encode() + escape[1] + b"."
