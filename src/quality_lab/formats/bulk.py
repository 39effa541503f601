"""Lines of flat objects read many at once, by the very parser that reads them one by one.

A line is taken here only if three things hold. The parser takes it, and knows every key. Every field stands
in it. And it is exactly as long as its keys and the shortest texts of its values are together: then nothing
else can stand in it, no key twice, no blank. Whatever else comes (and a text inside JSON, where a second
parse would have to follow) goes line by line through the format's own reader.

Whole runs of lines go through the parser in one call, which knows no lines: a run is taken only if an end of
line stands wherever an object of shortest length must end, and nothing is left. Then each line is one object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, compress
from typing import Annotated, Any, Generic, TypeVar, get_args

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType
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
from quality_lab.formats.bulk_runs import Line, Run, halved, parsed
from quality_lab.formats.columns import Batch, Column, Flags, Numbers
from quality_lab.formats.contract import Format, Reading, Unit
from quality_lab.formats.streams import Stream
from quality_lab.formats.units import HEAD, RawUnit, layout_of, lines_of, raw_line, raw_units, runs_of_lines

Fields = TypeVar("Fields", bound=msgspec.Struct)

ROWS = 8_192  # of a batch, about
_WORTH_LOOKING = 10_000  # lines after which it is decided whether a file is worth reading so
_NEIGHBOURS = 8  # lines that are not looked at further where one of them does not fit
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
        self._next = 1  # number of the line that comes next
        self._taken = 0

    def read(self, runs: Iterator[tuple[bytes, str | None]]) -> Iterator[Unit | Batch]:
        """Yield what stands in *runs* of lines."""
        held: list[Run | Line] = []
        count = 0
        for text, problem in runs:
            hopeless = self._next > _WORTH_LOOKING and self._taken < self._next // 2
            if problem is not None or hopeless or b"\r" in text or not _is_utf8(text):
                yield from self._batch(held)
                held, count = [], 0
                raws = list(lines_of(text, problem, first=self._next, end=b"\n"))
                self._next = raws[-1].line + 1
                yield from self._known.read(iter(raws), self._reading)
                continue
            for piece in parsed(text, self._reader.decoder):
                held.append(piece)
                count += piece.size if isinstance(piece, Run) else 1
            if count >= (ROWS if self._taken else _WORTH_LOOKING):
                yield from self._batch(held)
                held, count = [], 0
        yield from self._batch(held)

    def _batch(self, pieces: list[Run | Line]) -> Iterator[Unit | Batch]:
        """Yield the lines of *pieces*: those that fit as one batch, and the others singly."""
        runs = [piece for piece in pieces if isinstance(piece, Run)]
        try:
            columns, lengths, plain = self._columns(runs)
            ends = np.cumsum([run.size for run in runs]).tolist()
            parts = [slice(end - run.size, end) for run, end in zip(runs, ends, strict=True)]
            unfit = {id(run) for run, part in zip(runs, parts, strict=True) if not run.fits(lengths[part])}
        except Absent:
            unfit = set(map(id, runs))
        if unfit:
            smaller = (self._fitting(one) if id(one) in unfit else [one] for one in pieces)
            yield from self._batch(list(chain.from_iterable(smaller)))
            return
        numbers: list[NDArray[np.int64]] = []
        odd: list[RawUnit] = []
        rest = iter(parts)
        for piece in pieces:
            first = self._next
            if isinstance(piece, Line):
                odd.append(raw_line(first, piece.text))
                self._next += 1
                continue
            self._next += piece.size
            numbers.append(np.arange(first, self._next))
            for at in np.flatnonzero(~plain[next(rest)]).tolist():
                odd.append(raw_line(first + at, piece.split()[at].text))
        if odd:
            yield from self._known.read(iter(odd), self._reading)
        if plain.any():
            self._taken += int(plain.sum())
            batch = self._reader.batch(*self._only(plain, np.concatenate(numbers), runs, columns))
            style = self._reading.options.style
            yield batch if style is None else batch._replace(same=batch.same | {"style": style})

    def _only(
        self,
        plain: NDArray[np.bool_],
        numbers: NDArray[np.int64],
        runs: list[Run],
        columns: dict[str, Column],
    ) -> tuple[NDArray[np.int64], dict[str, Column]]:
        """Return numbers and columns of the *plain* lines alone."""
        if plain.all():
            return numbers, columns
        chosen = plain.tolist()
        fields = zip(*(run.columns for run in runs), strict=True)
        kept = [tuple(compress(chain.from_iterable(values), chosen)) for values in fields]
        return numbers[plain], self._columns([Run(b"", kept)])[0]

    def _fitting(self, piece: Run | Line) -> Iterator[Run | Line]:
        """Yield *piece* in pieces that fit, and in lines: what does not fit, and a few neighbours of it."""
        if isinstance(piece, Line):
            yield piece
            return
        try:
            if piece.fits(self._columns([piece])[1]):
                yield piece
                return
        except Absent:
            pass
        if piece.size <= _NEIGHBOURS or b"\n" not in piece.text:
            yield from piece.split()
        else:
            for half in halved(piece.text, self._reader.decoder):
                yield from self._fitting(half)

    def _columns(self, runs: list[Run]) -> tuple[dict[str, Column], NDArray[np.int64], NDArray[np.bool_]]:
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
