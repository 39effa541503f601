"""What a reviewer sits down with: the queue that still waits for this reviewer, or a new one where none does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from quality_lab.answers import Answer
from quality_lab.lab.authors import author_of
from quality_lab.lab.drawing import kept_filters, queue_filters
from quality_lab.lab.filter_words import FilterWords
from quality_lab.lab.queueing import Queueing
from quality_lab.people import read_people, shown
from quality_lab.sampling import Strategy

if TYPE_CHECKING:
    from quality_lab.metrics.queue_calls import QueuedCall
    from quality_lab.metrics.queue_lines import QueueLine
    from quality_lab.people import People


class QueueOpening(Queueing):
    """The part of a lab that finds a reviewer the queue to go on with."""

    def open_queue(
        self,
        *,
        reviewer: str | None = None,
        size: int = 20,
        seed: int | None = None,
        strategy: Strategy = "mixed",
        reviewers: Sequence[str] = (),
        overlap: float = 0.0,
        tool: str | Sequence[str] | None = None,
        source: str | Sequence[str] | None = None,
    ) -> Answer[QueuedCall]:
        """Return the calls of the queue in which *reviewer* still has some to label; else of one drawn now.

        A queue that asks for this reviewer by name goes before one that asks anybody, the newer before the
        older. A *seed*, *tool* or *source* that is named narrows it: a queue drawn with others is not meant. *size*,
        *strategy*, *reviewers* and *overlap* are for the draw alone. The last note says what was done.
        *reviewer* is git's `user.name` if nobody is named.

        >>> import quality_lab as ql
        >>> lab = ql.open_demo()
        >>> coachs = lab.queue(size=40, seed=7, reviewers=["dana", "lee"], overlap=0.2, author="dana")
        >>> opened = lab.open_queue(reviewer="lee", size=20)
        >>> opened[0].queue == coachs[0].queue, opened.notes[-1]
        (True, 'opened, not drawn anew: lee has 24 calls left in it')
        >>> _ = lab.undo(coachs[0].queue, reviewer="dana")

        Raises: as `queue` does with a size.
        """
        me = author_of(self.home, reviewer).id
        if self.store.exists():
            self.store.load()  # a queue that a colleague drew and git brought is open too
        people = read_people(self.home)
        narrowed: FilterWords = {"tool": tool, "source": source}
        wanted = kept_filters(queue_filters(narrowed))
        lines = [line for line in self._queue_lines() if _is_meant(line, seed, wanted)]
        mine = [line for line in lines if _asks(line, me, people)]
        anybodys = [line for line in lines if not line.reviewers and line.reviewed < line.here]
        for line in [*mine, *anybodys]:
            if left := self._left_for(line, me, people):
                calls = "call" if left == 1 else "calls"
                said = f"opened, not drawn anew: {people.name(me)} has {left} {calls} left in it"
                return _noted(self._calls_of(line, left=False), said)
        before = {line.key for line in lines}
        answer = self.queue(
            size=size,
            seed=seed,
            strategy=strategy,
            reviewers=reviewers,
            overlap=overlap,
            author=me,
            **narrowed,
        )
        if answer[0].queue in before:
            return _noted(answer, f"nothing of it is left for {people.name(me)}")
        others = [_told(line, people) for line in lines if line.reviewers and line.reviewed < line.here]
        beside = f"; open for others: {', '.join(others)}" if others else ""
        return _noted(answer, f"drawn now, as no open queue asks {people.name(me)}{beside}")

    def _queue_lines(self) -> list[QueueLine]:
        from quality_lab.metrics.queue_lines import queue_lines

        return queue_lines(self.store) if self.store.exists() else []

    def _left_for(self, line: QueueLine, me: str, people: People) -> int:
        """Return how many calls of a queue wait for this reviewer."""
        from quality_lab.metrics.queue_calls import queue_calls

        name = people.name(me)
        return sum(
            not call.done
            and name not in map(people.name, call.done_by)
            and (not call.reviewers or name in map(people.name, call.reviewers))
            for call in queue_calls(self.store, queue=line.key, people=people)
        )


def _is_meant(line: QueueLine, seed: int | None, wanted: dict[str, Any]) -> bool:
    """Say whether a queue was drawn with the seed and the filters that are named, as far as any are."""
    return (seed is None or line.seed == seed) and (not wanted or json.loads(line.filters) == wanted)


def _asks(line: QueueLine, me: str, people: People) -> bool:
    return people.name(me) in map(people.name, line.reviewers)


def _told(line: QueueLine, people: People) -> str:
    return f"{line.key[:8]} ({', '.join(shown(people.person(one)) for one in line.reviewers)})"


def _noted(answer: Answer[QueuedCall], note: str) -> Answer[QueuedCall]:
    return Answer(
        answer.rows, answer.row_class, title=answer.title, notes=[*answer.notes, note], more=answer.more
    )
