"""From a file to its raw units: the lines of a file of lines, the objects of any other JSON file.

A file of lines is one whose first line is an object of its own (or is followed by such lines). Anything
else that begins with a bracket is read as one or more documents: a list gives its elements, `{"items":
[…]}` too, and an object over many lines gives itself. No unit is parsed here; but what no reader could use
(bytes that are not UTF-8, a line that is too long or nested too deeply, the end of a file that was cut) is
marked with its problem.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Literal

import msgspec

from quality_lab.formats.exact import is_json
from quality_lab.formats.splitting import (
    KEPT_OF_OVERLONG,
    MAX_BYTES,
    MAX_DEPTH,
    Piece,
    is_items_document,
    values,
)
from quality_lab.formats.streams import Stream
from quality_lab.formats.validation import tally
from quality_lab.records import ReadNotes

Layout = Literal["lines", "document"]
HEAD = 1 << 16  # bytes that are looked at to tell the layout
_LINES_LOOKED_AT = 50
_LONG = 1 << 16  # bytes of a line
_NO_MARKS = bytes(set(range(256)) - set(b'[]{}"'))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


class RawUnit(msgspec.Struct, frozen=True, gc=False):
    """One line, or one object of a document. (A msgspec struct, since millions of them are made.)"""

    line: int  # 1-based line, or 1-based number of the object
    text: bytes  # without the end of the line
    problem: str | None = None  # why no reader can use it


def raw_units(stream: Stream, notes: ReadNotes) -> Iterator[RawUnit]:
    """Yield the raw units of *stream* in order; *notes* learns of an end that came too early."""
    head = stream.head(HEAD)
    if layout_of(head) == "document":
        yield from _objects(stream, notes)
    else:
        old_mac = b"\r" in head and b"\n" not in head
        yield from _lines(stream, notes, end=b"\r" if old_mac else b"\n")


def layout_of(head: bytes) -> Layout:
    """Return the layout of a file that begins with *head*.

    >>> layout_of(b'{"a": 1}\\n{"a": 2}\\n'), layout_of(b'{\\n  "a": 1\\n}\\n'), layout_of(b'[{"a": 1}]')
    ('lines', 'document', 'document')
    """
    text = head.lstrip(b" \t\r\n")
    if is_items_document(text):
        return "document"
    if not text.startswith((b"{", b"[")):
        return "lines"
    lines = [line for line in text.splitlines()[:_LINES_LOOKED_AT] if not is_blank(line)]
    if text.startswith(b"["):
        return "lines" if len(lines) > 1 and all(map(_is_list, lines[:2])) else "document"
    if len(lines) == 1 or is_json(lines[0]):
        return "lines"
    objects = sum(line.startswith(b"{") and is_json(line) for line in lines)
    if len(head) >= HEAD:
        return "lines" if 2 * objects > len(lines) else "document"
    return "lines" if objects and not is_json(next(values([text])).text) else "document"


def is_blank(text: bytes) -> bool:
    """Say whether a line holds nothing."""
    return not text or text.isspace()


def as_shown(text: bytes) -> str:
    """Return *text* as a person may read it; bytes that are not UTF-8 stand as `\\xNN`."""
    return text.decode("utf-8", "backslashreplace")


def trouble(text: bytes) -> str | None:
    """Return why no reader could use *text* whatever it says, or None: not UTF-8, or nested too deeply."""
    try:
        text.isascii() or text.decode("utf-8")
    except UnicodeDecodeError as problem:
        return f"wanted UTF-8, got the byte 0x{text[problem.start]:02x} at {problem.start}"
    if len(text) > 2 * MAX_DEPTH and text.count(b"[") + text.count(b"{") > MAX_DEPTH:
        if len(text) > _LONG and _depth(text) < MAX_DEPTH:
            return None
        return next((piece.problem for piece in values([b"[", text, b"]"]) if _is_depth(piece)), None)
    return None


def _depth(text: bytes) -> int:
    """Return how deep JSON *text* is nested."""
    marks = text.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _NO_MARKS)
    outside_strings = b"".join(marks.split(b'"')[::2])
    return max(accumulate(map(_STEPS.__getitem__, outside_strings)), default=0)


def _is_depth(piece: Piece) -> bool:
    return piece.problem is not None and piece.problem.startswith("nested")


def _is_list(line: bytes) -> bool:
    return line.startswith(b"[") and is_json(line)


def _objects(stream: Stream, notes: ReadNotes) -> Iterator[RawUnit]:
    def beside(key: bytes) -> None:
        tally(notes, notes.unknown_fields, as_shown(key[1:-1]))

    number = 0
    for number, piece in enumerate(values(stream, beside=beside), start=1):
        problem = piece.problem or trouble(piece.text)
        if problem and problem.startswith("the file ends") and stream.problem:
            problem = stream.problem
            notes.truncated_input = True
        yield RawUnit(number, piece.text, problem)
    if stream.problem and not notes.truncated_input:
        notes.truncated_input = True
        yield RawUnit(number + 1, b"", stream.problem)


def _lines(stream: Stream, notes: ReadNotes, *, end: bytes) -> Iterator[RawUnit]:
    number = 0
    for run, problem in runs_of_lines(stream, end):
        for raw in lines_of(run, problem, first=number + 1, end=end):
            number = raw.line
            yield raw
    if stream.problem:
        notes.truncated_input = True


def lines_of(run: bytes, problem: str | None, *, first: int, end: bytes) -> Iterator[RawUnit]:
    """Yield the lines of one of the `runs_of_lines`, numbered from *first*."""
    if problem is not None:
        yield RawUnit(first, run, problem)
        return
    sound = run.isascii() or _is_utf8(run)
    returns = end == b"\n" and b"\r" in run
    for number, line in enumerate(_at_returns(run) if returns else run.split(end), start=first):
        yield raw_line(number, line) if sound else RawUnit(number, line, trouble(line))


def raw_line(number: int, text: bytes) -> RawUnit:
    """Return the raw unit of a line that is known to be UTF-8."""
    return RawUnit(number, text, None if len(text) <= 2 * MAX_DEPTH else trouble(text))


def runs_of_lines(stream: Stream, end: bytes) -> Iterator[tuple[bytes, str | None]]:
    """Yield runs of whole lines, without the last end of line, and None; a line with a problem stands alone."""
    parts: list[bytes] = []
    length, overlong = 0, False
    too_long = f"longer than {MAX_BYTES >> 20} MiB; this is its beginning"
    for piece in stream:
        if overlong:
            _, found, piece = piece.partition(end)
            if not found:
                continue
            yield parts[0], too_long
            parts, length, overlong = [], 0, False
        cut = piece.rfind(end)
        if cut >= 0:
            yield b"".join((*parts, memoryview(piece)[:cut])), None
            parts, length = [], 0
        parts.append(piece[cut + 1 :])
        length += len(piece) - cut - 1
        if length > MAX_BYTES:
            parts, overlong = [b"".join(parts)[:KEPT_OF_OVERLONG]], True
    rest = b"".join(parts)
    if overlong:
        yield rest, too_long
    elif stream.problem:
        yield rest, stream.problem
    elif rest:
        yield rest, None


def _at_returns(block: bytes) -> Iterator[bytes]:
    """Yield the lines of a block with carriage returns: before line feeds, alone, or between JSON tokens."""
    for line in block.split(b"\n"):
        line = line.removesuffix(b"\r")
        if b"\r" not in line or is_json(line):
            yield line
        else:
            yield from line.split(b"\r")


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
