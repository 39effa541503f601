"""JSON values: where one stands, which are equal, how one is shown, of what type it is."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from functools import lru_cache
from typing import Any, Final

from quality_lab.json_text import DuplicateKeys, canonical, compact

EXACT = Context(prec=2000, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])  # digits enough for any number written out
_SHORT_INTEGER = 10**20


class _Absent:
    def __repr__(self) -> str:
        return "absent"

    def __deepcopy__(self, _memo: object) -> _Absent:
        return self  # there is one, known by being itself


ABSENT: Final = _Absent()  # what stands where no value is: null is a value
Path = tuple[str | int, ...]
Test = Callable[[Any], bool]


def token_of(value: Any) -> str:
    """Return a text that equal values share and others do not: 1 is 1.0, true is not 1, "1" is not 1."""
    kind = type(value)
    if kind is str:
        return f'"{value}'
    if kind is int and -_SHORT_INTEGER < value < _SHORT_INTEGER:
        return str(value)
    return canonical(value)


def value_at(value: Any, path: Path) -> Any:
    """Return what stands at *path* in *value*; ABSENT where nothing does, or where a key stands twice."""
    for step in path:
        if isinstance(step, str):
            if not isinstance(value, dict) or step not in value:
                return ABSENT
            if isinstance(value, DuplicateKeys) and sum(key == step for key, _ in value.pairs) > 1:
                return ABSENT
            value = value[step]
        else:
            if not isinstance(value, list) or step >= len(value):
                return ABSENT
            value = value[step]
    return value


@lru_cache(maxsize=4096)
def path_text(path: Path, *, root: str = "args") -> str:
    """Return *path* as people write it.

    >>> path_text(("items", 0, "unit price"))
    'args.items[0]["unit price"]'
    """
    steps = (
        f"[{step}]" if isinstance(step, int) else f".{step}" if step.isidentifier() else f"[{compact(step)}]"
        for step in path
    )
    return root + "".join(steps)


def shown(value: Any, *, longest: int = 200) -> str:
    """Return *value* as JSON text, cut where it is long; "absent" where there is none."""
    kind = type(value)
    if kind is str and value.isascii() and value.isprintable() and '"' not in value and "\\" not in value:
        text = f'"{value}"'
    elif kind is int and -_SHORT_INTEGER < value < _SHORT_INTEGER:
        text = str(value)
    else:
        text = "absent" if value is ABSENT else compact(value)
    return shortened(text, longest=longest)


def shortened(text: str, *, longest: int = 200) -> str:
    """Return *text*, cut where it is long."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def is_number(value: Any) -> bool:
    """Return whether *value* is a JSON number; true and false are none."""
    return type(value) is int or (isinstance(value, int | float | Decimal) and not isinstance(value, bool))


def decimal_of(number: Any) -> Decimal:
    """Return a JSON number as the decimal that was written."""
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


def _is_integer(value: Any) -> bool:
    if type(value) is int:
        return True
    if not is_number(value):
        return False
    number = decimal_of(value)
    exponent = number.normalize(EXACT).as_tuple().exponent
    return isinstance(exponent, int) and exponent >= 0


def folded(text: str) -> str:
    """Return *text* in the form in which spellings that look alike are one: NFKC, case folded, blanks joined.

    >>> folded("  ＣＡＦＥ\u0301   Straße ") == folded("café strasse")
    True
    """
    once = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", once).split())


TYPES: dict[str, Test] = {
    "string": lambda value: isinstance(value, str),
    "number": is_number,
    "integer": _is_integer,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
