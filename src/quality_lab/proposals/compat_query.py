"""Query strings of upstream's endpoints: what they ask for, or the error that upstream answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quality_lab import js_text
from quality_lab.errors import UsageError
from quality_lab.labels import FIVE
from quality_lab.quality_api.bodies import SOURCES

LIMITS = {  # endpoint → default and greatest limit
    "feedback-export": (200, 1000),
    "feedback-summary": (25, 200),
    "proposals": (100, 500),
    "cases-list": (50, 200),
    "cases-export": (200, 1000),
}
STATUSES = ("active", "archived", "all")


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


def _limit(text: str | None, *, default: int, greatest: int) -> int:
    if text is None:
        return default
    number = js_text.number(text)
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
    if not js_text.trim(text):
        raise CompatQueryError("invalid toolName")
    return js_text.trim(text)
