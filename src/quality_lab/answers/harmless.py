"""Text from traces made harmless for the eye: nothing in it moves a cursor or turns a line round."""

from __future__ import annotations

_JOINERS = "\u200c\u200d"  # Persian, Indic scripts and emoji need them, and they turn nothing round
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_HARMLESS = frozenset(_JOINERS + _SPACES)
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def visible(text: str, *, keep: str = "") -> str:
    r"""Return *text* with every control, direction and invisible character written as its escape.

    Characters of *keep* (such as a line feed, where lines are shown as lines) stay as they are.

    >>> visible("red \x1b[31m, turned \u202e, a new\nline")
    'red \\x1b[31m, turned \\u202e, a new\\nline'
    """
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or character in _HARMLESS or character in keep
        else _escape(character)
        for character in text
    )


def _escape(character: str) -> str:
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
