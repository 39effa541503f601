"""A tool's parameters as rows that a reviewer reads: name, kind, whether it is required, what it means."""

from __future__ import annotations

import json
from typing import Any

from quality_lab.answers.harmless import visible

_MOST = 60  # parameters shown; the whole schema is beside them


def parameter_rows(schema: str | None) -> list[dict[str, Any]]:
    """Return a row for each parameter of a JSON Schema, in its order; none where the schema is no object.

    >>> parameter_rows('{"properties": {"amount": {"type": "number"}}, "required": ["amount"]}')
    [{'name': 'amount', 'kind': 'number', 'required': True, 'means': ''}]
    """
    whole = _object(schema)
    properties = whole.get("properties")
    required = whole.get("required")
    wanted = required if isinstance(required, list) else []
    if not isinstance(properties, dict):
        return []
    return [
        {
            "name": visible(name),
            "kind": visible(_kind(given)),
            "required": name in wanted,
            "means": visible(_means(given)),
        }
        for name, given in list(properties.items())[:_MOST]
    ]


def _object(text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _kind(given: Any) -> str:
    """Return the type of a parameter in a few words; what has none is `any`."""
    if not isinstance(given, dict):
        return "any"
    if "const" in given:
        return json.dumps(given["const"], ensure_ascii=False)
    if isinstance(given.get("enum"), list):
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in given["enum"])
    for several in ("anyOf", "oneOf"):
        if isinstance(given.get(several), list):
            return " | ".join(dict.fromkeys(_kind(one) for one in given[several]))
    kind = given.get("type")
    if isinstance(kind, list):
        return " | ".join(str(one) for one in kind)
    if kind == "array":
        return f"list of {_kind(given.get('items'))}"
    return str(kind) if kind else "any"


def _means(given: Any) -> str:
    means = given.get("description") if isinstance(given, dict) else None
    return means if isinstance(means, str) else ""
