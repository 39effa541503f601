"""The token: how it goes into a request, and how it stays out of everything else."""

from __future__ import annotations

import re
from functools import cache

from quality_lab import js_text, json_text
from quality_lab.errors import UsageError

HIDDEN = "***"
_SHORTEST_SECRET = 4  # what is shorter would be found in any text
_NO_WORD_FROM = 16  # characters; what is shorter may be a word of the data


def bearer(token: str) -> bytes:
    """Return the value of the Authorization header, without the line feed that a token's file may end in.

    Raises:
        UsageError: a character of *token* cannot stand in a header.
    """
    value = f"Bearer {token}".strip("\t\n\r ")
    if not value.isprintable() or max(value) > "\xff":
        raise UsageError("the token holds a character that no HTTP header can carry")
    return value.encode("latin-1")


def without_token(text: str, token: str) -> str:
    """Return *text* with a token that a server has sent back made unreadable, also where JSON escaped it.

    >>> without_token('{"error": "no such token: tok-1234"}', "tok-1234")
    '{"error": "no such token: ***"}'
    """
    token = token.strip("\t\n\r ")
    if len(token) < _SHORTEST_SECRET:
        return text
    return text.replace(token, HIDDEN).replace(js_text.quoted(token)[1:-1], HIDDEN)


def row_without_token(text: str, token: str) -> tuple[str, int]:
    """Return a row of data as it came, and how often the token in it was made unreadable, however JSON spells it.

    A token of less than 16 characters may be a word of the data (`good` of `good_reply`): it is left where it is, and
    so is a longer one within a longer word.

    >>> row_without_token('{"note": "tok\\\\u002d12345678901234"}', "tok-12345678901234")
    ('{"note":"***"}', 1)
    >>> row_without_token('{"label": "good_reply"}', "good")
    ('{"label": "good_reply"}', 0)
    """
    token = token.strip("\t\n\r ")
    if len(token) < _NO_WORD_FROM:
        return text, 0
    whole = _whole(token)
    shown, count = whole.subn(HIDDEN, text)
    if "\\" not in shown:
        return shown, count
    try:
        plain = json_text.compact(json_text.parse(shown))
    except json_text.JsonTextError:
        return shown, count
    spelt, more = whole.subn(HIDDEN, plain)
    return (spelt, count + more) if more else (shown, count)


@cache
def _whole(token: str) -> re.Pattern[str]:
    """Return what finds a token that is no part of a longer word; in JSON a word may begin after an escape."""
    spelt = "|".join(re.escape(one) for one in {token, js_text.quoted(token)[1:-1]})
    return re.compile(rf"(?:(?<!\w)|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{{4}}))(?:{spelt})(?!\w)")


def without_token_in_json(text: str, token: str) -> str:
    """Return JSON *text* as `without_token`, even where escapes spell the token out.

    >>> without_token_in_json('{"note": "tok\\\\u002d1234"}', "tok-1234")
    '{"note":"***"}'
    """
    shown = without_token(text, token)
    if "\\" not in shown:
        return shown
    try:
        plain = json_text.compact(json_text.parse(shown))
    except json_text.JsonTextError:
        return shown
    spelt = without_token(plain, token)
    return shown if spelt == plain else spelt
