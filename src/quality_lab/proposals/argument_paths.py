"""Which arguments calls labelled bad_args got wrong: where reviewers say so, or where values stand out."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quality_lab.proposals.error_words import error_words
from quality_lab.proposals.evidence import Evidence

USUAL = 0.8  # share of the other calls from which something is usual
ENOUGH = 5  # other calls, before anything is called usual
STRIKING = 0.5, 0.2  # share of a value among the calls labelled bad_args, and among the others
_DEEPEST = 12
_TOKEN = re.compile(r"\w+")
_CODE = re.compile(r"[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*", re.ASCII)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

Paths = Mapping[str, tuple[str, Any]]  # path → kind of value, value where it is a scalar


@dataclass(frozen=True, slots=True)
class Clue:
    """A sign that a call got the argument at a path wrong."""

    call_uid: str
    path: str  # $.a.b, $.items[].qty
    detail: str | None


def clues(bad: Sequence[Evidence], rest: Sequence[Evidence]) -> Iterator[Clue]:
    """Yield clues for each call labelled bad_args, from the surest on: what reviewers expected, wrote, or
    what failed.

    Only where none of these names an argument, a call's values are compared with those of other reviewed
    calls. A value that reviewers named on two calls or more counts on every call that has it.
    """
    flat = {piece.call_uid: paths_of(piece.arguments) for piece in bad}
    others = [paths_of(piece.arguments) for piece in rest]
    known = sorted({path for paths in (*flat.values(), *others) for path in paths})
    code_words = _code_words([*flat.values(), *others])
    silent, told = [], Counter[tuple[str, Any]]()
    for piece in bad:
        said = {clue.path: clue for clue in _told(piece, flat[piece.call_uid], known, code_words)}
        yield from said.values()
        told.update((path, flat[piece.call_uid][path][1]) for path in said if path in flat[piece.call_uid])
        if not said:
            silent.append(piece.call_uid)
    values = _striking(list(flat.values()), others)
    for path, value in (pair for pair, count in told.items() if count > 1 and _is_short(pair[1])):
        if _is_a_choice(path, value, others):
            values[path].add(value)
    habits = _Habits.of(others)
    for uid in silent:
        yield from _unusual(uid, flat[uid], habits, values)


@dataclass(frozen=True, slots=True)
class _Habits:
    """What other calls are usually given."""

    calls: int
    present: Mapping[str, int]  # path → calls that have it
    kinds: Mapping[str, Counter[str]]  # path → kind of value → calls

    @classmethod
    def of(cls, others: Sequence[Paths]) -> _Habits:
        """Return the habits of *others*."""
        kinds: dict[str, Counter[str]] = defaultdict(Counter)
        for other in others:
            for path, (kind, _) in other.items():
                kinds[path][kind] += 1
        return cls(len(others), {path: each.total() for path, each in kinds.items()}, kinds)


def paths_of(arguments: str | None) -> dict[str, tuple[str, Any]]:
    """Return the leaves of JSON *arguments* by path; empty for anything that is no object.

    >>> paths_of('{"amount": 5, "items": [{"qty": 1}]}')
    {'$.amount': ('number', 5.0), '$.items[].qty': ('number', 1.0)}
    """
    try:
        value = json.loads(arguments or "null", parse_int=float)
    except (ValueError, RecursionError):
        return {}
    return dict(_leaves(value, "$", 0)) if isinstance(value, dict) else {}


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, tuple[str, Any]]]:
    if isinstance(value, dict) and value and depth < _DEEPEST:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}", depth + 1)
    elif isinstance(value, list) and value and depth < _DEEPEST:
        for inner in value:
            yield from _leaves(inner, f"{path}[]", depth + 1)
    else:
        yield path, (_kind(value), None if isinstance(value, dict | list) else value)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return {float: "number", str: "text", list: "list"}.get(type(value), "object")


def _told(
    piece: Evidence, paths: Paths, known: Sequence[str], code_words: Mapping[str, set[str]]
) -> Iterator[Clue]:
    """Yield the arguments that the reviewer or the tool's own error names."""
    if piece.expected_arguments is not None:
        expected = paths_of(piece.expected_arguments)
        for path in dict.fromkeys((*expected, *paths)):
            if expected.get(path) != paths.get(path):
                detail = (
                    "missing"
                    if path not in paths
                    else "not wanted"
                    if path not in expected
                    else "other value expected"
                )
                yield Clue(piece.call_uid, path, detail)
        return
    words = " ".join(filter(None, (piece.note, error_words(piece.error_text, piece.result))))
    if not words:
        return
    tokens = [token.lower() for token in _TOKEN.findall(words)]
    named = _named(f" {' '.join(tokens)} ", {_name(path) for path in known})
    for path in known:
        if _name(path) in named:
            yield Clue(piece.call_uid, path, None if path in paths else "missing")
        elif any(value in tokens for value in code_words.get(path, ())):
            yield Clue(piece.call_uid, path, None)


