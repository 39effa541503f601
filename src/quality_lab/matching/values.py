"""What a value has to be: plain JSON, or a rule; taken apart into leaves that each look at one place.

A leaf is a path into the arguments and a question about the value there. An object or a list becomes a leaf
of its own (is it one, and how long) and the leaves of what it holds, so that what fails can be counted and
named place by place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from quality_lab.json_text import DuplicateKeys, compact
from quality_lab.matching.assignment import Matching
from quality_lab.matching.json_values import (
    ABSENT,
    EXACT,
    TYPES,
    Path,
    Test,
    decimal_of,
    folded,
    is_number,
    path_text,
    shortened,
    shown,
    token_of,
    value_at,
)
from quality_lab.matching.linear_regex import RegexProblem, whole_match

MOST_LEVELS = 200


@dataclass(frozen=True, slots=True)
class Leaf:
    """One question about the value at one place; *token* answers it where only equality is asked."""

    path: Path
    rule: str  # "equals", "object", "array", "keys", or the rule's own name
    expected: str  # in words or as JSON text
    token: str | None = None
    test: Test | None = None
    key: str | None = None  # leaves with the same path and key ask the same

    def holds(self, value: Any) -> bool:
        """Return whether *value* (ABSENT where there is none) is what is wanted."""
        if self.test is not None:
            return self.test(value)
        return value is not ABSENT and token_of(value) == self.token


def leaves_of(rule: Any, *, exact: bool, problems: list[str], where: str, path: Path = ()) -> list[Leaf]:
    """Return the leaves of *rule*; what is wrong with it is added to *problems*, with the place in *where*.

    *exact* says that an object may hold no keys beside those that are listed, at any depth.
    """
    if len(path) > MOST_LEVELS:
        problems.append(f"{where}: nested more than {MOST_LEVELS} levels")
        return []
    here = path_text(path, root=where)
    if isinstance(rule, dict):
        if isinstance(rule, DuplicateKeys):
            problems.append(f"{here}: a key stands twice")
            return []
        marked = [key for key in rule if key.startswith("$")]
        if not marked:
            return _object_leaves(rule, exact=exact, problems=problems, where=where, path=path)
        if len(marked) != len(rule):
            problems.append(
                f"{here}: {marked[0]} stands beside plain keys; write an object with such a key as $literal"
            )
            return []
        return _rule_leaves(rule, exact=exact, problems=problems, where=where, path=path, here=here)
    if isinstance(rule, list):
        leaves = [_array_leaf(path, len(rule))]
        for at, held in enumerate(rule):
            leaves += leaves_of(held, exact=exact, problems=problems, where=where, path=(*path, at))
        return leaves
    return [Leaf(path, "equals", shown(rule), token=token_of(rule))]


def test_of(rule: Any, *, exact: bool, problems: list[str], where: str) -> Test:
    """Return the question whether a value is what *rule* wants."""
    leaves = leaves_of(rule, exact=exact, problems=problems, where=where)
    if len(leaves) == 1 and not leaves[0].path:
        return leaves[0].holds
    return lambda value: all(leaf.holds(value_at(value, leaf.path)) for leaf in leaves)


def _object_leaves(
    rule: dict[str, Any], *, exact: bool, problems: list[str], where: str, path: Path, literal: bool = False
) -> list[Leaf]:
    leaves = [Leaf(path, "object", "an object", test=_is_object, key="an object")]
    for key, held in rule.items():
        below = (*path, key)
        leaves += (_literal_leaves if literal else leaves_of)(
            held, exact=exact, problems=problems, where=where, path=below
        )
    if exact:
        listed = frozenset(rule)
        words = "no keys but " + (", ".join(sorted(listed)) if listed else "none at all")
        leaves.append(
            Leaf(path, "keys", words, test=lambda value: isinstance(value, dict) and listed >= set(value))
        )
    return leaves


def _literal_leaves(rule: Any, *, exact: bool, problems: list[str], where: str, path: Path) -> list[Leaf]:
    """Return the leaves of a value in which no key means anything."""
    if isinstance(rule, dict):
        return _object_leaves(rule, exact=exact, problems=problems, where=where, path=path, literal=True)
    if isinstance(rule, list):
        leaves = [_array_leaf(path, len(rule))]
        for at, held in enumerate(rule):
            leaves += _literal_leaves(held, exact=exact, problems=problems, where=where, path=(*path, at))
        return leaves
    return [Leaf(path, "equals", shown(rule), token=token_of(rule))]


def _array_leaf(path: Path, length: int) -> Leaf:
    words = f"an array of {length}"
    return Leaf(
        path, "array", words, test=lambda value: isinstance(value, list) and len(value) == length, key=words
    )


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


# -- the rules ---------------------------------------------------------------------------------------------


def _rule_leaves(
    rule: dict[str, Any], *, exact: bool, problems: list[str], where: str, path: Path, here: str
) -> list[Leaf]:
    name = "$approx" if "$approx" in rule else next(iter(rule))
    if name not in RULES:
        problems.append(f"{here}: no rule is named {name}; there are {', '.join(RULES)}")
        return []
    others = sorted(rule.keys() - {name})
    if others and name != "$approx":
        problems.append(f"{here}: one rule at a time; {', '.join(others)} stands beside {name}")
        return []
    if name == "$literal":
        return _literal_leaves(rule[name], exact=exact, problems=problems, where=where, path=path)
    if name == "$approx":
        test = _approx(rule, problems, here)
    else:
        test = RULES[name](rule[name], exact, problems, f"{here}.{name}")
    text = compact(rule)
    return [] if test is None else [Leaf(path, name, shortened(text), test=test, key=f"{exact} {text}")]


def _any(operand: Any, exact: bool, problems: list[str], where: str) -> Test | None:
    return None if _is_not_true(operand, problems, where) else lambda value: value is not ABSENT


def _absent(operand: Any, exact: bool, problems: list[str], where: str) -> Test | None:
    return None if _is_not_true(operand, problems, where) else lambda value: value is ABSENT


def _is_not_true(operand: Any, problems: list[str], where: str) -> bool:
    if operand is not True:
        problems.append(f"{where}: wanted true, got {shown(operand)}")
    return operand is not True


def _default(operand: Any, exact: bool, problems: list[str], where: str) -> Test | None:
    test = test_of(operand, exact=exact, problems=problems, where=where)
    return lambda value: value is ABSENT or test(value)


def _one_of(operand: Any, exact: bool, problems: list[str], where: str) -> Test | None:
    tests = _tests(operand, exact, problems, where)
    if tests is None:
        return None
    if all(not isinstance(held, dict | list) for held in operand):
        tokens = frozenset(map(token_of, operand))
        return lambda value: value is not ABSENT and token_of(value) in tokens
    return lambda value: any(test(value) for test in tests)


def _tests(operand: Any, exact: bool, problems: list[str], where: str) -> Sequence[Test] | None:
    if not isinstance(operand, list) or not operand:
        problems.append(f"{where}: wanted a list that holds something, got {shown(operand)}")
        return None
    return [
        test_of(held, exact=exact, problems=problems, where=f"{where}[{at}]")
        for at, held in enumerate(operand)
    ]


def _regex(operand: Any, exact: bool, problems: list[str], where: str) -> Test | None:
    if not isinstance(operand, str):
        problems.append(f"{where}: wanted a regular expression as text, got {shown(operand)}")
        return None
    try:
        matches = whole_match(operand)
    except RegexProblem as problem:
        problems.append(f"{where}: {problem}")
        return None
    return lambda value: isinstance(value, str) and matches(value)


def _approx(rule: dict[str, Any], problems: list[str], here: str) -> Test | None:
    given = sorted(rule.keys() - {"$approx"})
    wanted = rule["$approx"]
    if given not in (["$abs"], ["$rel"]):
        came = ", ".join(given) or "none"
        problems.append(f"{here}: $approx takes exactly one of $abs and $rel, got {came}")
        return None
    reach = rule[given[0]]
    for name, number in (("$approx", wanted), (given[0], reach)):
        if not is_number(number):
            problems.append(f"{here}.{name}: wanted a number, got {shown(number)}")
            return None
    middle, room = decimal_of(wanted), decimal_of(reach)
    if room < 0:
        problems.append(f"{here}.{given[0]}: wanted 0 or more, got {shown(reach)}")
        return None
    if given == ["$rel"]:
        room = EXACT.multiply(room, EXACT.abs(middle))
    low, high = EXACT.subtract(middle, room), EXACT.add(middle, room)
    return lambda value: is_number(value) and low <= _comparable(value) <= high


def _comparable(number: Any) -> Any:
    """Return a number that compares exactly; a float, which no JSON text gave, as its shortest decimal."""
    return decimal_of(number) if isinstance(number, float) else number


def _type(operand: Any, exact: bool, problems: list[str], where: str) -> Test | None:
    if not isinstance(operand, str) or operand not in TYPES:
        problems.append(f"{where}: wanted one of {', '.join(TYPES)}, got {shown(operand)}")
        return None
    return TYPES[operand]


def _contains(operand: Any, exact: bool, problems: list[str], where: str) -> Test | None:
    test = test_of(operand, exact=exact, problems=problems, where=where)

    def holds(value: Any) -> bool:
        if isinstance(value, str):
            return isinstance(operand, str) and operand in value
        return isinstance(value, list) and any(test(held) for held in value)

    return holds


def _unordered(operand: Any, exact: bool, problems: list[str], where: str) -> Test | None:
    tests = _tests(operand, exact, problems, where) if operand != [] else []
    if tests is None:
        return None

    def holds(value: Any) -> bool:
        if not isinstance(value, list) or len(value) != len(tests):
            return False
        pairs = Matching()
        return all(pairs.add(sum(1 << at for at, held in enumerate(value) if test(held))) for test in tests)

    return holds


def _not(operand: Any, exact: bool, problems: list[str], where: str) -> Test | None:
    test = test_of(operand, exact=exact, problems=problems, where=where)
    return lambda value: value is not ABSENT and not test(value)


def _folded(operand: Any, exact: bool, problems: list[str], where: str) -> Test | None:
    if not isinstance(operand, str):
        problems.append(f"{where}: wanted text, got {shown(operand)}")
        return None
    wanted = folded(operand)
    return lambda value: isinstance(value, str) and folded(value) == wanted


def _no_test(operand: Any, exact: bool, problems: list[str], where: str) -> Test | None:
    raise AssertionError("$literal and $approx are read where they stand")


RULES: dict[str, Callable[[Any, bool, list[str], str], Test | None]] = {
    "$any": _any,
    "$absent": _absent,
    "$default": _default,
    "$one_of": _one_of,
    "$regex": _regex,
    "$approx": _no_test,
    "$type": _type,
    "$contains": _contains,
    "$unordered": _unordered,
    "$not": _not,
    "$folded": _folded,
    "$literal": _no_test,
}
