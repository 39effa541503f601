"""Groups of labels as proposals: what to change, why, and what became of the last decision about it."""

from quality_lab.proposals.compat import compat_preview
from quality_lab.proposals.compat_query import CompatQuery, CompatQueryError, parse_compat_query
from quality_lab.proposals.decisions import DecisionLine, decision_lines
from quality_lab.proposals.grouping import Example, Proposal, proposals
from quality_lab.proposals.heavy import heavy_questions
from quality_lab.proposals.signatures import Signature

__all__ = [
    "CompatQuery",
    "CompatQueryError",
    "DecisionLine",
    "Example",
    "Proposal",
    "Signature",
    "compat_preview",
    "decision_lines",
    "heavy_questions",
    "parse_compat_query",
    "proposals",
]
