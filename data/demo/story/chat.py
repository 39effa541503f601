"""One conversation of the web chat: what is said, called and answered, each at its second."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

from story.frame import iso


@dataclass
class ChatCall:
    """A call inside a conversation: the position of its message, and its place among that message's calls."""

    tool: str
    message: int
    index: int
    fate: str = "ok"
    flaw: str = ""


@dataclass
class Chat:
    kind: str
    at: int
    rng: random.Random
    id: str = ""
    messages: list[dict[str, Any]] = field(default_factory=list)
    calls: list[ChatCall] = field(default_factory=list)
    started: int = 0

    def __post_init__(self) -> None:
        self.started = self.at

    def add(self, role: str, seconds: int, **rest: Any) -> None:
        self.at += seconds
        self.messages.append({"role": role, **rest, "created_at": iso(self.at)})

    def user(self, text: str) -> None:
        self.add("user", self.rng.randint(15, 140), content=text)

    def agent(self, text: str) -> None:
        self.add("assistant", self.rng.randint(2, 6), content=text)

    def use(self, *uses: tuple[str, dict[str, Any], Any], fate: str = "ok", flaw: str = "") -> None:
        """Make the calls of one assistant message, then give their results in the same order."""
        made = []
        for index, (tool, args, _) in enumerate(uses):
            call_id = f"call_{self.rng.getrandbits(40):010x}"
            made.append(
                {
                    "id": call_id,
                    "type": "function",
                    "function": {"name": tool, "arguments": json.dumps(args, ensure_ascii=False)},
                }
            )
            self.calls.append(ChatCall(tool, len(self.messages), index, fate, flaw))
        self.add("assistant", self.rng.randint(1, 4), content=None, tool_calls=made)
        for call, (_, _, result) in zip(made, uses, strict=True):
            text = json.dumps(result, ensure_ascii=False)
            self.add("tool", self.rng.choice([0, 1, 1, 2]), tool_call_id=call["id"], content=text)
