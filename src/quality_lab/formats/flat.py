"""Flat objects decoded at speed, yet with every key accounted for: unknown ones counted, doubles refused."""

from __future__ import annotations

import re
from collections import Counter
from typing import Generic, NamedTuple, TypeVar, get_args

import msgspec

from quality_lab.formats.splitting import members
from quality_lab.formats.validation import Refused, joined, refusal, tally, without_indexes
from quality_lab.records import ReadNotes

Fields = TypeVar("Fields", bound=msgspec.Struct)

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_OTHER_SCALAR = r'[^,"}]++'  # the parser has made sure that it is one
_GAP = r"[ \t\r\n]*+"
_UNKNOWN = "Object contains unknown field"
_SHAPES_KEPT = 16  # after so many, only a few are learned: an exporter that shuffles its keys has none
_KEYS_OF_A_SHAPE = 64


class _Run(NamedTuple):
    """Keys and scalars between two nested values, and the attribute of the nested value after them."""

    pattern: re.Pattern[bytes]
    nested: str | None


class _Shape(NamedTuple):
    """An order of keys, each once."""

    runs: tuple[_Run, ...]
    unknown: tuple[str, ...]  # those of them that nobody knows


class FlatDecoder(Generic[Fields]):
    """Decodes objects of one kind.

    A parser takes the last of two equal keys without a word, and looking for them takes longer than
    parsing. So the decoder learns the shapes that come: the order of the keys, each once, with nothing
    between them but scalars and as many bytes as the nested values have. Only a line of a new shape is
    taken apart to look for doubles.
    """

    def __init__(self, kind: type[Fields]) -> None:
        self._types = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
        self._attributes = {field.encode_name: field.name for field in msgspec.structs.fields(kind)}
        strict = msgspec.defstruct(kind.__name__, [], bases=(kind,), forbid_unknown_fields=True, kw_only=True)
        self._strict: msgspec.json.Decoder[Fields] = msgspec.json.Decoder(strict)
        self._lax = msgspec.json.Decoder(kind)
        self._shapes: list[_Shape] = []
        self._misses = 0

    def decode(self, text: bytes, notes: ReadNotes, *, below: str = "") -> Fields:
        """Return the fields of the object *text*; keys that nobody knows are counted in *notes*.

        *below* is the path of the object inside its line.

        Raises:
            Refused: a field is not of its type, or a key stands there more than once.
            msgspec.DecodeError: the text is not JSON.
        """
        try:
            try:
                found = self._strict.decode(text)
            except msgspec.ValidationError as problem:
                if not str(problem).startswith(_UNKNOWN):
                    raise
                found = self._lax.decode(text)
            for name in self._unknown(text, found):
                tally(notes, notes.unknown_fields, joined(without_indexes(below), name))
        except (msgspec.ValidationError, Refused) as problem:
            raise Refused(*refusal(problem, below=below)) from None
        return found

    def _unknown(self, text: bytes, found: Fields) -> tuple[str, ...]:
        """Return the unknown keys of the object *text*, or refuse it where a key stands there twice."""
        for shape in self._shapes:
            if _fits(shape.runs, text, found):
                return shape.unknown
        pairs = [(str(msgspec.json.decode(key)), value) for key, value in members(text)]
        times = Counter(key for key, _ in pairs)
        if len(times) < len(pairs):
            key, count = times.most_common(1)[0]
            raise Refused(key[:200], f"the key stands there {count} times")
        unknown = tuple(key for key in times if key not in self._types)
        self._misses += 1
        if len(pairs) <= _KEYS_OF_A_SHAPE and (self._misses <= _SHAPES_KEPT or not self._misses % 64):
            self._learn(pairs, unknown)
        return unknown

    def _learn(self, pairs: list[tuple[str, bytes]], unknown: tuple[str, ...]) -> None:
        runs, run = [], _GAP + r"\{" + _GAP
        for place, (name, value) in enumerate(pairs):
            run += f"{_GAP},{_GAP}" if place else ""
            run += re.escape(f'"{name}"') + f"{_GAP}:{_GAP}"
            if self._types.get(name) is msgspec.Raw:
                runs.append(_Run(re.compile(run.encode(), re.DOTALL), self._attributes[name]))
                run = ""
            elif name in unknown and value.startswith((b"{", b"[")):
                return  # its length is not known without parsing it
            else:
                run += _written(self._types.get(name, int | str))
        runs.append(_Run(re.compile((run + _GAP + r"\}" + _GAP + r"\Z").encode(), re.DOTALL), None))
        self._shapes = [_Shape(tuple(runs), unknown), *self._shapes[: _SHAPES_KEPT - 1]]


def _fits(shape: tuple[_Run, ...], text: bytes, found: msgspec.Struct) -> bool:
    position = 0
    for pattern, nested in shape:
        run = pattern.match(text, position)
        if run is None:
            return False
        position = run.end()
        if nested is not None:
            position += len(memoryview(getattr(found, nested)))
    return True


def _written(kind: object) -> str:
    """Return the pattern of a scalar of a field's type, as it is written."""
    if kind is str:
        return _STRING
    return f"(?:{_STRING}|{_OTHER_SCALAR})" if str in get_args(kind) else _OTHER_SCALAR
