"""Questions to the cache: a connection opened late and closed early, rows that fit their class."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb

from quality_lab.errors import StoreError
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
            described = result.description or ()
            names = [column[0] for column in described]
            fields = dataclasses.fields(row_class)  # type: ignore[arg-type]  # a dataclass by contract
            wanted = [field.name for field in fields]
            if set(names) != set(wanted):
                raise StoreError(
                    f"{row_class.__name__} wants the columns {', '.join(wanted)}; came {', '.join(names)}"
                )
            kinds = [str(column[1]) for column in described]
            times = [at for at, kind in enumerate(kinds) if kind.startswith("TIMESTAMP")]
            uids = [at for at, kind in enumerate(kinds) if kind == "UUID"]
            return [
                row_class(**dict(zip(names, _told(row, times, uids), strict=True)))
                for row in result.fetchall()
            ]

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


def _told(row: tuple[Any, ...], times: list[int], uids: list[int]) -> list[Any]:
    """Return the values of *row* with aware *times* and with *uids* as text."""
    values = list(row)
    for at in times:
        if values[at] is not None and values[at].tzinfo is None:
            values[at] = values[at].replace(tzinfo=UTC)
    for at in uids:
        if values[at] is not None:
            values[at] = str(values[at])
    return values
