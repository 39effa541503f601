"""Edits of a style, drafted by a model from what reviewers found wrong. A draft changes nothing by itself.

The shape is that of upstream's coach: `summary`, `edits` (voice, hooks, stage guidance, few-shot examples, skills
to attach or detach) and `rationale`. Tools are no part of it: whatever else stands in an answer is left out of
the draft, and the draft says so.
"""

from quality_lab.coaching.draft import CoachDraft, nothing_to_coach_on
from quality_lab.coaching.drafting import MOST_TOKENS, draft_edits
from quality_lab.coaching.edits import HOOK_KINDS, STAGES, Refused, answer_schema

__all__ = [
    "HOOK_KINDS",
    "MOST_TOKENS",
    "STAGES",
    "CoachDraft",
    "Refused",
    "answer_schema",
    "draft_edits",
    "nothing_to_coach_on",
]
