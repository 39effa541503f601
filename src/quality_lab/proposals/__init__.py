"""Groups of labels as proposals: what to change, why, and what became of the last decision about it."""

from quality_lab.proposals.compat import compat_preview
from quality_lab.proposals.compat_query import CompatQuery, CompatQueryError, parse_compat_query

__all__ = ["CompatQuery", "CompatQueryError", "compat_preview", "parse_compat_query"]
