"""Questions that look at every call and every label, and that everybody asks without a filter first."""

from __future__ import annotations

from typing import Any

from quality_lab.metrics.asking import prepared
from quality_lab.metrics.filters import EVERYTHING
from quality_lab.proposals.evidence import MOST_OF_A_KIND


def heavy_questions() -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return texts and parameters of the questions whose rows are worth keeping when the lab changes."""
    return (
        prepared("label_counts", EVERYTHING, time="label", by=None, joins_calls=False),
        prepared("failing_tools", EVERYTHING, joins_calls=True),
        prepared("untraced", EVERYTHING),
        prepared("groups", EVERYTHING, time="label", room=__package__, joins_calls=True),
        prepared(
            "evidence",
            EVERYTHING,
            time="label",
            room=__package__,
            most=MOST_OF_A_KIND,
            joins_calls=True,
        ),
    )
