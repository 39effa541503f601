"""A case as upstream writes it: its keys alone, in its order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KEYS = (
    *("recordType", "id", "proposalId", "toolCallId", "source", "toolName", "label", "title", "input"),
    *("expected", "context", "status", "createdByAdminId", "createdAt", "updatedAt"),
)
_NESTED = {
    "input": ("source", "toolName", "args", "feedback"),
    "expected": ("behavior", "proposalKind", "actionItems"),
    "context": ("proposal", "exampleIndex", "feedback", "toolCall"),
}


def as_upstream(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return *record* without the keys that only the workbench knows.

    >>> as_upstream({"id": 1, "recorded": [], "expected": {"behavior": "Asks first.", "mode": "none"}})
    {'id': 1, 'expected': {'behavior': 'Asks first.'}}
    """
    shown = {name: record[name] for name in _KEYS if name in record}
    for name, inner in _NESTED.items():
        held = shown.get(name)
        if isinstance(held, Mapping):
            shown[name] = {key: held[key] for key in inner if key in held}
    return shown
