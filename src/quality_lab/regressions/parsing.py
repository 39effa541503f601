"""Bytes into lines, and lines into the values that JavaScript would read from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from quality_lab import js_text
from quality_lab.json_text import JsonTextError

_UTF_16 = b"\xff\xfe"
_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class NotJson:
    """What stands for a line that is not JSON, with the parser's words."""

    reason: str


def read_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, Any]]:
    """Yield number and value of each line that holds something; a line that is not JSON has a `NotJson`.

    Lines end at line feeds alone. Blank ones and those that begin with `#` are passed over, but counted.
    Bytes that are not UTF-8 become U+FFFD; text that begins with UTF-16's little-endian mark is read as such.
    """
    for number, line in enumerate(_utf_8(lines), 1):
        # The quick decoder refuses more than JavaScript does, and takes nothing that JavaScript refuses: what
        # it refuses is read again, exactly.
        try:
            yield number, _decode(line)
        except (msgspec.DecodeError, RecursionError):
            text = js_text.trim(line.decode("utf-8", "replace"))
            if text and not text.startswith("#"):
                yield number, _value(text)


def _value(text: str) -> Any:
    try:
        return js_text.parse(text)
    except JsonTextError as problem:
        return NotJson(str(problem))


def _utf_8(lines: Iterable[bytes]) -> Iterator[bytes]:
    lines = iter(lines)
    first = next(lines, b"")
    if first.startswith(_UTF_16):
        text = (first + b"".join(lines)).decode("utf-16", "replace")
        yield from text.encode("utf-8").split(b"\n")
    else:
        yield first
        yield from lines
