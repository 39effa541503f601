"""What the report on one tool rests on: its failures by their words, and its arguments by their values."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from quality_lab.metrics.signs.reviews import ArgumentValue
from quality_lab.metrics.signs.shares import FailureWords
from quality_lab.proposals.error_words import signature_of
from quality_lab.reports.findings.argument_traits import traits

_WRONG = ("bad_args", "wrong_tool")
_MOST_VALUES = 6  # of one argument that are told one by one
_FEW = 12  # values of an argument, up to which it is told by value, and beyond which by shape or size


@dataclass(frozen=True, slots=True)
class Said:
    """What failed calls say of themselves, without what changes call by call."""

    words: str
    calls: int


@dataclass(frozen=True, slots=True)
class Told:
    """One value (or shape, or size) of an argument, and how the calls with it were judged."""

    words: str
    calls: int
    reviewed: int
    wrong: int  # judged bad_args or wrong_tool, of the reviewed


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a tool: `$.amountMode`."""

    path: str
    calls: int  # that give it at all
    values: int  # different ones
    told: Sequence[Told]  # most calls first
    left: int  # calls with values that are not told


def failures(rows: Iterable[FailureWords]) -> list[Said]:
    """Return what failed calls say, the most frequent first.

    >>> [(one.words, one.calls) for one in failures([FailureWords(tool_name="t", words="no order 12", calls=2),
    ...                                              FailureWords(tool_name="t", words="no order 7", calls=1)])]
    [('no order <n>', 3)]
    """
    counts: Counter[str] = Counter()
    for row in rows:
        counts[signature_of(row.words)] += row.calls
    return [Said(words, calls) for words, calls in counts.most_common()]


def arguments(rows: Sequence[ArgumentValue]) -> list[Argument]:
    """Return the arguments of a tool's calls, those that most calls give first.

    An argument of few different values is told by them; another by what its values look like, or by their size.
    """
    by_path: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    reviewed: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    wrong: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    given: Counter[str] = Counter()
    for row in rows:
        found = traits(row.arguments)
        given.update({trait.path for trait in found})
        for trait in found:
            by_path[trait.path][trait.kind][trait.value] += 1
            if row.verdict is not None:
                reviewed[trait.path, trait.kind][trait.value] += 1
                wrong[trait.path, trait.kind][trait.value] += row.verdict in _WRONG
    made = []
    for path, calls in sorted(given.items(), key=lambda one: (-one[1], one[0])):
        kind = _kind(by_path[path])
        counts = by_path[path][kind]
        told = [
            Told(value, number, reviewed[path, kind][value], wrong[path, kind][value])
            for value, number in sorted(counts.items(), key=lambda one: (-one[1], one[0]))
        ]
        left = sum(one.calls for one in told[_MOST_VALUES:])
        values = len(by_path[path]["value"]) or len(counts)
        made.append(Argument(path, calls, values, told[:_MOST_VALUES], left))
    return made


def _kind(of_path: Mapping[str, Counter[str]]) -> str:
    """Return by which of its traits an argument is told: its value where there are few, else shape or size."""
    if len(of_path.get("value", ())) <= _FEW:
        return "value"
    return next((kind for kind in ("shape", "size") if of_path.get(kind)), "value")
