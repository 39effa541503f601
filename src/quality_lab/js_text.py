"""What JavaScript makes of text, numbers and JSON.

Upstream is written in it, and whoever shall agree with upstream to the last character needs its blanks, its
numbers, its order and its way to print a value.
"""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any

from quality_lab import json_text

WHITE_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_BLANKS = re.compile(f"[{WHITE_SPACE}]+")
_LONE = re.compile("[\ud800-\udfff]")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_PREFIXED = {
    "0x": (16, re.compile("[0-9a-fA-F]+")),
    "0o": (8, re.compile("[0-7]+")),
    "0b": (2, re.compile("[01]+")),
}
_INDEX = re.compile("0|[1-9][0-9]{0,9}")
_LAST_INDEX = 2**32 - 2
_ALL_INTEGERS = 2**53  # up to here a double holds each of them
TOO_LARGE = 2**1024 - 2**970  # from here on an integer rounds to Infinity
_SAFE_DIGITS = 15  # so many never go past `_ALL_INTEGERS`


# -- strings ---------------------------------------------------------------------------------------------


def trim(text: str) -> str:
    r"""Return *text* without the blanks at its ends; U+FEFF is one, U+0085 and U+001C to U+001F are not.

    >>> trim("\ufeff\u00a0 rate \x85")
    'rate \x85'
    """
    return text.strip(WHITE_SPACE)


def collapse(text: str) -> str:
    r"""Return *text* trimmed, with one space for each run of blanks inside.

    >>> collapse("  slow\n\t down ")
    'slow down'
    """
    return _BLANKS.sub(" ", text).strip(" ")


def well_formed(text: str) -> str:
    r"""Return *text* as it leaves for a stream or a file: each lone surrogate is U+FFFD.

    >>> well_formed("a\ud800b")
    'a\ufffdb'
    """
    return text if text.isascii() else _LONE.sub("\ufffd", text)


def cut(text: str, units: int) -> str:
    r"""Return the first *units* UTF-16 units of *text*; half an emoji is a lone surrogate.

    >>> cut("ab\U0001f6b2", 3)
    'ab\ud83d'
    """
    return text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "surrogatepass")


def length(text: str) -> int:
    r"""Return how many UTF-16 units *text* has.

    >>> length("ab\U0001f6b2")
    4
    """
    return len(text) + sum(character > "\uffff" for character in text)


def sort_key(text: str) -> bytes:
    r"""Return what orders *text* by UTF-16 units, which is not the order of code points beyond U+FFFF.

    >>> sorted(["\uff5e", "\U0001f527", "a"], key=sort_key) == ["a", "\U0001f527", "\uff5e"]
    True
    """
    return text.encode("utf-16-be", "surrogatepass")


# -- numbers ---------------------------------------------------------------------------------------------


def number(text: str) -> float:
    """Return what `Number(text)` gives: 0 for blanks, NaN for what is no number.

    >>> number(" 1e2 "), number("0x10"), number("5."), number(""), number("1_0")
    (100.0, 16.0, 5.0, 0.0, nan)
    """
    text = trim(text)
    if not text:
        return 0.0
    if text.lstrip("+-") == "Infinity" and len(text) <= len("+Infinity"):
        return -math.inf if text[0] == "-" else math.inf
    radix, digits = _PREFIXED.get(text[:2].lower(), (10, _DECIMAL))
    if radix == 10:
        return float(text) if digits.fullmatch(text) else math.nan
    return double(int(text[2:], radix)) if digits.fullmatch(text, 2) else math.nan


def double(value: float | Decimal) -> float:
    """Return a number as the double that JavaScript holds.

    >>> double(9007199254740993), double(10**400)
    (9007199254740992.0, inf)
    """
    if -TOO_LARGE < value < TOO_LARGE:
        return float(value)
    return math.inf if value > 0 else -math.inf if value < 0 else math.nan


def is_integer(value: object) -> bool:
    """Return whether *value* is a number without a fraction: 1.0 is one, true and Infinity are not.

    >>> is_integer(1.0), is_integer(True), is_integer(float("inf")), is_integer("1")
    (True, False, False, False)
    """
    kind = type(value)
    if kind is int:
        return -TOO_LARGE < value < TOO_LARGE  # type: ignore[operator]  # an int, as the line above has found
    return kind is float and value.is_integer()  # type: ignore[attr-defined]  # a float, as this line has found


