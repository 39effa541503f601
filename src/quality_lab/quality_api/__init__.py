"""The client of a Quality API: the one room that asks it, and that its tokens pass through.

address.py   where the API lies, from the base that people write
token.py     what lets us in, and how it stays unseen
session.py   requests with bounded patience, and what went wrong with them
fetch.py     one GET
bodies.py    what upstream makes of the bodies of its write requests
slices.py    more rows than one page holds: a full page is asked for again in parts
reading.py   each kind of thing that can be pulled: its endpoint, its filters, its rows
writing.py   labels and states of proposals: what is there, and what is to be there
"""

from __future__ import annotations

from quality_lab.quality_api.fetch import fetch, fetch_regression_cases
from quality_lab.quality_api.session import ApiError, Patience, Session
from quality_lab.quality_api.token import without_token

__all__ = ["ApiError", "Patience", "Session", "fetch", "fetch_regression_cases", "without_token"]
