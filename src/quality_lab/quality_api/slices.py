"""More rows than one page holds: a full page is asked for again in parts, and what may be missing is said.

The API knows no second page, no date and no count; a page that is as full as its limit is the only sign that
there is more. Such a slice is asked for again with one more filter. A filter whose values are all known (the
five labels, the four sources) makes the slice whole, as its parts add up to it. One whose values are learned
from what came (tools, conversations) brings more, yet nobody knows whether that was all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

Filters = tuple[tuple[str, str], ...]  # name and value, in the order in which they were added
MOST_REQUESTS = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One row as it came: a JSON object on one line."""

    text: str
    key: int | str  # its id, by which it is known again in another slice; its text where it has none
    names: Mapping[str, str] = field(default_factory=dict)  # filter → the value under which it is found
    masked: int = 0  # times that it held the token


@dataclass(frozen=True, kw_only=True, slots=True)
class Filter:
    """A filter of an endpoint."""

    name: str
    values: tuple[str, ...] | None = None  # all there can be; None: they are learned
    alone: bool = False  # asked for by itself, in place of the filters before it


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """How an endpoint is asked for everything: its page, and its filters in the order of asking."""

    limit: int
    filters: tuple[Filter, ...]


@dataclass(kw_only=True, slots=True)
class Slice:
    """What came of one request."""

    filters: Filters
    rows: int
    full: bool
    heeded: bool = True  # no row came that the filters leave out
    whole: bool = True  # all its rows are here: it was not full, or its parts add up to it

    @property
    def possibly_truncated(self) -> bool:
        """Return whether rows may be missing."""
        return not self.whole

    def __str__(self) -> str:
        """Return the slice in words."""
        return ", ".join(f"{name} {value}" for name, value in self.filters) or "no filter"


@dataclass(kw_only=True, slots=True)
class Gathered:
    """All that came, each row once, and the requests that it took."""

    rows: list[Row]  # in the order in which they came; of a row that came changed, the later
    slices: list[Slice]
    learned: dict[str, set[str]]  # filter → values that were met
    total: int | None = None  # how many rows there are, where the API says so
    stopped: bool = False  # there was more to ask, and no leave to

    @property
    def possibly_truncated(self) -> bool:
        """Return whether rows may be missing."""
        if self.total is not None and len(self.rows) >= self.total:
            return False
        return not self.slices[0].whole

    def full_to_the_end(self) -> list[Slice]:
        """Return the slices in which rows may be missing and that no further filter made whole."""
        return [one for one in self.slices if one.possibly_truncated]


def gather(
    ask: Callable[[Mapping[str, str]], Sequence[Row]],
    plan: Plan,
    *,
    learned: Mapping[str, set[str]] | None = None,
    overview: Callable[[], tuple[int | None, set[str]]] | None = None,
    most_requests: int = MOST_REQUESTS,
) -> Gathered:
    """Return all rows that *ask* gives for filters, in as few requests as may be, *most_requests* at most.

    *learned* are values met elsewhere. *overview* says how many rows there are and which tools they name; it
    is asked once, where learned values are needed.
    """
    return _Gathering(ask, plan, learned or {}, overview, most_requests).run()


class _Gathering:
    def __init__(
        self,
        ask: Callable[[Mapping[str, str]], Sequence[Row]],
        plan: Plan,
        learned: Mapping[str, set[str]],
        overview: Callable[[], tuple[int | None, set[str]]] | None,
        most_requests: int,
    ) -> None:
        self._ask = ask
        self._plan = plan
        self._overview = overview
        self._most = most_requests
        self._rows: dict[int | str, Row] = {}
        self._slices: dict[Filters, Slice] = {}
        self._total: int | None = None
        self._learned: dict[str, set[str]] = {
            one.name: set(learned.get(one.name, ())) for one in plan.filters if one.values is None
        }

    def run(self) -> Gathered:
        waiting: deque[Filters] = deque([()])
        while waiting and len(self._slices) < self._most:
            self._take(waiting.popleft())
            if not waiting:  # what the last of them taught may lead further
                waiting.extend(dict.fromkeys(self._next()))
        self._see_what_is_whole()
        return Gathered(
            rows=list(self._rows.values()),
            slices=list(self._slices.values()),
            learned=self._learned,
            total=self._total,
            stopped=bool(waiting),
        )

    def _take(self, filters: Filters) -> None:
        page = self._ask(dict(filters))
        heeded = all(row.names.get(name, value) == value for row in page for name, value in filters)
        full = len(page) >= self._plan.limit
        self._slices[filters] = Slice(filters=filters, rows=len(page), full=full, heeded=heeded)
        for row in page:
            self._rows[row.key] = row
            for name, value in row.names.items():
                if name in self._learned:
                    self._learned[name].add(value)

    def _next(self) -> Iterator[Filters]:
        """Yield the parts of full slices that were not asked for yet; of an API that heeds no filter, none."""
        for one in [one for one in self._slices.values() if one.full and one.heeded]:
            further = self._further(one.filters)
            if further is not None:
                yield from (part for part in self._parts(one.filters, further) if part not in self._slices)

    def _parts(self, filters: Filters, further: Filter) -> list[Filters]:
        if further.values is None and self._overview is not None:
            self._total, names = self._overview()
            self._overview = None
            self._learned[further.name] |= names
        values = sorted(self._learned[further.name]) if further.values is None else further.values
        return [(*(() if further.alone else filters), (further.name, value)) for value in values]

    def _further(self, filters: Filters) -> Filter | None:
        """Return the filter by which a slice is asked for in parts: the first that it does not have yet."""
        had = {name for name, _ in filters}
        return next((one for one in self._plan.filters if one.name not in had), None)

    def _see_what_is_whole(self) -> None:
        """A full slice is whole where parts that add up to it are; the later slices are parts of the earlier."""
        for one in reversed(self._slices.values()):
            one.whole = one.heeded
            if not (one.full and one.heeded):
                continue
            further = self._further(one.filters)
            closed = further is not None and further.values is not None
            parts = self._parts(one.filters, further) if further is not None and closed else []
            found = [self._slices.get(part) for part in parts]
            one.whole = bool(found) and all(part is not None and part.whole for part in found)
