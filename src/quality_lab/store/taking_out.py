"""What leaves the cache: rows in a stream, whole tables as Parquet, and the answer to somebody's own SQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from quality_lab.errors import OutputError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from quality_lab.store.store import Store

_AT_ONCE = 2_000  # rows held in memory


def stream(store: Store, sql: str, **parameters: object) -> Iterator[dict[str, Any]]:
    """Yield the rows of *sql* by column name, a few thousand in memory; the connection lives until the last one."""
    with store.question() as connection:
        result = connection.execute(sql, parameters)
        names = [column[0] for column in result.description or ()]
        while rows := result.fetchmany(_AT_ONCE):
            for row in rows:
                yield dict(zip(names, row, strict=True))


def write_tables(store: Store, folder: Path) -> list[Path]:
    """Return the Parquet files written into *folder*, one a table; ids are text there, times UTC without a zone.

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
    """Return the rows of somebody's own *sql*, which can read the lab's tables and nothing else, and change nothing.

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
