"""How many of each noun the cache holds."""

from __future__ import annotations

import duckdb

_COUNTED = {
    "tool_calls": "select count(*) from tool_calls where actor <> 'guard'",
    "messages": "select count(*) from messages",
    "feedback": "select count(*) from feedback",
    "regression_cases": "select count(*) from regression_cases",
    "proposals": "select count(*) from proposals",
    "tool_definitions": "select count(*) from tool_definitions",
    "conversations": "select count(*) from conversations",
    "guard_rows": "select count(*) from tool_calls where actor = 'guard'",
    "rejected": "select (select count(*) from rejects) + (select count(*) from versions where conflicting)",
}


def totals_in(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Return the count of each noun, by the name under which `load` tells it."""
    counts: dict[str, int] = {}
    for name, sql in _COUNTED.items():
        row = connection.execute(sql).fetchone()
        assert row is not None  # a count always has a row
        counts[name] = int(row[0])
    return counts
