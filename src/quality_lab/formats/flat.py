"""Flat objects decoded at speed, and yet with every key accounted for: unknown ones counted, doubles refused."""

from __future__ import annotations

import re
from typing import Generic, TypeVar

import msgspec

from quality_lab.formats.splitting import members
from quality_lab.formats.validation import Refused
from quality_lab.records import ReadNotes

Fields = TypeVar("Fields", bound=msgspec.Struct)

_SCALAR = r'(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"|[^",{}\[\]\s]++)'
_UNKNOWN = "Object contains unknown field"


class FlatDecoder(Generic[Fields]):
    """Decodes objects of one kind. *usual* are their keys in the order in which their maker writes them.

    A parser takes the last of two equal keys without a word, and looking for them costs more than parsing.
    So the usual shape is recognised as a whole: the keys before and after the nested values, in their
    order, each once, and as many bytes as that makes. Only a line of another shape is taken apart to look
    for doubles.
    """

    def __init__(self, kind: type[Fields], *, usual: str, nested: tuple[str, str]) -> None:
        self._known = frozenset(field.encode_name.encode() for field in msgspec.structs.fields(kind))
        strict = msgspec.defstruct(kind.__name__, [], bases=(kind,), forbid_unknown_fields=True, kw_only=True)
        self._strict: msgspec.json.Decoder[Fields] = msgspec.json.Decoder(strict)
        self._lax = msgspec.json.Decoder(kind)
        self._nested = nested
        names = usual.split()
        first, last = names.index(nested[0]), names.index(nested[1])
        before = "".join(f'"{name}":{_SCALAR},' for name in names[:first])
        after = "".join(f',"{name}":{_SCALAR}' for name in names[last + 1 :])
        self._before = re.compile((r"\{" + before + f'"{nested[0]}":').encode(), re.DOTALL)
        self._after = re.compile((after + r"\}\Z").encode(), re.DOTALL)
        self._next_key = f',"{names[last + 1]}":'.encode()
        self._between = len(f',"{nested[1]}":')

    def decode(self, text: bytes, notes: ReadNotes) -> Fields:
        """Return the fields of the object *text*; keys that nobody knows are counted in *notes*.

        Raises:
            Refused: a key stands there more than once, so that nobody can say which value is meant.
            msgspec.MsgspecError: the text is not JSON, or a field not of its type.
        """
        try:
            found = self._strict.decode(text)
        except msgspec.ValidationError as problem:
            if not str(problem).startswith(_UNKNOWN):
                raise
            found = self._lax.decode(text)
            for name in self._keys(text):
                if name not in self._known:
                    notes.count(notes.unknown_fields, name.decode("utf-8", "backslashreplace"))
            return found
        if not self._is_usual(text, found):
            self._keys(text)
        return found

    def _is_usual(self, text: bytes, found: Fields) -> bool:
        before = self._before.match(text)
        if before is None:
            return False
        after = text.rfind(self._next_key)
        one, other = (len(memoryview(getattr(found, name))) for name in self._nested)
        return (
            before.end() + one + self._between + other == after and self._after.match(text, after) is not None
        )

    def _keys(self, text: bytes) -> list[bytes]:
        """Return the keys of the object *text*, or refuse it."""
        keys = [key[1:-1] for key, _ in members(text)]
        if len(set(keys)) < len(keys):
            double = next(key for key in keys if keys.count(key) > 1)
            raise Refused(
                double.decode("utf-8", "backslashreplace"), f"the key stands there {keys.count(double)} times"
            )
        return keys
