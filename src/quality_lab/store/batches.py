"""Rows into tables, many at a time: as columns, which DuckDB casts to its types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

import duckdb

from quality_lab.store.row_values import clean

_A_FEW = 1_000  # rows; so many are laid down sooner than Arrow is imported


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
    """Add *rows* (values in the order of *columns*) to *table*; times may be datetimes or ISO texts.

    Texts are cleaned as `row_values.clean` does it; datetimes are in UTC, with their zone or without.
    """
    if not rows:
        return
    given = zip(columns.values(), zip(*rows, strict=True), strict=True)
    listed = ", ".join(columns)
    if len(rows) <= _A_FEW:
        lists = ", ".join(
            f"unnest(${place}::{kind}[])" for place, kind in enumerate(columns.values(), start=1)
        )
        connection.execute(
            f"insert into {table} ({listed}) select {lists}",
            [list(map(_fitting, values)) for _, values in given],
        )
        return
    import pyarrow as pa  # it takes long to import

    from quality_lab.store.arrays import array_from, once

    batch = pa.RecordBatch.from_arrays(
        [array_from(kind, values) for kind, values in given], names=list(columns)
    )
    connection.register("incoming_batch", once(batch.schema, iter([batch])))
    connection.execute(f"insert into {table} ({listed}) select {listed} from incoming_batch")
    connection.unregister("incoming_batch")


def _fitting(value: object) -> object:
    if isinstance(value, str):
        return clean(value)
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


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
