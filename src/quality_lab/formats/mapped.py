"""Home-grown files, JSON or CSV, read as a map says (`--map`).

A map is TOML; docs/formats.md tells its keys. Without one nothing is read: what a stranger's fields mean is
not guessed at on load.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from quality_lab.errors import InputError, UsageError
from quality_lab.formats.contract import Reading, Recognition, Sample, Unit, each_object
from quality_lab.formats.label_aliases import LabelAliases
from quality_lab.formats.mapping.csv_rows import csv_rows, is_table
from quality_lab.formats.mapping.joining import joined
from quality_lab.formats.mapping.making_records import RecordMaker
from quality_lab.formats.mapping.map_file import read_map
from quality_lab.formats.mapping.rules import Map
from quality_lab.formats.streams import Stream
from quality_lab.formats.units import RawUnit, raw_units
from quality_lab.formats.validation import Refused, refusal
from quality_lab.records import Record

if TYPE_CHECKING:
    from quality_lab.formats.bulk import BulkReader

NAME = "mapped"
_HEAD = 1 << 14  # bytes that are looked at to tell a table from JSON


@dataclass(frozen=True, kw_only=True, slots=True)
class MappedFormat:
    """Files that a map makes readable; without a map it only says so."""

    map: Map | None = None
    name: str = NAME
    title: str = "Home-grown JSON, JSON lines or CSV with a map"
    recognised_by: str = "A map that is given with --map; --suggest-map proposes one."
    key: str = (
        "(name of the map, the id that the map names); else (name of the map, conversation, digest of the call's "
        "tool, time, arguments and place, occurrence in the file)"
    )
    upstream_export: bool = False
    shapes: tuple[str, ...] = ()
    bulk: Callable[[], BulkReader[Any]] | None = None

    def recognise(self, sample: Sample) -> Recognition:
        """Return that no file is told by its content to need a map."""
        return Recognition(fitting=0, missing=("a map (--map FILE)",))

    def read(self, raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
        """Yield the units of JSON records."""
        a_map = self._wanted(reading)
        maker = RecordMaker(a_map, reading, cells=False)

        def records(text: bytes, line: int) -> tuple[Record, ...]:
            return cast("tuple[Record, ...]", maker.make(text, line))  # answers go no further than `joined`

        units = each_object(raws, reading, records)
        yield from joined(units, a_map, reading.notes) if a_map.waits else units

    def read_stream(self, stream: Stream, reading: Reading) -> Iterator[Unit]:
        """Yield the units of a file: a table or JSON, as the map or else its beginning says."""
        a_map = self._wanted(reading)
        kind = a_map.file.kind or ("csv" if is_table(stream.head(_HEAD)) else "json")
        if kind == "json":
            pieces = _Recoded(stream, a_map.file.encoding) if a_map.file.encoding else stream
            yield from self.read(raw_units(cast("Stream", pieces), reading.notes), reading)
            return
        units = self._rows(stream, a_map, reading)
        yield from joined(units, a_map, reading.notes) if a_map.waits else units

    def _rows(self, stream: Stream, a_map: Map, reading: Reading) -> Iterator[Unit]:
        maker = RecordMaker(a_map, reading, cells=True)
        rows = csv_rows(stream, reading.notes, delimiter=a_map.file.delimiter, encoding=a_map.file.encoding)
        for row in rows:
            if row.raw.problem is not None:
                yield reading.reject(row.raw, "", row.raw.problem)
            elif not row.cells:
                yield Unit(row.raw.line, blank=True)
            else:
                try:
                    made = maker.make(row.cells, row.raw.line)
                except (msgspec.MsgspecError, Refused, RecursionError) as problem:
                    yield reading.reject(row.raw, *refusal(problem))
                else:
                    yield Unit(row.raw.line, cast("tuple[Record, ...]", made))

    def _wanted(self, reading: Reading) -> Map:
        if self.map is None:
            raise UsageError(
                f"{reading.display_path}: the format {NAME} wanted a map (--map FILE), got none; "
                "--suggest-map proposes one"
            )
        return self.map


def mapped(text: str, *, file: str) -> MappedFormat:
    """Return the format of files that the map whose TOML is *text* makes readable; *file* names it in errors.

    Raises: InputError (no TOML), UsageError (a map that cannot be).
    """
    return MappedFormat(map=read_map(text, file=file))


def read_map_file(path: str | os.PathLike[str]) -> str:
    """Return the TOML of the map at *path*, once it is known to be a map.

    Raises: InputError (it cannot be read, or is no TOML), UsageError (a map that cannot be).
    """
    shown = os.fspath(path)
    try:
        text = Path(path).read_text("utf-8-sig")
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        raise InputError(f"{shown}: the map cannot be read: {reason}") from None
    read_map(text, file=shown)
    return text


def mapped_aliases(text: str | None) -> LabelAliases | None:
    """Return what foreign labels mean by the map whose TOML is *text*; None without a map."""
    return None if text is None else read_map(text, file="the map").aliases


class _Recoded:
    """A stream of another encoding, as UTF-8."""

    def __init__(self, stream: Stream, encoding: str) -> None:
        self._stream, self._encoding = stream, encoding

    @property
    def problem(self) -> str | None:
        return self._stream.problem

    def head(self, size: int) -> bytes:
        return self._stream.head(size)

    def __iter__(self) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(self._encoding)("backslashreplace")
        for piece in self._stream:
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", final=True).encode()


FORMAT = MappedFormat()
