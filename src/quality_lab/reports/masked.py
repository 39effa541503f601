"""An executed notebook whose outputs are masked, so that page, notebook and summary show the same stand-ins."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from quality_lab.masking import Masker
from quality_lab.reports.attached import AGENDA_MIME

_PERSONS = frozenset(
    {"author", "owner"}
)  # of an agenda: who is meant has to be known when the meeting is closed


def masked_notebook(notebook: Mapping[str, Any], masker: Masker) -> dict[str, Any]:
    """Return the notebook (its JSON), every text in its outputs masked; code, pictures and numbers stay."""
    cells = [
        {**cell, "outputs": [_output(output, masker) for output in cell["outputs"]]}
        if "outputs" in cell
        else cell
        for cell in notebook.get("cells", [])
    ]
    return {**notebook, "cells": cells}


def _output(output: Mapping[str, Any], masker: Masker) -> dict[str, Any]:
    shown = {
        name: masked(output[name], masker)
        for name in ("text", "ename", "evalue", "traceback")
        if name in output
    }
    if "data" in output:
        shown["data"] = {
            mime: content
            if mime.startswith("image/") and "svg" not in mime
            else masked(content, masker, spared=_PERSONS if mime == AGENDA_MIME else frozenset())
            for mime, content in output["data"].items()
        }
    return {**output, **shown}


def masked(value: Any, masker: Masker, *, spared: Collection[str] = ()) -> Any:
    """Return JSON's value with every text in it masked; names of members stay, and texts of members in *spared*.

    Lines of one text (as notebooks keep them) are masked together, so that nothing hides in a break.
    """
    if isinstance(value, str):
        return masker.text(value)
    if isinstance(value, Mapping):
        return {
            name: inner if name in spared and isinstance(inner, str) else masked(inner, masker, spared=spared)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        lines = value and all(isinstance(line, str) and line.endswith("\n") for line in value[:-1])
        if lines and len(value) > 1 and isinstance(value[-1], str):
            return masker.text("".join(value)).splitlines(keepends=True)
        return [masked(inner, masker, spared=spared) for inner in value]
    return value
