"""Lines of flat objects read many at once, by the very parser that reads them one by one.

A line is taken here only if three things hold. The parser takes it, and knows every key: those of the format, and
those that the first lines have besides, which are counted as unknown. Every field that must stand in it does. And it
is exactly as long as its keys and the shortest texts of its values, but for blanks around them: then nothing else can
stand in it, no key twice. Whatever else comes (and a text inside JSON, where a second parse would have to
follow) goes line by line through the format's own reader.

Whole runs of lines go through the parser in one call, which knows no lines: a run is taken only if an end of
line stands wherever an object of shortest length must end, and nothing is left; or, where there are blanks, if every
end of line parts two objects, and all that is left are these blanks. Then each line is one object.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, compress
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from quality_lab.formats.bulk_columns import (
    Words,
    digits,
    is_shallow_and_no_text,
    json_texts,
    or_absent,
    raw_lengths,
    real_or_null,
    text_or_null,
    whole_or_null,
)
from quality_lab.formats.bulk_fields import LineFields
from quality_lab.formats.bulk_runs import Line, Run, halved, parsed
from quality_lab.formats.columns import Batch, Column, Flags, Numbers
from quality_lab.formats.contract import Format, Reading, Unit
from quality_lab.formats.streams import Stream
from quality_lab.formats.units import HEAD, RawUnit, layout_of, lines_of, raw_line, raw_units, runs_of_lines
from quality_lab.formats.validation import tally

Fields = TypeVar("Fields", bound=msgspec.Struct)

ROWS = 8_192  # of a batch, about
_MOST_BYTES = 16 << 20  # of a batch, about: lines may be long
_WORTH_LOOKING = 10_000  # lines after which it is decided whether a file is worth reading so
_NEIGHBOURS = 8  # lines that are not looked at further where one of them does not fit


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
        self.fields = LineFields(kind, seconds=seconds, repeated=repeated)
        self.batch, self.plain = batch, plain

    def read(self, stream: Stream, known: Format, reading: Reading) -> Iterator[Unit | Batch]:
        """Yield the lines of *stream* in batches, and as units those that have to be looked at singly."""
        head = stream.head(HEAD)
        if layout_of(head) == "document" or (b"\r" in head and b"\n" not in head):
            yield from known.read(raw_units(stream, reading.notes), reading)
            return
        file = _File(self, known, reading, self.fields.unknown_in(head))
        yield from file.read(runs_of_lines(stream, b"\n"))
        if stream.problem:
            reading.notes.truncated_input = True


class _Columns(NamedTuple):
    """What was read of some lines, by the column."""

    columns: dict[str, Column]
    lengths: NDArray[np.int64]  # of each line, if its values are written as briefly as can be
    plain: NDArray[np.bool_]  # which lines need no second look
    unknown: dict[str, list[Any]]  # the fields that nobody knows: what stands there


class _File:
    """One file being read, which has *unknown* fields too."""

    def __init__(
        self, reader: BulkReader[Any], known: Format, reading: Reading, unknown: Sequence[str]
    ) -> None:
        self._reader, self._known, self._reading = reader, known, reading
        self._kinds = reader.fields.kinds | dict.fromkeys(unknown, "unknown")
        # What the keys take in a line, each with colon and comma.
        self._keys = {name: len(msgspec.json.encode(name)) + 2 for name in self._kinds}
        self._decoder = reader.fields.decoder(unknown)
        self._words = {name: Words() for name, kind in self._kinds.items() if kind == "word"}
        self._next = 1  # number of the line that comes next
        self._taken = 0

    def read(self, runs: Iterator[tuple[bytes, str | None]]) -> Iterator[Unit | Batch]:
        """Yield what stands in *runs* of lines."""
        held: list[Run | Line] = []
        count = size = 0
        for text, problem in runs:
            hopeless = self._next > _WORTH_LOOKING and self._taken < self._next // 2
            plain = _without_returns(text) if b"\r" in text else text
            if problem is not None or hopeless or plain is None or not _is_utf8(text):
                yield from self._batch(held)
                held, count, size = [], 0, 0
                raws = list(lines_of(text, problem, first=self._next, end=b"\n"))
                self._next = raws[-1].line + 1
                yield from self._known.read(iter(raws), self._reading)
                continue
            for piece in parsed(plain, self._decoder):
                held.append(piece)
                count += piece.size if isinstance(piece, Run) else 1
            size += len(text)
            if count >= (ROWS if self._taken else _WORTH_LOOKING) or size >= _MOST_BYTES:
                yield from self._batch(held)
                held, count, size = [], 0, 0
        yield from self._batch(held)

    def _batch(self, pieces: list[Run | Line]) -> Iterator[Unit | Batch]:
        """Yield the lines of *pieces*: those that fit as one batch, and the others singly."""
        runs = [piece for piece in pieces if isinstance(piece, Run)]
        found = self._columns(runs)
        ends = np.cumsum([run.size for run in runs]).tolist()
        parts = [slice(end - run.size, end) for run, end in zip(runs, ends, strict=True)]
        fitting = [run.fitting(found.lengths[part]) for run, part in zip(runs, parts, strict=True)]
        if unfit := {id(run) for run, fits in zip(runs, fitting, strict=True) if fits is None}:
            smaller = (self._fitting(one) if id(one) in unfit else [one] for one in pieces)
            yield from self._batch(list(chain.from_iterable(smaller)))
            return
        for part, fits in zip(parts, fitting, strict=True):
            assert fits is not None  # or it would be among the unfit
            found.plain[part] &= fits
        plain = found.plain
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
            if others := np.flatnonzero(~plain[next(rest)]).tolist():
                texts = piece.split()
                odd += [raw_line(first + at, texts[at].text) for at in others]
        lines = np.concatenate([np.zeros(0, np.int64), *numbers])
        yield from self._known.read(self._in_turn(odd, found, lines), self._reading)
        if plain.any():
            self._taken += int(plain.sum())
            columns = found.columns
            if not plain.all():
                lines, columns = lines[plain], self._only(plain, runs)
            batch = self._reader.batch(lines, columns)
            style = self._reading.options.style
            yield batch if style is None else batch._replace(same=batch.same | {"style": style})

    def _only(self, plain: NDArray[np.bool_], runs: list[Run]) -> dict[str, Column]:
        """Return the columns of the *plain* lines alone."""
        chosen = plain.tolist()
        fields = zip(*(run.columns for run in runs), strict=True)
        kept = [tuple(compress(chain.from_iterable(values), chosen)) for values in fields]
        return self._columns([Run(b"", kept)]).columns

    def _in_turn(self, odd: list[RawUnit], found: _Columns, lines: NDArray[np.int64]) -> Iterator[RawUnit]:
        """Yield *odd* lines; count the fields that nobody knows of plain *lines* as if each were read in its turn."""
        notes = self._reading.notes
        first_met: list[tuple[int, str, int]] = []  # the line where it stands first, the name, how often
        for name, values in found.unknown.items():
            there = np.fromiter((value is not UNSET for value in values), np.bool_, len(values)) & found.plain
            if times := int(there.sum()):
                first_met.append((int(lines[there.argmax()]), name, times))
        waiting = deque(sorted(first_met, key=itemgetter(0)))
        for raw in odd:
            while waiting and waiting[0][0] < raw.line:
                tally(notes, notes.unknown_fields, *waiting.popleft()[1:])
            yield raw
        for _, name, times in waiting:
            tally(notes, notes.unknown_fields, name, times)

    def _fitting(self, piece: Run | Line) -> Iterator[Run | Line]:
        """Yield *piece* in pieces that fit, and in lines: what does not fit, and a few neighbours of it."""
        if isinstance(piece, Line):
            yield piece
            return
        if piece.fitting(self._columns([piece]).lengths) is not None:
            yield piece
            return
        if piece.size <= _NEIGHBOURS or b"\n" not in piece.text:
            yield from piece.split()
        else:
            for half in halved(piece.text, self._decoder):
                yield from self._fitting(half)

    def _columns(self, runs: list[Run]) -> _Columns:
        """Return what was read of *runs*."""
        columns: dict[str, Column] = {}
        unknown: dict[str, list[Any]] = {}
        count = sum(run.size for run in runs)
        length = np.full(count, 1 + sum(self._keys.values()), np.int64)  # with the braces
        plain = np.ones(count, np.bool_)
        for place, (name, kind) in enumerate(self._kinds.items()):
            values: list[Any] = []
            for run in runs:
                values.extend(run.columns[place])
            key = self._keys[name]
            match kind:
                case "whole":
                    numbers = np.fromiter(values, np.int64, count)
                    columns[name], written = Numbers(numbers), digits(numbers)
                case "whole?":
                    columns[name], written = or_absent(whole_or_null, values, key=key)
                case "real?":
                    columns[name], written = or_absent(real_or_null, values, key=key)
                case "text?":
                    columns[name], written = or_absent(text_or_null, values, key=key)
                case "text":
                    columns[name], written = text_or_null(values)
                case "word":
                    columns[name], written, sound = self._words[name].column(values)
                    plain &= sound
                case "flag":
                    flags = np.fromiter(values, np.bool_, count)
                    columns[name], written = Flags(flags), 5 - flags.astype(np.int64)
                case "json":
                    columns[name], written = raw, _ = or_absent(json_texts, values, key=key)
                    plain &= (written > 0) & is_shallow_and_no_text(raw)
                case _:
                    unknown[name] = values
                    written, shallow = raw_lengths(values, key=key)
                    plain &= shallow
            length += written
        if self._reader.plain is not None:
            plain &= self._reader.plain(columns)
        return _Columns(columns, length, plain, unknown)


def _without_returns(text: bytes) -> bytes | None:
    """Return lines without the carriage returns at their ends; None where there are others."""
    plain = text.replace(b"\r\n", b"\n").removesuffix(b"\r")
    return None if b"\r" in plain else plain


def _is_utf8(text: bytes) -> bool:
    try:
        return text.isascii() or bool(text.decode("utf-8"))
    except UnicodeDecodeError:
        return False
