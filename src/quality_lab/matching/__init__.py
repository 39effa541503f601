"""Rules for calls: what a case demands, judged against what was done, by pairing that misses nothing.

    json_values.py     JSON values: where one stands, which are equal
    values.py          rules on values, as leaves that each look at one place
    rules.py           a case's `expected`, read once
    modes.py           what a list of calls demands, and other tools' names for it
    assignment.py      pairing one to one
    board.py           expected calls laid beside made ones
    list_of_calls.py   the list checked, and told where the two part
    judging.py         all checks of a run
    case.py            a whole record
    truth_tables.py    the modes as tables, for the documentation

No model, no tool and no file is touched here.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .calls import MadeCall, Run, recorded_calls
    from .case import Case, read_case
    from .checks import Check, Failure, Judgement
    from .judging import judge_run
    from .modes import ModeProblem, mode_named
    from .rules import Rules, read_rules

_HOMES = {
    "calls": ("MadeCall", "Run", "recorded_calls"),
    "case": ("Case", "read_case"),
    "checks": ("Check", "Failure", "Judgement"),
    "judging": ("judge_run",),
    "modes": ("ModeProblem", "mode_named"),
    "rules": ("Rules", "read_rules"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Case",
    "Check",
    "Failure",
    "Judgement",
    "MadeCall",
    "ModeProblem",
    "Rules",
    "Run",
    "judge_run",
    "mode_named",
    "read_case",
    "read_rules",
    "recorded_calls",
]


def __getattr__(name: str) -> Any:
    """Return a public name from the module that holds it, loaded when it is first asked for."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