def _named(spoken: str, names: set[str]) -> set[str]:
    """Return those of *names* that stand in *spoken*; where "amount mode" is named, "amount" is not."""
    found = set()
    for name in sorted(
        (name for name in names if len(name) > 2), key=lambda name: (-len(_words(name)), name)
    ):
        for phrase in (f" {name.lower()} ", f" {_words(name)} "):
            if phrase in spoken:
                found.add(name)
                spoken = spoken.replace(phrase, "  ")
    return found


def _name(path: str) -> str:
    return path.rsplit(".", 1)[-1].removesuffix("[]")


def _words(text: str) -> str:
    """Return the words of a name in lower case with blanks between."""
    return " ".join(word.lower() for word in _WORD.findall(text))


def _code_words(several: Sequence[Paths]) -> dict[str, set[str]]:
    """Return per path the values that are spelt like code (source_amount): a note that has one means it."""
    found: dict[str, set[str]] = defaultdict(set)
    for paths in several:
        for path, (kind, value) in paths.items():
            if kind == "text" and _CODE.fullmatch(value):
                found[path].add(value.lower())
    return found


def _unusual(uid: str, paths: Paths, others: _Habits, striking: Mapping[str, set[Any]]) -> Iterator[Clue]:
    """Yield the arguments of a call that other calls usually give otherwise."""
    for path, (_, value) in paths.items():
        if _is_short(value) and value in striking.get(path, ()):
            yield Clue(uid, path, f"often {json.dumps(value, ensure_ascii=False)}")
    if others.calls < ENOUGH:
        return
    usual = USUAL * others.calls
    for path, count in others.present.items():
        if count >= usual and path not in paths:
            yield Clue(uid, path, "missing")
    for path, (kind, _) in paths.items():
        kinds = others.kinds.get(path)
        if others.calls - others.present.get(path, 0) >= usual:
            yield Clue(uid, path, "elsewhere left out")
        elif kinds:
            most = kinds.most_common(1)[0][0]
            if most != kind and kinds[kind] <= others.calls - usual:
                yield Clue(uid, path, f"{kind}, elsewhere {most}")


def _striking(bad: Sequence[Paths], others: Sequence[Paths]) -> defaultdict[str, set[Any]]:
    """Return per path the short values that stand out among the calls labelled bad_args."""
    found: defaultdict[str, set[Any]] = defaultdict(set)
    if len(others) < ENOUGH or len(bad) < 3:
        return found
    among_bad, among_rest = STRIKING

    def counted(several: Sequence[Paths]) -> Counter[tuple[str, Any]]:
        return Counter(
            (path, value) for paths in several for path, (_, value) in paths.items() if _is_short(value)
        )

    here, there = counted(bad), counted(others)
    for (path, value), count in here.items():
        if count >= among_bad * len(bad) and there[path, value] <= among_rest * len(others):
            found[path].add(value)
    return found


def _is_a_choice(path: str, value: Any, others: Sequence[Paths]) -> bool:
    """Say whether another call does without *value*: what all of them have tells nothing of a fault.

    Reviewers have named it, so it need not be rare, and no share bounds it: with one, a label on a single
    call more would take the cause from all that have it, or give it to them. Labels only add what is seen here.
    """
    return any(other.get(path, ("", None))[1] != value for other in others)


def _is_short(value: Any) -> bool:
    """Say whether a value is one that several calls may share by choice: a flag, or a short text."""
    return isinstance(value, bool) or (isinstance(value, str) and 0 < len(value) <= 40)
