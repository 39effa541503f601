"""Labels that name a call and not its conversation."""

from __future__ import annotations

from dataclasses import dataclass

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING


@dataclass(frozen=True, kw_only=True, slots=True)
class HomelessLabels:
    """The one row of the query."""

    labels: int


def homeless_labels(store: Asks) -> int:
    """Return how many labels on calls do not say of which conversation the call is."""
    return put(store, HomelessLabels, "homeless_labels", EVERYTHING)[0].labels
