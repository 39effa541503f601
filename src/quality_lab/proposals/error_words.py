"""Error texts with what changes from call to call taken out, so that equal faults read equal."""

from __future__ import annotations

import json
import re

_LONGEST = 120  # characters of a signature
_CHANGING = (
    (re.compile(r"https?://\S+"), "<url>"),
    (re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+"), "<address>"),
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "<id>"),
    (
        re.compile(r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?)?"),
        "<time>",
    ),
    (
        re.compile(
            r"\"[^\"]{0,200}\"|'(?:[^'\s][^']{0,198})?[^'\s]?'(?!\w)|`[^`]{0,200}`|«[^»]{0,200}»|“[^”]{0,200}”"
        ),
        "<text>",
    ),
    (re.compile(r"\b(?=[A-Za-z_-]*\d)(?=[\d_-]*[A-Za-z])[A-Za-z\d_-]{6,}\b"), "<id>"),
    (re.compile(r"(?<![\w<])[+-]?\d+(?:[.,:]\d+)*"), "<n>"),
    (re.compile(r"\s+"), " "),
)


def signature_of(text: str) -> str:
    """Return *text* with numbers, ids, times, addresses and quoted text as placeholders, at most 120
    characters.

    >>> signature_of("order 4711 of 'Ann Example' not found after 3.5 s")
    'order <n> of <text> not found after <n> s'
    """
    for pattern, placeholder in _CHANGING:
        text = pattern.sub(placeholder, text)
    text = text.strip()
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"


def error_words(error_text: str | None, result: str | None) -> str | None:
    """Return what a failed call said: the format's error text, else the `error` of its result."""
    if error_text:
        return error_text
    try:
        value = json.loads(result or "null", parse_int=float)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        value = value.get("error") or value.get("message") or value.get("reason") or value.get("note")
        if isinstance(value, dict):
            value = value.get("message")
    return value if isinstance(value, str) and value.strip() else None
