"""JSON text laid out for reading, its values untouched: no number is rewritten, no key moved."""

from __future__ import annotations

import json
import re

_ONE_LINE = 88
_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+)')


def pretty(json_text: str, *, width: int = _ONE_LINE) -> str:
    r"""Return *json_text* on one line if it fits *width*, else indented; text that is not JSON as it came.

    >>> pretty('{"amount":15000.00,"asset":"USDT"}')
    '{"amount": 15000.00, "asset": "USDT"}'
    >>> print(pretty('{"amount":15000.00,"asset":"USDT"}', width=20))
    {
      "amount": 15000.00,
      "asset": "USDT"
    }
    """
    tokens = _tokens(json_text)
    if tokens is None:
        return json_text
    line = _one_line(tokens)
    return line if len(line) <= width else _indented(tokens)


def _tokens(json_text: str) -> list[str] | None:
    """Return the tokens of the text, or None where it is not JSON."""
    try:
        json.loads(json_text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    return [_readable(token) for token in _TOKEN.findall(json_text)]


def _readable(token: str) -> str:
    """Return a string token with its letters instead of their escapes; any other token as it is."""
    return json.dumps(json.loads(token), ensure_ascii=False) if token[0] == '"' and "\\u" in token else token


def _one_line(tokens: list[str]) -> str:
    spaced = {",": ", ", ":": ": "}
    return "".join(spaced.get(token, token) for token in tokens)


def _indented(tokens: list[str]) -> str:
    parts: list[str] = []
    depth = 0
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else ""
        if token in "]}" and before not in ("[", "{"):
            depth -= 1
            parts.append("\n" + "  " * depth)
        elif token in "]}":
            depth -= 1
        elif before in ("[", "{", ","):
            parts.append("\n" + "  " * depth)
        parts.append(": " if token == ":" else token)
        if token in "[{":
            depth += 1
    return "".join(parts)
