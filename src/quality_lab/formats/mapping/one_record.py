"""A record that is being made into nouns: its text, its values, and the id that it has by itself."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, lru_cache

import msgspec

from quality_lab.formats.json_pieces import quoted
from quality_lab.formats.mapping.paths import Node, Step
from quality_lab.formats.mapping.values import Place
from quality_lab.formats.splitting import members
from quality_lab.formats.validation import Refused


class OneRecord:
    """A record that is being made into nouns."""

    def __init__(self, top: Node) -> None:
        """Keep the record, and its JSON text."""
        self.text = top.raw
        self.top = top
        self.place = Place(self.top, self.top)
        self._own_id: str | None = None

    def places(self, each: tuple[Step, ...]) -> Iterator[Place]:
        """Yield the elements that *each* leads to; the record itself where there is no `each`."""
        for node in self.top.all(each):
            yield Place(node, self.top)

    @cached_property
    def digest(self) -> str:
        """Return what tells this record from others."""
        return hashlib.sha256(self.text).hexdigest()[:20]

    def own_id(self, times: Counter[object]) -> str:
        """Return an id for the conversation that is this record, or begins with it: the same in every export."""
        if self._own_id is None:
            count = times["own", self.digest]
            times["own", self.digest] = count + 1
            self._own_id = self.digest if not count else f"{self.digest}.{count}"
        return self._own_id


def _keys_of(pairs: list[tuple[str, object]]) -> list[str]:
    return [key for key, _ in pairs]


# What it makes of an object are its keys, every time that they stand there. Numbers stay text: they may be long.
_keys = json.JSONDecoder(object_pairs_hook=_keys_of, parse_int=str, parse_float=str)
_MOST_KEYS = 64  # of an object whose frame is remembered


def refuse_doubles(top: Node) -> None:
    """Refuse an object in which a key stands more than once.

    Raises: Refused.
    """
    if _is_whole(top):
        return
    try:
        told = _keys.decode(top.raw.decode())
        if len(set(told)) == len(told):
            return
    except (ValueError, RecursionError):
        pass  # what only the slower reader takes; it also tells keys apart that are spelt differently
    keys = [key for key, _ in members(top.raw)]
    if len(set(keys)) < len(keys):
        key, times = Counter(keys).most_common(1)[0]
        raise Refused(str(msgspec.json.decode(key))[:200], f"the key stands there {times} times")


def _is_whole(top: Node) -> bool:
    """Say whether the object, put together from its members as programs do, is its own text again.

    Then no member is missing among them, as of two with one key the first is.
    """
    held = top.pieces
    keys, values = tuple(held), tuple(held.values())
    return len(keys) <= _MOST_KEYS and any(
        _frame(keys, colon, comma) % values == top.raw for colon, comma in ((b": ", b", "), (b":", b","))
    )


@lru_cache(maxsize=256)
def _frame(keys: tuple[str, ...], colon: bytes, comma: bytes) -> bytes:
    """Return the text of an object with these *keys*, and `%b` for each value.

    >>> _frame(("a", "5 %"), b":", b",")
    b'{"a":%b,"5 %%":%b}'
    """
    return b"{" + comma.join([quoted(key).replace(b"%", b"%%") + colon + b"%b" for key in keys]) + b"}"
