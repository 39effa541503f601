"""A case whose content is shown with stand-ins: secrets, payment data and addresses stay where they were."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quality_lab.json_text import compact, parse

_KEPT = frozenset({"recordType", "source", "toolName", "label", "provenance", "status"})  # no content


def masked_record(
    record: Mapping[str, Any], *, content: Callable[[str], str], schemas: Callable[[str], str]
) -> dict[str, Any]:
    """Return *record* with its *content* masked, and its tools' *schemas*; equal values stay equal.

    Both functions take JSON text and return it masked.

    >>> masked_record({"id": 1, "title": "to a@example.com"}, content=lambda text: text.replace("a@", "[x]@"),
    ...               schemas=str)
    {'id': 1, 'title': 'to [x]@example.com'}
    """
    shown = dict(record)
    tools = None
    given = record.get("input")
    if isinstance(given, Mapping) and "tools" in given:
        tools = given["tools"]
        shown["input"] = {name: value for name, value in given.items() if name != "tools"}
    masked: dict[str, Any] = {
        name: value if name in _KEPT else parse(content(compact(value))) for name, value in shown.items()
    }
    if tools is not None:
        masked["input"]["tools"] = parse(schemas(compact(tools)))
    return masked
