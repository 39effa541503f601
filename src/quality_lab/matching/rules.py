"""What a case's ``expected`` demands, read once: entries, counts, reply, end state, and its faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from quality_lab.json_text import DuplicateKeys
from quality_lab.matching.json_values import ABSENT, is_number, shown
from quality_lab.matching.linear_regex import RegexProblem, whole_match
from quality_lab.matching.modes import DEFAULT_MODE, Mode, ModeProblem, mode_named
from quality_lab.matching.values import Leaf, leaves_of

UPSTREAM_KEYS = ("behavior", "actionItems", "proposalKind")
KEYS = ("mode", "calls", "forbidden", "max_calls", "min_calls", "failed_attempts", "reply", "end_state")
ENTRY_KEYS = ("tool", "args", "args_mode", "must_succeed", "times")
MOST_TIMES = 1000
_ARGS_MODES = {
    "superset": "what other tools call superset, keys that are not listed may be there, is subset here",
    "partial": "write subset: keys that are not listed may be there",
    "ignore": "leave args out: then any arguments do",
    "strict": "write exact: keys that are not listed may not be there",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One expected or forbidden call."""

    where: str  # "calls[0]"
    tool: str
    leaves: tuple[Leaf, ...] | None = None  # None: any arguments
    must_succeed: bool = True
    times: int = 1
    glob: bool = False

    def names(self, tool: str) -> bool:
        """Return whether the entry is about *tool*."""
        return fnmatchcase(tool, self.tool) if self.glob else tool == self.tool


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplyRules:
    """What the final text has to hold, must not hold, and has to be."""

    contains: tuple[str, ...] = ()
    not_contains: tuple[str, ...] = ()
    matches: str | None = None
    matches_test: Callable[[str], bool] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """Everything that a case demands; *problems* says what of it cannot be read, and then nothing counts."""

    mode: Mode = DEFAULT_MODE
    calls: tuple[Entry, ...] | None = None  # None: nothing is said about the list of calls
    forbidden: tuple[Entry, ...] = ()
    max_calls: int | None = None
    min_calls: int | None = None
    ignore_failed: bool = False
    reply: ReplyRules | None = None
    end_state: tuple[Leaf, ...] | None = None
    behavior: str = ""
    problems: tuple[str, ...] = ()

    @property
    def decides(self) -> bool:
        """Whether there is anything but prose."""
        return bool(
            self.rules_calls
            or self.forbidden
            or self.max_calls is not None
            or self.min_calls is not None
            or self.reply is not None
            or self.end_state is not None
        )

    @property
    def rules_calls(self) -> bool:
        """Whether the list of calls demands anything; an empty one does so only where others are shut out."""
        if self.mode in ("any_order", "in_order"):
            return bool(self.calls)
        return self.mode == "none" or self.calls is not None


@dataclass(slots=True)
class _Reading:
    problems: list[str] = field(default_factory=list)

    def wrong(self, where: str, wanted: str, got: Any) -> None:
        came = "nothing" if got is ABSENT else shown(got)
        self.problems.append(f"{where}: wanted {wanted}, got {came}")


def read_rules(expected: Any) -> Rules:
    """Return the rules in a case's ``expected``; whatever is wrong with them stands in their *problems*.

    >>> read_rules({"calls": [{"tool": "pay", "args": {"amount": {"$fuzzy": 1}}}]}).problems[0][:52]
    'expected.calls[0].args.amount: no rule is named $fuz'
    """
    reading = _Reading()
    if not isinstance(expected, Mapping):
        reading.wrong("expected", "an object", expected)
        return Rules(problems=tuple(reading.problems))
    _known_keys(reading, "expected", expected, (*UPSTREAM_KEYS, *KEYS))
    mode = _mode(reading, expected.get("mode", ABSENT))
    calls = _entries(reading, expected.get("calls", ABSENT), "calls")
    forbidden = _entries(reading, expected.get("forbidden", ABSENT), "forbidden")
    if mode == "none" and calls:
        reading.problems.append("expected.calls: mode none demands that no call is made; it takes no calls")
    if calls is None and mode in ("exact", "unordered", "only_from", "in_order") and "mode" in expected:
        reading.problems.append(f"expected.calls: mode {mode} says nothing without a list of calls")
    if mode == "only_from":
        for at, entry in enumerate(expected["calls"] if isinstance(expected.get("calls"), list) else ()):
            if isinstance(entry, Mapping) and "times" in entry:
                reading.problems.append(
                    f"expected.calls[{at}].times: in only_from many calls may match one entry"
                )
    fewest, most = (_count(reading, expected, key) for key in ("min_calls", "max_calls"))
    if fewest is not None and most is not None and fewest > most:
        reading.problems.append(f"expected.min_calls: {fewest} is more than max_calls {most}")
    failed = expected.get("failed_attempts", ABSENT)
    if failed is not ABSENT and failed not in ("ignore", "count"):
        reading.wrong("expected.failed_attempts", '"ignore" or "count"', failed)
    behavior = expected.get("behavior", "")
    return Rules(
        mode=mode,
        calls=calls,
        forbidden=forbidden or (),
        min_calls=fewest,
        max_calls=most,
        ignore_failed=failed == "ignore",
        reply=_reply(reading, expected.get("reply", ABSENT)),
        end_state=_end_state(reading, expected.get("end_state", ABSENT)),
        behavior=behavior if isinstance(behavior, str) else "",
        problems=tuple(reading.problems),
    )


