"""Lines of the journal on their way into the tables: each stands once, until another line takes it back."""

from __future__ import annotations

import duckdb

from quality_lab.store.batches import columns_of

LINES = ("retractions", "decisions", "queues", "queue_calls")  # each a line of the journal, by its key


def merge_lines(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    """Take in lines of the journal, each of which stands once, with the least of its origins."""
    names = ", ".join(columns_of(connection, table))
    connection.execute(f"""
        insert into statuses
        select unit, 0, case when row_number() over (partition by key order by unit) = 1
                                  and key not in (select key from {table})
                             then 'loaded' else 'unchanged' end
        from staged_{table}""")
    connection.execute(f"""
        insert into {table}
        select {names} from staged_{table} where key not in (select key from {table})
        qualify row_number() over (partition by key order by source_id, line) = 1""")
    connection.execute(f"""
        update {table} set source_id = first.place[1], line = first.place[2]
        from (select key, min((source_id, line)) as place from staged_{table} group by key) as first
        where {table}.key = first.key and first.place < ({table}.source_id, {table}.line)""")


def retract(connection: duckdb.DuckDBPyConnection) -> None:
    """Take out what the journal says and another line of the journal takes back."""
    for table, line in (
        ("decisions", "key"),
        ("queues", "key"),
        ("queue_calls", "key"),
        ("queue_calls", "queue"),
    ):
        connection.execute(f"delete from {table} where {line} in (select retracts from retractions)")
    connection.execute("""
        delete from feedback where key_space = 'journal' and key in (select retracts from retractions)""")
    connection.execute("""
        delete from regression_cases where journal_line in (select retracts from retractions)""")
