"""Labels that name a span and not its trace: they find the call that the span is, whichever was loaded first.

A span's id alone is no key (hand-made exports count it from one in every trace), so a label is placed only
where exactly one call has that span. Until then it names a call that is not here.
"""

from __future__ import annotations

import duckdb

from quality_lab.records import BY_SPAN

_SPANS_OF = "otel"  # the key space whose calls are spans: their key is the trace's id, a colon, the span's id
_LABELS_OF = "phoenix"  # the key space of the labels that may name a span alone


def place_span_labels(connection: duckdb.DuckDBPyConnection) -> None:
    """Give labels in the table and among the staged ones the calls of the spans that they name."""
    run = connection.execute
    tables = [table for table in ("staged_feedback", "feedback") if _has(connection, table, _LABELS_OF)]
    if not tables or (tables == ["feedback"] and not _has(connection, "staged_tool_calls", _SPANS_OF)):
        return
    run(
        """
        create or replace temp table calls_of_spans as
        with calls as (
            select tenant, key, call_uid, conversation_uid, tool_name from tool_calls where key_space = $spans
            union
            select tenant, key, call_uid, conversation_uid, tool_name from staged_tool_calls
            where key_space = $spans
        ), spans as (
            select *, regexp_extract(key, ':([^:#]*)$', 1) as span from calls where key not like '%#%'
        )
        select md5_number(concat(length(tenant), ':', tenant, length($by_span), ':', $by_span,
                                 length(span), ':', span))::uuid as span_uid,
               any_value(call_uid) as call_uid, any_value(conversation_uid) as conversation_uid,
               any_value(tool_name) as tool_name
        from spans group by all having count(distinct call_uid) = 1""",
        {"spans": _SPANS_OF, "by_span": BY_SPAN},
    )
    for table in tables:
        run(
            f"""
            update {table}
            set call_uid = c.call_uid, conversation_uid = c.conversation_uid, tool_name = c.tool_name
            from calls_of_spans c where {table}.key_space = $labels and {table}.call_uid = c.span_uid""",
            {"labels": _LABELS_OF},
        )


def _has(connection: duckdb.DuckDBPyConnection, table: str, key_space: str) -> bool:
    sql = f"select 1 from {table} where key_space = $key_space limit 1"
    return connection.execute(sql, {"key_space": key_space}).fetchone() is not None
