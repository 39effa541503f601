"""Upstream's preview of grouped proposals, key for key, with its own texts, thresholds and window of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from quality_lab.errors import UsageError
from quality_lab.js_text import trim
from quality_lab.labels import ACTIONABLE, PROPOSAL_KIND
from quality_lab.metrics.asking import Asks
from quality_lab.metrics.compat_summary import only_upstream_filters
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.joined_examples import JoinedExample, epoch_s, joined_examples
from quality_lab.quality_api.bodies import SOURCES

MOST_ROWS = 500
MOST_GROUPS = 20
MOST_EXAMPLES = 3

_TITLE = {
    "schema_fix": "Tighten args for {tool}",
    "routing_prompt_fix": "Clarify routing for {tool}",
    "tool_candidate": "Review missing tool around {tool}",
}
_TAIL = {
    "schema_fix": "{errors} traces are marked as tool errors.",
    "routing_prompt_fix": "the agent likely chose this tool in the wrong context.",
    "tool_candidate": "users/admins are signaling an absent capability or missing tool route.",
}
_CAUSE = {
    "schema_fix": "Bad args labels usually point to missing validation, defaults, or examples.",
    "routing_prompt_fix": "Wrong tool labels usually point to ambiguous tool selection criteria.",
    "tool_candidate": "Missing tool labels usually point to a capability gap or a routing gap.",
}
_ACTIONS = {
    "schema_fix": (
        "Review {tool} args schema for required fields, enum constraints, and null handling.",
        "Add a regression example from the attached traces.",
        "Tighten the tool-use prompt with a valid args example.",
    ),
    "routing_prompt_fix": (
        "Clarify when {tool} should and should not be selected.",
        "Add a negative routing example from the attached traces.",
        "Re-run self-play for the affected source after prompt changes.",
    ),
    "tool_candidate": (
        "Review whether {tool} was used as a fallback for a missing capability.",
        "Draft a tool contract or explicit no-tool fallback for this scenario.",
        "Add a routing regression once the missing capability is decided.",
    ),
}


@dataclass(slots=True)
class Group:
    """Rows of one label, tool and source, newest first, as they are met."""

    label: str
    tool: str
    source: str
    rows: list[JoinedExample]

    @property
    def errors(self) -> int:
        """Return how many rows stand on a call with the error flag."""
        return sum(row.is_error is True for row in self.rows)

    @property
    def last_at(self) -> int:
        """Return the time of the newest row."""
        return max(epoch_s(row.labelled_at) or 0 for row in self.rows)


def compat_preview(store: Asks, *, filters: Filters = EVERYTHING, limit: int = 100) -> list[dict[str, Any]]:
    """Return the items of upstream's preview: groups of the newest *limit* actionable labels, at most twenty.

    Raises:
        UsageError: a filter that upstream does not have, or a limit outside 1 to 500.
    """
    only_upstream_filters(filters)
    if not 1 <= limit <= MOST_ROWS:
        raise UsageError(f"the preview reads 1 to {MOST_ROWS} labels, not {limit}")
    rows = joined_examples(store, filters=filters, limit=limit, among=ACTIONABLE)
    return [preview(group) for group in grouped(rows)]


def grouped(rows: list[JoinedExample]) -> list[Group]:
    """Return *rows* by label, tool and source: most rows first, then most errors, then the newest."""
    groups: dict[tuple[str, str, str], Group] = {}
    for row in rows:
        tool = row.tool_name or "unknown_tool"
        source = row.source if row.source in SOURCES else "llm_reply"
        group = groups.setdefault((row.label, tool, source), Group(row.label, tool, source, []))
        group.rows.append(row)
    ranked = sorted(groups.values(), key=lambda group: (-len(group.rows), -group.errors, -group.last_at))
    return ranked[:MOST_GROUPS]


def preview(group: Group) -> dict[str, Any]:
    """Return one item of the preview, keys in upstream's order."""
    kind, total = PROPOSAL_KIND[group.label], len(group.rows)
    fingerprint = f"{kind}:{group.source}:{group.tool}:{group.label}"
    examples = group.rows[:MOST_EXAMPLES]
    notes = [note for row in examples if (note := trim(row.note or ""))][:2]
    tail = _TAIL[kind].format(errors=group.errors)
    return {
        "id": fingerprint,
        "fingerprint": fingerprint,
        "kind": kind,
        "severity": severity(total, group.errors),
        "title": _TITLE[kind].format(tool=group.tool),
        "toolName": group.tool,
        "source": group.source,
        "label": group.label,
        "feedbackCount": total,
        "errorCount": group.errors,
        "lastFeedbackAt": group.last_at,
        "summary": f"{total} {group.label} labels on {group.tool} from {group.source}; {tail}",
        "rationale": [
            f"{total} recent actionable feedback labels are clustered together.",
            f"{group.errors} examples also have tool execution errors.",
            *([f"Reviewer notes include: {' | '.join(notes)}"] if notes else []),
            _CAUSE[kind],
        ],
        "actionItems": [action.format(tool=group.tool) for action in _ACTIONS[kind]],
        "examples": [row.document() for row in examples],
    }


def severity(total: int, errors: int) -> str:
    """Return upstream's severity: by counts alone, whatever the denominator."""
    if total >= 5 or errors >= 3:
        return "high"
    return "medium" if total >= 2 or errors >= 1 else "low"
