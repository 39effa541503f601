"""Cases run again: cases × model × tools → verdicts, and what each verdict rests on.

    tape.py         recorded results, each served once
    stage.py        the tools of one trial, none of which can do anything that lasts
    shelf.py        where the tools come from
    playing.py      one trial with a model that is asked now
    contracts.py    one trial with the decisions that were recorded
    outcome.py      trials into a verdict: stable, flaky, pass^k
    to_run.py       cases on their way into a run
    rerun.py        cases times trials, within a budget
    budget.py       what it costs
    keeping.py      what is kept, so that a run can go on
    comparison.py   two runs side by side

No database is known here, and nobody here knows where a case came from.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .budget import Budget, price_of
    from .comparison import Comparison, Weighted, compare, weighted_pass_rate
    from .keeping import Keeper
    from .outcome import CaseOutcome, mean_pass_hat, pass_hat
    from .playing import Trial
    from .rerun import Progress, Rerun, RunSettings
    from .shelf import Shelf
    from .to_run import CaseLine, CaseToRun

_HOMES = {
    "budget": ("Budget", "price_of"),
    "comparison": ("Comparison", "Weighted", "compare", "weighted_pass_rate"),
    "keeping": ("Keeper",),
    "outcome": ("CaseOutcome", "mean_pass_hat", "pass_hat"),
    "playing": ("Trial",),
    "rerun": ("Progress", "Rerun", "RunSettings"),
    "shelf": ("Shelf",),
    "to_run": ("CaseLine", "CaseToRun"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Budget",
    "CaseLine",
    "CaseOutcome",
    "CaseToRun",
    "Comparison",
    "Keeper",
    "Progress",
    "Rerun",
    "RunSettings",
    "Shelf",
    "Trial",
    "Weighted",
    "compare",
    "mean_pass_hat",
    "pass_hat",
    "price_of",
    "weighted_pass_rate",
]


def __getattr__(name: str) -> Any:
    """Return a public name from the module that holds it, loaded when it is first asked for."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
