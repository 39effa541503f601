"""What reviewers wrote beside their labels."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters


@dataclass(frozen=True, kw_only=True, slots=True)
class NotedLabel:
    """A label that stands on a call, and the note beside it."""

    call_uid: str
    conversation_uid: str
    tool_name: str | None
    source: str | None
    label: str
    reviewer: str | None
    note: str
    created_at: datetime | None


def noted_labels(store: Asks, *, filters: Filters = EVERYTHING) -> list[NotedLabel]:
    """Return the labels with a note, the newest first; the window means the time of the label."""
    return put(store, NotedLabel, "noted_labels", filters, time="label")
