"""The labels on the web chat, as lines of the lab's own journal."""

from __future__ import annotations

import random
from typing import Any

import story.chat_words as words
from story.chat import Chat, ChatCall
from story.frame import Deck, iso
from story.plot import LAST_REVIEW
from story.reviews import Voices, at_the_desk
from story.words import REVIEWERS


class ChatReviews:
    """Twenty calls were looked at, two of them by two people; `lines` are in order of time."""

    def __init__(self, seed: int, chats: list[Chat]) -> None:
        self.rng = random.Random(f"{seed}:journal")
        self.lines: list[dict[str, Any]] = []
        self.voices = Voices(self.rng, words.NOTES)
        for chat in chats:
            for call in chat.calls:
                if call.flaw:
                    for reviewer, label in words.VERDICTS[call.flaw]:
                        kind = call.flaw if label != "good_reply" else f"{call.flaw}_good"
                        self._write(chat, call, reviewer, label, kind)
        sound = [
            chat
            for chat in chats
            if chat.calls and not any(c.flaw for c in chat.calls) and chat.at < LAST_REVIEW
        ]
        turn = Deck(self.rng, list(REVIEWERS))
        for i in range(14):
            chat = self.rng.choice(sound[len(sound) * i // 14 : len(sound) * (i + 1) // 14])
            self._write(chat, chat.calls[-1], turn.draw(), "good_reply", "good")
        self.lines.sort(key=lambda line: (line["created_at"], line["id"]))

    def _write(self, chat: Chat, call: ChatCall, reviewer: int, label: str, kind: str) -> None:
        expected = words.EXPECTED.get((kind, label))
        self.lines.append(
            {
                "record_type": "label",
                "id": f"{self.rng.getrandbits(96):024x}",
                "created_at": iso(at_the_desk(self.rng, chat.at)),
                "author": REVIEWERS[reviewer],
                "author_kind": "HUMAN",
                "call": {
                    "format": "openai_chat",
                    "conversation_id": chat.id,
                    "message": call.message,
                    "index": call.index,
                },
                "label": label,
                **({"expected_tool": expected} if expected else {}),
                "note": self.voices.note(kind, reviewer),
                "guide_version": "2026-05",
            }
        )
