"""Accepted runs: the figures that later runs of a report are compared with, until others are accepted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from quality_lab.answers.columns import plain
from quality_lab.errors import NotFine, UnknownName, UsageError
from quality_lab.intervals import Rate
from quality_lab.metrics.filters import Filters
from quality_lab.reports.shelf import runs
from quality_lab.whole_files import write_whole

ACCEPTED = "accepted.json"  # on the shelf, so that it outlives the run
COMPARED = ("quality",)  # reports that say better or worse than in the accepted run
_PICKED = (
    *("tool", "source", "outcome", "style", "model", "conversation", "contact", "message", "outbound"),
    *("reviewer", "author_kind", "actor", "tenant", "error"),
)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The figures of a run that somebody accepted."""

    run: str
    generated_at: datetime
    figures: Mapping[str, Any]

    def rate(self, name: str, stem: str, *, of: str) -> Rate | None:
        """Return the rate of the figure *name* with its bounds, over the count in the figure *of*; None if null."""
        value, low, high = (self.figures.get(one) for one in (name, f"{stem}_low", f"{stem}_high"))
        n = self.figures.get(of)
        if value is None or low is None or high is None or not n:
            return None
        return Rate(value=value, low=low, high=high, n=n, n_eff=float(n), conversations=0, few=False)


def accept(shelf: Path, name: str) -> Accepted:
    """Return the quality report called *name* on the shelf, accepted: later ones are compared with it.

    Raises: UnknownName where there is no such run, UsageError where it is of another report, NotFine where it is
    not fine itself, OutputError.
    """
    found = next((run for run in runs(shelf) if run.folder.name == name), None)
    if found is None:
        raise UnknownName(f"wanted a run in {shelf}, came {name!r}; `quality-lab report list` names them")
    if found.report not in COMPARED:
        raise UsageError(
            f"{name} is a {found.report} report, which nothing is compared with; wanted a run of {', '.join(COMPARED)}"
        )
    if not found.ok:
        raise NotFine(f"{name} is not fine: {found.summary.get('problem')}")
    kept = {
        "run": name,
        "generated_at": found.generated_at,
        "parameters": found.summary.get("parameters", {}),
        "figures": found.summary.get("figures", {}),
    }
    everything = _read(shelf) | {found.report: kept}
    write_whole(shelf / ACCEPTED, json.dumps(plain(everything), indent=2, ensure_ascii=False) + "\n")
    return Accepted(name, datetime.fromisoformat(found.generated_at), kept["figures"])


def accepted(shelf: Path, report: str, filters: Filters) -> Accepted | None:
    """Return the run of *report* that was accepted; None where there is none, or it was asked of other calls."""
    kept = _read(shelf).get(report)
    try:
        if kept is None or not _same_calls(kept["parameters"], filters):
            return None
        return Accepted(str(kept["run"]), datetime.fromisoformat(kept["generated_at"]), dict(kept["figures"]))
    except (KeyError, TypeError, ValueError, UsageError):
        return None  # of another version


def accepted_runs(shelf: Path) -> set[str]:
    """Return the names of the runs that are accepted."""
    return {str(kept.get("run")) for kept in _read(shelf).values() if isinstance(kept, dict)}


def _same_calls(parameters: Mapping[str, Any], filters: Filters) -> bool:
    given = {name: value for name in _PICKED if (value := parameters.get(name)) not in (None, "", [], ())}
    then = Filters.of(**given)
    return all(getattr(then, name) == getattr(filters, name) for name in _PICKED)


def _read(shelf: Path) -> dict[str, Any]:
    try:
        found = json.loads((shelf / ACCEPTED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
