"""Flat objects decoded at speed, yet with every key accounted for: unknown ones counted, doubles refused."""

from __future__ import annotations

import re
from typing import Generic, NamedTuple, TypeVar, get_args

import msgspec

from quality_lab.formats.splitting import members
from quality_lab.formats.validation import Refused, joined, refusal, tally, without_indexes
from quality_lab.records import ReadNotes

Fields = TypeVar("Fields", bound=msgspec.Struct)

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_OTHER_SCALAR = r'[^,"}]++'  # the parser has made sure that it is one
_UNKNOWN = "Object contains unknown field"
_SHAPES_KEPT = 8


class _Run(NamedTuple):
    """Keys and scalars between two nested values, and the name of the nested value that follows."""

    pattern: re.Pattern[bytes]
    nested: str | None


class FlatDecoder(Generic[Fields]):
    """Decodes objects of one kind.

    A parser takes the last of two equal keys without a word, and looking for them takes longer than
    parsing. So the decoder learns the shapes that come: the order of the keys, each once, with nothing
    between them but scalars and as many bytes as the nested values have. Only a line of a new shape is
    taken apart to look for doubles.
    """

    def __init__(self, kind: type[Fields]) -> None:
        self._types = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
        strict = msgspec.defstruct(kind.__name__, [], bases=(kind,), forbid_unknown_fields=True, kw_only=True)
        self._strict: msgspec.json.Decoder[Fields] = msgspec.json.Decoder(strict)
        self._lax = msgspec.json.Decoder(kind)
        self._shapes: list[tuple[_Run, ...]] = []

    def decode(self, text: bytes, notes: ReadNotes, *, below: str = "") -> Fields:
        """Return the fields of the object *text*; keys that nobody knows are counted in *notes*.

        *below* is the path of the object inside its line.

        Raises:
            Refused: a field is not of its type, or a key stands there more than once.
            msgspec.DecodeError: the text is not JSON.
        """
        try:
            return self._decoded(text, notes, below)
        except (msgspec.ValidationError, Refused) as problem:
            raise Refused(*refusal(problem, below=below)) from None

    def _decoded(self, text: bytes, notes: ReadNotes, below: str) -> Fields:
        try:
            found = self._strict.decode(text)
        except msgspec.ValidationError as problem:
            if not str(problem).startswith(_UNKNOWN):
                raise
            found = self._lax.decode(text)
            for name in _keys(text):
                if name not in self._types:
                    tally(notes, notes.unknown_fields, joined(without_indexes(below), name))
            return found
        for shape in self._shapes:
            if _fits(shape, text, found):
                return found
        self._learn(_keys(text))
        return found

    def _learn(self, keys: list[str]) -> None:
        runs, run = [], r"[ \t\r]*\{"
        for place, name in enumerate(keys):
            run += (", ?" if place else " ?") + f'"{re.escape(name)}": ?'
            if self._types[name] is msgspec.Raw:
                runs.append(_Run(re.compile(run.encode(), re.DOTALL), name))
                run = ""
            else:
                run += _written(self._types[name])
        runs.append(_Run(re.compile((run + r"\}[ \t\r]*\Z").encode(), re.DOTALL), None))
        self._shapes = [tuple(runs), *self._shapes[: _SHAPES_KEPT - 1]]


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


def _keys(text: bytes) -> list[str]:
    """Return the keys of the object *text* in order, or refuse it where one stands there twice."""
    keys = [msgspec.json.decode(key, type=str) for key, _ in members(text)]
    for key in {key for key in keys if keys.count(key) > 1}:
        raise Refused(key, f"the key stands there {keys.count(key)} times")
    return keys


def _written(kind: object) -> str:
    """Return the pattern of a scalar of a field's type, as it is written."""
    if kind is str:
        return _STRING
    return f"(?:{_STRING}|{_OTHER_SCALAR})" if str in get_args(kind) else _OTHER_SCALAR
