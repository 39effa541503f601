"""The answer to a question: typed rows with a title and notes, to look at and to take away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from quality_lab.answers.columns import Column, columns_of, plain

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Row = TypeVar("Row")


class Answer(Sequence[Row], Generic[Row]):
    """Rows of one class, in order, that show themselves as a table in a notebook and on a terminal.

    An answer is a sequence: `len(answer)`, `answer[0].tool_name`, `for row in answer`; a slice is an answer.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Count:
    ...     label: str
    ...     rows: int
    >>> answer = Answer([Count("bad_args", 3)], Count, title="Labels")
    >>> answer.records()
    [{'label': 'bad_args', 'rows': 3}]
    >>> answer.to_polars().dtypes
    [String, Int64]
    """

    def __init__(
        self,
        rows: Sequence[Row],
        row_class: type[Row],
        *,
        title: str,
        notes: Sequence[str] = (),
        more: int = 0,
    ) -> None:
        """Keep the rows; *notes* are sentences to read with them, *more* counts rows not asked for."""
        self.rows: tuple[Row, ...] = tuple(rows)
        self.row_class = row_class
        self.title = title
        self.notes: tuple[str, ...] = tuple(notes)
        self.more = more

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns with their types and units; they are there even where no row is."""
        row_class: type = self.row_class
        return columns_of(row_class)

    def __len__(self) -> int:
        """Return how many rows are here."""
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Answer[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Answer[Row]:
        """Return one row, or an answer of the rows of a slice."""
        if isinstance(index, slice):
            chosen = self.rows[index]
            left_out = self.more + len(self.rows) - len(chosen)
            return Answer(chosen, self.row_class, title=self.title, notes=self.notes, more=left_out)
        return self.rows[index]

    def with_rows(self, rows: Iterable[Row]) -> Answer[Row]:
        """Return an answer of *rows* under this one's title and notes."""
        return Answer(list(rows), self.row_class, title=self.title, notes=self.notes, more=self.more)

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary a row, ready for `json.dumps`: times as ISO 8601 text with Z."""
        return [plain(row) for row in self.rows]

    def to_arrow(self) -> pyarrow.Table:
        """Return an Arrow table typed by the row class: the columns have their types even where no row is."""
        from quality_lab.answers.take_away import arrow_table

        return arrow_table(self.rows, self.columns)

    def to_polars(self) -> polars.DataFrame:
        """Return a polars frame; times are datetimes in UTC."""
        import polars

        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)  # a table never becomes a Series
        return frame

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas frame; whole numbers and flags stay what they are where some are unknown."""
        from quality_lab.answers.take_away import pandas_frame

        return pandas_frame(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as an Arrow stream, which polars, DuckDB and pandas read without a copy."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_csv(self, path: Path | str) -> Path:
        """Return the path of a CSV file; text that a spreadsheet would run as a formula is neutralised.

        Raises: OutputError if the file cannot be written.
        """
        from quality_lab.answers.take_away import write_csv

        return write_csv(self.rows, self.columns, Path(path))

    def to_parquet(self, path: Path | str) -> Path:
        """Return the path of a Parquet file of the rows.

        Raises: OutputError if the file cannot be written.
        """
        from quality_lab.answers.take_away import write_parquet

        return write_parquet(self.to_arrow(), Path(path))

    def to_text(self, *, width: int = 100, max_rows: int | None = None) -> str:
        """Return a plain table that fits *width* characters; control characters show as their escapes."""
        from quality_lab.answers.text import text_table

        return text_table(self, width=width, max_rows=max_rows)

    def __repr__(self) -> str:
        """Return the first twenty rows as a plain table."""
        return self.to_text(max_rows=20)

    def _repr_html_(self) -> str:
        """Return the first twenty rows as an escaped HTML table, for notebooks."""
        from quality_lab.answers.page import html_table

        return html_table(self, max_rows=20)
