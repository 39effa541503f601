"""Groups of labels as proposals: what to change, why, and what became of the last decision about it."""

from quality_lab.proposals.compat import compat_preview
from quality_lab.proposals.compat_query import CompatQuery, CompatQueryError, parse_compat_query
from quality_lab.proposals.decisions import DecisionLine, decision_lines
from quality_lab.proposals.effect import Change, Effect, change_of, effect
from quality_lab.proposals.expectations import Expectation, form_of, read_expectation, remark_on
from quality_lab.proposals.followed import Followed, decision_story, followed
from quality_lab.proposals.grouping import Example, Proposal, proposals
from quality_lab.proposals.heavy import heavy_questions
from quality_lab.proposals.signatures import Signature
from quality_lab.proposals.upstream_record import upstream_proposals

__all__ = [
    "Change",
    "CompatQuery",
    "CompatQueryError",
    "DecisionLine",
    "Effect",
    "Example",
    "Expectation",
    "Followed",
    "Proposal",
    "Signature",
    "change_of",
    "compat_preview",
    "decision_lines",
    "decision_story",
    "effect",
    "followed",
    "form_of",
    "heavy_questions",
    "parse_compat_query",
    "proposals",
    "read_expectation",
    "remark_on",
    "upstream_proposals",
]
