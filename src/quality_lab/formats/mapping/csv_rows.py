"""Rows of a CSV file as objects of texts: a cell keeps every character, and a broken row costs only itself."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from itertools import chain

import msgspec

from quality_lab.formats.splitting import KEPT_OF_OVERLONG, MAX_BYTES
from quality_lab.formats.streams import Stream
from quality_lab.formats.units import RawUnit
from quality_lab.formats.validation import tally
from quality_lab.records import ReadNotes

DELIMITERS = ",;\t|"
_RECOVERIES = 20  # quotes that are never closed; after so many the rest of the file is one reject


class Row(msgspec.Struct, frozen=True, gc=False):
    """A row: where it begins, how it was written, and its cells by the names of their columns."""

    raw: RawUnit  # the text as it came, with its problem if it cannot be read
    cells: bytes = b""  # JSON text of an object of strings


def csv_rows(
    stream: Stream, notes: ReadNotes, *, delimiter: str | None, encoding: str | None
) -> Iterator[Row]:
    """Yield the rows below the header of *stream*; blank lines too, as rows without a text.

    The delimiter is told by the header where none is given. Rows that are shorter than the header lack their
    last cells; longer ones are put aside.
    """
    lines = _Lines(_decoded(stream, encoding))
    mark = delimiter or ","
    columns: list[str] | None = None
    while (first := lines.next_line()) is not None:
        start = lines.number
        if not first.strip("\r\n"):
            if columns is not None:
                yield Row(RawUnit(start, b""))
            continue
        if columns is None:
            mark = delimiter or delimiter_of(first)
        cells, text, problem = lines.row(first, mark)
        raw = RawUnit(start, text.rstrip("\r\n").encode("utf-8", "surrogateescape"), problem)
        if columns is None and problem is None:
            columns = column_names(cells)
        elif columns is None or problem is not None:
            yield Row(raw)
        else:
            yield _row(raw, cells, columns, notes)
    if stream.problem:
        notes.truncated_input = True
        yield Row(RawUnit(lines.number + 1, b"", stream.problem))


def _row(raw: RawUnit, cells: list[str], columns: list[str], notes: ReadNotes) -> Row:
    if len(cells) > len(columns):
        reason = f"wanted at most {len(columns)} cells, as the header has, got {len(cells)}"
        return Row(RawUnit(raw.line, raw.text, reason))
    if len(cells) < len(columns):
        tally(notes, notes.missing, "cells at the end of a row")
    named = dict(zip(columns, cells, strict=False))
    try:
        return Row(raw, msgspec.json.encode(named))
    except UnicodeEncodeError:
        return Row(RawUnit(raw.line, raw.text, "wanted text in the file's encoding, got other bytes"))


def is_table(head: bytes) -> bool:
    """Say whether a file that begins so is a table and not JSON.

    >>> is_table(b'tool,args\\nquote,"{}"\\n'), is_table(b' {"tool": 1}\\n'), is_table(b"[1]")
    (True, False, False)
    """
    text = head.lstrip(b" \t\r\n")
    first = text.splitlines()[0] if text else b""
    return not text.startswith((b"{", b"[")) and any(mark.encode() in first for mark in DELIMITERS)


def column_names(cells: list[str]) -> list[str]:
    """Return the names of columns; one that comes again has its number behind it.

    >>> column_names(["id", "note", "note", ""])
    ['id', 'note', 'note (2)', 'column 4']
    """
    names: list[str] = []
    for place, cell in enumerate(cells, start=1):
        name = cell.strip() or f"column {place}"
        number = 2
        unique = name
        while unique in names:
            unique, number = f"{name} ({number})", number + 1
        names.append(unique)
    return names


def delimiter_of(header: str) -> str:
    r"""Return what parts the cells of a header: the most frequent of comma, semicolon, tab and bar.

    >>> delimiter_of("id;note;at\n"), delimiter_of('"a,b"\tc\td')
    (';', '\t')
    """
    bare = "".join(header.split('"')[::2])
    return max(DELIMITERS, key=bare.count)


def _decoded(stream: Stream, encoding: str | None) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding or "utf-8")("surrogateescape")
    for piece in stream:
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)


class _Lines:
    """The lines of a file one by one, with their ends; some may be given back."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self._pieces = _whole_lines(pieces)
        self.number = 0  # of the line last taken
        self._recoveries = 0

    def next_line(self) -> str | None:
        line = next(self._pieces, None)
        self.number += line is not None
        return line

    def row(self, first: str, delimiter: str) -> tuple[list[str], str, str | None]:
        """Return the cells of the row that begins with *first*, its text, and why it cannot be read."""
        taken: list[str] = []
        size = 0

        def more() -> Iterator[str]:
            nonlocal size
            line: str | None = first
            while line is not None and size <= MAX_BYTES:
                taken.append(line)
                size += len(line)
                yield line
                line = self.next_line()
            if line is not None:
                taken.append(line)

        before = csv.field_size_limit(MAX_BYTES)
        try:
            cells = next(csv.reader(more(), delimiter=delimiter, strict=True))
        except (csv.Error, StopIteration) as problem:
            return [], *self._given_back(taken, problem)
        finally:
            csv.field_size_limit(before)
        return cells, "".join(taken), None

    def _given_back(self, taken: list[str], problem: Exception) -> tuple[str, str]:
        """Put aside the first line of a row that cannot be, and give the others back."""
        self._recoveries += 1
        open_quote = "unexpected end" in str(problem) or len(taken) > 1
        reason = "a quote is opened here and never closed" if open_quote else f"not CSV: {problem}"
        if self._recoveries > _RECOVERIES and len(taken) > 1:
            return "".join(taken)[
                :KEPT_OF_OVERLONG
            ], f"{reason}; this is the beginning of the rest of the file"
        self._pieces = chain(taken[1:], self._pieces)
        self.number -= len(taken) - 1
        return taken[0], reason


def _whole_lines(pieces: Iterator[str]) -> Iterator[str]:
    held: list[str] = []
    for piece in pieces:
        lines = piece.split("\n")
        held.append(lines[0])
        for line in lines[1:]:
            yield "".join(held) + "\n"
            held = [line]
    rest = "".join(held)
    if rest:
        yield rest
