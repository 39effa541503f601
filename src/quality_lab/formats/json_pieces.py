"""JSON text taken apart one level at a time, the rest left as it was written.

Whoever looks for a value in a stranger's JSON, whose shape nobody promised, asks here: an answer of None or
nothing says that it was not that kind of value. Lone surrogates stand as the marks of `exact`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

import msgspec

from quality_lab.formats.exact import without_lone_surrogates

_object = msgspec.json.Decoder(dict[str, msgspec.Raw])
_list = msgspec.json.Decoder(list[msgspec.Raw])
_string = msgspec.json.Decoder(str)
_any = msgspec.json.Decoder()

_MAY_HOLD_JSON = re.compile(rb'"(?:[ \t\r\n]|\\[nrt]|\\u00(?:20|0[9aAdD]))*+(?:[{\[]|\\"|\\u)')
_DEEPEST = 32  # levels of a dotted path
_MOST_DIGITS = 19  # of a number of 64 bits

Pieces = dict[str, bytes]  # key → JSON text of its value


def object_in(text: bytes | None) -> Pieces | None:
    """Return the members of the object that *text* is, or that the JSON in its string is; None otherwise."""
    if not text:
        return None
    plain = text if text[:1] == b"{" and text[-1:] == b"}" else unquoted(text)
    if not plain.startswith(b"{"):
        return None
    try:
        return {key: bytes(value) for key, value in _object.decode(plain).items()}
    except (msgspec.MsgspecError, RecursionError):
        return None


def object_of(text: bytes) -> Pieces:
    """Return the members of the object that a whole line is.

    Raises:
        msgspec.MsgspecError: it is not JSON, or no object.
    """
    return {key: bytes(value) for key, value in _object.decode(text).items()}


def list_in(text: bytes | None) -> list[bytes] | None:
    """Return the elements of the list that *text* is, or that the JSON in its string is; None otherwise."""
    if not text:
        return None
    plain = text if text[:1] == b"[" and text[-1:] == b"]" else unquoted(text)
    if not plain.startswith(b"["):
        return None
    try:
        return [bytes(value) for value in _list.decode(plain)]
    except (msgspec.MsgspecError, RecursionError):
        return None


def string_in(text: bytes | None) -> str | None:
    """Return the string that *text* is; None for any other value."""
    if not text or text[:1] != b'"':
        return None
    if b"\\" not in text and text.endswith(b'"'):
        return text[1:-1].decode()
    try:
        return _string.decode(text)
    except msgspec.MsgspecError:
        return None


def scalar_in(text: bytes | None) -> str | None:
    """Return a string, or a number or boolean as it is written; None for anything else."""
    if not text or text[:1] in b"{[n":
        return None
    return string_in(text) if text[:1] == b'"' else text.decode()


def integer_in(text: bytes | None) -> int | None:
    """Return a whole number, written as one or in a string; None for anything else, and beyond 64 bits."""
    found = scalar_in(text)
    if found is None:
        return None
    digits = found.removesuffix(".0")
    plain = digits.removeprefix("-")
    if not (plain.isascii() and plain.isdigit() and len(plain) <= _MOST_DIGITS):
        return None
    number = int(digits)
    return number if -(2**63) <= number < 2**63 else None


def number_in(text: bytes | None) -> float | None:
    """Return a number, written as one or in a string; None for anything else, and for what is not finite."""
    try:
        found = float(scalar_in(text) or "")
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def is_nothing(text: bytes | None) -> bool:
    """Say whether there is no value, null or an empty string."""
    return text is None or text in (b"", b"null", b'""')


def first(members: Mapping[str, bytes], *names: str) -> bytes | None:
    """Return the first value under *names* that is something; None where there is none."""
    for name in names:
        found = members.get(name)
        if found and found != b"null" and found != b'""':
            return found
    return None


def word(members: Mapping[str, bytes], *names: str) -> str | None:
    """Return the first string or number under *names* that is something, as text."""
    for name in names:
        found = members.get(name)
        if found and found != b"null" and found != b'""':
            return scalar_in(found)
    return None


def unquoted(text: bytes | None) -> bytes:
    """Return JSON text without the string that may be wrapped round it (twice at most), as far as it can
    be told: `"{\\"a\\":1}"` gives `{"a":1}`; nothing for no text.
    """
    plain = b"" if text is None else text.strip()
    for _ in range(2):
        if plain[:1] != b'"' or not _MAY_HOLD_JSON.match(plain):
            break
        inner = string_in(plain)
        if inner is None or inner.lstrip()[:1] not in ("{", "[", '"'):
            break
        plain = sound(inner.strip().encode())
    return plain


def sound(text: bytes) -> bytes:
    """Return *text* with its lone surrogates marked, so that a parser takes it."""
    marked = without_lone_surrogates(text)
    return text if marked is None else marked


def alike(text: bytes | None) -> bytes:
    """Return a text that is the same for values that are equal, for comparing within a file."""
    plain = unquoted(text)
    try:
        return msgspec.json.encode(_any.decode(plain), order="deterministic")
    except (msgspec.MsgspecError, RecursionError):
        return plain


def quoted(text: str) -> bytes:
    """Return *text* as a JSON string."""
    return msgspec.json.encode(text)


def tree_of(members: Iterable[tuple[str, bytes]]) -> bytes:
    """Return the JSON text of members whose keys are dotted paths; keys that are all numbers make a list.

    >>> tree_of([("0.role", b'"user"'), ("0.calls.0.id", b"1")])
    b'[{"role":"user","calls":[{"id":1}]}]'
    """
    top: dict[str, object] = {}
    for path, value in members:
        *above, last = path.split(".", _DEEPEST)
        node = top
        for name in above:
            below = node.get(name)
            if not isinstance(below, dict):
                below = node[name] = {}
            node = below
        if not isinstance(node.get(last), dict):
            node[last] = value
    return _written(top)


def expanded(members: Pieces) -> Pieces:
    """Return *members* with those whose names are dotted paths as objects in objects."""
    if not any("." in name for name in members):
        return members
    return object_in(tree_of(members.items())) or {}


def _written(node: object) -> bytes:
    if not isinstance(node, dict):
        return node if isinstance(node, bytes) else b"null"
    if node and all(name.isascii() and name.isdigit() for name in node):
        return b"[" + b",".join(_written(node[name]) for name in sorted(node, key=int)) + b"]"
    return b"{" + b",".join(quoted(name) + b":" + _written(value) for name, value in node.items()) + b"}"
