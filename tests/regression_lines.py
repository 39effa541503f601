"""Regression cases as lines, in order but for what a test changes."""

from __future__ import annotations

import json
from typing import Any


def case(**changes: Any) -> dict[str, Any]:
    """Return a case that is in order, but for *changes*."""
    return {
        "recordType": "tool_call_regression_case",
        "id": 41,
        "proposalId": None,
        "toolCallId": 4031,
        "source": "tool_call_feedback",
        "toolName": "book_table",
        "label": "bad_args",
        "title": "Table for two",
        "input": {"toolName": changes.get("toolName", "book_table"), "args": {"seats": 2}},
        "expected": {"behavior": "Asks for the day first."},
        "context": {"toolCall": {"result": None, "error": False}},
        "status": "active",
        "createdByAdminId": None,
        "createdAt": 1781003600,
        "updatedAt": 1781003600,
        **changes,
    }


def line(**changes: Any) -> bytes:
    return json.dumps(case(**changes)).encode("ascii")
