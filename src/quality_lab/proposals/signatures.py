"""What the calls of a proposal have in common: argument paths, error texts, tools that reviewers named."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from quality_lab.proposals.argument_paths import Clue, clues
from quality_lab.proposals.error_words import error_words, signature_of
from quality_lab.proposals.evidence import Evidence

MOST = 5
FAILED = frozenset({"error", "soft_error", "gated"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Signature:
    """Something that several calls of a group share."""

    signature: str = field(
        metadata={"help": "an argument's path, an error text with placeholders, or a tool"}
    )
    calls: int = field(metadata={"help": "calls of the group that show it, among those looked at"})
    of: int = field(metadata={"help": "calls looked at: the newest ones"})
    kind: str = field(metadata={"help": "argument, error or expected_tool"})
    detail: str | None = field(metadata={"help": "what is odd about the argument, where the values tell"})


def signatures(label: str, own: Iterable[Evidence], rest: Iterable[Evidence]) -> tuple[Signature, ...]:
    """Return at most five signatures of the calls labelled *label*, most calls first; *rest* is for
    comparison.
    """
    mine = {piece.call_uid: piece for piece in own}
    calls = list(mine.values())
    found: list[Signature] = []
    if label == "bad_args":
        others = {piece.call_uid: piece for piece in rest if piece.call_uid not in mine}
        found += _of_arguments(clues(calls, list(others.values())), len(calls))
    named = Counter(piece.expected_tool for piece in calls if piece.expected_tool)
    found += [_signature(tool, count, len(calls), "expected_tool") for tool, count in named.items()]
    errors: Counter[str] = Counter()
    for piece in calls:
        words = error_words(piece.error_text, piece.result) if piece.outcome in FAILED else None
        if words:
            errors[signature_of(words)] += 1
    found += [_signature(text, count, len(calls), "error") for text, count in errors.items()]
    found.sort(key=lambda one: (-one.calls, one.kind, one.signature))
    return tuple(found[:MOST])


def _of_arguments(found: Iterable[Clue], looked_at: int) -> list[Signature]:
    calls: dict[str, set[str]] = defaultdict(set)
    details: dict[str, Counter[str]] = defaultdict(Counter)
    for clue in found:
        calls[clue.path].add(clue.call_uid)
        if clue.detail:
            details[clue.path][clue.detail] += 1
    return [
        _signature(
            path,
            len(uids),
            looked_at,
            "argument",
            details[path].most_common(1)[0][0] if details[path] else None,
        )
        for path, uids in calls.items()
    ]


def _signature(text: str, calls: int, looked_at: int, kind: str, detail: str | None = None) -> Signature:
    return Signature(signature=text, calls=calls, of=looked_at, kind=kind, detail=detail)
