"""A record that is being made into nouns: its text, its values, and the id that it has by itself."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from functools import cached_property

import msgspec

from quality_lab.formats.mapping.paths import Node, Step
from quality_lab.formats.mapping.values import Place
from quality_lab.formats.splitting import members
from quality_lab.formats.validation import Refused


class OneRecord:
    """A record that is being made into nouns."""

    def __init__(self, text: bytes) -> None:
        """Keep the record's JSON text."""
        self.text = text
        self.top = Node(text)
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


def refuse_doubles(text: bytes) -> None:
    """Refuse an object in which a key stands more than once.

    Raises: Refused.
    """
    keys = [key for key, _ in members(text)]
    if len(set(keys)) < len(keys):
        key, times = Counter(keys).most_common(1)[0]
        raise Refused(str(msgspec.json.decode(key))[:200], f"the key stands there {times} times")
