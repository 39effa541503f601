"""The client of a Quality API: the one room that asks it, and that its tokens pass through.

address.py   where the API lies, from the base that people write
token.py     what lets us in, and how it stays unseen
session.py   requests with bounded patience, and what went wrong with them
fetching.py  one GET
bodies.py    what upstream makes of the bodies of its write requests
slices.py    more rows than one page holds: a full page is asked for again in parts
reading.py   each kind of thing that can be pulled: its endpoint, its filters, its rows
writing.py   labels and states of proposals: what is there, and what is to be there
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quality_lab.quality_api.fetching import fetch as fetch
    from quality_lab.quality_api.fetching import fetch_regression_cases as fetch_regression_cases
    from quality_lab.quality_api.session import ApiError as ApiError
    from quality_lab.quality_api.session import Patience as Patience
    from quality_lab.quality_api.session import Session as Session
    from quality_lab.quality_api.token import without_token as without_token

__all__ = ["ApiError", "Patience", "Session", "fetch", "fetch_regression_cases", "without_token"]

# Looked up when first used: the rules of `bodies` are for those too who ask no server.
_FOUND_IN = {
    "ApiError": "session",
    "Patience": "session",
    "Session": "session",
    "fetch": "fetching",
    "fetch_regression_cases": "fetching",
    "without_token": "token",
}


def __getattr__(name: str) -> object:
    if name in _FOUND_IN:
        from importlib import import_module

        return getattr(import_module(f"quality_lab.quality_api.{_FOUND_IN[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