def number_text(value: float) -> str:
    """Return *value* as `String(value)` gives it.

    >>> [number_text(value) for value in (1.0, 1e21, 1e-7, -0.0, 2**60, 0.000001)]
    ['1', '1e+21', '1e-7', '0', '1152921504606847000', '0.000001']
    """
    if isinstance(value, int) and -_ALL_INTEGERS <= value <= _ALL_INTEGERS:
        return str(value)
    value = double(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    minus, written = ("-", repr(-value)) if value < 0 else ("", repr(value))
    mantissa, _, exponent = written.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")  # the value is 0.DIGITS times 10 to the power of POINT
    if len(digits) <= point <= 21:
        return minus + digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{minus}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{minus}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{minus}{digits[0]}{tail}e{point - 1:+d}"


# -- JSON ------------------------------------------------------------------------------------------------


def parse(text: str) -> Any:
    """Return what `JSON.parse(text)` gives, numbers as ints or floats that stand for the same doubles.

    Raises:
        JsonTextError: *text* is not JSON.

    >>> parse('{"a": 1.0, "a": 1e400}')
    {'a': inf}
    """
    try:
        return _decoder.decode(text)
    except json.JSONDecodeError as problem:
        raise json_text.JsonTextError(f"wanted JSON: {problem.msg} at character {problem.pos}") from None
    except RecursionError:
        return _with_doubles(json_text.parse(text))


def compact(value: Any) -> str:
    """Return what `JSON.stringify(value)` gives; keys that look like list indexes come first, and in order.

    >>> compact({"b": 1.0, "10": [], "9": float("inf")})
    '{"9":null,"10":[],"b":1}'
    """
    parts: list[str] = []
    waiting: list[tuple[Any, str]] = [(value, "")]  # what is still to be written, and what stands before it
    while waiting:
        value, before = waiting.pop()
        parts.append(before)
        if value is _END:
            continue
        if isinstance(value, str):
            parts.append(quoted(value))
        elif value is None or value is True or value is False:
            parts.append("null" if value is None else "true" if value else "false")
        elif isinstance(value, dict):
            waiting.append((_END, "}" if value else "{}"))
            waiting.extend(
                (value[key], f"{',' if at else '{'}{quoted(key)}:")
                for at, key in reversed(list(enumerate(_keys(value))))
            )
        elif isinstance(value, list):
            waiting.append((_END, "]" if value else "[]"))
            waiting.extend((held, "," if at else "[") for at, held in reversed(list(enumerate(value))))
        else:
            number = double(value)
            parts.append(number_text(value) if math.isfinite(number) else "null")
    return "".join(parts)


def quoted(text: str) -> str:
    r"""Return *text* as a JSON string: a lone surrogate is escaped, every other character beyond ASCII stays.

    >>> quoted('"\x00é\ud800')
    '"\\"\\u0000é\\ud800"'
    """
    written = _quote(text)
    return written if written.isascii() else _LONE.sub(_escaped, written)


_END = object()
_quote = json.JSONEncoder(ensure_ascii=False).encode


def _escaped(lone: re.Match[str]) -> str:
    return f"\\u{ord(lone.group()):04x}"


def _keys(value: dict[str, Any]) -> list[str]:
    indexes = [key for key in value if _INDEX.fullmatch(key) and int(key) <= _LAST_INDEX]
    if not indexes:
        return list(value)
    first = set(indexes)
    return sorted(indexes, key=int) + [key for key in value if key not in first]


def _integer(text: str) -> float:
    return int(text) if len(text) <= _SAFE_DIGITS else float(text)


def _with_doubles(value: Any) -> Any:
    """Return *value* with its decimals made doubles, in place; its depth knows no bound."""
    top = [value]
    waiting: list[Any] = [top]
    while waiting:
        holder = waiting.pop()
        for key, held in holder.items() if isinstance(holder, dict) else enumerate(holder):
            if isinstance(held, dict | list):
                waiting.append(held)
            elif isinstance(held, Decimal):
                holder[key] = double(held)
    return top[0]


def _refused(word: str) -> Any:
    raise json_text.JsonTextError(f"wanted JSON: {word} is not a JSON number")


_decoder = json.JSONDecoder(parse_int=_integer, parse_constant=_refused)
