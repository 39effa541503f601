"""How a desk answers what a browser asks: one reply to each question, even if it is put twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from quality_lab.answers import visible
from quality_lab.errors import NotFine, QualityLabError, UsageError

if TYPE_CHECKING:
    from quality_lab.lab.reviewing import Said

Asked = Mapping[str, Any]
Reply = dict[str, Any]  # JSON: `id` of the question, `ok`, and what was asked for or `error`

_REMEMBERED = 200


class Replies:
    """Answers questions by name; one that writes, and comes again, gets the reply that it had.

    A browser that got no reply may ask again, and nobody wants the same label twice.

    >>> said = []
    >>> replies = Replies({}, writing={"say": lambda asked: {"said": said.append(asked["word"])}})
    >>> replies.to({"id": "a1", "ask": "say", "word": "good"})
    {'id': 'a1', 'ok': True, 'said': None}
    >>> replies.to({"id": "a1", "ask": "say", "word": "good"})["ok"], said
    (True, ['good'])
    """

    def __init__(
        self,
        reading: Mapping[str, Callable[[Asked], Reply]],
        *,
        writing: Mapping[str, Callable[[Asked], Reply]],
    ) -> None:
        """Keep who answers which question."""
        self._answers = {**reading, **writing}
        self._writing = frozenset(writing)
        self._given: dict[str, Reply] = {}

    def to(self, asked: Asked) -> Reply:
        """Return the reply to what was *asked*; what the library refuses is a reply too, in its own words."""
        key = str(asked.get("id"))
        if key in self._given:
            return self._given[key]
        try:
            reply = {"id": key, "ok": True, **self._answer(asked)}
        except QualityLabError as error:
            refused = isinstance(
                error, (UsageError, NotFine)
            )  # for what it says; else it may go well next time
            return {"id": key, "ok": False, "refused": refused, "error": visible(str(error))}
        if asked.get("ask") in self._writing:
            self._given[key] = reply
        if len(self._given) > _REMEMBERED:
            del self._given[next(iter(self._given))]
        return reply

    def _answer(self, asked: Asked) -> Reply:
        name = str(asked.get("ask"))
        if name not in self._answers:
            raise UsageError(f"wanted one of {', '.join(self._answers)}; came {name!r}")
        return self._answers[name](asked)


def later(said: Said) -> str | None:
    """Return what a reader is told of a line that is written while the database is held; None where it is not."""
    return None if said.in_lab else "the lab knows it with the next load"


def words_in(asked: Asked, name: str) -> str | None:
    """Return the text that was asked under *name*; None where there is none, or only spaces."""
    text = asked.get(name)
    return text.strip() or None if isinstance(text, str) else None
