"""Questions to the cache: a connection opened late and closed early, rows that fit their class."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import duckdb

from quality_lab.errors import StoreError
from quality_lab.store.batches import plain_value
from quality_lab.store.database import reading
from quality_lab.store.kept import KeptQuestion, is_kept

if TYPE_CHECKING:
    import pyarrow as pa

Row = TypeVar("Row")


class Asking:
    """One database file that answers. A connection lives as long as one question, or some asked together."""

    def __init__(self, database: Path, *, wait_s: float, on_wait: Callable[[str], None] | None) -> None:
        """Keep where the file is and how long to wait for it; nothing is opened."""
        self.wait_s = wait_s
        self._database = database
        self._on_wait = on_wait
        self._shared = threading.local()

    @property
    def database(self) -> Path:
        """The file of the cache, which may not be there yet."""
        return self._database

    @contextmanager
    def question(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a read-only connection for several statements that must see the same state."""
        shared = getattr(self._shared, "connection", None)
        if shared is not None:
            yield shared
            return
        with reading(self.database, wait_s=self.wait_s, on_wait=self._on_wait) as connection:
            yield connection

    @contextmanager
    def together(self) -> Iterator[None]:
        """Let the questions of this thread share one connection meanwhile, and so see the same state."""
        with self.question() as connection:
            before = getattr(self._shared, "connection", None)
            self._shared.connection = connection
            try:
                yield
            finally:
                self._shared.connection = before

    def ask(self, row_class: type[Row], sql: str, **parameters: object) -> list[Row]:
        """Return the rows of *sql* as *row_class* objects; its columns must be exactly that class's fields.

        Times come back as aware datetimes in UTC. Raises: StoreError, StoreBusy.
        """
        with self.question() as connection:
            result = connection.execute(sql, parameters)
            names = [column[0] for column in result.description or ()]
            fields = dataclasses.fields(row_class)  # type: ignore[arg-type]  # a dataclass by contract
            wanted = [field.name for field in fields]
            if set(names) != set(wanted):
                raise StoreError(
                    f"{row_class.__name__} wants the columns {', '.join(wanted)}; came {', '.join(names)}"
                )
            return [row_class(**dict(zip(names, map(_aware, row), strict=True))) for row in result.fetchall()]

    def ask_kept(
        self,
        row_class: type[Row],
        sql: str,
        *,
        column: str | None = None,
        among: Sequence[object] = (),
        **parameters: object,
    ) -> list[Row]:
        """Return what `ask` returns, from where the last load kept it if it did.

        With a *column*, only rows whose value there is *among* those given.
        """
        question = KeptQuestion(sql=sql, parameters=parameters)
        with self.together():
            with self.question() as connection:
                kept = is_kept(connection, question)
            given = {} if kept else parameters
            rows_of = f"select * from {question.table}" if kept else sql
            if column is None:
                return self.ask(row_class, rows_of, **given)
            narrowed = f"select * from (\n{rows_of}\n) as every where array_contains($among, {column})"
            return self.ask(row_class, narrowed, among=list(among), **given)

    def ask_arrow(self, sql: str, **parameters: object) -> pa.Table:
        """Return the rows of *sql* as an Arrow table; times are UTC without a zone.

        Raises: StoreError, StoreBusy.
        """
        with self.question() as connection:
            return connection.execute(sql, parameters).to_arrow_table()


def _aware(value: object) -> object:
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    return value if isinstance(value, datetime) else plain_value(value)
