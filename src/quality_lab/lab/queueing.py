"""What a lab does to choose whom to ask about which calls: draw queues, and tell how far their review is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from quality_lab.answers import Answer
from quality_lab.errors import NoData, StoreBusy, UsageError
from quality_lab.lab.authors import author_of, authors_of
from quality_lab.lab.drawing import (
    DrawWords,
    drawn_with,
    kept_filters,
    queue_entries,
    queue_filters,
    spoke_of,
)
from quality_lab.lab.filter_words import FilterWords
from quality_lab.lab.queue_rows import QueueRow, ReviewerProgress, progress_of, queue_row
from quality_lab.lab.reviewing import Reviewing
from quality_lab.people import People, read_people
from quality_lab.sampling import DISPUTED, STRATEGIES, Strategy

if TYPE_CHECKING:
    from quality_lab.metrics.queue_calls import QueuedCall
    from quality_lab.metrics.queue_lines import QueueLine
    from quality_lab.metrics.weighted_rates import WeightedLabel, WeightedTool


class Queueing(Reviewing):
    """The part of a lab that draws queues. A queue is lines of the journal, and counts at once."""

    def queue(
        self,
        queue: str | None = None,
        *,
        size: int | None = None,
        seed: int | None = None,
        strategy: Strategy = "mixed",
        reviewers: Sequence[str] = (),
        overlap: float = 0.0,
        left: bool = False,
        author: str | None = None,
        **filters: Unpack[FilterWords],
    ) -> Answer[QueuedCall]:
        """Return the calls of a queue in the order of review: the one to go on with, that called *queue*, or a new one.

        To go on with is the newest of which calls wait for somebody, else the newest; the notes name others that
        wait.

        With a *size* a queue is drawn and kept in the journal, unless the newest one was drawn with the same
        words: a cell that is run again draws nothing. Eligible are calls that rates count (seen in a trace
        export, no guard rows) and that nobody has labelled yet; calls that reviewers dispute come in too
        where the strategy is "mixed" or "disputed", and go to reviewers who did not speak of them yet, where one
        is named. *filters* narrow them; `sampling` says how they are drawn and with what probability. Without a
        *seed* each new queue has the next number.
        With *left* only calls that still wait for somebody come back.

        >>> import quality_lab as ql
        >>> lab = ql.open_demo()
        >>> drawn = lab.queue(size=40, seed=7, reviewers=["dana", "lee"], overlap=0.2, author="dana")
        >>> len(drawn), sum(len(call.reviewers) == 2 for call in drawn)
        (40, 8)
        >>> [row.asked for row in lab.queue_progress()]
        [24, 24]
        >>> _ = lab.undo(drawn[0].queue, reviewer="dana")

        Raises: UsageError for a queue that cannot be drawn, NoData where nothing is eligible or no queue is
        there, StoreBusy, OutputError.
        """
        told: list[str] = []
        if size is None:
            if filters or reviewers or overlap or seed is not None:
                raise UsageError("a queue is drawn with a size; without one the open queue comes back")
            line, *others = [self._queue(queue)] if queue is not None else self._to_go_on_with()
        else:
            if queue is not None:
                raise UsageError("a queue is either drawn with a size, or asked for by its id")
            asked, told = authors_of(self.home, reviewers)
            by = author_of(self.home, author)
            told += [by.notice] if by.notice is not None else []
            line, others = self._drawn(size, seed, strategy, tuple(asked), overlap, by.id, filters), []
        return self._calls_of(line, left=left, others=others, told=told)

    def queues(self) -> Answer[QueueRow]:
        """Return the queues that were drawn and not taken back, the newest first.

        >>> import quality_lab as ql
        >>> lab = ql.open_demo()
        >>> drawn = lab.queue(size=5, seed=2, author="dana")
        >>> lab.queues()[0].calls, lab.queues()[0].seed
        (5, 2)
        >>> _ = lab.undo(drawn[0].queue, reviewer="dana")
        """
        from quality_lab.metrics.queue_lines import queue_lines

        rows = [queue_row(line) for line in queue_lines(self.store)] if self.store.exists() else []
        return Answer(read_people(self.home).named(rows), QueueRow, title="Queues")

    def queue_progress(self, queue: str | None = None) -> Answer[ReviewerProgress]:
        """Return for each reviewer of the open queue, or of that called *queue*, what is done and what is left.

        The open one is that which `queue` comes back with.

        Raises: NoData where there is no queue.
        """
        from quality_lab.metrics.queue_calls import queue_calls

        line = self._to_go_on_with()[0] if queue is None else self._queue(queue)
        people = read_people(self.home)
        rows = progress_of(line.reviewers, queue_calls(self.store, queue=line.key, people=people), people)
        return Answer(rows, ReviewerProgress, title=f"Progress of queue {line.key[:8]}")

    def weighted_failing_tools(
        self, queue: str | Sequence[str] | None = None, *, top: int | None = 25
    ) -> Answer[WeightedTool]:
        """Return the judged failure rate of all calls that a queue was drawn from, of all tools and of each.

        Calls that were drawn more often weigh less, so that a queue which prefers errors does not make tools
        look worse than they are; the raw rate stands beside it. Without an id it rests on the newest queue of
        which each stratum has a review; several ids are weighed together, if no call can be of two of them.

        >>> import quality_lab as ql
        >>> lab = ql.open_demo()
        >>> drawn = lab.queue(size=40, seed=7, strategy="errors", author="dana")
        >>> every = lab.weighted_failing_tools()[0]
        >>> every.weighted_rate, every.reason
        (None, 'none_reviewed: error, rest')
        >>> _ = lab.undo(drawn[0].queue, reviewer="dana")

        Raises: NoData where there is no queue, UnknownName where none is called so, UsageError for several
        queues that may have drawn from the same calls.
        """
        from quality_lab.metrics.weighted_rates import weighted_failing_tools

        return weighted_failing_tools(self.store, queues=self._to_weigh(queue), top=top)

    def weighted_labels(self, queue: str | Sequence[str] | None = None) -> Answer[WeightedLabel]:
        """Return the share of all calls on which each label would stand, had all of them been reviewed.

        It rests on the same queue as `weighted_failing_tools`; the raw shares stand beside.

        >>> import quality_lab as ql
        >>> lab = ql.open_demo()
        >>> drawn = lab.queue(size=10, seed=1, author="dana")
        >>> [row.label for row in lab.weighted_labels()][:2]
        ['good_reply', 'wrong_tool']
        >>> _ = lab.undo(drawn[0].queue, reviewer="dana")

        Raises: NoData where there is no queue, UnknownName where none is called so, UsageError for several
        queues that may have drawn from the same calls.
        """
        from quality_lab.metrics.weighted_rates import weighted_labels

        return weighted_labels(self.store, queues=self._to_weigh(queue))

    def _to_weigh(self, queue: str | Sequence[str] | None) -> list[QueueLine]:
        from quality_lab.metrics.queue_lines import queue_lines
        from quality_lab.metrics.weighted_rates import queue_to_weigh

        if queue is None or not queue:
            self._queues_there()  # or there is nothing to weigh
            return [queue_to_weigh(self.store, queues=queue_lines(self.store))]
        keys = [queue] if isinstance(queue, str) else list(queue)
        return list({line.key: line for line in map(self._queue, keys)}.values())

    def _queue(self, key: str) -> QueueLine:
        from quality_lab.metrics.queue_lines import queue_called

        return queue_called(self.store, key)

    def _to_go_on_with(self) -> list[QueueLine]:
        """Return the queues of which calls wait for somebody, the newest first; the newest, where none do."""
        from quality_lab.metrics.queue_calls import queue_calls

        lines, people = self._queues_there(), read_people(self.home)
        waiting = [
            line
            for line in lines
            if line.reviewed < line.here
            or not all(call.done for call in queue_calls(self.store, queue=line.key, people=people))
        ]
        return waiting or lines[:1]

    def _queues_there(self) -> list[QueueLine]:
        """Return the queues, the newest first. Raises: NoData where there is none."""
        from quality_lab.metrics.queue_lines import queue_lines

        lines = queue_lines(self.store) if self.store.exists() else []
        if not lines:
            raise NoData("no_data: no queue was drawn in this lab yet; `queue --size 40` draws one")
        return lines

    def _calls_of(
        self, line: QueueLine, *, left: bool, others: Sequence[QueueLine] = (), told: Sequence[str] = ()
    ) -> Answer[QueuedCall]:
        from quality_lab.metrics.queue_calls import QueuedCall, queue_calls

        people = read_people(self.home)
        calls = queue_calls(self.store, queue=line.key, people=people)
        shown = [call for call in calls if not call.done] if left else calls
        done = sum(call.done for call in calls)
        drawn = ", ".join(f"{drawn} of {of} {name}" for name, (of, drawn) in line.drawn_of().items())
        who = "nobody named" if line.author is None else people.name(line.author)
        notes = [
            f"drawn by {who}: {line.strategy}, seed {line.seed}; {drawn}",
            f"{done} of {len(calls)} calls done",
            *told,
            *map(str, progress_of(line.reviewers, calls, people)),
        ]
        if line.drawn < line.size:
            notes.append(f"{line.drawn:,} of the {line.size:,} calls asked for: that is all there is")
        if line.here < line.drawn:
            notes.append(f"{line.drawn - line.here} of the {line.drawn} calls that were drawn are forgotten")
        if again := self._asked_again(line, calls, people):
            told = "1 disputed call is" if again == 1 else f"{again} disputed calls are"
            notes.append(f"{told} asked of somebody who spoke of the dispute before: nobody else is named")
        if others:
            named = ", ".join(other.key[:8] for other in others)
            notes.append(f"{len(others)} more {'waits' if len(others) == 1 else 'wait'}: {named}")
        when = "" if line.drawn_at is None else f" of {line.drawn_at:%Y-%m-%d}"
        return Answer(shown, QueuedCall, title=f"Queue {line.key[:8]}{when}", notes=notes)

    def _asked_again(self, line: QueueLine, calls: Sequence[QueuedCall], people: People) -> int:
        """Return how many disputed calls somebody is asked about who labelled them before the draw."""
        disputed = {call.call_uid: call.reviewers for call in calls if call.stratum == DISPUTED}
        spoke = spoke_of(self.store, disputed, line.reviewers, people=people, before=line.drawn_at)
        return sum(bool({*disputed[uid]} & {*found}) for uid, found in spoke.items())

    def _drawn(
        self,
        size: int,
        seed: int | None,
        strategy: Strategy,
        reviewers: tuple[str, ...],
        overlap: float,
        author: str,
        words: FilterWords,
    ) -> QueueLine:
        """Return the queue that these words draw: a new one, or the newest where it was drawn with them."""
        from quality_lab.metrics.asking import together
        from quality_lab.metrics.queue_lines import queue_called, queue_lines

        if strategy not in STRATEGIES:
            raise UsageError(f"wanted a strategy of {', '.join(STRATEGIES)}; came {strategy!r}")
        if size < 1:
            raise UsageError(f"wanted a queue of at least one call, came {size}")
        filters = queue_filters(words)
        if self.store.exists():
            self.store.load()  # what others wrote into the journal is reviewed too
        people = read_people(self.home)
        with together(self.store):
            lines = queue_lines(self.store)
            given = DrawWords(
                strategy=strategy, overlap=overlap, reviewers=reviewers, filters=kept_filters(filters)
            )
            newest = lines[0] if lines else None
            if newest is not None and drawn_with(newest, given, size=size, seed=seed):
                return newest
            number = self._next_seed() if seed is None else seed
            entries = queue_entries(self.store, given, filters=filters, size=size, seed=number, people=people)
        written = self._keep_queue(entries, author=author)
        return queue_called(self.store, written)

    def _keep_queue(self, entries: list[dict[str, Any]], *, author: str) -> str:
        """Return the id of the queue that was written with all its calls in one write, and brought in."""
        from uuid import uuid4

        key = uuid4().hex
        entries[0]["id"] = key
        for entry in entries[1:]:
            entry["queue"] = key
        self.journal.extend("queues", entries, author=author)
        try:
            self.store.load()
        except StoreBusy as busy:
            raise StoreBusy(f"queue {key} is safe in the journal; the next load brings it: {busy}") from busy
        return key

    def _next_seed(self) -> int:
        """Return one more than the number of queues that were ever drawn here, those taken back among them."""
        drawn = [line for line in self.journal.lines("queues") if line.get("record_type") == "queue"]
        return len(drawn) + 1
