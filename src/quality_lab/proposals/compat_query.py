"""Query strings of upstream's endpoints: what they ask for, or the error that upstream answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quality_lab.errors import UsageError
from quality_lab.labels import FIVE

SOURCES = ("rag_reply", "llm_reply", "admin_sim", "self_play")
LIMITS = {  # endpoint → default and greatest limit
    "feedback-export": (200, 1000),
    "feedback-summary": (25, 200),
    "proposals": (100, 500),
    "cases-list": (50, 200),
    "cases-export": (200, 1000),
}
STATUSES = ("active", "archived", "all")

# what JavaScript trims: its white space and line ends, among them U+FEFF and not U+0085
_SPACE = "\t\n\v\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_EDGES = re.compile(f"^[{_SPACE}]+|[{_SPACE}]+$")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_RADIX = re.compile(r"0[xX]([0-9a-fA-F]+)|0[oO]([0-7]+)|0[bB]([01]+)")


class CompatQueryError(UsageError):
    """A query that upstream answers with 400; the text is upstream's."""

    @property
    def body(self) -> dict[str, str]:
        """Return the body of that answer."""
        return {"error": str(self)}


@dataclass(frozen=True, kw_only=True, slots=True)
class CompatQuery:
    """A query in upstream's terms; None is "no such filter"."""

    limit: int
    source: str | None = None
    tool_name: str | None = None
    label: str | None = None
    error: bool | None = None
    status: str | None = None

    def filters(self) -> dict[str, Any]:
        """Return those of upstream's filters that the query sets, under its names."""
        named = {
            "status": self.status,
            "limit": self.limit,
            "source": self.source,
            "toolName": self.tool_name,
            "label": self.label,
            "error": self.error,
        }
        return {name: value for name, value in named.items() if value is not None}


def parse_compat_query(query: Mapping[str, str], *, endpoint: str = "proposals") -> CompatQuery:
    """Return what the decoded *query* string asks of an *endpoint* (a key of `LIMITS`).

    The first thing wrong is the one that is told: limit, source, label, error, tool name; limit, status for
    cases.

    Raises:
        CompatQueryError: upstream refuses it; the text is upstream's.
        UsageError: there is no such endpoint.

    >>> parse_compat_query({"limit": "1e2", "toolName": " book_tour "}).filters()
    {'limit': 100, 'toolName': 'book_tour'}
    """
    if endpoint not in LIMITS:
        raise UsageError(f"there is no endpoint {endpoint!r}; there are {', '.join(LIMITS)}")
    default, greatest = LIMITS[endpoint]
    limit = _limit(query.get("limit"), default=default, greatest=greatest)
    if endpoint.startswith("cases"):
        status = query.get("status", "active")
        if status not in STATUSES:
            raise CompatQueryError("invalid status")
        return CompatQuery(limit=limit, status=status)
    return CompatQuery(
        limit=limit,
        source=_one_of(query, "source", SOURCES),
        label=_one_of(query, "label", FIVE),
        error=_flag(query.get("error")),
        tool_name=_name(query.get("toolName")),
    )


def trimmed(text: str) -> str:
    """Return *text* without the white space at its ends, as JavaScript sees white space."""
    return _EDGES.sub("", text)


def js_number(text: str) -> float:
    """Return what JavaScript's Number makes of *text*; NaN where it makes nothing of it."""
    inner = trimmed(text)
    if not inner:
        return 0.0
    radix = _RADIX.fullmatch(inner)
    if radix:
        digits, base = next(
            (group, base) for group, base in zip(radix.groups(), (16, 8, 2), strict=True) if group
        )
        try:
            return float(int(digits, base))
        except OverflowError:
            return float("inf")
    if inner.lstrip("+-") == "Infinity" and len(inner) <= len("+Infinity"):
        return float(inner.replace("Infinity", "inf"))
    return float(inner) if _DECIMAL.fullmatch(inner) else float("nan")


def _limit(text: str | None, *, default: int, greatest: int) -> int:
    if text is None:
        return default
    number = js_number(text)
    if not number.is_integer() or not 1 <= number <= greatest:
        raise CompatQueryError("invalid limit")
    return int(number)


def _one_of(query: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> str | None:
    text = query.get(name)
    if not text:
        return None
    if text not in allowed:
        raise CompatQueryError(f"invalid {name}")
    return text


def _flag(text: str | None) -> bool | None:
    if text not in (None, "true", "false"):
        raise CompatQueryError("invalid error")
    return None if text is None else text == "true"


def _name(text: str | None) -> str | None:
    if text is None:
        return None
    if not trimmed(text):
        raise CompatQueryError("invalid toolName")
    return trimmed(text)
