"""Small notebooks made of plain cells, for tests that run or export one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def code(source: str, *outputs: dict[str, Any], tags: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a code cell with the outputs that it left."""
    return {
        "cell_type": "code",
        "id": f"c{abs(hash(source)) % 10**8}",
        "metadata": {"tags": list(tags)},
        "execution_count": None,
        "source": source,
        "outputs": list(outputs),
    }


def markdown(source: str) -> dict[str, Any]:
    """Return a Markdown cell."""
    return {"cell_type": "markdown", "id": "m", "metadata": {}, "source": source}


def shown(**data: Any) -> dict[str, Any]:
    """Return an output by its kinds; `text_html` stands for text/html."""
    kinds = {
        "text_html": "text/html",
        "text_plain": "text/plain",
        "text_markdown": "text/markdown",
        "image_png": "image/png",
        "figure": "application/vnd.plotly.v1+json",
        "summary": "application/vnd.quality-lab.summary+json",
    }
    return {
        "output_type": "display_data",
        "metadata": {},
        "data": {kinds[name]: value for name, value in data.items()},
    }


def notebook(*cells: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook for Python 3."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": list(cells), "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def write_template(home: Path, name: str, *cells: dict[str, Any]) -> Path:
    """Write a notebook into the home's own notebooks/ and return its path."""
    path = home / "notebooks" / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook(*cells)), encoding="utf-8")
    return path