def _known_keys(reading: _Reading, where: str, held: Mapping[str, Any], known: tuple[str, ...]) -> None:
    if isinstance(held, DuplicateKeys):
        reading.problems.append(f"{where}: a key stands twice")
    for key in held:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            meant = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"
            reading.problems.append(f"{where}: nothing is named {key}{meant}")


def _mode(reading: _Reading, given: Any) -> Mode:
    if given is ABSENT:
        return DEFAULT_MODE
    if not isinstance(given, str):
        reading.wrong("expected.mode", "the name of a mode", given)
        return DEFAULT_MODE
    try:
        return mode_named(given)
    except ModeProblem as problem:
        reading.problems.append(f"expected.mode: {problem}")
        return DEFAULT_MODE


def _entries(reading: _Reading, given: Any, name: str) -> tuple[Entry, ...] | None:
    if given is ABSENT:
        return None
    if not isinstance(given, list):
        reading.wrong(f"expected.{name}", "a list", given)
        return None
    return tuple(_entry(reading, held, name, at) for at, held in enumerate(given))


def _entry(reading: _Reading, given: Any, name: str, at: int) -> Entry:
    short = f"{name}[{at}]"
    where = f"expected.{short}"
    if not isinstance(given, Mapping):
        reading.wrong(where, "an object with a tool", given)
        return Entry(where=short, tool="")
    forbidden = name == "forbidden"
    _known_keys(reading, where, given, ENTRY_KEYS)
    tool = given.get("tool", ABSENT)
    if not isinstance(tool, str) or not tool.strip():
        reading.wrong(f"{where}.tool", "the name of a tool", tool)
        tool = ""
    if not forbidden and any(sign in tool for sign in "*?"):
        reading.problems.append(f"{where}.tool: a pattern such as {tool} may stand only in forbidden")
    must_succeed = given.get("must_succeed", not forbidden)
    if not isinstance(must_succeed, bool):
        reading.wrong(f"{where}.must_succeed", "true or false", must_succeed)
    exact = _args_mode(reading, f"{where}.args_mode", given.get("args_mode", "subset"))
    leaves: tuple[Leaf, ...] | None = None
    if "args" in given:
        args = given["args"]
        if not isinstance(args, Mapping):
            reading.wrong(f"{where}.args", "an object", args)
        leaves = tuple(leaves_of(args, exact=exact, problems=reading.problems, where=f"{where}.args"))
    return Entry(
        where=short,
        tool=tool,
        leaves=leaves,
        must_succeed=bool(must_succeed),
        times=_times(reading, f"{where}.times", given.get("times", 1), forbidden=forbidden),
        glob=forbidden,
    )


def _args_mode(reading: _Reading, where: str, given: Any) -> bool:
    if given in ("subset", "exact"):
        return bool(given == "exact")
    if isinstance(given, str) and given.casefold() in _ARGS_MODES:
        reading.problems.append(f"{where}: {_ARGS_MODES[given.casefold()]}")
    else:
        reading.wrong(where, "subset or exact", given)
    return False


def _times(reading: _Reading, where: str, given: Any, *, forbidden: bool) -> int:
    times = _whole(given)
    if times is None or not 1 <= times <= MOST_TIMES:
        reading.wrong(where, f"a whole number from 1 to {MOST_TIMES}", given)
        return 1
    if forbidden and times != 1:
        reading.problems.append(f"{where}: what is forbidden may not happen once")
    return times


def _count(reading: _Reading, expected: Mapping[str, Any], key: str) -> int | None:
    if key not in expected:
        return None
    number = _whole(expected[key])
    if number is None or number < 0:
        reading.wrong(f"expected.{key}", "a whole number from 0", expected[key])
        return None
    return number


def _whole(value: Any) -> int | None:
    return int(value) if is_number(value) and abs(value) < 10**9 and value == value // 1 else None


def _reply(reading: _Reading, given: Any) -> ReplyRules | None:
    if given is ABSENT:
        return None
    if not isinstance(given, Mapping) or not given:
        reading.wrong("expected.reply", "an object with contains, not_contains or matches", given)
        return None
    _known_keys(reading, "expected.reply", given, ("contains", "not_contains", "matches"))
    lists: dict[str, tuple[str, ...]] = {}
    for key in ("contains", "not_contains"):
        held = given.get(key, [])
        if isinstance(held, list) and all(isinstance(text, str) for text in held):
            lists[key] = tuple(held)
        else:
            reading.wrong(f"expected.reply.{key}", "a list of texts", held)
            lists[key] = ()
    pattern, test = given.get("matches", ABSENT), None
    if pattern is not ABSENT and not isinstance(pattern, str):
        reading.wrong("expected.reply.matches", "a regular expression as text", pattern)
    elif pattern is not ABSENT:
        try:
            test = whole_match(pattern)
        except RegexProblem as problem:
            reading.problems.append(f"expected.reply.matches: {problem}")
    return ReplyRules(**lists, matches=pattern if isinstance(pattern, str) else None, matches_test=test)


def _end_state(reading: _Reading, given: Any) -> tuple[Leaf, ...] | None:
    if given is ABSENT:
        return None
    if not isinstance(given, Mapping):
        reading.wrong("expected.end_state", "an object", given)
        return None
    return tuple(leaves_of(given, exact=False, problems=reading.problems, where="expected.end_state"))
