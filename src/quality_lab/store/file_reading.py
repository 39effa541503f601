"""One file while it is loaded: how it is to be read, what is known of it so far, and what its lines came to."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from quality_lab import formats
from quality_lab.errors import UnrecognisedFormat
from quality_lab.records import ReadNotes
from quality_lab.store.batches import append, columns_of
from quality_lab.store.load_report import FileReport
from quality_lab.store.losses import Losses, merged_from
from quality_lab.store.row_values import Place
from quality_lab.store.sources import Remembered

UNITS_OF_A_FILE = 1 << 41  # numbers kept free for the units of one file
_GLUED = 1 << 40  # from here on: units that share their line with another
_SMALL = 1 << 16  # bytes
_FULL_PAGES = frozenset({100, 200, 500, 1000})  # upstream's default and greatest limits


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadOptions:
    """How files are to be read: the flags of `load` that change what a file means."""

    format: str | None = None
    tenant: str = "default"
    source: str | None = None
    style: str | None = None
    map: str | None = None  # the TOML of a map: its content, so that the file can be read again without it

    def as_text(self) -> str:
        """Return the options besides the tenant as JSON text, the given ones only."""
        given = {"format": self.format, "source": self.source, "style": self.style, "map": self.map}
        return json.dumps({name: value for name, value in given.items() if value is not None}, sort_keys=True)

    @classmethod
    def of(cls, remembered: Remembered) -> LoadOptions:
        """Return the options under which a remembered file was loaded."""
        return cls(tenant=remembered.tenant, **json.loads(remembered.options))


def blank_lines(path: Path, size: int) -> int | None:
    """Return how many lines a file has that holds nothing but blank ones; None where it holds more, or is large."""
    if size > _SMALL:
        return None
    try:
        text = path.read_bytes()
    except OSError:
        return None  # whoever reads it will say why
    return None if text.strip() else text.count(b"\n") + bool(text.rpartition(b"\n")[2])


def reader_of(path: Path, options: LoadOptions, *, named: bool) -> formats.Format:
    """Return the format to read a file as; a map is for files that are named, and for those nobody knows."""
    if options.format:
        return formats.by_name(options.format)
    if options.map is None:
        return formats.recognise(path)
    if not named:
        try:
            return formats.recognise(path)
        except UnrecognisedFormat:
            pass  # what else lies in the folder is what the map is for
    return formats.mapped(options.map, file="the map")


@dataclass(kw_only=True, slots=True)
class Reading:
    """A file being read. Its units are numbered from *first_unit*."""

    report: FileReport
    options: LoadOptions
    place: Place
    first_unit: int
    by_line: bool = False  # a unit's number is that of its line; units of one line follow each other
    laid_down: int = 0  # calls that went straight into their table, and are in no list of statuses
    notes: ReadNotes = field(default_factory=ReadNotes)
    losses: Losses = field(default_factory=Losses)
    _line: int = 0
    _numbered: int = 0

    @property
    def source_id(self) -> int:
        """Return the small number of the file."""
        return self.place.source_id

    def number(self, line: int) -> int:
        """Return the number of the next unit, which stands on *line*."""
        if self.by_line and line != self._line:
            self._line = line
            return self.first_unit + line - 1
        self._numbered += 1
        return self.first_unit + self._numbered - 1 + (_GLUED if self.by_line else 0)

    def tell(self, *, possibly_cut: bool) -> None:
        """Put into the report what the reader noted; *possibly_cut*: a full page may not be all there is."""
        report, notes = self.report, self.notes
        report.unknown_fields, report.unmapped_labels = notes.unknown_fields, notes.unmapped_labels
        report.not_understood, report.merged_by = notes.not_understood, notes.merged
        report.missing, report.glued, report.truncated_input = (
            notes.missing,
            notes.glued,
            notes.truncated_input,
        )
        report.merged_from = merged_from(notes.merged, self.losses.made)
        report.not_captured = self.losses.not_captured
        report.possibly_truncated = possibly_cut and report.lines - report.blank in _FULL_PAGES


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadFile:
    """A file that was read to its end."""

    reading: Reading
    remembered: Remembered
    size_bytes: int


@contextmanager
def without_search_for_cycles() -> Iterator[None]:
    """Spare the time that Python takes to look for cycles whenever many objects live; records have none."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def count_statuses(connection: duckdb.DuckDBPyConnection, readings: Sequence[Reading]) -> None:
    """Add to the reports of files what their units came to."""
    rows = connection.execute(
        """
        with decisive as (
            select unit, status from statuses
            where unit is not null
            qualify weight = min(weight) over (partition by unit)
        ), ranked as (
            select unit, min(case status when 'loaded' then 1 when 'updated' then 2 when 'merged' then 3
                                         when 'unchanged' then 4 else 5 end) as best
            from decisive group by unit
        )
        select unit // $size as file, best, count(*) from ranked group by all
        union all
        select unit // $size, 0, count(*) from recounted group by all""",
        {"size": UNITS_OF_A_FILE},
    ).fetchall()
    reports = {reading.first_unit // UNITS_OF_A_FILE: reading.report for reading in readings}
    for reading in readings:
        reading.report.loaded += reading.laid_down
    for file, best, count in rows:
        if (report := reports.get(file)) is None:
            continue  # it could not be read to its end
        if best:
            name = ("loaded", "updated", "merged", "unchanged", "rejected")[best - 1]
            setattr(report, name, getattr(report, name) + count)
        else:
            report.loaded -= count


def loaded_before(connection: duckdb.DuckDBPyConnection) -> dict[int, tuple[str, str]]:
    """Return digest and report of every file that was loaded before, by its number."""
    rows = connection.execute("select source_id, digest, report from sources").fetchall()
    return {source_id: (digest, report) for source_id, digest, report in rows}


def remember(connection: duckdb.DuckDBPyConnection, files: Sequence[ReadFile]) -> None:
    """Write down files that were loaded, in place of what they were before."""
    latest = {file.remembered.source_id: file for file in files}
    rows: list[list[object]] = []
    for source_id, file in latest.items():
        remembered, report = file.remembered, file.reading.report
        rows.append(
            [
                source_id,
                _shown(remembered.path),
                remembered.digest,
                report.format,
                remembered.tenant,
                remembered.options,
                file.size_bytes,
                json.dumps(report.to_json()),
            ]
        )
    connection.execute(
        "delete from sources where source_id in (select unnest($ids::bigint[]))", {"ids": list(latest)}
    )
    append(connection, "sources", columns_of(connection, "sources"), rows)


def _shown(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
