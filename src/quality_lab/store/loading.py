"""One load: files through their formats into staging, merged in one transaction, with a report of every line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from quality_lab import formats
from quality_lab.errors import InputError, UnrecognisedFormat
from quality_lab.outcomes import OutcomeOverrides
from quality_lab.records import ReadNotes, Record, Reject, SetAside
from quality_lab.store.batches import append, columns_of
from quality_lab.store.load_report import FileReport, unchanged_report
from quality_lab.store.merging import TABLES, merge, prepare
from quality_lab.store.rows import Place, clean, row_of
from quality_lab.store.sources import Found, Remembered, digest_of, keep_copy, stored_path

_FLUSH_ROWS = 20_000  # rows held as Python objects
_MERGE_ROWS = 400_000  # rows held in staging tables
_FULL_PAGES = frozenset({100, 200, 500, 1000})  # upstream's default and greatest limits

Progress = Callable[[str, int], None]  # file as given, units read so far


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadOptions:
    """How files are to be read: the flags of `load` that change what a file means."""

    format: str | None = None
    tenant: str = "default"
    source: str | None = None
    style: str | None = None

    def as_text(self) -> str:
        """Return the options besides the tenant as JSON text, the given ones only."""
        given = {"format": self.format, "source": self.source, "style": self.style}
        return json.dumps({name: value for name, value in given.items() if value is not None}, sort_keys=True)

    @classmethod
    def of(cls, remembered: Remembered) -> LoadOptions:
        """Return the options under which a remembered file was loaded."""
        return cls(tenant=remembered.tenant, **json.loads(remembered.options))


@dataclass(slots=True)
class Loading:
    """The state of one load inside its transaction."""

    connection: duckdb.DuckDBPyConnection
    home: Path
    overrides: OutcomeOverrides
    progress: Progress | None = None
    reports: list[FileReport] = field(default_factory=list)
    _pending: dict[str, list[list[object]]] = field(default_factory=lambda: {table: [] for table in TABLES})
    _columns: dict[str, dict[str, str]] = field(default_factory=dict)
    _held: int = 0
    _staged: int = 0
    _merged_up_to: int = 0
    _next_unit: int = 0
    _ranges: list[tuple[int, int, FileReport, Remembered, int]] = field(default_factory=list)

    def start(self) -> None:
        """Lay out the staging tables."""
        prepare(self.connection)
        for table in TABLES:
            self._columns[table] = columns_of(self.connection, table) | {"unit": "BIGINT"}
        self._columns["rejects"] = columns_of(self.connection, "rejects")

    def take(self, found: Found, options: LoadOptions, *, keep: bool = False) -> None:
        """Read one file into staging; what cannot be read at all becomes a report that says why."""
        report = FileReport(path=found.given, named=found.named)
        self.reports.append(report)
        if found.problem is not None:
            report.status, report.reason = "failed", found.problem
            return
        first_unit = self._next_unit
        try:
            digest = digest_of(found.path)
            path = keep_copy(found.path, digest, home=self.home) if keep else found.path
            remembered = Remembered(
                path=stored_path(path, home=self.home),
                digest=digest,
                tenant=options.tenant,
                options=options.as_text(),
            )
            stored = self._loaded_before(remembered)
            if stored is not None:
                self.reports[-1] = unchanged_report(found.given, stored, named=found.named)
                return
            if path.stat().st_size == 0:  # an export of nothing, as upstream writes it
                report.reason = "the file is empty: no lines, nothing to load"
                return
            reader = formats.by_name(options.format) if options.format else formats.recognise(path)
            report.format = reader.name
            self._read(path, reader, options, report, remembered)
        except UnrecognisedFormat as error:
            report.status, report.reason = "unrecognised", str(error)
        except (InputError, OSError) as error:
            if first_unit < self._merged_up_to:  # part of it is in the tables already: the whole load must go
                raise
            self._forget_units(first_unit)
            report.status, report.reason = "failed", str(error)

    def take_records(self, records: Sequence[Record], *, origin: str, tenant: str) -> None:
        """Stage records that no file stands behind, as if each were a line of *origin*."""
        remembered = Remembered(path=origin, digest="", tenant=tenant, options="{}")
        report = FileReport(path=origin, format="records", lines=len(records))
        first_unit = self._next_unit
        for line, record in enumerate(records, start=1):
            self._stage(
                record,
                Place(
                    tenant=tenant,
                    source_id=remembered.source_id,
                    line=line,
                    unit=self._next_unit,
                    overrides=self.overrides,
                ),
            )
            self._next_unit += 1
        self._ranges.append((first_unit, self._next_unit, report, remembered, 0))

    def finish(self) -> None:
        """Merge what is staged, count what became of every line, and remember the files."""
        self._merge()
        for first, last, report, remembered, size_bytes in self._ranges:
            self._count(first, last, report)
            source_id = remembered.source_id
            self.connection.execute("delete from sources where source_id = $id", {"id": source_id})
            self.connection.execute(
                "insert into sources values ($id, $path, $digest, $format, $tenant, $options, $size, $report)",
                {
                    "id": source_id,
                    "path": _shown(remembered.path),
                    "digest": remembered.digest,
                    "format": report.format,
                    "tenant": remembered.tenant,
                    "options": remembered.options,
                    "size": size_bytes,
                    "report": json.dumps(report.to_json()),
                },
            )

    def _loaded_before(self, remembered: Remembered) -> Mapping[str, object] | None:
        row = self.connection.execute(
            "select report from sources where source_id = $id and digest = $digest",
            {"id": remembered.source_id, "digest": remembered.digest},
        ).fetchone()
        return None if row is None else json.loads(row[0])

    def _read(
        self,
        path: Path,
        reader: formats.Format,
        options: LoadOptions,
        report: FileReport,
        remembered: Remembered,
    ) -> None:
        notes = ReadNotes()
        first_unit, source_id = self._next_unit, remembered.source_id
        rejects: list[list[object]] = []
        read_options = formats.ReadOptions(tenant=options.tenant, source=options.source, style=options.style)
        for unit in formats.read(path, reader, options=read_options, notes=notes, display_path=report.path):
            report.lines += 1
            number = self._next_unit
            self._next_unit += 1
            place = Place(
                tenant=options.tenant,
                source_id=source_id,
                line=unit.line,
                unit=number,
                overrides=self.overrides,
            )
            for reject in unit.rejects:
                rejects.append(_reject_row(reject, source_id))
            staged = 0
            for record in unit.records:
                if isinstance(record, SetAside):
                    reason = f"{record.kind}: {record.reason}"
                    report.set_aside[reason] = report.set_aside.get(reason, 0) + 1
                else:
                    self._stage(record, place)
                    staged += 1
            if not staged:
                if unit.blank:
                    report.blank += 1
                elif unit.rejects:
                    report.rejected += 1
                else:
                    report.unchanged += 1
            if self.progress is not None and not report.lines % 2_000:
                self.progress(report.path, report.lines)
        self.connection.execute("delete from rejects where source_id = $id", {"id": source_id})
        append(self.connection, "rejects", self._columns["rejects"], rejects)
        report.unknown_fields, report.unmapped_labels = notes.unknown_fields, notes.unmapped_labels
        report.not_understood, report.merged_by, report.missing = (
            notes.not_understood,
            notes.merged,
            notes.missing,
        )
        report.glued, report.truncated_input = notes.glued, notes.truncated_input
        report.possibly_truncated = reader.upstream_export and report.lines - report.blank in _FULL_PAGES
        self._ranges.append((first_unit, self._next_unit, report, remembered, path.stat().st_size))

    def _stage(self, record: Record, place: Place) -> None:
        table, row = row_of(record, place)
        self._pending[table].append(list(row.values()))
        self._held += 1
        if self._held >= _FLUSH_ROWS:
            self._flush()

    def _flush(self) -> None:
        for table, rows in self._pending.items():
            append(self.connection, f"staged_{table}", self._columns[table], rows)
            rows.clear()
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
            position = list(self._columns[table]).index("unit")
            self._pending[table] = [
                row for row in self._pending[table] if _number(row[position]) < first_unit
            ]
            self.connection.execute(f"delete from staged_{table} where unit >= $first", {"first": first_unit})
        self._held = sum(map(len, self._pending.values()))

    def _count(self, first: int, last: int, report: FileReport) -> None:
        rows = self.connection.execute(
            """
            with decisive as (
                select unit, status from statuses where unit >= $first and unit < $last
                qualify weight = min(weight) over (partition by unit)
            ), ranked as (
                select unit, min(case status when 'loaded' then 1 when 'updated' then 2 when 'merged' then 3
                                             when 'unchanged' then 4 else 5 end) as best
                from decisive group by unit
            )
            select best, count(*) from ranked group by best""",
            {"first": first, "last": last},
        ).fetchall()
        for best, count in rows:
            name = ("loaded", "updated", "merged", "unchanged", "rejected")[best - 1]
            setattr(report, name, getattr(report, name) + count)


def _reject_row(reject: Reject, source_id: int) -> list[object]:
    return [source_id, reject.line, clean(reject.path), clean(reject.reason), clean(reject.text)]


def _number(value: object) -> int:
    assert isinstance(value, int)  # the unit of a staged row
    return value


def _shown(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
