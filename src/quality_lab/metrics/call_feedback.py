"""What was said of one call."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING
from quality_lab.records import AuthorKind, Feedback, Label


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedbackRow:
    """A row of the query."""

    key_space: str
    key: str
    name: str | None
    label: Label | None
    label_raw: str | None
    author_kind: AuthorKind
    author: str | None
    note: str | None
    created_at: datetime | None
    expected_tool: str | None
    expected_arguments: str | None
    adjudication: bool


def call_feedback(store: Asks, call_uid: str) -> list[Feedback]:
    """Return the feedback on the call with this uid, in no order; `labels.judgement` makes one word of it."""
    rows = put(store, FeedbackRow, "call_feedback", EVERYTHING, call=call_uid)
    return [
        Feedback(
            target_level="call",
            target_key_space="call_uid",
            conversation_id=None,
            call_key=call_uid,
            **{name: getattr(row, name) for name in FeedbackRow.__dataclass_fields__},
        )
        for row in rows
    ]
