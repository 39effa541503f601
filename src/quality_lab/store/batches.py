"""Rows into tables, many at a time: columns of Python values become one Arrow table, and DuckDB casts it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING
from uuid import UUID

import duckdb

if TYPE_CHECKING:
    import pyarrow as pa


@cache
def _arrow_types() -> dict[str, pa.DataType]:
    import pyarrow as pa  # here, since questions never need it and it takes long to import

    return {
        "VARCHAR": pa.string(),
        "UUID": pa.string(),
        "INTEGER": pa.int64(),
        "BIGINT": pa.int64(),
        "DOUBLE": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "VARCHAR[]": pa.list_(pa.string()),
        "TIMESTAMP": pa.timestamp("us"),
    }


def columns_of(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    """Return the names of *table*'s columns in order, each with its DuckDB type."""
    rows = connection.execute(
        "select column_name, data_type from duckdb_columns() where table_name = $t order by column_index",
        {"t": table},
    ).fetchall()
    return dict(rows)


def append(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    columns: Mapping[str, str],
    rows: Sequence[Sequence[object]],
) -> None:
    """Add *rows* (values in the order of *columns*) to *table*; times may be datetimes or ISO texts."""
    if not rows:
        return
    import pyarrow as pa

    arrays = [
        _array(kind, list(values))
        for kind, values in zip(columns.values(), zip(*rows, strict=True), strict=True)
    ]
    batch = pa.Table.from_arrays(arrays, names=list(columns))
    connection.register("incoming_batch", batch)
    listed = ", ".join(columns)
    connection.execute(f"insert into {table} ({listed}) select {listed} from incoming_batch")
    connection.unregister("incoming_batch")


def _array(kind: str, values: list[object]) -> pa.Array:
    import pyarrow as pa

    if kind == "TIMESTAMP" and any(isinstance(value, str) for value in values):
        return pa.array(
            [value.isoformat() if isinstance(value, datetime) else value for value in values], pa.string()
        )
    return pa.array(values, _arrow_types()[kind])


def plain_value(value: object) -> object:
    """Return *value* as JSON can hold it: times and UUIDs as text."""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return str(value) if isinstance(value, UUID) else value


def fetch_rows(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, object] | None = None
) -> list[dict[str, object]]:
    """Return the rows of *sql* as dictionaries of plain values."""
    result = connection.execute(sql, dict(parameters or {}))
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, map(plain_value, row), strict=True)) for row in result.fetchall()]
