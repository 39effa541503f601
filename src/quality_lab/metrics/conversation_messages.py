"""The messages of one conversation as they were said."""

from __future__ import annotations

from dataclasses import dataclass

from quality_lab.metrics.asking import Asks, put
from quality_lab.metrics.filters import EVERYTHING


@dataclass(frozen=True, kw_only=True, slots=True)
class SaidMessage:
    """A row of the query."""

    position: int
    role: str
    text: str | None
    content: str | None  # JSON text, where it is more than the text


def conversation_messages(store: Asks, call_uid: str) -> list[SaidMessage]:
    """Return the messages of the conversation in which *call_uid* was made, in order; none were not captured."""
    return put(store, SaidMessage, "conversation_messages", EVERYTHING, call=call_uid)
