"""The home's own table of what foreign labels mean, and whether the lab was loaded with the table as it is."""

from __future__ import annotations

import hashlib
from pathlib import Path

import duckdb

from quality_lab.errors import InputError
from quality_lab.formats.label_aliases import LabelAliases, read_aliases

_META = "label_table"


def label_table_path(home: Path) -> Path:
    """Return where a home's table lies."""
    return home / "data" / "labels.toml"


def label_table(home: Path) -> LabelAliases | None:
    """Return the home's table, or None where it has none.

    Raises: InputError (it cannot be read, or is no TOML), UsageError (a row that cannot be).
    """
    text = _text(home)
    return None if text is None else read_aliases(text, file=str(label_table_path(home)))


def told_of_change(connection: duckdb.DuckDBPyConnection, home: Path) -> str | None:
    """Return the notice that the table is another one than when the lab was made; None where it is the same.

    A lab that holds no label yet takes the table as it is.
    """
    text = _text(home)
    digest = "" if text is None else hashlib.sha256(text.encode()).hexdigest()
    row = connection.execute("select value from lab_meta where name = $name", {"name": _META}).fetchone()
    if row is not None and row[0] == digest:
        return None
    held = connection.execute("select 1 from feedback limit 1").fetchone()
    if row is None or held is None:
        known = row[0] if row is not None else "" if held is not None else digest
        connection.execute("delete from lab_meta where name = $name", {"name": _META})
        connection.execute("insert into lab_meta values ($name, $value)", {"name": _META, "value": known})
        if known == digest:
            return None
    return (
        f"{label_table_path(home)} has changed: labels of files that were loaded before stay as they are "
        "until `quality-lab load --rebuild`"
    )


def _text(home: Path) -> str | None:
    path = label_table_path(home)
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        raise InputError(f"{path}: cannot be read: {problem}") from None
