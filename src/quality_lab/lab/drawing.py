"""How a queue is drawn: from filters to the lines of the journal that keep the draw."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from quality_lab.errors import NoData, UsageError
from quality_lab.lab.filter_words import FilterWords, filters_of
from quality_lab.lab.reviewing import of_tenant
from quality_lab.labels import HUMAN_ONLY
from quality_lab.sampling import DISPUTED, PREFERRED, Strategy, assigned, in_order, sizes

if TYPE_CHECKING:
    from quality_lab.metrics.filters import Filters
    from quality_lab.metrics.queue_lines import QueueLine
    from quality_lab.people import People
    from quality_lab.store import Store

_NOT_OF_A_QUEUE = ("label", "reviewer", "conversation", "contact", "message", "outbound")
_KEPT = ("tool", "source", "outcome", "style", "model", "actor", "tenant")


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawWords:
    """What a queue is drawn with, beside its size and its seed."""

    strategy: Strategy
    overlap: float
    reviewers: tuple[str, ...]
    filters: dict[str, Any]  # as the journal keeps them

    def to_json(self) -> dict[str, Any]:
        """Return the fields of the queue's line that say so."""
        return {
            "strategy": self.strategy,
            "overlap": self.overlap,
            "reviewers": list(self.reviewers),
            "filters": self.filters,
        }


def queue_entries(
    store: Store, words: DrawWords, *, filters: Filters, size: int, seed: int, people: People
) -> list[dict[str, Any]]:
    """Return the lines of a new queue: the draw itself, then its calls.

    Raises: NoData where no call is eligible, UsageError for sizes, reviewers or an overlap that cannot be.
    """
    from quality_lab.metrics.queue_draw import queue_draw
    from quality_lab.metrics.queue_frame import by_stratum, queue_frame, rare_tools_of

    strategy = words.strategy
    cells = queue_frame(store, filters=filters, strategy=strategy)
    rare = rare_tools_of(cells) if "rare" in PREFERRED[strategy] else ()
    if rare:
        cells = queue_frame(store, filters=filters, strategy=strategy, rare=rare)
    calls = {name: count for name, count in by_stratum(cells, strategy).items() if count}
    if not calls:
        raise NoData(
            "no_data: no call is eligible for a queue: none was seen in a trace export, or all are reviewed"
        )
    taken = sizes(calls, size, first=PREFERRED[strategy])
    numbered = queue_draw(store, filters=filters, strategy=strategy, seed=seed, sizes=taken, rare=rare)
    named = {call.call_uid: call for call in numbered}
    tenants = {call.tenant for call in numbered}
    order = in_order({name: [call.call_uid for call in numbered if call.stratum == name] for name in taken})
    disputed = [uid for name, uid in order if name == DISPUTED]
    asked = assigned(
        [uid for _, uid in order],
        words.reviewers,
        seed=seed,
        overlap=words.overlap,
        spoke=spoke_of(store, disputed, words.reviewers, people=people),
    )
    head = {
        "record_type": "queue",
        **(of_tenant(min(tenants)) if len(tenants) == 1 else {}),
        **words.to_json(),
        "seed": seed,
        "size": size,
        "strata": [{"stratum": n, "calls": calls[n], "drawn": taken[n]} for n in calls],
        "frame": [
            {"tool_name": cell.tool_name, "stratum": cell.stratum, "calls": cell.calls} for cell in cells
        ],
    }
    return [head] + [
        {
            "record_type": "queued_call",
            **of_tenant(named[uid].tenant),
            "call_uid": uid,
            "tool_name": named[uid].tool_name,
            "stratum": stratum,
            "probability": taken[stratum] / calls[stratum],
            "position": position,
            "reviewers": list(asked[uid]),
        }
        for position, (stratum, uid) in enumerate(order, start=1)
    ]


def spoke_of(
    store: Store,
    calls: Iterable[str],
    reviewers: Sequence[str],
    *,
    people: People,
    before: datetime | None = None,
) -> dict[str, list[str]]:
    """Return which of the *reviewers* have labelled each of the *calls*, by any of their ids, *before* a time."""
    from quality_lab.metrics.call_feedback import call_feedback

    found = {}
    for uid in calls if reviewers else ():
        names = {
            people.name(row.author)
            for row in call_feedback(store, uid)
            if row.author is not None and row.label is not None and row.author_kind in HUMAN_ONLY
            if before is None or row.created_at is None or row.created_at < before
        }
        found[uid] = [one for one in reviewers if people.name(one) in names]
    return found


def queue_filters(words: FilterWords) -> Filters:
    """Return the filters of a queue, times fixed. Raises: UsageError for one that a queue cannot have."""
    filters = filters_of(words)
    wrong = [name for name in _NOT_OF_A_QUEUE if getattr(filters, name)]
    if filters.author_kind != HUMAN_ONLY:
        wrong.append("author_kind")
    if wrong or filters.time == "label":
        named = ", ".join(wrong) or "the time of labels"
        raise UsageError(
            f"a queue is drawn from calls that nobody has labelled, of many people; not by {named}"
        )
    return filters


def kept_filters(filters: Filters) -> dict[str, Any]:
    """Return *filters* as the journal keeps them: `Filters.of(**kept)` picks the same calls at any time."""
    kept: dict[str, Any] = {}
    for name in _KEPT:
        if values := getattr(filters, name):
            kept[name] = list(values)
    if filters.error is not None:
        kept["error"] = filters.error
    window = filters.window()
    for name, moment in (("since", window.since), ("until", window.until)):
        if moment is not None:
            kept[name] = moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return kept


def drawn_with(line: QueueLine, words: DrawWords, *, size: int, seed: int | None) -> bool:
    """Say whether a queue was drawn with these words; without a seed, it must still wait for reviews."""
    known = DrawWords(
        strategy=line.strategy,
        overlap=line.overlap,
        reviewers=tuple(line.reviewers),
        filters=json.loads(line.filters),
    )
    same = known == words and line.size == size
    return same and (line.reviewed < line.here if seed is None else line.seed == seed)
