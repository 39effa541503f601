"""A small lab made of plain records: say what matters to a test, the rest is filled in."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from quality_lab.records import (
    Conversation,
    Feedback,
    Message,
    Record,
    ToolCall,
    ToolDefinition,
    TrackedProposal,
)
from quality_lab.store import Store

MONDAY = datetime(2026, 6, 1, 8, tzinfo=UTC)  # a Monday


@dataclass
class LabBuilder:
    """Collects records and brings them into a store through the store's own writer."""

    home: Path
    tenant: str = "default"
    records: list[Record] = field(default_factory=list)
    _made: int = 0

    def call(self, tool_name: str = "compute_exchange_quote", **given: Any) -> ToolCall:
        """Add a call of the source rag_reply that went well on a Monday; return it, to be labelled."""
        self._made += 1
        values: dict[str, Any] = {
            "key_space": "quality_lab",
            "key": str(1000 + self._made),
            "conversation_id": "c1",
            "tool_name": tool_name,
            "arguments": "{}",
            "result": '{"ok":true}',
            "is_error": False,
            "source": "rag_reply",
            "created_at": MONDAY,
        }
        call = ToolCall(**values | given)
        self.records.append(call)
        return call

    def calls(self, count: int, tool_name: str = "compute_exchange_quote", **given: Any) -> list[ToolCall]:
        """Add *count* equal calls, each in a conversation of its own unless one is given."""
        return [
            self.call(tool_name, **{"conversation_id": f"{tool_name}-{self._made + 1}"} | given)
            for _ in range(count)
        ]

    def label(
        self, call: ToolCall | str, label: str | None, author: str | None = "anna", **given: Any
    ) -> Feedback:
        """Add a label on *call* (or on the key of a call that is not here), an hour after it was made."""
        self._made += 1
        here = isinstance(call, ToolCall)
        made_at = call.created_at if isinstance(call, ToolCall) else MONDAY
        values: dict[str, Any] = {
            "key_space": "quality_lab",
            "key": str(5000 + self._made),
            "target_level": "call",
            "target_key_space": call.key_space if isinstance(call, ToolCall) else "quality_lab",
            "conversation_id": call.conversation_id if isinstance(call, ToolCall) else None,
            "call_key": call.key if isinstance(call, ToolCall) else call,
            "label": label,
            "label_raw": label,
            "author": author,
            "created_at": (made_at or MONDAY) + timedelta(hours=1),
            "source": call.source if here else None,  # type: ignore[union-attr]  # `here` says it is a call
            "tool_name": call.tool_name if here else None,  # type: ignore[union-attr]  # as above
        }
        feedback = Feedback(**values | given)
        self.records.append(feedback)
        return feedback

    def guard(self, *reasons: str, action: str = "rewrite", **given: Any) -> ToolCall:
        """Add a row of upstream's reply guard."""
        named = ",".join(f'"{reason}"' for reason in reasons)
        values: dict[str, Any] = {
            "actor": "guard",
            "is_error": True,
            "error_origin": "flag",
            "result": f'{{"action":"{action}","reasons":[{named}],"blocked":true}}',
        }
        return self.call("exchange_response_guard", **values | given)

    def message(
        self, role: str, text: str, *, position: int, conversation_id: str = "c1", **given: Any
    ) -> Message:
        """Add a message."""
        message = Message(
            key_space="quality_lab",
            conversation_id=conversation_id,
            position=position,
            role=role,
            text=text,
            **given,
        )
        self.records.append(message)
        return message

    def add(self, *records: Conversation | ToolDefinition | TrackedProposal) -> None:
        """Add records that were made elsewhere."""
        self.records += records

    def tracked(self, fingerprint: str, status: str | None, **given: Any) -> TrackedProposal:
        """Add a tracked proposal under *fingerprint* (kind:source:tool:label)."""
        _, source, rest = fingerprint.split(":", 2)
        tool_name, label = rest.rsplit(":", 1)
        self._made += 1
        values: dict[str, Any] = {
            "key": str(self._made),
            "record": "{}",
            "fingerprint": fingerprint,
            "tool_name": tool_name,
            "source": source,
            "label": label,
            "status": status,
            "updated_at": MONDAY,
        }
        proposal = TrackedProposal(**values | given)
        self.records.append(proposal)
        return proposal

    def store(self) -> Store:
        """Return the store that holds all records so far; call it once."""
        store = Store(self.home)
        store.write_records(self.records, tenant=self.tenant)
        return store
