"""Which case is which: ids made from content, and cases that are the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from hashlib import sha256
from typing import Any

from quality_lab.json_text import canonical

FIRST_ID, LAST_ID = 2**31, 2**53 - 1  # above upstream's serials, and exact in every JSON reader


def id_of(record: Mapping[str, Any], *, taken: Collection[int] = ()) -> int:
    """Return an id made from what *record* demands and holds; the next free one where it is *taken*.

    >>> FIRST_ID <= id_of({"toolName": "pay"}) <= LAST_ID
    True
    >>> first = id_of({"toolName": "pay"})
    >>> id_of({"toolName": "pay"}, taken={first}) == first
    False
    """
    held = {name: record.get(name) for name in ("toolName", "label", "input", "expected", "recorded")}
    held["call"] = _call_of(record)
    digest = int.from_bytes(sha256(canonical(held).encode("utf-8", "surrogatepass")).digest()[:16])
    span = LAST_ID - FIRST_ID + 1
    number = digest % span
    while FIRST_ID + number in taken:
        number = (number + 1) % span
    return FIRST_ID + number


def is_positive(record: Mapping[str, Any]) -> bool:
    """Return whether a case was made from a good reply."""
    return _held(record, "provenance").get("label") == "good_reply"


def twin_of(
    record: Mapping[str, Any],
    others: Iterable[Mapping[str, Any]],
    *,
    masked: Callable[[str], str],
) -> Mapping[str, Any] | None:
    """Return the first of *others* that is the same case: same tool, equal arguments, same label; or None.

    What is *masked* in one of them is compared as if it were in the other. Where the arguments were not
    captured, only cases from the same call are the same.
    """
    wanted = _sameness(record, masked)
    return next((other for other in others if _sameness(other, masked) == wanted), None)


def _sameness(record: Mapping[str, Any], masked: Callable[[str], str]) -> tuple[Any, ...]:
    args = _held(record, "input").get("args")
    what = _call_of(record) if args is None else masked(canonical(args))
    return record.get("toolName"), what, record.get("label"), is_positive(record)


def _call_of(record: Mapping[str, Any]) -> Any:
    return _held(record, "provenance").get("call_uid") or record.get("toolCallId")


def _held(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = record.get(name)
    return value if isinstance(value, Mapping) else {}
