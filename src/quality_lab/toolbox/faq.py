"""A file of questions and answers, and which of them come nearest to what somebody asks."""

from __future__ import annotations

import json
import math
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from quality_lab.errors import InputError

_WORD = re.compile(r"\w+")


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    question: str
    answer: str


class _TomlFile(msgspec.Struct, forbid_unknown_fields=True):
    faq: list[_Entry] = []


@dataclass(frozen=True, kw_only=True, slots=True)
class FaqEntry:
    """One question with its answer."""

    question: str
    answer: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FaqMatch:
    """An entry and how near it comes to what was asked, from 0 to 1."""

    entry: FaqEntry
    similarity: float


def read_faq(path: Path) -> list[FaqEntry]:
    """Return the entries of a FAQ file in order: a JSON list, JSON lines, or TOML with `[[faq]]` tables.

    Raises:
        InputError: the file cannot be read, or an entry is not just a question and an answer.
    """
    try:
        content = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".toml":
            entries = msgspec.convert(tomllib.loads(content), _TomlFile).faq
        elif content.lstrip().startswith("["):
            entries = msgspec.convert(json.loads(content), list[_Entry])
        else:
            lines = [json.loads(line) for line in content.split("\n") if line.strip()]
            entries = msgspec.convert(lines, list[_Entry])
    except (OSError, ValueError) as error:  # msgspec, json and tomllib raise kinds of ValueError
        raise InputError(f"{path} is no FAQ file (question and answer per entry): {error}") from error
    return [FaqEntry(question=entry.question, answer=entry.answer) for entry in entries]


class FaqIndex:
    """Entries of a FAQ, ranked by the cosine of their words and three-letter pieces, rare ones weighing more.

    >>> index = FaqIndex([FaqEntry(question="When are you open?", answer="From ten to six."),
    ...                   FaqEntry(question="Where is the office?", answer="1 Example Road.")])
    >>> [match.entry.answer for match in index.nearest("are you opened on Sunday")]
    ['From ten to six.']
    """

    def __init__(self, entries: Sequence[FaqEntry]) -> None:
        self.entries = tuple(entries)
        # The question counts twice: people ask in its words, the answer only lends further ones.
        counts = [
            _features(entry.question) + _features(entry.question) + _features(entry.answer)
            for entry in self.entries
        ]
        in_entries = Counter(feature for count in counts for feature in count)
        self._weights = {
            feature: 1 + math.log((1 + len(counts)) / (1 + many)) for feature, many in in_entries.items()
        }
        self._vectors = [self._vector(count) for count in counts]

    def nearest(self, query: str, *, top: int = 3, at_least: float = 0.1) -> list[FaqMatch]:
        """Return the *top* entries nearest to *query*, nearest first, ties as in the file."""
        asked = self._vector(_features(query))
        scored = [
            FaqMatch(entry=entry, similarity=_dot(asked, vector))
            for entry, vector in zip(self.entries, self._vectors, strict=True)
        ]
        near = [match for match in scored if match.similarity >= at_least]
        return sorted(near, key=lambda match: -match.similarity)[:top]

    def _vector(self, counts: Counter[str]) -> dict[str, float]:
        unseen = 1 + math.log(1 + len(self.entries))
        raw = {
            feature: (1 + math.log(many)) * self._weights.get(feature, unseen)
            for feature, many in counts.items()
        }
        length = math.sqrt(sum(weight * weight for weight in raw.values()))
        return {feature: weight / length for feature, weight in raw.items()} if length else {}


def _dot(one: dict[str, float], other: dict[str, float]) -> float:
    return sum(weight * other.get(feature, 0.0) for feature, weight in one.items())


def _features(text: str) -> Counter[str]:
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    found = Counter(words)
    for word in words:
        framed = f" {word} "
        found.update(framed[start : start + 3] for start in range(len(framed) - 2))
    return found
