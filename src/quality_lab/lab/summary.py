"""A lab at a glance: what it holds, and the first rows of each question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from quality_lab.answers import Answer

FIRST = 5  # rows of each question


@dataclass(frozen=True, slots=True)
class Summary:
    """Totals of the lab, and one short answer for each question, in the order in which one would ask."""

    totals: Mapping[str, int]
    answers: Mapping[str, Answer[Any]]  # by the question's name

    def __iter__(self) -> Iterator[Answer[Any]]:
        """Yield the answers."""
        return iter(self.answers.values())

    def to_json(self) -> dict[str, Any]:
        """Return the document of `summary --json`: totals, and the rows of each question."""
        return {
            "totals": dict(self.totals),
            **{name: answer.records() for name, answer in self.answers.items()},
        }

    def to_text(self, *, width: int = 100) -> str:
        """Return all of it as plain text."""
        return "\n\n".join([self._totals(), *(answer.to_text(width=width) for answer in self if len(answer))])

    def __repr__(self) -> str:
        """Return all of it as plain text."""
        return self.to_text()

    def _repr_html_(self) -> str:
        """Return all of it as escaped HTML, for notebooks."""
        return f"<p>{escape(self._totals())}</p>" + "".join(answer._repr_html_() for answer in self)

    def _totals(self) -> str:
        held = [f"{count:,} {name.replace('_', ' ')}" for name, count in self.totals.items() if count]
        return f"The lab holds {', '.join(held) or 'nothing'}."
