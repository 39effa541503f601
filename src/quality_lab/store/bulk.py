"""One file read many lines at once: new calls straight into their table, all others through the merge.

What is laid down here is what the exact path would lay down, line by line: a call goes straight into its
table only if its key is in no row, no version and no other line. Everything else is staged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from quality_lab.formats import Unit
from quality_lab.formats.columns import Batch, Numbers
from quality_lab.outcomes import OutcomeOverrides
from quality_lab.store.ahead import ahead
from quality_lab.store.arrays import once
from quality_lab.store.bulk_outcomes import BulkOutcomes
from quality_lab.store.bulk_rows import arrow_batch, call_rows, feedback_rows
from quality_lab.store.seen import SeenNumbers

_INCOMING = "incoming_lines"
_ASIDE_AT_ONCE = 20_000  # calls
_STEPS_AHEAD = 4  # batches that wait until DuckDB takes them


class BulkFile:
    """The lines of one file on their way into the tables."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        lines: Iterator[Unit | Batch],
        columns: Mapping[str, Mapping[str, str]],
        *,
        tenant: str,
        source_id: int,
        first_unit: int,
        overrides: OutcomeOverrides,
        take: Callable[[Unit], bool],
        told: Callable[[Batch], None],
    ) -> None:
        """Keep what the file is.

        *take* is given every line that goes the exact way, and says whether it is time to stage what it
        holds; *told* is told of lines that go together.
        """
        self._connection, self._lines, self._columns = connection, lines, columns
        self._tenant, self._source_id, self._first_unit = tenant, source_id, first_unit
        self._outcomes = BulkOutcomes(overrides)
        self._take, self._told = take, told
        self._seen: SeenNumbers | None = None
        self._aside: list[pa.RecordBatch] = []
        self.laid_down = 0  # calls that went straight into their table

    def read(self) -> Iterator[int]:
        """Read to the end; yield, whenever other SQL may run, how many rows were staged.

        Raises: whatever the format raises.
        """
        for one in self._lines:
            if not isinstance(one, Batch):
                if self._take(one):
                    yield 0
                continue
            self._told(one)
            if one.feedback is None:
                yield self._lay_down(one)
            else:
                yield self._stage(one)

    def _lay_down(self, first: Batch) -> int:
        """Lay new calls straight into their table until it is time to stage others; return how many were."""
        if self._seen is None:
            self._seen = known_numbers(self._connection, self._tenant, first.same["key_space"])
        rows = call_rows(first, self._columns["tool_calls"], tenant=self._tenant, source_id=self._source_id)
        arrow = arrow_batch(first, self._outcomes)
        with (
            ahead(self._straight(self._fresh(first, arrow)), steps=_STEPS_AHEAD) as straight,
            self._incoming(arrow.schema, straight),
            _in_any_order(self._connection),
        ):
            self.laid_down += rows.insert(self._connection, "tool_calls", _INCOMING)
        if not self._aside:
            return 0
        aside, self._aside = self._aside, []
        with self._incoming(arrow.schema, iter(aside)):
            return rows.insert(self._connection, "staged_tool_calls", _INCOMING, first_unit=self._first_unit)

    @contextmanager
    def _incoming(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[None]:
        """Let SQL read *batches*, once."""
        self._connection.register(_INCOMING, once(schema, batches))
        try:
            yield
        finally:
            self._connection.unregister(_INCOMING)

    def _straight(self, first: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yield what may go straight. It is asked for while DuckDB inserts, so that no SQL may run here."""
        yield first
        for one in self._lines:
            if isinstance(one, Batch):
                self._told(one)
                yield self._fresh(one, arrow_batch(one, self._outcomes))
                if sum(map(len, self._aside)) >= _ASIDE_AT_ONCE:
                    return
            elif self._take(one):
                return

    def _fresh(self, batch: Batch, arrow: pa.RecordBatch) -> pa.RecordBatch:
        """Return the calls whose key is met here for the first time; put the others aside."""
        keys = batch.calls["key"]
        assert isinstance(keys, Numbers)  # as `known_numbers` are
        assert self._seen is not None
        fresh = self._seen.add(keys.values)
        if fresh.all():
            return arrow
        self._aside.append(arrow.take(_places(~fresh)))
        return arrow.take(_places(fresh))

    def _stage(self, batch: Batch) -> int:
        """Stage the labels of *batch* and the calls that they are about; return how many rows that is."""
        count = 0
        arrow = arrow_batch(batch, self._outcomes)
        for table, make in (("tool_calls", call_rows), ("feedback", feedback_rows)):
            rows = make(batch, self._columns[table], tenant=self._tenant, source_id=self._source_id)
            with self._incoming(arrow.schema, iter([arrow])):
                count += rows.insert(
                    self._connection, f"staged_{table}", _INCOMING, first_unit=self._first_unit
                )
        return count


@contextmanager
def _in_any_order(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let DuckDB lay rows down as they are ready; each has its line beside it."""
    connection.execute("set preserve_insertion_order = false")
    yield  # where this fails, the connection is of no more use
    connection.execute("set preserve_insertion_order = true")


def known_numbers(connection: duckdb.DuckDBPyConnection, tenant: str, key_space: str) -> SeenNumbers:
    """Return the keys that are whole numbers of the calls that are here, in one version or in several."""
    found = connection.execute(
        """
        with keys as (
            select key from tool_calls where tenant = $tenant and key_space = $key_space
            union all
            select content ->> 'key' from versions
            where kind = 'tool_calls' and content ->> 'tenant' = $tenant and content ->> 'key_space' =
            $key_space
        )
        select distinct try_cast(key as bigint) as number from keys where number is not null order by number""",
        {"tenant": tenant, "key_space": key_space},
    ).fetchnumpy()
    seen = SeenNumbers()
    seen.add(np.asarray(found["number"], np.int64))
    return seen


def _places(chosen: NDArray[np.bool_]) -> pa.Array:
    return pa.Array.from_buffers(pa.int64(), int(chosen.sum()), [None, pa.py_buffer(np.flatnonzero(chosen))])
