"""What leaves the cache: rows in a stream, whole tables as Parquet, and the answer to somebody's own SQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from quality_lab.errors import OutputError, UsageError
from quality_lab.records import BY_UID, UPSTREAM

if TYPE_CHECKING:
    import pyarrow as pa

    from quality_lab.store.store import Store

_AT_ONCE = 2_000  # rows held in memory


def stream(store: Store, sql: str, **parameters: object) -> Iterator[dict[str, Any]]:
    """Yield the rows of *sql* by column name, a few thousand at a time; the connection lives that long."""
    with store.question() as connection:
        result = connection.execute(sql, parameters)
        names = [column[0] for column in result.description or ()]
        while rows := result.fetchmany(_AT_ONCE):
            for row in rows:
                yield dict(zip(names, row, strict=True))


def holdings(store: Store) -> dict[str, dict[str, int]]:
    """Return for each tenant, by name, how many calls (guard rows too) and how much feedback it has here."""
    sql = """
        with held as (
            select tenant, 1 as calls, 0 as feedback from tool_calls
            union all
            select tenant, 0, 1 from feedback
        )
        select tenant, sum(calls)::bigint as calls, sum(feedback)::bigint as feedback
        from held group by tenant order by tenant"""
    return {row.pop("tenant"): row for row in stream(store, sql)}


def calls_to_export(store: Store, *, tenant: str, upstream: bool) -> Iterator[dict[str, Any]]:
    """Yield the calls of *tenant*, newest first; with *upstream* those of its trace list alone."""
    sql = """
        select * exclude (call_uid, conversation_uid, source_id, line)
        from tool_calls
        where tenant = $tenant and (not $upstream or (key_space = $upstream_space and in_trace))
        order by created_at desc nulls last, try_cast(key as hugeint) desc nulls last, key_space, key desc"""
    return stream(store, sql, tenant=tenant, upstream=upstream, upstream_space=UPSTREAM)


def feedback_to_export(store: Store, *, tenant: str, upstream: bool) -> Iterator[dict[str, Any]]:
    """Yield the labels of *tenant*, newest first, with the columns of their call as `call_…`.

    With *upstream* they are those of its feedback export: its own labels, on its own calls. A label whose
    target nobody can name any more is left out.
    """
    sql = """
        with told as (
            select f.* exclude (feedback_uid, call_uid, conversation_uid, source_id, line),
                   case when f.conversation_uid is not null
                        then coalesce(c.conversation_id, v.conversation_id) end as conversation_id,
                   coalesce(c.key_space, case when f.call_uid is not null then $by_uid end, v.key_space)
                       as target_key_space,
                   coalesce(c.key, replace(f.call_uid::varchar, '-', '')) as call_key,
                   c.key_space as call_key_space, c.conversation_id as call_conversation_id,
                   c.contact_id as call_contact_id, c.message_id as call_message_id,
                   c.outbound_id as call_outbound_id, c.source as call_source, c.tool_name as call_tool_name,
                   c.arguments as call_arguments, c.arguments_state as call_arguments_state,
                   c.result as call_result, c.is_error as call_is_error, c.cycle as call_cycle,
                   c.call_index as call_call_index, c.latency_ms as call_latency_ms,
                   c.created_at as call_created_at
            from feedback f
            left join tool_calls c on c.call_uid = f.call_uid
            left join conversations v on v.conversation_uid = f.conversation_uid
        )
        select * from told
        where tenant = $tenant and target_key_space is not null
          and (not $upstream or (key_space = $upstream_space and call_key_space = $upstream_space))
        order by created_at desc nulls last, try_cast(key as hugeint) desc nulls last, key_space, key desc"""
    return stream(store, sql, tenant=tenant, upstream=upstream, upstream_space=UPSTREAM, by_uid=BY_UID)


def write_tables(store: Store, folder: Path) -> list[Path]:
    """Return the Parquet files written into *folder*, one a table; ids are text, times UTC without a zone.

    Raises: OutputError where the folder or a file cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {error.strerror or error}") from error
    written = []
    with store.question() as connection:
        tables = connection.execute("select table_name from duckdb_tables() order by table_name").fetchall()
        for (table,) in tables:
            path = folder / f"{table}.parquet"
            relation = connection.table(table)
            ids = ", ".join(
                f'"{name}"::varchar as "{name}"'
                for name, kind in zip(relation.columns, relation.types, strict=True)
                if kind.id == "uuid"
            )
            try:
                (relation.project(f"* replace ({ids})") if ids else relation).write_parquet(str(path))
            except duckdb.Error as error:
                raise OutputError(f"{path} cannot be written: {str(error).splitlines()[0]}") from error
            written.append(path)
    return written


def own_sql(store: Store, sql: str, parameters: dict[str, object]) -> pa.Table:
    """Return the rows of somebody's own *sql*: it reads the lab's tables, nothing else, and changes nothing.

    Raises: UsageError where it cannot be run, with what DuckDB says of it.
    """
    with store.question() as connection:
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
        try:
            asked = connection.sql(sql, params=parameters)
            if asked is None:
                raise UsageError("this SQL asks for no rows; wanted a select")
            return asked.to_arrow_table()
        except duckdb.Error as error:
            raise UsageError(f"this SQL cannot be run: {str(error).strip()}") from error
