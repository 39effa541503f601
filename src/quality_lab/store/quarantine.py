"""Lines in quarantine: staged while their file is read, so that a file of broken lines needs no memory."""

from __future__ import annotations

from collections.abc import Iterable

import duckdb

from quality_lab.records import Reject
from quality_lab.store.batches import append, columns_of
from quality_lab.store.row_values import clean

_KEPT_AT_ONCE = 20_000  # rows of many small files


class Quarantine:
    """The rejects of the files of a load; `rejects` keeps those of a file that was read to its end."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._columns = columns_of(connection, "rejects")
        self._rows: list[list[object]] = []  # of the file that is being read
        self._is_staged = False  # more of it are in `staged_rejects`
        self._read: dict[int, list[list[object]]] = {}  # of files that were read, which wait to be laid down
        self._waiting = 0
        connection.execute("create or replace temp table staged_rejects as from rejects limit 0")

    def hold(self, rejects: Iterable[Reject], source_id: int) -> int:
        """Hold *rejects* in memory and return how many they are."""
        before = len(self._rows)
        self._rows.extend(
            [source_id, one.line, clean(one.path), clean(one.reason), clean(one.text)] for one in rejects
        )
        return len(self._rows) - before

    def stage(self) -> None:
        """Stage what is held in memory."""
        self._is_staged |= bool(self._rows)
        append(self._connection, "staged_rejects", self._columns, self._rows)
        self._rows.clear()

    def keep(self, source_id: int) -> None:
        """Put the rejects of a file that was read in the place of what this source had in quarantine before."""
        if self._is_staged:
            self.stage()
        self._waiting += len(self._rows) - len(self._read.get(source_id, ()))
        self._read[source_id], self._rows = self._rows, []
        if self._is_staged or self._waiting > _KEPT_AT_ONCE:
            self.lay_down()

    def lay_down(self) -> None:
        """Bring what is kept into the table."""
        self._connection.execute(
            "delete from rejects where source_id in (select unnest($ids::bigint[]))",
            {"ids": list(self._read)},
        )
        append(
            self._connection, "rejects", self._columns, [row for rows in self._read.values() for row in rows]
        )
        if self._is_staged:
            self._connection.execute("insert into rejects from staged_rejects")
            self._connection.execute("delete from staged_rejects")
        self._read, self._waiting, self._is_staged = {}, 0, False

    def forget(self) -> None:
        """Forget what is held and staged: its file could not be read."""
        self._rows.clear()
        self._connection.execute("delete from staged_rejects")
        self._is_staged = False
