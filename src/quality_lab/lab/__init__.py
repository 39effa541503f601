"""The front door: a lab is opened on a home, takes files in and answers questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quality_lab.lab.demo import open_demo as open_demo
    from quality_lab.lab.front_door import Lab as Lab
    from quality_lab.lab.front_door import open_lab as open_lab
    from quality_lab.lab.front_door import readable_formats as readable_formats

__all__ = ["Lab", "open_demo", "open_lab", "readable_formats"]

_FOUND_IN = {
    "Lab": "front_door",
    "open_lab": "front_door",
    "readable_formats": "front_door",
    "open_demo": "demo",
}


def __getattr__(name: str) -> object:
    if name in _FOUND_IN:
        from importlib import import_module

        return getattr(import_module(f"quality_lab.lab.{_FOUND_IN[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
