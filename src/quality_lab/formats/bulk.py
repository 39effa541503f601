"""Lines of flat objects read many at once, by the very parser that reads them one by one.

A line is taken here only if three things hold. The parser takes it, and knows every key. Every field stands
in it. And it is exactly as long as its keys and the shortest texts of its values are together: then nothing
else can stand in it, no key twice, no blank. Whatever else comes (and a text inside JSON, where a second
parse would have to follow) goes line by line through the format's own reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from operator import attrgetter
from typing import Annotated, Any, Generic, TypeVar, get_args

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType
from numpy.typing import NDArray

from quality_lab.formats.columns import Batch, Column, Flags, Numbers, Texts, bytes_of, texts
from quality_lab.formats.contract import Format, Reading, Unit
from quality_lab.formats.splitting import MAX_DEPTH
from quality_lab.formats.streams import Stream
from quality_lab.formats.units import HEAD, layout_of, lines_of, raw_line, raw_units, runs_of_lines

Fields = TypeVar("Fields", bound=msgspec.Struct)

ROWS = 10_240  # of a batch: five times what DuckDB takes at once
_SAFE = 1 << 62
_Whole = Annotated[int, msgspec.Meta(ge=-_SAFE, le=_SAFE)]
_Seconds = Annotated[int, msgspec.Meta(ge=-62_135_596_800, le=253_402_300_799)]  # the years 1 to 9999
_POWERS = 10 ** np.arange(1, 19, dtype=np.int64)
_NEEDS_ESCAPE = re.compile(r'[\x00-\x1f"\\]')
_KINDS = {
    int: "whole",
    int | None: "whole?",
    str: "text",
    str | None: "text?",
    bool: "flag",
    float | None: "real?",
    msgspec.Raw: "json",
}


class _Absent(Exception):
    """Some object lacks a field that may be absent."""


class BulkReader(Generic[Fields]):
    """Reads lines that each hold one object with the fields of a msgspec struct, and nothing else."""

    def __init__(
        self,
        kind: type[Fields],
        *,
        seconds: Sequence[str],
        batch: Callable[[NDArray[np.int64], list[Any], dict[str, Column]], Batch],
        plain: Callable[[Any], bool] | None = None,
    ) -> None:
        """Keep what a line is.

        *seconds* names the fields that are times; *batch* makes one of lines, objects and columns; an object
        that is not *plain* goes the exact way too.
        """
        self._kinds: dict[str, str] = {}
        fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
        for field in msgspec.structs.fields(kind):
            base = get_args(field.type)[0] if hasattr(field.type, "__metadata__") else field.type
            name, kind_name = field.encode_name, _KINDS[base]
            self._kinds[name] = kind_name
            if kind_name in ("json", "real?"):
                fields.append((name, msgspec.Raw | UnsetType, UNSET))
            elif kind_name.endswith("?"):
                wanted = _Whole | None if kind_name == "whole?" else base
                fields.append((name, wanted | UnsetType, UNSET))
            elif name in seconds:
                fields.append((name, _Seconds))
            else:
                fields.append((name, _Whole if field.type is int else field.type))
        strict = msgspec.defstruct(kind.__name__, fields, forbid_unknown_fields=True, kw_only=True, gc=False)
        self._decode = msgspec.json.Decoder(strict).decode
        self._batch, self._plain = batch, plain
        self._around = 1 + sum(len(name) + 4 for name in self._kinds)  # braces, quotes, colons, commas

    def read(self, stream: Stream, known: Format, reading: Reading) -> Iterator[Unit | Batch]:
        """Yield the lines of *stream* in batches, and as units those that have to be looked at singly."""
        head = stream.head(HEAD)
        if layout_of(head) == "document" or (b"\r" in head and b"\n" not in head):
            yield from known.read(raw_units(stream, reading.notes), reading)
            return
        first = 1
        items: list[Any] = []
        lines: list[bytes] = []
        numbers: list[int] = []
        for run, problem in runs_of_lines(stream, b"\n"):
            if problem is not None or b"\r" in run or not _is_utf8(run):
                raws = list(lines_of(run, problem, first=first, end=b"\n"))
                first = raws[-1].line + 1
                yield from known.read(iter(raws), reading)
                continue
            more = run.split(b"\n")
            found, odd = self._decoded(more)
            items += found
            if odd:
                yield from known.read((raw_line(first + at, more[at]) for at in odd), reading)
                put_aside = set(odd)
                kept = [at for at in range(len(more)) if at not in put_aside]
                lines += [more[at] for at in kept]
                numbers += [first + at for at in kept]
            else:
                lines += more
                numbers += range(first, first + len(more))
            first += len(more)
            while len(items) >= ROWS:
                yield from self._batches(items[:ROWS], lines[:ROWS], numbers[:ROWS], known, reading)
                del items[:ROWS], lines[:ROWS], numbers[:ROWS]
        if items:
            yield from self._batches(items, lines, numbers, known, reading)
        if stream.problem:
            reading.notes.truncated_input = True

    def _decoded(self, lines: list[bytes]) -> tuple[list[Any], list[int]]:
        """Return the objects of *lines*, and the places of those that hold none."""
        items: list[Any] = []
        odd: list[int] = []
        decode = self._decode
        for at, line in enumerate(lines):
            try:
                items.append(decode(line))
            except (msgspec.MsgspecError, RecursionError):
                odd.append(at)
        return items, odd

    def _batches(
        self, items: list[Any], lines: list[bytes], numbers: list[int], known: Format, reading: Reading
    ) -> Iterator[Unit | Batch]:
        try:
            columns, fits = self._columns(items, lines)
        except _Absent:
            columns, fits = {}, np.array([not _lacks_one(item) for item in items], np.bool_)
        if not fits.all():
            odd = compress(zip(numbers, lines, strict=True), (~fits).tolist())
            yield from known.read((raw_line(number, line) for number, line in odd), reading)
            chosen = fits.tolist()
            items, lines, numbers = (list(compress(some, chosen)) for some in (items, lines, numbers))
            if items:
                yield from self._batches(items, lines, numbers, known, reading)
            return
        yield self._batch(np.array(numbers, np.int64), items, columns)

    def _columns(self, items: list[Any], lines: list[bytes]) -> tuple[dict[str, Column], NDArray[np.bool_]]:
        """Return the columns of *items*, and which of them fill their lines and need no second parse."""
        columns: dict[str, Column] = {}
        count = len(items)
        length = np.full(count, self._around, np.int64)
        fits = np.ones(count, np.bool_)
        for name, kind in self._kinds.items():
            values = list(map(attrgetter(name), items))
            match kind:
                case "whole":
                    column = Numbers(np.fromiter(values, np.int64, count))
                    length += _digits(column.values)
                    columns[name] = column
                case "whole?":
                    some, known = _whole_or_null(values)
                    columns[name] = Numbers(some, known)
                    length += np.where(known, _digits(some), 4)
                case "text" | "text?":
                    columns[name], written = _text_or_null(values)
                    length += written
                case "flag":
                    flags = np.fromiter(values, np.bool_, count)
                    length += 5 - flags
                    columns[name] = Flags(flags)
                case "json" | "real?":
                    raw = _json(values)
                    length += raw.lengths
                    if kind == "json":
                        fits &= _is_shallow_and_no_text(raw)
                        columns[name] = raw
                    else:
                        columns[name], sound = _real_or_null(raw, values)
                        fits &= sound
        fits &= length == np.fromiter(map(len, lines), np.int64, count)
        if self._plain is not None:
            fits &= np.fromiter(map(self._plain, items), np.bool_, count)
        return columns, fits


def _is_utf8(text: bytes) -> bool:
    try:
        return text.isascii() or bool(text.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def _lacks_one(item: Any) -> bool:
    return any(value is UNSET for value in msgspec.structs.astuple(item))


def _digits(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many characters each number takes."""
    return np.searchsorted(_POWERS, np.abs(values), side="right") + 1 + (values < 0)


