"""The modes and the rules as tables, made by asking the code itself, for `docs/matching.md`.

python -m quality_lab.matching.truth_tables docs/matching.md    makes the tables in that page anew
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

from quality_lab.json_text import parse
from quality_lab.matching.calls import Run, recorded_calls
from quality_lab.matching.judging import judge_run
from quality_lab.matching.modes import ALIASES, REFUSED, Mode
from quality_lab.matching.rules import read_rules

_MARKED = re.compile(r"(<!-- table: (?P<name>[\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

_A: dict[str, Any] = {"tool": "A", "args": {}, "result": {}}
_B: dict[str, Any] = {"tool": "B", "args": {}, "result": {}}
_X: dict[str, Any] = {"tool": "X", "args": {}, "result": {}}
_A_FAILED: dict[str, Any] = {**_A, "error": True}

SITUATIONS: tuple[tuple[str, list[dict[str, Any]]], ...] = (
    ("nothing", []),
    ("A", [_A]),
    ("A, then B", [_A, _B]),
    ("B, then A", [_B, _A]),
    ("B and A in one cycle", [{**_B, "cycle": 0}, {**_A, "cycle": 0}]),
    ("A, then X, then B", [_A, _X, _B]),
    ("A, then A, then B", [_A, _A, _B]),
    ("X", [_X]),
    ("A, but it failed", [_A_FAILED]),
    ("A, but it failed; then A, then B", [_A_FAILED, _A, _B]),
)

VALUES = ("absent", "null", "true", "1", "1.0", '"1"', '"ab"', "[1,2]", "[2,1]", '{"a":1}', '{"a":1,"b":2}')
RULES = (
    "1", '"1"', "null", "[1,2]", '{"a":1}', '{"$any":true}', '{"$absent":true}', '{"$default":1}',
    '{"$one_of":[1,"ab"]}', '{"$regex":"[a-z]+"}', '{"$approx":1.5,"$abs":0.5}', '{"$type":"integer"}',
    '{"$contains":2}', '{"$contains":"a"}', '{"$unordered":[1,2]}', '{"$not":1}', '{"$folded":" AB "}',
    '{"$literal":{"a":1}}',
)  # fmt: skip


def with_tables(page: str) -> str:
    """Return *page* with every table between its marks made anew.

    Raises:
        KeyError: a mark names no table.
    """
    return _MARKED.sub(lambda found: f"{found[1]}{table(found['name'])}{found[3]}", page)


def table(name: str) -> str:
    """Return the Markdown table *name*: a mode, ``aliases``, ``refused``, ``subset`` or ``exact-args``."""
    if name in get_args(Mode):
        return _mode_table(name)
    makers: dict[str, Callable[[], str]] = {
        "aliases": _alias_table,
        "refused": _refused_table,
        "subset": lambda: _rules_table("subset"),
        "exact-args": lambda: _rules_table("exact"),
    }
    return makers[name]()


def _mode_table(mode: str) -> str:
    expected: dict[str, Any] = {"mode": mode}
    if mode != "none":
        expected["calls"] = [{"tool": "A"}, {"tool": "B"}]
    rows = (_judged(expected, made, calls) for made, calls in SITUATIONS)
    return _markdown(("made", "verdict", "what is said"), rows)


def _judged(expected: dict[str, Any], made: str, calls: list[dict[str, Any]]) -> tuple[str, ...]:
    judgement = judge_run(read_rules(expected), Run(calls=recorded_calls(calls)))
    said = [str(failure) for check in judgement.checks for failure in check.failures]
    return made, judgement.verdict, "; ".join(said)


def _rules_table(args_mode: str) -> str:
    rows = ((f"`{rule}`", *_signs(rule, args_mode)) for rule in RULES)
    return _markdown(("rule", *(f"`{value}`" for value in VALUES)), rows)


def _signs(rule: str, args_mode: str) -> Iterator[str]:
    entry = {"tool": "A", "args": {"x": parse(rule)}, "args_mode": args_mode}
    rules = read_rules({"calls": [entry]})
    for value in VALUES:
        args = {} if value == "absent" else {"x": parse(value)}
        calls = recorded_calls([{"tool": "A", "args": args, "result": {}}])
        yield "yes" if judge_run(rules, Run(calls=calls)).verdict == "PASS" else "·"


def _alias_table() -> str:
    rows = (
        (f"`{mode}`", ", ".join(f"`{name}`" for name, meant in ALIASES.items() if meant == mode != name))
        for mode in get_args(Mode)
    )
    return _markdown(("mode", "also understood"), rows)


def _refused_table() -> str:
    return _markdown(("name", "what is said"), ((f"`{name}`", said) for name, said in REFUSED.items()))


def _markdown(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(with_tables(Path(name).read_text(encoding="utf-8")), encoding="utf-8")
