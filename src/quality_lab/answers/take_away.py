"""Answers as Arrow, pandas, CSV and Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from quality_lab.answers.columns import Column, Shape, for_arrow, plain
from quality_lab.errors import OutputError

if TYPE_CHECKING:
    import pandas
    import pyarrow

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def arrow_table(rows: Sequence[Any], columns: Sequence[Column]) -> pyarrow.Table:
    """Return the rows as an Arrow table with the types of the columns, whatever the rows hold."""
    import pyarrow

    schema = pyarrow.schema([(column.name, _arrow_type(column.shape)) for column in columns])
    arrays = [
        pyarrow.array([for_arrow(getattr(row, column.name), column.shape) for row in rows], type=field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def _arrow_type(shape: Shape) -> Any:
    import pyarrow

    if shape.kind == "list" and shape.element is not None:
        return pyarrow.list_(_arrow_type(shape.element))
    if shape.kind == "record":
        return pyarrow.struct([(name, _arrow_type(inner)) for name, inner in shape.fields])
    return {
        "integer": pyarrow.int64(),
        "number": pyarrow.float64(),
        "flag": pyarrow.bool_(),
        "time": pyarrow.timestamp("us", tz="UTC"),
        "date": pyarrow.date32(),
    }.get(shape.kind, pyarrow.string())


def pandas_frame(table: pyarrow.Table) -> pandas.DataFrame:
    """Return the table as a pandas frame; unknown whole numbers and flags turn no other into a float."""
    import pandas
    import pyarrow

    nullable = {pyarrow.int64(): pandas.Int64Dtype(), pyarrow.bool_(): pandas.BooleanDtype()}
    frame: pandas.DataFrame = table.to_pandas(types_mapper=nullable.get)
    return frame


def csv_lines(rows: Sequence[Any], columns: Sequence[Column], file: TextIO) -> None:
    """Return nothing; write a header and one line a row to *file*. Lists and records stand as JSON text.

    Text that starts as a formula would gets an apostrophe before it; numbers stay numbers.
    """
    writer = csv.writer(file)
    writer.writerow([column.name for column in columns])
    for row in rows:
        writer.writerow([_csv_cell(plain(getattr(row, column.name))) for column in columns])


def write_csv(rows: Sequence[Any], columns: Sequence[Column], path: Path) -> Path:
    """Return the path written, with what `csv_lines` writes.

    Raises: OutputError if the file cannot be written.
    """
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            csv_lines(rows, columns, file)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
    return path


def _csv_cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        value = value.encode("utf-8", "backslashreplace").decode()
        return f"'{value}" if value.startswith(_FORMULA_STARTS) else value
    return value


def write_parquet(table: pyarrow.Table, path: Path) -> Path:
    """Return the path written.

    Raises: OutputError if the file cannot be written.
    """
    from pyarrow import parquet

    try:
        parquet.write_table(table, path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
    return path
