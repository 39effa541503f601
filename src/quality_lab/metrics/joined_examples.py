"""Labels of upstream's with the calls that they are about, in the shape in which upstream shows them."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from quality_lab import json_text
from quality_lab.labels import FIVE
from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING, Filters


@dataclass(frozen=True, kw_only=True, slots=True)
class JoinedExample:
    """A label and its call. Ids are text here and numbers in the document."""

    feedback_id: str
    admin_id: str | None
    label: str
    note: str | None
    labelled_at: datetime | None
    call_id: str
    conversation_id: str
    contact_id: str | None
    message_id: str | None
    outbound_id: str | None
    source: str | None
    tool_name: str
    arguments: str | None
    arguments_state: str
    result: str | None
    is_error: bool | None
    cycle: int | None
    call_index: int | None
    latency_ms: float | None
    called_at: datetime | None

    def document(self) -> dict[str, Any]:
        """Return upstream's joined example, keys in its order."""
        return {
            "feedback": {
                "id": number_of(self.feedback_id),
                "toolCallId": number_of(self.call_id),
                "adminId": number_of(self.admin_id),
                "label": self.label,
                "note": self.note,
                "createdAt": epoch_s(self.labelled_at),
            },
            "toolCall": {
                "id": number_of(self.call_id),
                "conversationId": number_of(self.conversation_id),
                "contactId": number_of(self.contact_id),
                "messageId": number_of(self.message_id),
                "outboundQueueId": number_of(self.outbound_id),
                "source": self.source,
                "toolName": self.tool_name,
                "args": arguments_of(self.arguments, self.arguments_state),
                "result": value_of(self.result),
                "error": self.is_error,
                "cycle": self.cycle,
                "toolCallIndex": self.call_index,
                "latencyMs": whole(self.latency_ms),
                "createdAt": epoch_s(self.called_at),
            },
        }


def joined_examples(
    store: Asks, *, filters: Filters = EVERYTHING, limit: int = 25, among: Collection[str] = FIVE
) -> list[JoinedExample]:
    """Return upstream's newest *limit* labels with their calls, newest first, higher id first within a
    second.

    Without a label filter the labels are those *among* which upstream looks.
    """
    labels = [label for label in among if not filters.label or label in filters.label]
    return put(store, JoinedExample, "joined_examples", filters, labels=labels, limit=limit)


def value_of(text: str | None) -> Any:
    """Return the value of JSON *text*: a fraction is a float where that is exact, else a Decimal; null if
    none.
    """
    if text is None:
        return None
    try:
        return json.loads(text, parse_float=_fraction)
    except (ValueError, RecursionError):
        return json_text.parse(text)


def arguments_of(text: str | None, state: str) -> Any:
    """Return the value of arguments as upstream holds it: a text that holds JSON is a text there."""
    return text if state == "json_string" else value_of(text)


def number_of(text: str | None) -> int | str | None:
    """Return an id as the number that upstream knows it by; an id that is none stays text."""
    return int(text) if text is not None and text.lstrip("-").isdecimal() and text.isascii() else text


def epoch_s(moment: datetime | None) -> int | None:
    """Return whole seconds since 1970."""
    return None if moment is None else int(moment.timestamp())


def whole(number: float | None) -> int | float | None:
    """Return a number that is whole as an int."""
    return int(number) if number is not None and number.is_integer() else number


def _fraction(text: str) -> float | Decimal:
    exact = Decimal(text)
    near = float(text)
    return near if Decimal(repr(near)) == exact else exact
