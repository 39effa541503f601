"""From a path to its bytes: unpacked, as UTF-8, in pieces of bounded size.

What a file is packed in, and how its text is encoded, is told by its first bytes and never by its name.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from quality_lab.errors import InputError
from quality_lab.formats.eval_archives import DamagedArchive, as_list, members_of

PIECE = 1 << 18  # bytes
_ZSTD_FEED = 1 << 8  # bytes; zstd may make 128 KiB of four bytes, so a bomb is eaten with a small spoon
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZIP = b"PK\x03\x04"
_OTHER_PACKING = {
    _ZIP: "a zip archive",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ\x00": "an xz file",
    b"PAR1": "a Parquet file",
    b"SQLite format 3\x00": "an SQLite database",
}
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_UNMARKED = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_JSON_BEGINS = "{[ \t\r\n"


class Stream:
    """The text of a file as pieces of UTF-8; `problem` says, once they are all read, why they end too early.

    Bytes that are no text in the file's encoding stay as they are (UTF-8) or become `\\xNN` (UTF-16, UTF-32),
    so that only the line they stand in is lost to its reader.
    """

    def __init__(self, path: Path, *, shown: str) -> None:
        self.problem: str | None = None
        self._shown = shown
        try:
            self._file: BinaryIO = path.open("rb")
        except (OSError, ValueError) as problem:
            raise _unreadable(shown, problem) from problem
        self._pieces = self._decoded(self._unpacked())
        self._ahead: list[bytes] = []

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *how: object) -> None:
        self._file.close()

    def head(self, size: int) -> bytes:
        """Return the first *size* bytes (fewer where there are no more) without using them up."""
        length = sum(map(len, self._ahead))
        while length < size:
            piece = next(self._pieces, None)
            if piece is None:
                break
            self._ahead.append(piece)
            length += len(piece)
        return b"".join(self._ahead)[:size]

    def __iter__(self) -> Iterator[bytes]:
        while self._ahead:
            yield self._ahead.pop(0)
        yield from self._pieces

    def _raw(self) -> Iterator[bytes]:
        try:
            while piece := self._file.read(PIECE):
                yield piece
        except OSError as problem:
            raise _unreadable(self._shown, problem) from problem

    def _unpacked(self) -> Iterator[bytes]:
        raw = self._raw()
        first = next(raw, b"")
        members = members_of(self._file) if first.startswith(_ZIP) else None
        if members is not None:
            try:
                yield from as_list(self._file, members)
            except DamagedArchive as problem:
                self.problem = str(problem)
            return
        for mark, name in _OTHER_PACKING.items():
            if first.startswith(mark):
                raise InputError(f"{self._shown}: wanted JSON text (plain, .gz or .zst), got {name}")
        if first.startswith(_GZIP):
            yield from self._gunzipped(_after(first, raw))
        elif first.startswith(_ZSTD):
            yield from self._unzstd(_after(first, raw))
        else:
            yield from _after(first, raw)

    def _gunzipped(self, raw: Iterator[bytes]) -> Iterator[bytes]:
        member = zlib.decompressobj(wbits=31)
        for piece in raw:
            waiting = piece
            while waiting:
                if member.eof:
                    waiting = waiting.lstrip(b"\0")  # padding
                    if not waiting:
                        break
                    member = zlib.decompressobj(wbits=31)
                try:
                    yield member.decompress(waiting, PIECE)
                    while member.unconsumed_tail:
                        yield member.decompress(member.unconsumed_tail, PIECE)
                except zlib.error as problem:
                    self.problem = f"the compressed file is damaged here: {problem}"
                    return
                waiting = member.unused_data
        if not member.eof:
            self.problem = "the compressed file ends too early"

    def _unzstd(self, raw: Iterator[bytes]) -> Iterator[bytes]:
        import zstandard  # only files packed this way need it

        unpacker = zstandard.ZstdDecompressor()
        frame = unpacker.decompressobj()
        for piece in raw:
            for at in range(0, len(piece), _ZSTD_FEED):
                waiting = piece[at : at + _ZSTD_FEED]
                while waiting:
                    if frame.eof:
                        frame = unpacker.decompressobj()
                    try:
                        yield frame.decompress(waiting)
                    except zstandard.ZstdError as problem:
                        self.problem = f"the compressed file is damaged here: {problem}"
                        return
                    waiting = frame.unused_data if frame.eof else b""
        if not frame.eof:
            self.problem = "the compressed file ends too early"

    def _decoded(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        first = b""
        for piece in pieces:
            first += piece
            if len(first) >= 4:
                break
        encoding, mark = _encoding(first)
        text = _after(first[mark:], pieces)
        yield from filter(None, text if encoding == "utf-8" else _as_utf8(text, encoding))


def _encoding(first: bytes) -> tuple[str, int]:
    """Return the encoding that the *first* bytes speak of, and how many of them are its mark."""
    for mark, encoding in _MARKS:
        if first.startswith(mark):
            return encoding, len(mark)
    for encoding in _UNMARKED:
        if first.startswith(tuple(character.encode(encoding) for character in _JSON_BEGINS)):
            return encoding, 0
    return "utf-8", 0


def _as_utf8(text: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="backslashreplace")
    for piece in text:
        yield decoder.decode(piece).encode("utf-8")
    yield decoder.decode(b"", final=True).encode("utf-8")


def _after(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _unreadable(shown: str, problem: Exception) -> InputError:
    reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    return InputError(f"{shown}: cannot be read: {reason}")
