"""Lines of flat objects read many at once, by the very parser that reads them one by one.

A line is taken here only if three things hold. The parser takes it, and knows every key. Every field stands
in it. And it is exactly as long as its keys and the shortest texts of its values are together: then nothing
else can stand in it, no key twice, no blank. Whatever else comes (and a text inside JSON, where a second
parse would have to follow) goes line by line through the format's own reader.

Whole runs of lines go through the parser in one call, which knows no lines: a run is taken only if an end of
line stands wherever an object of shortest length must end, and nothing is left. Then each line is one object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, compress, pairwise
from operator import attrgetter
from typing import Annotated, Any, Generic, NamedTuple, TypeVar, get_args

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType
from numpy.typing import NDArray

from quality_lab.formats.bulk_columns import (
    Absent,
    Words,
    digits,
    is_shallow_and_no_text,
    real_or_null,
    text_or_null,
    whole_or_null,
)
from quality_lab.formats.columns import Batch, Column, Flags, Numbers, bytes_of
from quality_lab.formats.contract import Format, Reading, Unit
from quality_lab.formats.streams import Stream
from quality_lab.formats.units import HEAD, layout_of, lines_of, raw_line, raw_units, runs_of_lines

Fields = TypeVar("Fields", bound=msgspec.Struct)

ROWS = 61_440  # of a batch, about: half of what DuckDB lays down together
_WORTH_LOOKING = 50_000  # lines after which it is decided whether this file is worth reading so
_END = ord("\n")
_SAFE = 1 << 62
_Whole = Annotated[int, msgspec.Meta(ge=-_SAFE, le=_SAFE)]
_Seconds = Annotated[int, msgspec.Meta(ge=-62_135_596_800, le=253_402_300_799)]  # the years 1 to 9999
_KINDS: dict[object, str] = {
    int: "whole",
    int | None: "whole?",
    str: "text",
    str | None: "text?",
    bool: "flag",
    float | None: "real?",
    msgspec.Raw: "json",
}


class _Run(NamedTuple):
    """Some objects that stand one after the other in a file."""

    items: list[Any]
    numbers: NDArray[np.int64]  # of their lines
    text: bytes  # of the lines together, where they were not told apart
    lines: list[bytes] | None  # each line, where they were

    def fitting(self, lengths: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """Return which objects fill their lines, being of these *lengths*; None if it cannot be told so."""
        if self.lines is not None:
            fits: NDArray[np.bool_] = lengths == np.fromiter(map(len, self.lines), np.int64, len(self.lines))
            return fits
        ends = np.cumsum(lengths + 1) - 1
        text = np.frombuffer(self.text, np.uint8)
        if ends[-1] != len(text) or (text[ends[:-1]] != _END).any():
            return None
        return np.ones(len(lengths), np.bool_)

    def line(self, place: int, lengths: NDArray[np.int64]) -> bytes:
        """Return the line of one object of a run that is fitting."""
        if self.lines is not None:
            return self.lines[place]
        start = int((lengths[:place] + 1).sum())
        return self.text[start : start + int(lengths[place])]


class BulkReader(Generic[Fields]):
    """Reads lines that each hold one object with the fields of a msgspec struct, and nothing else."""

    def __init__(
        self,
        kind: type[Fields],
        *,
        seconds: Sequence[str],
        repeated: Sequence[str],
        batch: Callable[[NDArray[np.int64], list[Any], dict[str, Column]], Batch],
        plain: Callable[[dict[str, Column]], NDArray[np.bool_]] | None = None,
    ) -> None:
        """Keep what a line is.

        *seconds* names the fields that are times, *repeated* the texts of which there are few; *batch* makes
        one of lines, objects and columns. A line that is not *plain* goes the exact way too.
        """
        self.kinds: dict[str, str] = {}
        fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
        for field in msgspec.structs.fields(kind):
            base = get_args(field.type)[0] if hasattr(field.type, "__metadata__") else field.type
            name, kind_name = field.encode_name, _KINDS[base]
            self.kinds[name] = "word" if name in repeated else kind_name
            if kind_name == "json":
                fields.append((name, msgspec.Raw | UnsetType, UNSET))
            elif kind_name == "real?":
                fields.append((name, _Whole | float | None | UnsetType, UNSET))
            elif kind_name.endswith("?"):
                wanted = _Whole | None if kind_name == "whole?" else base
                fields.append((name, wanted | UnsetType, UNSET))
            elif name in seconds:
                fields.append((name, _Seconds))
            else:
                fields.append((name, _Whole if field.type is int else field.type))
        strict = msgspec.defstruct(kind.__name__, fields, forbid_unknown_fields=True, kw_only=True, gc=False)
        self.decoder = msgspec.json.Decoder(strict)
        self.batch, self.plain = batch, plain
        self.around = 1 + sum(len(name) + 4 for name in self.kinds)  # braces, quotes, colons, commas

    def read(self, stream: Stream, known: Format, reading: Reading) -> Iterator[Unit | Batch]:
        """Yield the lines of *stream* in batches, and as units those that have to be looked at singly."""
        head = stream.head(HEAD)
        if layout_of(head) == "document" or (b"\r" in head and b"\n" not in head):
            yield from known.read(raw_units(stream, reading.notes), reading)
            return
        yield from _File(self, known, reading).read(runs_of_lines(stream, b"\n"))
        if stream.problem:
            reading.notes.truncated_input = True


class _File:
    """One file being read."""

    def __init__(self, reader: BulkReader[Any], known: Format, reading: Reading) -> None:
        self._reader, self._known, self._reading = reader, known, reading
        self._words = {name: Words() for name, kind in reader.kinds.items() if kind == "word"}
        self._taken = 0

    def read(self, runs: Iterator[tuple[bytes, str | None]]) -> Iterator[Unit | Batch]:
        """Yield what stands in *runs* of lines."""
        held: list[_Run] = []
        first, count = 1, 0
        for text, problem in runs:
            hopeless = first > _WORTH_LOOKING and self._taken + count < first // 2
            if problem is not None or hopeless or b"\r" in text or not _is_utf8(text):
                raws = list(lines_of(text, problem, first=first, end=b"\n"))
                first = raws[-1].line + 1
                yield from self._known.read(iter(raws), self._reading)
                continue
            run, odd = self._decoded(text, first)
            yield from self._singly(odd)
            first += len(run.items) + len(odd)
            held.append(run)
            count += len(run.items)
            if count >= ROWS:
                yield from self._batches(held)
                held, count = [], 0
        yield from self._batches(held)

    def _decoded(self, text: bytes, first: int) -> tuple[_Run, list[tuple[int, bytes]]]:
        """Return the objects of some lines, and the lines that hold none, with their numbers."""
        count = int(np.count_nonzero(np.frombuffer(text, np.uint8) == _END)) + 1
        try:
            items = self._reader.decoder.decode_lines(text)
        except (msgspec.MsgspecError, RecursionError):
            return self._told_apart(text, first)
        if len(items) != count:
            return self._told_apart(text, first)
        return _Run(items, np.arange(first, first + count), text, None), []

    def _told_apart(self, text: bytes, first: int) -> tuple[_Run, list[tuple[int, bytes]]]:
        """Return what `_decoded` does, each line decoded on its own and with all its fields."""
        decode = self._reader.decoder.decode
        items: list[Any] = []
        numbers: list[int] = []
        lines: list[bytes] = []
        odd: list[tuple[int, bytes]] = []
        for number, line in enumerate(text.split(b"\n"), start=first):
            try:
                item = decode(line)
            except (msgspec.MsgspecError, RecursionError):
                odd.append((number, line))
                continue
            if UNSET in msgspec.structs.astuple(item):
                odd.append((number, line))
                continue
            items.append(item)
            numbers.append(number)
            lines.append(line)
        return _Run(items, np.array(numbers, np.int64), b"", lines), odd

    def _singly(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[Unit]:
        """Yield lines as the format's own reader does."""
        return self._known.read((raw_line(number, line) for number, line in lines), self._reading)

    def _batches(self, runs: list[_Run]) -> Iterator[Unit | Batch]:
        runs = [run for run in runs if run.items]
        if not runs:
            return
        try:
            columns, lengths, fits = self._columns(list(chain.from_iterable(run.items for run in runs)))
        except Absent:
            yield from self._batches_told_apart(runs, [run.lines is None for run in runs])
            return
        starts = np.cumsum([0, *(len(run.items) for run in runs)]).tolist()
        parts = [lengths[start:end] for start, end in pairwise(starts)]
        fitting = [run.fitting(part) for run, part in zip(runs, parts, strict=True)]
        if any(found is None for found in fitting):
            yield from self._batches_told_apart(runs, [found is None for found in fitting])
            return
        fits &= np.concatenate([found for found in fitting if found is not None])
        numbers = np.concatenate([run.numbers for run in runs])
        items = list(chain.from_iterable(run.items for run in runs))
        if not fits.all():
            odd = [
                (int(run.numbers[place]), run.line(place, part))
                for run, part, start in zip(runs, parts, starts[:-1], strict=True)
                for place in np.flatnonzero(~fits[start : start + len(part)]).tolist()
            ]
            yield from self._singly(odd)
            items = list(compress(items, fits.tolist()))
            if not items:
                return
            numbers = numbers[fits]
            columns, _, _ = self._columns(items)
        self._taken += len(items)
        yield self._reader.batch(numbers, items, columns)

    def _batches_told_apart(self, runs: list[_Run], chosen: list[bool]) -> Iterator[Unit | Batch]:
        """Yield what `_batches` does, after the lines of the *chosen* runs were told apart."""
        again: list[_Run] = []
        for run, is_chosen in zip(runs, chosen, strict=True):
            if is_chosen:
                run, odd = self._told_apart(run.text, int(run.numbers[0]))
                yield from self._singly(odd)
            again.append(run)
        yield from self._batches(again)

    def _columns(self, items: list[Any]) -> tuple[dict[str, Column], NDArray[np.int64], NDArray[np.bool_]]:
        """Return the columns of *items*, their shortest lengths as text, and which need no second look."""
        columns: dict[str, Column] = {}
        count = len(items)
        length = np.full(count, self._reader.around, np.int64)
        fits = np.ones(count, np.bool_)
        for name, kind in self._reader.kinds.items():
            values = list(map(attrgetter(name), items))
            match kind:
                case "whole":
                    numbers = np.fromiter(values, np.int64, count)
                    columns[name] = Numbers(numbers)
                    length += digits(numbers)
                case "whole?":
                    numbers, known = whole_or_null(values)
                    columns[name] = Numbers(numbers, known)
                    length += np.where(known, digits(numbers), 4)
                case "word":
                    columns[name], written, sound = self._words[name].column(values)
                    length += written
                    fits &= sound
                case "text" | "text?":
                    columns[name], written = text_or_null(values)
                    length += written
                case "flag":
                    flags = np.fromiter(values, np.bool_, count)
                    columns[name] = Flags(flags)
                    length += 5 - flags
                case "real?":
                    columns[name], written, sound = real_or_null(values)
                    length += written
                    fits &= sound
                case "json":
                    try:
                        columns[name] = raw = bytes_of(values)
                    except TypeError:
                        raise Absent from None
                    length += raw.lengths
                    fits &= is_shallow_and_no_text(raw)
        if self._reader.plain is not None:
            fits &= self._reader.plain(columns)
        return columns, length, fits


def _is_utf8(text: bytes) -> bool:
    try:
        return text.isascii() or bool(text.decode("utf-8"))
    except UnicodeDecodeError:
        return False
