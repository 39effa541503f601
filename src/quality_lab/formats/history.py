"""History that is written again with every request: which earlier line of a file a line goes on from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from quality_lab.records import ReadNotes


@dataclass(slots=True)
class History:
    """The conversations of one file, known by digests of all that was said in them."""

    notes: ReadNotes
    _known: dict[tuple[str, int, str], str] = field(default_factory=dict)  # name, length, digest of all
    _occurrences: Counter[str] = field(default_factory=Counter)

    def place(self, digests: list[str], *, given_id: str | None, opening: str) -> tuple[str, int]:
        """Return the id of the conversation of these *digests* and the position of the first new message.

        Without an id of its own a conversation is named by its *opening* and its occurrence in the file.
        """
        name = given_id or opening
        for length in range(len(digests) - 2, 0, -1):
            conversation_id = self._known.pop((name, length, digests[length]), None)
            if conversation_id is not None:
                self._known[name, len(digests) - 1, digests[-1]] = conversation_id
                self.notes.count(self.notes.merged, "history written again", length)
                return conversation_id, length
        conversation_id = given_id
        if conversation_id is None:
            conversation_id = f"{name}-{self._occurrences[name]}"
            self._occurrences[name] += 1
        self._known[name, len(digests) - 1, digests[-1]] = conversation_id
        return conversation_id, 0
