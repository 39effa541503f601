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
    return _laid_out(tokens, width)


def readable(json_text: str) -> str:
    r"""Return *json_text* laid out; a text that itself holds JSON, or several lines, as what it holds.

    >>> print(readable(r'"{\"options\": [1, 2]}"'))
    {"options": [1, 2]}
    >>> print(readable('"just words"'))
    "just words"
    """
    if json_text.startswith('"'):
        try:
            held = json.loads(json_text)
        except ValueError:
            return json_text
        if isinstance(held, str) and ("\n" in held or held[:1] in ("{", "[")):
            return pretty(held)
    return pretty(json_text)


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


def _laid_out(tokens: list[str], width: int) -> str:
    """Return the tokens with every object and list on one line where it fits, else a line for each member."""
    ends = _ends(tokens)
    parts: list[str] = []
    depth, index = 0, 0
    while index < len(tokens):
        token = tokens[index]
        end = ends.get(index)
        if end is not None:
            whole = _one_line(tokens[index : end + 1])
            if len(whole) + 2 * depth <= width or end == index + 1:
                parts.append(whole)
                index = end + 1
                continue
            depth += 1
            parts.append(f"{token}\n{'  ' * depth}")
        elif token in "]}":
            depth -= 1
            parts.append(f"\n{'  ' * depth}{token}")
        elif token == ",":
            parts.append(f",\n{'  ' * depth}")
        else:
            parts.append(": " if token == ":" else token)
        index += 1
    return "".join(parts)


def _ends(tokens: list[str]) -> dict[int, int]:
    """Return for the index of each opening bracket that of its closing one."""
    ends, still_open = {}, []
    for index, token in enumerate(tokens):
        if token in "[{":
            still_open.append(index)
        elif token in "]}":
            ends[still_open.pop()] = index
    return ends
