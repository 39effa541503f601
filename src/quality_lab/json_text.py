"""JSON text and its exact values: each number as the decimal that was written, strings by code point.

The standard library does the work where it can. What it cannot bear (nesting by the thousand, integers beyond
its digit limit, lone surrogates on their way out) takes a slower road here, so that no depth and no length of
input ends in a `RecursionError`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from operator import itemgetter
from typing import Any

from quality_lab.errors import QualityLabError

_SAFE_DIGITS = 640  # Python turns this many digits into an int, and back, under any setting of its limit
_PLAIN_DIGITS = 21  # longer integers get an exponent in their canonical form, so that 1e999999 stays short
_LONE = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"[ \t\n\r]*+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+"')
_WORD, _WORDS = re.compile("true|false|null"), {"true": True, "false": False, "null": None}


class JsonTextError(QualityLabError, ValueError):
    """Text that is not JSON (NaN and Infinity are not), or that no exact value can be read from."""


class DuplicateKeys(dict[str, Any]):
    """An object in which a key stands more than once. As a dict the last one wins; `pairs` holds them all."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


class WrittenNumber(Decimal):
    """A decimal that was not written as Python would write it (`1e5`, `-0`); `text` is what stood there."""

    text: str

    def __new__(cls, text: str) -> WrittenNumber:
        number = super().__new__(cls, text)
        number.text = text
        return number


def parse(text: str | bytes) -> Any:
    """Return the value of JSON *text*: dict, list, str, bool, None, int where written as one, else Decimal.

    An object with a duplicate key is a `DuplicateKeys`; an integer of more than 640 digits is a Decimal.

    Raises:
        JsonTextError: *text* is not JSON, or bytes that are not UTF-8.

    >>> parse('{"rate": 1.10, "order": 12345678901234567890123456789}')
    {'rate': Decimal('1.10'), 'order': 12345678901234567890123456789}
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as problem:
            raise JsonTextError(
                f"wanted UTF-8, got the byte 0x{text[problem.start]:02x} at {problem.start}"
            ) from None
    try:
        return _decoder.decode(text)
    except json.JSONDecodeError as problem:
        raise JsonTextError(f"wanted JSON: {problem}") from None
    except RecursionError:
        return _parse_deep(text)


def canonical(value: Any) -> str:
    """Return the one text that all equal values share: keys sorted, numbers in one form, no blanks.

    >>> canonical(parse('{"b": 1.0, "a": 10e-1}')) == canonical({"a": 1, "b": 1})
    True
    """
    return _written(value, number=_canonical_number, ordered=True)


def compact(value: Any) -> str:
    """Return *value* as JSON text without blanks; key order, duplicate keys and the text of numbers stay.

    >>> compact(parse('{"b": 1.10, "a": [1e5]}'))
    '{"b":1.10,"a":[1e5]}'
    """
    return _written(value, number=_number_text, ordered=False)


def same_value(a_text: str | bytes, b_text: str | bytes) -> bool:
    """Say whether two JSON texts hold the same value: 1 is 1.0, the order of keys is nothing, "1" is not 1.

    >>> same_value('{"a": 1, "b": [2.50]}', '{"b":[25e-1],"a":1}')
    True
    >>> same_value("9007199254740993", "9007199254740992")
    False
    """
    return canonical(parse(a_text)) == canonical(parse(b_text))


def has_duplicate_keys(text: str | bytes) -> bool:
    """Say whether some object in JSON *text* has a key more than once.

    >>> has_duplicate_keys('{"a": {"b": 1, "b": 1}}'), has_duplicate_keys('[{"a": 1}, {"a": 2}]')
    (True, False)
    """
    pending = [parse(text)]
    while pending:
        value = pending.pop()
        if isinstance(value, DuplicateKeys):
            return True
        if isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
    return False


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    return keys if len(keys) == len(pairs) else DuplicateKeys(pairs)


def _integer(text: str) -> int | Decimal:
    if text == "-0":
        return WrittenNumber(text)
    return int(text) if len(text) <= _SAFE_DIGITS else Decimal(text)


def _fraction(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        shown = text if len(text) <= 40 else text[:40] + "…"
        raise JsonTextError(f"the exponent of {shown} is out of reach") from None
    return number if str(number) == text else WrittenNumber(text)


def _refused(word: str) -> Any:
    raise JsonTextError(f"wanted JSON: {word} is not a JSON number")


_decoder = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_fraction, parse_constant=_refused
)


def _parse_deep(text: str) -> Any:
    """Return the value of *text* without recursion, for input nested deeper than Python's own reader goes."""
    holders: list[list[Any]] = [[]]  # items of the open arrays; keys and values in turn of the open objects
    closers: list[str] = []
    position = _skip(text, 0)
    while True:
        holder, closer = holders[-1], closers[-1] if closers else ""
        if closer == "}" and len(holder) % 2 == 0 and text[position : position + 1] != "}":
            key, position = _match(text, position, _STRING, "a key in quotes")
            position = _skip(text, position)
            if text[position : position + 1] != ":":
                raise _wrong(text, position, "':'")
            holder.append(json.loads(key))
            position = _skip(text, position + 1)
        first = text[position : position + 1]
        if first and first in "[{":
            holders.append([])
            closers.append("]" if first == "[" else "}")
            position = _skip(text, position + 1)
            if text[position : position + 1] != closers[-1]:
                continue
        else:
            value, position = _scalar(text, position)
            holder.append(value)
            position = _skip(text, position)
        while closers and text[position : position + 1] == closers[-1]:
            items = holders.pop()
            done = items if closers.pop() == "]" else _object(list(zip(items[::2], items[1::2], strict=True)))
            holders[-1].append(done)
            position = _skip(text, position + 1)
        if not closers:
            if position != len(text):
                raise _wrong(text, position, "the end")
            return holders[0][0]
        if text[position : position + 1] != ",":
            raise _wrong(text, position, f"',' or '{closers[-1]}'")
        position = _skip(text, position + 1)
        if text[position : position + 1] == "}":
            raise _wrong(text, position, "a key in quotes")


