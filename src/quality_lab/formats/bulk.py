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
from itertools import chain, compress
from typing import Annotated, Any, Generic, NamedTuple, TypeVar, get_args

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType
from msgspec.structs import astuple
from numpy.typing import NDArray

from quality_lab.formats.bulk_columns import (
    Absent,
    Words,
    digits,
    is_shallow_and_no_text,
    json_texts,
    real_or_null,
    text_or_null,
    whole_or_null,
)
from quality_lab.formats.columns import Batch, Column, Flags, Numbers
from quality_lab.formats.contract import Format, Reading, Unit
from quality_lab.formats.streams import Stream
from quality_lab.formats.units import HEAD, layout_of, lines_of, raw_line, raw_units, runs_of_lines

Fields = TypeVar("Fields", bound=msgspec.Struct)

ROWS = 61_440  # of a batch, about: half of what DuckDB lays down together
_WORTH_LOOKING = 10_000  # lines after which it is decided whether a file is worth reading so
_NEIGHBOURS = 8  # lines that are not looked at further where one of them does not fit
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
    """Lines that stand one after the other in a file, and what the parser made of them."""

    first: int  # number of the first line
    text: bytes
    columns: list[tuple[Any, ...]]  # a field each

    @property
    def size(self) -> int:
        """How many lines there are."""
        return len(self.columns[0])

    def fits(self, lengths: NDArray[np.int64]) -> bool:
        """Say whether objects of these *lengths* with an end of line after each are all that stands here."""
        ends = np.cumsum(lengths + 1) - 1
        text = np.frombuffer(self.text, np.uint8)
        return bool(ends[-1] == len(text) and (text[ends[:-1]] == _END).all())

    def lines(self, lengths: NDArray[np.int64], chosen: NDArray[np.bool_]) -> Iterator[_Line]:
        """Yield the *chosen* lines of a run that fits."""
        ends = np.cumsum(lengths + 1) - 1
        for place in np.flatnonzero(chosen).tolist():
            end = int(ends[place])
            yield _Line(self.first + place, self.text[end - int(lengths[place]) : end])


class _Line(NamedTuple):
    """A line that goes the exact way."""

    number: int
    text: bytes


class BulkReader(Generic[Fields]):
    """Reads lines that each hold one object with the fields of a msgspec struct, and nothing else."""

    def __init__(
        self,
        kind: type[Fields],
        *,
        seconds: Sequence[str],
        repeated: Sequence[str],
        batch: Callable[[NDArray[np.int64], dict[str, Column]], Batch],
        plain: Callable[[dict[str, Column]], NDArray[np.bool_]] | None = None,
    ) -> None:
        """Keep what a line is.

        *seconds* names the fields that are times, *repeated* the texts of which there are few; *batch* makes
        one of lines and columns. A line that is not *plain* goes the exact way too.
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
            for run in self._parsed(text, first):
                if isinstance(run, _Run):
                    held.append(run)
                    count += run.size
                    first = run.first + run.size
                else:
                    yield from self._singly([run])
                    first = run.number + 1
            if count >= ROWS:
                yield from self._batch(held)
                held, count = [], 0
        if held:
            yield from self._batch(held)

    def _singly(self, lines: Iterable[_Line]) -> Iterator[Unit]:
        """Yield lines as the format's own reader does."""
        return self._known.read((raw_line(number, text) for number, text in lines), self._reading)

    def _parsed(self, text: bytes, first: int) -> Iterator[_Run | _Line]:
        """Yield the lines of *text* in runs that the parser takes, and those that it does not take."""
        count = text.count(b"\n") + 1
        try:
            items = self._reader.decoder.decode_lines(text)
        except (msgspec.MsgspecError, RecursionError):
            items = []
        if len(items) == count:
            yield _Run(first, text, list(zip(*map(astuple, items), strict=True)))
        elif count == 1:
            yield _Line(first, text)
        else:
            yield from self._halved(text, first)

    def _halved(self, text: bytes, first: int) -> Iterator[_Run | _Line]:
        """Yield what `_parsed` does, for each half of more than one line."""
        middle = text.find(b"\n", len(text) // 2)
        if middle < 0:
            middle = text.rfind(b"\n")
        for run in self._parsed(text[:middle], first):
            yield run
            first = run.first + run.size if isinstance(run, _Run) else run.number + 1
        yield from self._parsed(text[middle + 1 :], first)

    def _batch(self, runs: list[_Run]) -> Iterator[Unit | Batch]:
        """Yield the lines of *runs* that fill their length as one batch, and the others singly."""
        try:
            columns, lengths, plain = self._columns(runs)
            ends = np.cumsum([run.size for run in runs]).tolist()
            starts = [0, *ends[:-1]]
            parts = list(zip(runs, map(slice, starts, ends), strict=True))
            unfit = [run for run, part in parts if not run.fits(lengths[part])]
        except Absent:
            unfit = runs
        if unfit:
            pieces = [piece for run in runs for piece in (self._fitting(run) if run in unfit else (run,))]
            yield from self._singly(piece for piece in pieces if isinstance(piece, _Line))
            runs = [piece for piece in pieces if isinstance(piece, _Run)]
            if runs:
                yield from self._batch(runs)
            return
        numbers = np.concatenate([np.arange(run.first, run.first + run.size) for run in runs])
        if not plain.all():
            for run, part in parts:
                yield from self._singly(run.lines(lengths[part], ~plain[part]))
            if not plain.any():
                return
            chosen = plain.tolist()
            kept = [
                tuple(compress(chain.from_iterable(values), chosen))
                for values in zip(*(run.columns for run in runs), strict=True)
            ]
            numbers, columns = numbers[plain], self._columns([_Run(0, b"", kept)])[0]
        self._taken += len(numbers)
        yield self._reader.batch(numbers, columns)

    def _fitting(self, run: _Run) -> Iterator[_Run | _Line]:
        """Yield *run* in pieces that fill their length, and lines that do not, with a few of their neighbours."""
        try:
            _, lengths, _ = self._columns([run])
            if run.fits(lengths):
                yield run
                return
        except Absent:
            pass
        if run.size <= _NEIGHBOURS:
            yield from (_Line(run.first + at, text) for at, text in enumerate(run.text.split(b"\n")))
            return
        for piece in self._halved(run.text, run.first):
            if isinstance(piece, _Run):
                yield from self._fitting(piece)
            else:
                yield piece

    def _columns(self, runs: list[_Run]) -> tuple[dict[str, Column], NDArray[np.int64], NDArray[np.bool_]]:
        """Return the columns of *runs*, the shortest length of each line, and which need no second look."""
        columns: dict[str, Column] = {}
        count = sum(run.size for run in runs)
        length = np.full(count, self._reader.around, np.int64)
        fits = np.ones(count, np.bool_)
        for place, (name, kind) in enumerate(self._reader.kinds.items()):
            values: list[Any] = []
            for run in runs:
                values.extend(run.columns[place])
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
                    columns[name] = raw = json_texts(values)
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
