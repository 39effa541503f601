"""Lone surrogates, which JSON may hold and UTF-8 cannot: taken out before parsing, put back afterwards.

`"\\ud83d"` without its other half is legal JSON text and a legal value. The parser refuses it, so each
stands in for itself under a name made of plain letters while the line is parsed, and comes back as the
escape it was: inside JSON text (arguments, results) that is the value that came, inside plain text (a note)
it is what a reader can see.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from itertools import count
from typing import Any, NamedTuple

import msgspec

from quality_lab import json_text
from quality_lab.records import Record

_ESCAPE = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|[^u])", re.DOTALL)


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


class Marked(NamedTuple):
    """A text whose lone surrogates stand as *mark*, four hex digits and a full stop."""

    text: bytes
    mark: str


def without_lone_surrogates(text: bytes) -> Marked | None:
    """Return *text* with its lone surrogate escapes marked, or None where it has none."""
    if b"\\u" not in text:
        return None
    mark = next(
        name for name in (f"lone-surrogate-{number}-" for number in count()) if name.encode() not in text
    )
    parts: list[bytes] = []
    done, high = 0, None  # `high` is an escape that waits for its other half
    for escape in _ESCAPE.finditer(text):
        code = int(escape[1], 16) if escape[1] else 0
        if high is not None and not (0xDC00 <= code < 0xE000 and escape.start() == high.end()):
            parts += text[done : high.start()], _marked(mark, high)
            done, high = high.end(), None
        if 0xD800 <= code < 0xDC00:
            high = escape
        elif 0xDC00 <= code < 0xE000 and high is None:
            parts += text[done : escape.start()], _marked(mark, escape)
            done = escape.end()
        else:
            high = None
    if high is not None:
        parts += text[done : high.start()], _marked(mark, high)
        done = high.end()
    return Marked(b"".join((*parts, text[done:])), mark) if parts else None


def restored(records: tuple[Record, ...], marked: Marked) -> tuple[Record, ...]:
    """Return *records* with each mark in their texts as the escape it stands for."""
    pattern = re.compile(re.escape(marked.mark) + r"([0-9a-fA-F]{4})\.")
    return tuple(_restored(record, pattern) for record in records)


def _restored(record: Record, pattern: re.Pattern[str]) -> Record:
    changed: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, str) and pattern.search(value):
            changed[field.name] = pattern.sub(lambda found: "\\u" + found[1], value)
    return replace(record, **changed) if changed else record


def _marked(mark: str, escape: re.Match[bytes]) -> bytes:
    return mark.encode() + escape[1] + b"."