def _scalar(text: str, position: int) -> tuple[Any, int]:
    if text.startswith('"', position):
        string, end = _match(text, position, _STRING, "a string")
        try:
            return json.loads(string), end
        except json.JSONDecodeError as problem:
            raise _wrong(text, position + problem.pos, "a string") from None
    if word := _WORD.match(text, position):
        return _WORDS[word.group()], word.end()
    number, end = _match(text, position, _NUMBER, "a value")
    return (_integer if number.lstrip("-").isdigit() else _fraction)(number), end


def _match(text: str, position: int, pattern: re.Pattern[str], wanted: str) -> tuple[str, int]:
    found = pattern.match(text, position)
    if found is None:
        raise _wrong(text, position, wanted)
    return found.group(), found.end()


def _skip(text: str, position: int) -> int:
    blanks = _SPACE.match(text, position)
    return blanks.end() if blanks else position


def _wrong(text: str, position: int, wanted: str) -> JsonTextError:
    came = repr(text[position]) if position < len(text) else "the end"
    return JsonTextError(f"wanted JSON: {wanted} at character {position}, got {came}")


_END = object()


def _written(value: Any, *, number: Callable[[int | float | Decimal], str], ordered: bool) -> str:
    """Return *value* as text; what is still to be written waits on a list, not on Python's stack."""
    parts: list[str] = []
    waiting: list[tuple[Any, str]] = [(value, "")]
    while waiting:
        value, before = waiting.pop()
        parts.append(before)
        if value is _END:
            continue
        if value is None or value is True or value is False:
            parts.append("null" if value is None else "true" if value else "false")
        elif isinstance(value, str):
            parts.append(_quoted(value))
        elif isinstance(value, int | float | Decimal):
            parts.append(number(value))
        elif isinstance(value, Mapping):
            pairs = value.pairs if isinstance(value, DuplicateKeys) else list(value.items())
            if ordered:
                pairs = sorted(pairs, key=itemgetter(0))
            waiting.append((_END, "}" if pairs else "{}"))
            waiting.extend(
                (held, ("," if at else "{") + _quoted(key) + ":")
                for at, (key, held) in reversed(list(enumerate(pairs)))
            )
        elif isinstance(value, list | tuple):
            waiting.append((_END, "]" if value else "[]"))
            waiting.extend((held, "," if at else "[") for at, held in reversed(list(enumerate(value))))
        else:
            raise TypeError(f"wanted a JSON value, got {type(value).__name__}")
    return "".join(parts)


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted if quoted.isascii() else _LONE.sub(lambda lone: f"\\u{ord(lone.group()):04x}", quoted)


def _number_text(number: int | float | Decimal) -> str:
    if isinstance(number, WrittenNumber):
        return number.text
    exact = _exact(number)
    if isinstance(exact, int) and -(10**_SAFE_DIGITS) < exact < 10**_SAFE_DIGITS:
        return str(exact)
    return str(Decimal(exact))


def _canonical_number(number: int | float | Decimal) -> str:
    number = _exact(number)
    if isinstance(number, int) and -(10**_PLAIN_DIGITS) < number < 10**_PLAIN_DIGITS:
        return str(number)
    sign, figures, exponent = Decimal(number).as_tuple()
    assert isinstance(exponent, int)  # `_exact` let only finite numbers through
    digits = "".join(map(str, figures)).lstrip("0")
    stripped = digits.rstrip("0")
    if not stripped:
        return "0"
    exponent += len(digits) - len(stripped)
    point = len(stripped) + exponent  # where the decimal point stands, counted from the first digit
    minus = "-" if sign else ""
    if exponent >= 0 and point <= _PLAIN_DIGITS:
        return minus + stripped + "0" * exponent
    if exponent < 0 < point:
        return f"{minus}{stripped[:point]}.{stripped[point:]}"
    if -6 < point <= 0:
        return f"{minus}0.{'0' * -point}{stripped}"
    return f"{minus}{stripped}e{exponent}"


def _exact(number: int | float | Decimal) -> int | Decimal:
    """Return *number* as an exact one; a float counts as the shortest decimal that reads back as it."""
    exact = Decimal(repr(number)) if isinstance(number, float) else number
    if isinstance(exact, Decimal) and not exact.is_finite():
        raise JsonTextError(f"{number} is not a JSON number")
    return exact
