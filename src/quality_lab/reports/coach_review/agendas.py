"""The agendas that lie on a shelf: those a meeting can be held on, and those of runs that came to nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from quality_lab.reports.attached import AGENDA
from quality_lab.reports.shelf import Run, runs


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run with an agenda beside it."""

    run: Run
    why_not: str | None  # why no meeting is held on it: it found nothing, or failed before its end

    @property
    def folder(self) -> Path:
        """Return where it lies."""
        return self.run.folder


def prepared(shelf: Path) -> list[Prepared]:
    """Return the agendas on *shelf*, the newest first; a run that only passed a threshold is as good as another."""
    return [Prepared(run, _why_not(run)) for run in runs(shelf) if (run.folder / AGENDA).is_file()]


def _why_not(run: Run) -> str | None:
    if (run.summary.get("figures") or {}).get("calls_in_window") == 0:
        return "no call in its window"
    problem = str(run.summary.get("problem") or "")
    if run.ok or problem.startswith("threshold passed"):
        return None
    return problem or "it is not fine"
