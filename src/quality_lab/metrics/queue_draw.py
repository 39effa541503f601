"""Which calls the random numbers of a seed put first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import Filters
from quality_lab.metrics.queue_frame import stratum_words
from quality_lab.sampling import Strategy


@dataclass(frozen=True, kw_only=True, slots=True)
class NumberedCall:
    """A call and its place in its stratum."""

    call_uid: str
    tool_name: str
    tenant: str
    stratum: str
    place: int  # 1-based


def queue_draw(
    store: Asks,
    *,
    filters: Filters,
    strategy: Strategy,
    seed: int,
    sizes: Mapping[str, int],
    rare: Sequence[str] = (),
) -> list[NumberedCall]:
    """Return the calls that are drawn: of each stratum as many as *sizes* says, those with the least numbers."""
    most = max(sizes.values(), default=0)
    words = stratum_words(strategy, rare)
    rows = put(store, NumberedCall, "queue_draw", filters, seed=str(seed), most=most, **words)
    return [row for row in rows if row.place <= sizes.get(row.stratum, 0)]
