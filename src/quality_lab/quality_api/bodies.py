"""What upstream makes of the bodies of its write requests: what they ask for, or the words it refuses them with.

Lengths count UTF-16 units and blanks are JavaScript's, because upstream counts and trims so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from quality_lab import js_text
from quality_lab.errors import UsageError
from quality_lab.js_url import parse_url
from quality_lab.labels import FIVE

SOURCES = ("rag_reply", "llm_reply", "admin_sim", "self_play")
STATUSES = ("pending", "applied", "dismissed")
KINDS = (
    *("prompt_patch", "tool_schema_patch", "regression_case", "coach_proposal"),
    *("shadow_eval", "pull_request", "other"),
)
MOST_OF_A_NOTE = 2000
_MOST_ROWS = 500
_ROWS = 100
_MOST = {"kind": 64, "ref": 500, "url": 1000, "note": MOST_OF_A_NOTE}
_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


class BodyError(UsageError):
    """A body that upstream answers with 400; the text is upstream's."""

    @property
    def body(self) -> dict[str, str]:
        """Return the body of that answer."""
        return {"error": str(self)}


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelBody:
    """A label as upstream stores it."""

    label: str
    note: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class StatusChange:
    """A proposal's state as upstream stores it."""

    status: str
    resolution: Mapping[str, str | None] | None  # kind, ref, url, note; None where all four are empty

    @property
    def decided(self) -> bool:
        """Return whether time and person of the decision are set; otherwise they are cleared."""
        return self.status != "pending"


def create_filters(body: Any) -> dict[str, Any]:
    """Return the filters by which proposals are created from feedback; those that are not set are left out.

    Raises:
        BodyError: upstream refuses it. The first thing wrong is told: limit, source, label, error, tool name.

    >>> create_filters({"limit": "0x1F", "toolName": " book_tour ", "error": "off"})
    {'limit': 31, 'toolName': 'book_tour', 'error': False}
    """
    given = _object(body)
    limit = _limit(given.get("limit"))
    found = {
        "source": _named(given, "source", SOURCES.__contains__),
        "label": _named(given, "label", FIVE.__contains__),
        "error": _flag(given.get("error")),
        "toolName": _named(given, "toolName", bool),
    }
    order = ("source", "toolName", "label", "error")
    return {"limit": limit} | {name: found[name] for name in order if found[name] is not None}


def label_body(body: Any) -> LabelBody:
    """Return the label that a body gives to a call.

    Raises:
        BodyError: upstream refuses it.

    >>> label_body({"label": " bad_args ", "note": "in baht "})
    LabelBody(label='bad_args', note='in baht')
    """
    given = _object(body)
    label = given.get("label")
    if not isinstance(label, str) or js_text.trim(label) not in FIVE:
        raise BodyError(f"label must be one of: {', '.join(FIVE)}")
    note = given.get("note")
    if note is not None and not isinstance(note, str):
        raise BodyError(f"note must be a string up to {MOST_OF_A_NOTE} characters")
    words = js_text.trim(note or "")
    if js_text.length(words) > MOST_OF_A_NOTE:
        raise BodyError(f"note must be a string up to {MOST_OF_A_NOTE} characters")
    return LabelBody(label=js_text.trim(label), note=words or None)


def status_change(body: Any) -> StatusChange:
    """Return the state that a body gives to a proposal; `pending` has no resolution, whatever came.

    Raises:
        BodyError: upstream refuses it.

    >>> status_change({"status": "applied", "resolution": {"kind": "pull_request", "ref": "PR-7"}}).decided
    True
    """
    given = _object(body)
    status = given.get("status")
    if not isinstance(status, str) or js_text.trim(status) not in STATUSES:
        raise BodyError(f"status must be one of: {', '.join(STATUSES)}")
    status = js_text.trim(status)
    found = resolution(given.get("resolution"))
    if status == "applied" and not (found and found["kind"] and (found["ref"] or found["url"])):
        raise BodyError("resolution with kind and ref or url is required when applying a proposal")
    return StatusChange(status=status, resolution=None if status == "pending" else found)


def resolution(given: Any) -> dict[str, str | None] | None:
    """Return what a proposal was resolved by, trimmed, blanks as None; None where nothing of it is said.

    Raises:
        BodyError: upstream refuses it.

    >>> resolution({"kind": " other ", "ref": "", "url": "https://lab.example.com/7"})
    {'kind': 'other', 'ref': None, 'url': 'https://lab.example.com/7', 'note': None}
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise BodyError("resolution must be an object")
    found: dict[str, str | None] = {}
    for name, most in _MOST.items():
        words = found[name] = _words(given.get(name), f"resolution.{name}", most)
        if name == "kind" and words is not None and words not in KINDS:
            raise BodyError("invalid resolution.kind")
        if name == "url" and words is not None:
            url = parse_url(words)
            if url is None or url.scheme not in ("http", "https"):
                raise BodyError("resolution.url must be an http(s) URL")
    return found if any(found.values()) else None


def _object(body: Any) -> Mapping[str, Any]:
    return body if isinstance(body, Mapping) else {}


def _words(value: Any, path: str, most: int) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise BodyError(f"{path} must be a string")
    words = js_text.trim(value)
    if js_text.length(words) > most:
        raise BodyError(f"{path} must be at most {most} characters")
    return words or None


def _limit(value: Any) -> int:
    if value is None or value == "":
        return _ROWS
    number = _number(value)
    if not js_text.is_integer(number) or not 1 <= number <= _MOST_ROWS:
        raise BodyError("invalid limit")
    return int(number)


def _number(value: Any) -> float:
    """Return what `Number(value)` gives: a list is read as the text of what is in it."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str | list):
        return js_text.number(_as_text(value))
    return math.nan if isinstance(value, Mapping) else js_text.double(value)


def _as_text(value: Any) -> str:
    """Return what `String(value)` gives where a number may come of it."""
    while isinstance(value, list) and len(value) == 1:
        (value,) = value
    if isinstance(value, list) or value is None:
        return "," if value else ""
    if isinstance(value, str):
        return value
    plain = not isinstance(value, bool | Mapping)
    return js_text.number_text(value) if plain else "no number"


def _flag(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    words = js_text.trim(value).lower() if isinstance(value, str) else None
    if words == "":
        return None
    if words not in (*_YES, *_NO):
        raise BodyError("invalid error")
    return words in _YES


def _named(given: Mapping[str, Any], name: str, fits: Callable[[str], bool]) -> str | None:
    value = given.get(name)
    if value is None:
        return None
    words = js_text.trim(value) if isinstance(value, str) else ""
    if not words or not fits(words):
        raise BodyError(f"invalid {name}")
    return words
