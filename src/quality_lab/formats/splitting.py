"""JSON text cut into the values that stand in it one after another, without parsing them.

Only brackets, quotes and commas are looked at; whether a piece is JSON at all is for its reader to say. A
value is never held together with the rest of its file: a list of a million elements needs the memory of the
largest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

MAX_BYTES = 256 << 20  # of one value or one line; a longer one is put aside
MAX_DEPTH = 500  # levels; readers recurse, and nobody calls a tool with more
KEPT_OF_OVERLONG = 64 << 10  # bytes that are shown of a value that is too long to keep

_SPACE = b" \t\n\r"
_BLANKS = re.compile(rb"[ \t\n\r]*+")
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TO_BRACKET = re.compile(rb'[^"{}\[\]]*+(?:' + _STRING + rb'[^"{}\[\]]*+)*+', re.DOTALL)
_TO_COMMA_OR_BRACKET = re.compile(rb'[^",{}\[\]]*+(?:' + _STRING + rb'[^",{}\[\]]*+)*+', re.DOTALL)
_TO_QUOTE = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_MEMBER = re.compile(rb"\s*(" + _STRING + rb")\s*:\s*", re.DOTALL)
_ITEMS = re.compile(rb'\{\s*(?:"ok"\s*:\s*(?:true|false)\s*,\s*)?"items"\s*:\s*\[')
ITEMS_WITHIN = 4096  # bytes of an `{"items": [` document within which the list must begin


class Piece(NamedTuple):
    """One value as it was written, without the blanks around it; *problem* says why it cannot be used."""

    text: bytes
    problem: str | None = None


def is_items_document(head: bytes) -> bool:
    """Say whether the text that begins with *head* is a list under "items", as upstream wraps it."""
    return _ITEMS.match(head.lstrip(_SPACE)) is not None


def values(pieces: Iterable[bytes], *, beside: Callable[[bytes], None] = lambda key: None) -> Iterator[Piece]:
    """Yield the values of a text in order: each element of a list (bare or under "items"), any other whole.

    *pieces* is the text in parts of any size. *beside* is told the key (in its quotes) of each member that
    follows "items". A value that ends too early comes last, with its problem.
    """
    text = _Text(iter(pieces))
    while text.skip_blanks():
        text.need(ITEMS_WITHIN)
        items = _ITEMS.match(text.held, text.at)
        if items is not None:
            text.at = items.end()
            yield from _elements(text)
            yield from _rest_of_wrapper(text, beside)
        elif text.held[text.at : text.at + 1] == b"[":
            text.at += 1
            yield from _elements(text)
        elif text.held[text.at : text.at + 1] == b"{":
            yield text.value(element=False)
        else:
            yield text.line()


def members(text: bytes) -> list[tuple[bytes, bytes]]:
    """Return key (in its quotes) and value of each member of one object, duplicates included, all as written.

    *text* must be valid JSON.

    >>> members(b'{"a": [1, 2], "a": {"b": null}}')
    [(b'"a"', b'[1, 2]'), (b'"a"', b'{"b": null}')]
    """
    found: list[tuple[bytes, bytes]] = []
    cursor = _Text(iter((text.strip(_SPACE),)))
    cursor.need(1)
    cursor.at = 1
    while member := _MEMBER.match(cursor.held, cursor.at):
        cursor.at = member.end()
        found.append((member.group(1), cursor.value(element=True).text))
        cursor.at += 1
    return found


def _elements(text: _Text) -> Iterator[Piece]:
    """Yield the elements of a list whose opening bracket has just been passed; pass its closing one."""
    while text.skip_blanks():
        piece = text.value(element=True)
        if piece.text or piece.problem:
            yield piece
        closer = text.held[text.at : text.at + 1]
        text.at += len(closer)
        if closer == b"}":
            yield Piece(closer, "wanted ',' or ']' between the elements of a list, got '}'")
        if closer in (b"]", b"}"):
            return
    if not text.cut_short:
        yield Piece(b"", "the file ends before its list does")


def _rest_of_wrapper(text: _Text, beside: Callable[[bytes], None]) -> Iterator[Piece]:
    """Pass what follows the list in `{"items": […], …}`."""
    while text.skip_blanks() and text.held[text.at : text.at + 1] == b",":
        text.at += 1
        piece = text.value(element=True)
        member = _MEMBER.match(piece.text)
        if member and not piece.problem:
            beside(member.group(1))
        else:
            yield Piece(piece.text, piece.problem or "wanted a member of the object around the items")
    if text.held[text.at : text.at + 1] == b"}":
        text.at += 1
    elif not text.cut_short:
        yield Piece(b"", "the file ends before the object around its list does")


class _Text:
    """A window on the text: what has been read and is not yet used begins at `at` in `held`."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.held, self.at = b"", 0
        self.cut_short = False  # the text ended in the middle of a value, and that was said
        self._pieces = pieces

    def more(self, *, keep: int) -> bool:
        """Read on and forget what stands before *keep*, which is then at 0; say whether there was more.

        Reads at least as much as is kept, so that a long value is not copied over and over.
        """
        fresh: list[bytes] = []
        length, wanted = 0, max(1, len(self.held) - keep)
        while length < wanted and (piece := next(self._pieces, None)) is not None:
            fresh.append(piece)
            length += len(piece)
        if length:
            self.held = b"".join((self.held[keep:], *fresh))
            self.at -= keep
        return length > 0

    def need(self, size: int) -> None:
        """See to it that *size* bytes are held, if there are as many."""
        while len(self.held) - self.at < size and self.more(keep=self.at):
            pass

    def skip_blanks(self) -> bool:
        """Pass blanks and say whether anything follows."""
        while True:
            blanks = _BLANKS.match(self.held, self.at)
            self.at = blanks.end() if blanks else self.at
            if self.at < len(self.held):
                return True
            if not self.more(keep=self.at):
                return False

    def line(self) -> Piece:
        """Return the rest of the line: text outside any value, which only its reader can judge."""
        start = self.at
        while (end := self.held.find(b"\n", self.at)) < 0:
            self.at = len(self.held)
            if len(self.held) - start > MAX_BYTES:
                start = self.at - KEPT_OF_OVERLONG
            if not self.more(keep=start):
                end = len(self.held)
                break
            start = 0
        self.at = end
        return Piece(self.held[start:end].strip(_SPACE))

    def value(self, *, element: bool) -> Piece:
        """Return the value that begins here: an object, or an element up to the next comma or closer.

        Of a value longer than MAX_BYTES only the beginning is kept, so that memory stays bounded.
        """
        start, depth, deepest, in_string, kept = self.at, 0, 0, False, b""
        while True:
            step = _TO_QUOTE if in_string else _TO_BRACKET if depth else _TO_COMMA_OR_BRACKET
            found = step.match(self.held, self.at)
            self.at = found.end() if found else self.at
            mark = self.held[self.at : self.at + 1]
            if mark == b"" or mark == b"\\":  # the end of what is held, maybe in the middle of an escape
                if not kept and self.at - start > MAX_BYTES:
                    kept = self.held[start : start + KEPT_OF_OVERLONG]
                if self.more(keep=self.at if kept else start):
                    start = 0
                    continue
                text = (kept or self.held[start:]).strip(_SPACE)
                whole = depth == 0 and not in_string and text.endswith((b"}", b"]", b'"'))
                self.at, self.cut_short = len(self.held), bool(text) and not whole
                return Piece(text, "the file ends in the middle of this" if self.cut_short else None)
            if depth == 0 and mark in (b",", b"]", b"}"):
                break
            self.at += 1
            if mark == b'"':
                in_string = not in_string
                continue
            depth += 1 if mark in (b"{", b"[") else -1
            deepest = max(deepest, depth)
            if depth == 0 and not element:
                break
        text = (kept or self.held[start : self.at]).strip(_SPACE)
        if kept or len(text) > MAX_BYTES:
            return Piece(text[:KEPT_OF_OVERLONG], f"longer than {MAX_BYTES >> 20} MiB; this is its beginning")
        return Piece(text, f"nested more than {MAX_DEPTH} levels deep" if deepest > MAX_DEPTH else None)
