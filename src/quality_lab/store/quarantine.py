"""Lines in quarantine: staged while their file is read, so that a file of broken lines needs no memory."""

from __future__ import annotations

from collections.abc import Iterable

import duckdb

from quality_lab.records import Reject
from quality_lab.store.batches import append, columns_of
from quality_lab.store.row_values import clean


class Quarantine:
    """The rejects of the file that is being read; `rejects` keeps them once the file is read to its end."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._columns = columns_of(connection, "rejects")
        self._rows: list[list[object]] = []
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
        append(self._connection, "staged_rejects", self._columns, self._rows)
        self._rows.clear()

    def keep(self, source_id: int) -> None:
        """Put what was staged in the place of what this source had in quarantine before."""
        self.stage()
        self._connection.execute("delete from rejects where source_id = $id", {"id": source_id})
        self._connection.execute("insert into rejects from staged_rejects")
        self._connection.execute("delete from staged_rejects")

    def forget(self) -> None:
        """Forget what is held and staged: its file could not be read."""
        self._rows.clear()
        self._connection.execute("delete from staged_rejects")
