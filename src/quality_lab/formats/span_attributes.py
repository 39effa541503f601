"""Attributes of spans as JSON text by dotted name, in each of the ways in which exporters write them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from quality_lab.formats.json_pieces import Pieces, is_nothing, object_in, quoted, scalar_in, unquoted

_ABSENT = msgspec.Raw()
_DEEPEST = 8
# Objects below these names are groups of attributes; any other object is one attribute's value.
_GROUP_NAMES = """
    llm tool tool_call input output openinference session user agent gen_ai traceloop gcp mcp ai metadata
    exception error graph
"""
_GROUPS = frozenset(_GROUP_NAMES.split())


class _KeyValue(msgspec.Struct):
    key: str
    value: msgspec.Raw = _ABSENT


class _AnyValue(msgspec.Struct):
    """A value of OTLP, in its camel and in its snake case."""

    stringValue: msgspec.Raw = _ABSENT
    intValue: msgspec.Raw = _ABSENT
    doubleValue: msgspec.Raw = _ABSENT
    boolValue: msgspec.Raw = _ABSENT
    bytesValue: msgspec.Raw = _ABSENT
    arrayValue: msgspec.Raw = _ABSENT
    kvlistValue: msgspec.Raw = _ABSENT
    string_value: msgspec.Raw = _ABSENT
    int_value: msgspec.Raw = _ABSENT
    double_value: msgspec.Raw = _ABSENT
    bool_value: msgspec.Raw = _ABSENT
    array_value: msgspec.Raw = _ABSENT
    kvlist_value: msgspec.Raw = _ABSENT


class _Values(msgspec.Struct):
    values: list[msgspec.Raw] = []


class _Members(msgspec.Struct):
    values: list[_KeyValue] = []


_pairs = msgspec.json.Decoder(list[_KeyValue])
_any_value = msgspec.json.Decoder(_AnyValue)
_values = msgspec.json.Decoder(_Values)
_members = msgspec.json.Decoder(_Members)


def attributes_in(raw: bytes | None) -> Pieces:
    """Return attributes by dotted name: from a list of keys and values (OTLP, Jaeger), or from an object.

    Raises:
        msgspec.ValidationError: it is neither.
    """
    plain = unquoted(raw)
    if is_nothing(plain):
        return {}
    if plain.startswith(b"["):
        return {pair.key: value_in(bytes(pair.value)) for pair in _pairs.decode(plain)}
    found = object_in(plain)
    if found is None:
        raise msgspec.ValidationError("Expected `object`, got `str`")
    return dict(laid_flat(found))


def laid_flat(members: Pieces, *, above: str = "", depth: int = 0) -> Iterator[tuple[str, bytes]]:
    """Yield attributes that stand in objects within objects under dotted names, and each object as well."""
    for name, value in members.items():
        path = f"{above}.{name}" if above else name
        yield path, value
        if value.startswith(b"{") and depth < _DEEPEST and path.partition(".")[0] in _GROUPS:
            yield from laid_flat(object_in(value) or {}, above=path, depth=depth + 1)


def value_in(raw: bytes, depth: int = 0) -> bytes:
    """Return the JSON text of the value that *raw* spells out with its type; what has no type stays."""
    if not raw.startswith(b"{") or depth > _DEEPEST:
        return raw or b"null"
    try:
        found = _any_value.decode(raw)
    except msgspec.MsgspecError:
        return raw
    for text in (found.stringValue, found.string_value, found.boolValue, found.bool_value, found.bytesValue):
        if text:
            return bytes(text)
    for number in (found.intValue, found.int_value, found.doubleValue, found.double_value):
        if number:
            digits = scalar_in(bytes(number))
            return digits.encode() if digits is not None and _is_number(digits) else bytes(number)
    listed = found.arrayValue or found.array_value
    if listed:
        return (
            b"[" + b",".join(value_in(bytes(one), depth + 1) for one in _values.decode(listed).values) + b"]"
        )
    members = found.kvlistValue or found.kvlist_value
    if members:
        pairs = _members.decode(members).values
        texts = (quoted(one.key) + b":" + value_in(bytes(one.value), depth + 1) for one in pairs)
        return b"{" + b",".join(texts) + b"}"
    return b"null" if raw.strip() == b"{}" else raw


def _is_number(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return False
    return text[:1] in "-0123456789"
