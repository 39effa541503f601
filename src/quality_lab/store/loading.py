"""One load: files through their formats into staging, merged in one transaction, with a report of every line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from quality_lab import formats
from quality_lab.errors import InputError, UnrecognisedFormat
from quality_lab.outcomes import OutcomeOverrides
from quality_lab.records import Record, SetAside
from quality_lab.store.batches import append, columns_of
from quality_lab.store.call_outcomes import CallOutcomes, are_easily_found
from quality_lab.store.file_reading import (
    UNITS_OF_A_FILE,
    LoadOptions,
    ReadFile,
    Reading,
    blank_lines,
    count_statuses,
    loaded_before,
    reader_of,
    remember,
    without_search_for_cycles,
)
from quality_lab.store.forgetting import erase
from quality_lab.store.forgotten import Forgotten
from quality_lab.store.load_report import FileReport, unchanged_report
from quality_lab.store.losses import Losses
from quality_lab.store.merging import TABLES, bring_conversations_of, merge, prepare
from quality_lab.store.quarantine import Quarantine
from quality_lab.store.rows import Place, kib_of, row_of
from quality_lab.store.sources import DigestOfReading, Found, Remembered, digest_of, keep_copy, stored_path

if TYPE_CHECKING:
    from quality_lab.formats.columns import Batch
    from quality_lab.formats.label_aliases import LabelAliases

BULK_FROM = 2 << 20  # bytes of a file from which on it pays to read many lines at once
_FLUSH_ROWS = 20_000  # rows held as Python objects, or KiB of long texts in them
_MERGE_ROWS = 400_000  # rows held in staging tables

Progress = Callable[[str, int], None]  # file as given, units read so far


@dataclass(slots=True)
class Loading:
    """The state of one load inside its transaction."""

    connection: duckdb.DuckDBPyConnection
    home: Path
    overrides: OutcomeOverrides
    progress: Progress | None = None
    aliases: LabelAliases | None = None  # what foreign labels mean in this home
    reports: list[FileReport] = field(default_factory=list)
    _pending: dict[str, list[tuple[object, ...]]] = field(
        default_factory=lambda: {table: [] for table in TABLES}
    )
    _columns: dict[str, dict[str, str]] = field(default_factory=dict)
    _uncovers: bool = False  # lines of the journal are taken back: earlier ones may stand again
    _outcomes: CallOutcomes = field(init=False)
    _quarantine: Quarantine = field(init=False)
    _held: int = 0
    _staged: int = 0
    _merged_up_to: int = 0
    _next_unit: int = 0
    _files: list[ReadFile] = field(default_factory=list)
    _loaded_before: dict[int, tuple[str, str]] = field(default_factory=dict)

    def start(self) -> None:
        """Lay out the staging tables."""
        self._outcomes = CallOutcomes(self.overrides)
        prepare(self.connection)
        for table in TABLES:
            self._columns[table] = columns_of(self.connection, table) | {"unit": "BIGINT"}
        self._quarantine = Quarantine(self.connection)
        self._loaded_before = loaded_before(self.connection)

    def take(self, found: Found, options: LoadOptions, *, keep: bool = False) -> None:
        """Read one file into staging; what cannot be read at all becomes a report that says why."""
        report = FileReport(path=found.given, named=found.named)
        self.reports.append(report)
        if found.problem is not None:
            report.status, report.reason = "failed", found.problem
            return
        first_unit = self._next_unit
        try:
            with ThreadPoolExecutor(1) as pool, without_search_for_cycles():
                self._take(found, options, report, keep=keep, pool=pool)
        except UnrecognisedFormat as error:
            report.status, report.reason = "unrecognised", str(error)
        except (InputError, OSError) as error:
            if first_unit < self._merged_up_to:  # part of it is in the tables already: the whole load must go
                raise
            self._forget_units(first_unit)
            report.status, report.reason = "failed", str(error)

    def _take(
        self, found: Found, options: LoadOptions, report: FileReport, *, keep: bool, pool: ThreadPoolExecutor
    ) -> None:
        path, size, digest = found.path, found.path.stat().st_size, None
        if keep:
            digest = digest_of(path)
            path = keep_copy(path, digest, home=self.home)
        remembered = Remembered(
            path=stored_path(path, home=self.home),
            digest=digest or "",
            tenant=options.tenant,
            options=options.as_text(),
        )
        stored = self._loaded_before.get(remembered.source_id)
        if stored is not None:
            digest = digest or digest_of(path)
            if stored[0] == digest and not (self._uncovers and path == self._journal / "cases.jsonl"):
                self.reports[-1] = unchanged_report(found.given, json.loads(stored[1]), named=found.named)
                return
        blank = blank_lines(path, size)
        if blank is not None and (size == 0 or options.format is None):  # an export of nothing
            report.lines = report.blank = blank
            report.reason = (
                f"the file {'has blank lines alone' if size else 'is empty: no lines'}, nothing to load"
            )
            return
        self._uncovers |= path == self._journal / "retractions.jsonl"
        reader = reader_of(path, options, named=found.named)
        taken = DigestOfReading(path, size, digest, pool=pool)
        report.format = reader.name
        reading = self._next_reading(report, options, remembered.source_id)
        self._read(path, reader, reading, size=size)
        remembered = replace(remembered, digest=taken.result())
        self._files.append(ReadFile(reading=reading, remembered=remembered, size_bytes=size))

    def take_records(self, records: Sequence[Record], *, origin: str, tenant: str) -> None:
        """Stage records that no file stands behind, as if each were a line of *origin*."""
        remembered = Remembered(path=origin, digest="", tenant=tenant, options="{}")
        report = FileReport(path=origin, format="records")
        reading = self._next_reading(report, LoadOptions(tenant=tenant), remembered.source_id)
        self._take_units(
            (formats.Unit(line, (record,)) for line, record in enumerate(records, start=1)), reading
        )
        self._files.append(ReadFile(reading=reading, remembered=remembered, size_bytes=0))

    def finish(self, forgotten: Forgotten) -> None:
        """Merge what is staged, count what became of every line, and remember the files.

        What was *forgotten* goes out again in the same breath.
        """
        self._merge()
        self._quarantine.lay_down()
        count_statuses(self.connection, [file.reading for file in self._files])
        remember(self.connection, self._files)
        erased = erase(self.connection, forgotten, arrived=[one.remembered.source_id for one in self._files])
        fewer = [file for file in self._files if erased.lines[file.remembered.source_id]]
        for file in fewer:
            file.reading.report.leave_out(*erased.of(file.remembered.source_id))
        remember(self.connection, fewer)

    @property
    def _journal(self) -> Path:
        return self.home / "data" / "journal"

    def _next_reading(self, report: FileReport, options: LoadOptions, source_id: int) -> Reading:
        first_unit = self._next_unit
        self._next_unit += UNITS_OF_A_FILE
        tables = (formats.mapped_aliases(options.map), self.aliases)
        losses = Losses(format_name=report.format or "", tables=tuple(filter(None, tables)))
        place = Place(tenant=options.tenant, source_id=source_id, outcomes=self._outcomes)
        return Reading(report=report, options=options, place=place, first_unit=first_unit, losses=losses)

    def _read(self, path: Path, reader: formats.Format, reading: Reading, *, size: int) -> None:
        given = reading.options
        options = formats.ReadOptions(tenant=given.tenant, source=given.source, style=given.style)
        shown, notes = reading.report.path, reading.notes
        at_once = not reading.losses.tables or reader.name == "quality_lab.traces"  # else labels need a look
        at_once = at_once and are_easily_found(self.overrides)
        if reader.bulk is not None and size >= BULK_FROM and at_once:
            lines = formats.read_in_bulk(path, reader, options=options, notes=notes, display_path=shown)
            self._read_in_bulk(lines, reading)
        else:
            units = formats.read(path, reader, options=options, notes=notes, display_path=shown)
            self._take_units(units, reading)
        self._quarantine.keep(reading.source_id)
        reading.tell(possibly_cut=reader.upstream_export)

    def _take_units(self, units: Iterable[formats.Unit], reading: Reading) -> None:
        for unit in units:
            self._take_unit(unit, reading)
            if self._held >= _FLUSH_ROWS:
                self._flush()

    def _take_unit(self, unit: formats.Unit, reading: Reading) -> None:
        """Hold the records of a line, and count a line that has none."""
        report, line = reading.report, unit.line
        number = reading.number(line)
        if unit.rejects:
            self._held += self._quarantine.hold(unit.rejects, reading.source_id)
        staged = 0
        for record in unit.records:
            if isinstance(record, SetAside):
                reason = f"{record.kind}: {record.reason}"
                report.set_aside[reason] = report.set_aside.get(reason, 0) + 1
            else:
                noted = reading.losses.noted(record, reading.notes)
                table, row = row_of(noted, reading.place, line=line, unit=number)
                self._pending[table].append(row)
                staged += 1 + kib_of(noted)  # as many rows as are held at once, and no more than so long ones
        self._held += staged
        if not staged:
            if unit.blank:
                report.blank += 1
            elif unit.rejects:
                report.rejected += 1
            else:
                report.unchanged += 1
        self._told(1, report)

    def _read_in_bulk(self, lines: Iterator[formats.Unit | Batch], reading: Reading) -> None:
        from quality_lab.store.bulk import BulkFile  # heavy, and only a large file needs it

        def take(unit: formats.Unit) -> bool:
            self._take_unit(unit, reading)
            return self._held >= _FLUSH_ROWS

        def told(batch: Batch) -> None:
            reading.losses.noted_at_once(batch)
            self._told(len(batch.lines), reading.report)

        self._merge()  # so that whatever came before is found in the tables
        reading.by_line = True
        self.connection.execute(
            "insert into bulk_files values ($source_id, $first_unit)",
            {"source_id": reading.source_id, "first_unit": reading.first_unit},
        )
        file = BulkFile(
            self.connection,
            lines,
            self._columns,
            tenant=reading.options.tenant,
            source_id=reading.source_id,
            first_unit=reading.first_unit,
            overrides=self.overrides,
            take=take,
            told=told,
        )
        try:
            for staged in file.read():
                self._staged += staged
                if self._held >= _FLUSH_ROWS:
                    self._flush()
                if self._staged >= _MERGE_ROWS:
                    self._merge()
        finally:
            if file.laid_down:
                reading.laid_down = file.laid_down
                self._merged_up_to = self._next_unit
        if file.laid_down:
            bring_conversations_of(self.connection, reading.source_id)

    def _told(self, lines: int, report: FileReport) -> None:
        before, report.lines = report.lines, report.lines + lines
        if self.progress is not None and report.lines // 2_000 > before // 2_000:
            self.progress(report.path, report.lines)

    def _flush(self) -> None:
        for table, rows in self._pending.items():
            append(self.connection, f"staged_{table}", self._columns[table], rows)
            rows.clear()
        self._quarantine.stage()
        self._staged += self._held
        self._held = 0
        if self._staged >= _MERGE_ROWS:
            self._merge()

    def _merge(self) -> None:
        if self._held:
            staged_before = self._staged
            self._staged = 0  # so that the flush below does not merge by itself
            self._flush()
            self._staged += staged_before
        merge(self.connection)
        self._staged = 0
        self._merged_up_to = self._next_unit

    def _forget_units(self, first_unit: int) -> None:
        for table in TABLES:
            unit = itemgetter(list(self._columns[table]).index("unit"))
            self._pending[table] = [row for row in self._pending[table] if unit(row) < first_unit]
            self.connection.execute(f"delete from staged_{table} where unit >= $first", {"first": first_unit})
        self._quarantine.forget()
        self._held = sum(map(len, self._pending.values()))
