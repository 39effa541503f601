"""Answers that a load keeps: the rows of a few heavy questions, computed once for who asks unfiltered.

Each lies in a table named by the digest of its text and its parameters, so that a question that was changed
never meets the rows of its former self. Whatever changes the lab lets them all go, in the same transaction; they
are kept anew in the next.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import duckdb

_PREFIX = "kept_"
_SHARE_CHANGED = 0.01  # of the lab's calls and labels; a smaller change is not worth computing anew
_FEW = 50_000  # calls and labels; what so few come to is computed as soon as it is asked for


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptQuestion:
    """A question with the parameters under which its rows are kept."""

    sql: str
    parameters: Mapping[str, object] = field(default_factory=dict)

    @property
    def table(self) -> str:
        """Return the name of the table of its rows."""
        text = json.dumps([self.sql, self.parameters], sort_keys=True, default=str)
        return _PREFIX + hashlib.sha256(text.encode()).hexdigest()[:16]


def is_kept(connection: duckdb.DuckDBPyConnection, question: KeptQuestion) -> bool:
    """Return whether the rows of *question* were kept by the last load."""
    try:
        connection.execute(f"select 1 from {question.table} limit 0")
    except duckdb.CatalogException:
        return False
    return True


def keep_answers(
    connection: duckdb.DuckDBPyConnection, questions: Callable[[], Iterable[KeptQuestion]], *, changed: int
) -> None:
    """Keep the rows of *questions*, which were let go when so many rows *changed*, where it is worth it.

    It is done after whatever changed them is safe: an answer that could not be kept is computed when asked for.
    """
    if not changed:
        return
    counted = connection.execute("select (select count(*) from tool_calls) + (select count(*) from feedback)")
    (rows,) = counted.fetchone() or (0,)
    if rows < _FEW or changed < _SHARE_CHANGED * rows:
        return
    for question in questions():
        connection.execute(f"create table {question.table} as {question.sql}", dict(question.parameters))


def let_go(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop all rows that were kept."""
    for (table,) in connection.execute(
        "select table_name from duckdb_tables() where starts_with(table_name, $prefix)", {"prefix": _PREFIX}
    ).fetchall():
        connection.execute(f'drop table "{table}"')
