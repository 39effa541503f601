"""JSON as models write and read it: arguments taken apart with care, results spelt as on the wire."""

from __future__ import annotations

import json
import math
import re
from typing import Any

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_PYTHON_EXPONENT = re.compile(r"[0-9]e[+-]?0[0-9]")


class NotOneJsonValue(ValueError):
    """Text that is not one JSON value, or one that holds a number or a key nobody can be sure of."""


def to_json(value: Any) -> str:
    """Return *value* as compact JSON text: no blanks, letters as they are, numbers in their shortest form.

    A lone surrogate stands as its escape, so the text can always be encoded.

    Raises:
        TypeError, ValueError, RecursionError: the value has no JSON form (a set, NaN, a list inside itself
        …).
    """
    text = _encoder.encode(value)
    if _PYTHON_EXPONENT.search(text):  # Python spells 0.0000001 as 1e-07, the rest of the world as 1e-7
        text = _spelled(json.loads(text))
    if _LONE_SURROGATE.search(text):
        text = _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
    return text


def _spelled(value: Any) -> str:
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key, ensure_ascii=False)}:{_spelled(each)}" for key, each in value.items())
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_spelled(each) for each in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    """Return the shortest digits of *value*, written out from 0.000001 upwards, with an exponent below."""
    digits, _, exponent = repr(value).partition("e")
    if not exponent:
        return digits
    power = int(exponent)
    if -7 < power < 0:
        sign = "-" if digits.startswith("-") else ""
        return f"{sign}0.{'0' * (-power - 1)}{digits.removeprefix('-').replace('.', '')}"
    return f"{digits}e{power:+d}"


def one_value(text: str) -> Any:
    """Return the JSON value that *text* is.

    >>> one_value('{"asset": "USDT", "amount": 200}')
    {'asset': 'USDT', 'amount': 200}

    Raises:
        NotOneJsonValue: it is none, a key stands twice in an object, or a number is beyond what can be held.
    """
    try:
        return _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise NotOneJsonValue(f"{error.msg} at character {error.pos + 1} of {len(text)}") from None
    except RecursionError:
        raise NotOneJsonValue("nested too deeply") from None
    except NotOneJsonValue:
        raise
    except ValueError as error:  # an integer of more digits than Python converts
        raise NotOneJsonValue(str(error)) from None


def _no_constant(word: str) -> Any:
    raise NotOneJsonValue(f"{word} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise NotOneJsonValue(f"the number {text[:40]} is too large to be held")
    return value


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]  # add() is used for its effect
        raise NotOneJsonValue(f"the key {twice!r} stands twice in one object")
    return found


_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_decoder = json.JSONDecoder(
    parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_each_key_once
)
