"""What a notebook hands to its runner: figures and findings, carried by an output of a kind of its own.

They travel in the executed notebook itself, so they are there for whoever opens it later, and nothing else
(no file, no port, no global) has to be agreed on between the kernel and the runner.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from quality_lab.answers.columns import plain

SUMMARY_MIME = "application/vnd.quality-lab.summary+json"


@dataclass(frozen=True, slots=True)
class Note:
    """Figures, findings and single tools' figures for `summary.json`; a cell ends with it."""

    figures: Mapping[str, Any] = field(default_factory=dict)
    findings: Sequence[Mapping[str, Any]] = ()
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    lead: Sequence[str] = ()  # sentences for the top of summary.md

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        handed = {name: plain(getattr(self, name)) for name in ("figures", "findings", "tools", "lead")}
        return {SUMMARY_MIME: handed, "text/plain": repr(self)}

    def __repr__(self) -> str:
        """Return how much was noted."""
        return f"noted for the summary: {len(self.figures)} figures, {len(self.findings)} findings"


def note(
    *,
    findings: Iterable[Any] = (),
    tools: Mapping[str, Mapping[str, Any]] | None = None,
    lead: Iterable[str] = (),
    **figures: Any,
) -> Note:
    """Return a note of figures and findings for the run's `summary.json`; let a cell end with it.

    *tools* holds the figures of single tools by the tool's name, *lead* the sentences that `summary.md`
    begins with.

    >>> note(calls_in_window=401, error_rate=0.08)
    noted for the summary: 2 figures, 0 findings
    """
    return Note(figures, tuple(plain(finding) for finding in findings), tools or {}, tuple(lead))


def collect(notebook: Mapping[str, Any]) -> Note:
    """Return everything that an executed notebook (its JSON) handed over, later notes over earlier ones."""
    figures: dict[str, Any] = {}
    findings: list[Mapping[str, Any]] = []
    tools: dict[str, dict[str, Any]] = {}
    lead: list[str] = []
    for cell in notebook.get("cells", []):
        for output in cell.get("outputs", []):
            handed = (output.get("data") or {}).get(SUMMARY_MIME)
            if isinstance(handed, Mapping):
                figures.update(handed.get("figures", {}))
                findings.extend(handed.get("findings", []))
                lead.extend(handed.get("lead", []))
                for name, values in handed.get("tools", {}).items():
                    tools.setdefault(name, {}).update(values)
    return Note(figures, findings, tools, lead)
