"""Findings: what the calls and labels of a window show beyond noise, by rules that know no tool's name.

Each rule is a general one: a share that surely stands out from the other tools', a share that rose at some
day, words that stand beside some labels and not beside others. What a rule may claim wrongly is bounded: 1 %
over all tools together for tools that stand out, 5 % for a change over time, whichever day it is found at.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import datetime

from quality_lab.metrics.asking import Asks
from quality_lab.metrics.filters import Filters
from quality_lab.metrics.signs.reviews import argument_values, asked, label_notes, reviewed
from quality_lab.metrics.signs.shares import (
    conversation_signs,
    earlier_tools,
    failure_words,
    guard_texts,
    tool_signs,
)
from quality_lab.proposals.error_words import signature_of
from quality_lab.reports.findings import drifting, early_calls, standing_out, unserved
from quality_lab.reports.findings.finding import Finding, Kind, local_day

__all__ = ["Finding", "Kind", "findings"]


def findings(store: Asks, filters: Filters, *, weeks: float = 4.0) -> list[Finding]:
    """Return the findings in the window of *filters*, the one that concerns most calls a week first.

    *weeks* is the length of the window. Filters on outcome, error and label would make every share a
    tautology, so they are left aside.
    """
    all_outcomes = replace(filters, outcome=(), error=None, label=())
    found = [
        *_from_calls(store, all_outcomes, weeks),
        *_from_labels(store, all_outcomes, weeks),
    ]
    return sorted(found, key=lambda finding: (-finding.weight, finding.kind, finding.tool_name or ""))


def _from_calls(store: Asks, filters: Filters, weeks: float) -> list[Finding]:
    tools = tool_signs(store, filters=filters)
    failed = list(standing_out.standouts(tools, "failed"))
    empty = list(standing_out.standouts(tools, "empty"))
    gated = list(standing_out.standouts(tools, "gated"))
    found = []
    if failed or empty:
        zone = filters.zone()
        chosen = [standout.tool.tool_name for standout in (*failed, *empty)]
        conversations = conversation_signs(store, filters=filters, chosen=chosen)
        said = _reasons(store, filters, [standout.tool.tool_name for standout in failed])
        days = [local_day(conversation.started_at, zone) for conversation in conversations]
        for standout in (*failed, *empty):
            change = standing_out.risen(standout, conversations, days)
            reasons = said.get(standout.tool.tool_name, []) if standout.sign == "failed" else []
            found.append(standing_out.finding_of(standout, change, reasons, weeks=weeks))
    for standout in gated:
        calls = earlier_tools(store, filters=filters, chosen=standout.tool.tool_name)
        found.append(early_calls.finding_of(standout, calls, weeks=weeks))
    return found


def _reasons(store: Asks, filters: Filters, chosen: list[str]) -> dict[str, list[tuple[str, int]]]:
    """Return what failed calls of the chosen tools say, without what changes call by call, most first."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for row in failure_words(store, filters=filters, chosen=chosen) if chosen else []:
        found[row.tool_name][signature_of(row.words)] += row.calls
    return {tool: counts.most_common(3) for tool, counts in found.items()}


def _from_labels(store: Asks, filters: Filters, weeks: float) -> list[Finding]:
    rows = reviewed(store, filters=filters)
    if not rows:
        return []
    zone = filters.zone()

    def day(moment: datetime) -> int:
        return local_day(moment, zone)

    notes = label_notes(store, filters=filters)
    found = []
    for drift in drifting.drifts(rows, day):
        of_tool = [note for note in notes if note.tool_name == drift.tool_name]
        values = argument_values(store, filters=filters, chosen=drift.tool_name)
        to_blame = drifting.culprit(values, of_tool, drift.change, day)
        found.append(drifting.finding_of(drift, to_blame, weeks=weeks))
    said = asked(store, filters=filters, chosen=[row.call_uid for row in rows])
    missing = unserved.no_tool(rows, notes, said, guard_texts(store, filters=filters), weeks=weeks)
    return found if missing is None else [*found, missing]
