"""The client of a Quality API: the one room that asks it, and that its tokens pass through.

address.py   where the API lies, from the base that people write
token.py     what lets us in, and how it stays unseen
fetch.py     one GET with bounded patience, and what went wrong with it
"""

from __future__ import annotations

from quality_lab.quality_api.fetch import ApiError, Patience, fetch, fetch_regression_cases
from quality_lab.quality_api.token import without_token

__all__ = ["ApiError", "Patience", "fetch", "fetch_regression_cases", "without_token"]
