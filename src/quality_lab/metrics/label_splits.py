"""Labels counted by what the labels themselves say: who gave them, and in which week."""

from __future__ import annotations

from typing import Literal

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import Filters
from quality_lab.metrics.label_sums import LabelSums


def label_splits(store: Asks, *, filters: Filters, by: Literal["reviewer", "week"]) -> list[LabelSums]:
    """Return the sums of each label within each reviewer, or each week (its Monday, in the filters' zone)."""
    filters.zone()
    return put(store, LabelSums, "label_splits", filters, time="label", by=by)