def _whole_or_null(values: list[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    count = len(values)
    nulls = values.count(None)
    if nulls == count:
        return np.zeros(count, np.int64), np.zeros(count, np.bool_)
    known = np.ones(count, np.bool_)
    if nulls:
        known = np.array([value is not None for value in values], np.bool_)
        values = [0 if value is None else value for value in values]
    try:
        return np.fromiter(values, np.int64, count), known
    except TypeError:
        raise _Absent from None


def _text_or_null(values: list[Any]) -> tuple[Texts, NDArray[np.int64]]:
    """Return *values* as a column, and how long each is as JSON."""
    known = None
    if None in values:
        known = np.array([value is not None for value in values], np.bool_)
        values = ["" if value is None else value for value in values]
    try:
        joined = "".join(values)
    except TypeError:
        raise _Absent from None
    column = texts(values)
    if _NEEDS_ESCAPE.search(joined):
        written = np.fromiter(map(len, map(msgspec.json.encode, values)), np.int64, len(values))
    else:
        written = column.lengths + 2
    if known is not None:
        written = np.where(known, written, 4)
    return column._replace(known=known), written


def _json(values: list[Any]) -> Texts:
    try:
        return bytes_of(values)
    except TypeError:
        raise _Absent from None


def _is_shallow_and_no_text(raw: Texts) -> NDArray[np.bool_]:
    ends = np.cumsum(raw.lengths)
    starts = ends - raw.lengths
    fits: NDArray[np.bool_] = np.frombuffer(raw.utf8, np.uint8)[starts] != ord('"')
    for at in np.flatnonzero(raw.lengths > 2 * MAX_DEPTH).tolist():
        start, end = int(starts[at]), int(ends[at])
        if raw.utf8.count(b"[", start, end) + raw.utf8.count(b"{", start, end) > MAX_DEPTH:
            fits[at] = False
    return fits


def _real_or_null(raw: Texts, values: list[Any]) -> tuple[Numbers[np.float64], NDArray[np.bool_]]:
    """Return JSON numbers as a column, and which of the *values* are numbers or null."""
    count = len(values)
    sound = np.ones(count, np.bool_)
    if raw.utf8 == b"null" * count:
        return Numbers(np.zeros(count, np.float64), np.zeros(count, np.bool_)), sound
    written = list(map(bytes, values))
    known = np.array([text != b"null" for text in written], np.bool_)
    sound = np.array([text[:1] in b"-0123456789n" for text in written], np.bool_)
    found = [
        float(text) if fine and text != b"null" else 0.0 for text, fine in zip(written, sound, strict=True)
    ]
    sound &= np.isfinite(found)
    return Numbers(np.array(found, np.float64), known), sound
