"""Inspect AI's `.eval` files: a zip archive whose members, put together, are one JSON list.

The header comes first, then each sample, so that a reader meets them as the elements of a document and never
holds more than one.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from typing import BinaryIO

_ZSTD = 93  # a method of packing that the standard library does not know yet
_LOCAL_HEADER = 30  # bytes, before the name and what else there is
_HEADERS = ("header.json", "_journal/start.json")  # the second where a run never came to its end
_PIECE = 1 << 18


class DamagedArchive(Exception):
    """An archive that cannot be read to its end, with a word on why."""


def members_of(file: BinaryIO) -> list[str] | None:
    """Return the names of the members that are read, in order; None where *file* is no such archive."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        return None
    header = [name for name in _HEADERS if name in names][:1]
    samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
    return header + samples if header else None


def as_list(file: BinaryIO, names: list[str]) -> Iterator[bytes]:
    """Yield the members *names* as the text of one JSON list, in pieces.

    Raises:
        DamagedArchive: a member cannot be unpacked.
    """
    with zipfile.ZipFile(file) as archive:
        yield b"["
        for place, name in enumerate(names):
            if place:
                yield b","
            info = archive.getinfo(name)
            try:
                if info.compress_type == _ZSTD:
                    yield from _unzstd(file, info)
                    continue
                with archive.open(info) as member:
                    while piece := member.read(_PIECE):
                        yield piece
            except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, RuntimeError) as problem:
                raise DamagedArchive(f"the archive is damaged at {name}: {problem}") from problem
        yield b"]"


def _unzstd(file: BinaryIO, info: zipfile.ZipInfo) -> Iterator[bytes]:
    import zstandard  # only archives packed this way need it

    file.seek(info.header_offset)
    header = file.read(_LOCAL_HEADER)
    file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
    try:
        reader = zstandard.ZstdDecompressor().stream_reader(file.read(info.compress_size))
        while piece := reader.read(_PIECE):
            yield piece
    except zstandard.ZstdError as problem:
        raise OSError(str(problem)) from problem
