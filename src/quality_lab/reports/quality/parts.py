"""Several things that one cell shows, in order: sentences, figures, tables."""

from __future__ import annotations

from typing import Any

from quality_lab.reports.blocks import Html, Piece


class Parts:
    """Pieces and figures; a cell that ends with them shows each."""

    def __init__(self, *parts: Any) -> None:
        """Keep what there is: markup, figures; None is left out."""
        self.parts = [Piece(part) if isinstance(part, Html) else part for part in parts if part is not None]

    def _ipython_display_(self) -> None:
        from IPython.display import display

        for part in self.parts:
            display(part)  # type: ignore[no-untyped-call]  # IPython says no types here

    def __repr__(self) -> str:
        """Return how many there are; a notebook shows them."""
        return f"{len(self.parts)} parts of a report; a notebook shows them"
