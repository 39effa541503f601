"""One conversation in memory: its status, what was noted, and what the customer was sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["pending", "open", "resolved", "snoozed"]
Priority = Literal["low", "medium", "high", "urgent"]
Step = Literal["note", "open", "resolve", "priority", "label", "contact_note"]


class StepFailed(Exception):
    """A step of the conversation's store that was told to fail."""


@dataclass(kw_only=True, slots=True)
class Conversation:
    """A conversation that the assistant answers while it is `pending` and people answer once it is `open`."""

    conversation_id: str = "1"
    status: Status = "pending"
    priority: Priority | None = None
    labels: list[str] = field(default_factory=list)
    private_notes: list[str] = field(default_factory=list)
    contact_notes: list[str] = field(default_factory=list)
    sent: list[dict[str, str]] = field(default_factory=list)  # to the customer: kind and text
    known_labels: tuple[str, ...] = ("billing", "complaint", "vip")
    handoff_message: str = "I am handing you over to a colleague."
    out_of_office: str | None = None  # the message that is due now, outside business hours
    newest_message: int = 1  # number of the customer's newest message
    drafting: bool = False  # only a draft is wanted: nothing may change
    handoff_called: bool = False  # the hand-off tool completed in this turn, whatever it returned
    deleted: bool = False
    failing: frozenset[Step] = frozenset()  # steps whose store is down

    def take(self, step: Step) -> None:
        """Go through one step of the store.

        Raises:
            StepFailed: this conversation was told that the step fails.
        """
        if step in self.failing:
            raise StepFailed(step)

    def send(self, kind: str, text: str) -> None:
        """Send the customer a message."""
        self.sent.append({"kind": kind, "text": text})

    def open_to_people(self) -> None:
        """Hand the conversation to people, and send the out-of-office message if one is due.

        Raises:
            StepFailed: as `take` says.
        """
        self.take("open")
        self.status = "open"
        if self.out_of_office is not None:
            self.send("out_of_office", self.out_of_office)

    def state(self) -> dict[str, Any]:
        """Return everything that can differ at the end of a run, as JSON."""
        return {
            "conversationId": self.conversation_id,
            "status": self.status,
            "priority": self.priority,
            "labels": list(self.labels),
            "privateNotes": list(self.private_notes),
            "contactNotes": list(self.contact_notes),
            "sent": [dict(message) for message in self.sent],
        }
