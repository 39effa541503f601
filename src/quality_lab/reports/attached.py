"""Files that a report leaves beside its page: a cell ends with one, and the runner writes it into the folder.

Like figures and findings they travel in the executed notebook, so they are masked as everything else in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from quality_lab.answers.columns import plain
from quality_lab.errors import UsageError
from quality_lab.reports.slides import slides_html

AGENDA_MIME = "application/vnd.quality-lab.agenda+json"
SLIDES_MIME = "application/vnd.quality-lab.slides+json"
AGENDA, SLIDES = "agenda.json", "slides.html"


@dataclass(frozen=True, slots=True)
class Agenda:
    """What a meeting is to go through, frozen with the report; `agenda.json` in its folder."""

    content: Mapping[str, Any]

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return {AGENDA_MIME: plain(self.content), "text/plain": repr(self)}

    def __repr__(self) -> str:
        """Return how much there is to go through."""
        parts = ", ".join(
            f"{len(part)} {name}" for name, part in self.content.items() if isinstance(part, list)
        )
        return f"the agenda: {parts}"


@dataclass(frozen=True, slots=True)
class Slides:
    """The same page for a screen on a wall: one finding a slide; `slides.html` in the report's folder."""

    title: str
    slides: tuple[str, ...]  # HTML

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        held = {"title": self.title, "slides": list(self.slides)}
        return {SLIDES_MIME: held, "text/plain": repr(self)}

    def __repr__(self) -> str:
        """Return how many there are."""
        return f"{len(self.slides)} slides"


def attached(notebook: Mapping[str, Any], *, prepared_at: datetime) -> dict[str, str]:
    """Return the texts of the files that an executed notebook (its JSON) handed over, by name.

    *prepared_at* is stamped into an agenda: what the journal is told from then on belongs to its meeting.
    """
    files: dict[str, str] = {}
    for cell in notebook.get("cells", []):
        for output in cell.get("outputs", []):
            bundle = output.get("data") or {}
            if isinstance(agenda := bundle.get(AGENDA_MIME), Mapping):
                frozen = {"prepared_at": prepared_at.astimezone(UTC).isoformat(), **agenda}
                files[AGENDA] = json.dumps(frozen, indent=2, ensure_ascii=False)
            if isinstance(held := bundle.get(SLIDES_MIME), Mapping):
                files[SLIDES] = slides_html(
                    str(held.get("title", "")), [str(one) for one in held.get("slides", [])]
                )
    return files


def read_agenda(text: str, *, where: str) -> Mapping[str, Any]:
    """Return the agenda that *text* holds. Raises: UsageError where it holds none."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("prepared_at"), str):
        raise UsageError(f"wanted the agenda of a meeting, came something else: {where}")
    return found
