"""Tools that are turned away because they are called before their time, and what has to come first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from quality_lab.answers.words import percent
from quality_lab.metrics.signs.shares import EarlierTool
from quality_lab.reports.findings.finding import Finding, counted, rate_words
from quality_lab.reports.findings.significance import fisher_more
from quality_lab.reports.findings.standing_out import LEVEL, Standout


@dataclass(frozen=True, slots=True)
class Missing:
    """A tool that came before the calls that passed, and did not before those turned away."""

    tool_name: str
    passed_with: int
    passed: int
    gated_with: int
    gated: int
    p_value: float


def what_was_missing(calls: Sequence[EarlierTool]) -> Missing | None:
    """Return the earlier tool that tells calls which passed from gated ones best, if one surely does."""
    gated_by_call = {call.call_uid: call.gated for call in calls}
    gated = sum(gated_by_call.values())
    passed = len(gated_by_call) - gated
    seen: dict[str, list[int]] = {}
    for call in calls:
        if call.earlier_tool is not None:
            seen.setdefault(call.earlier_tool, [0, 0])[call.gated] += 1
    found = [
        Missing(
            name, with_passed, passed, with_gated, gated, fisher_more(with_passed, passed, with_gated, gated)
        )
        for name, (with_passed, with_gated) in seen.items()
    ]
    best = min(found, key=lambda one: (one.p_value, one.tool_name), default=None)
    return best if best is not None and best.p_value <= LEVEL / len(found) else None


def finding_of(standout: Standout, calls: Sequence[EarlierTool], *, weeks: float) -> Finding:
    """Return a tool that is turned away as a finding."""
    tool, sums, found = standout.tool.tool_name, standout.tool.sums("gated"), standout.rate
    reasons = Counter({call.call_uid: call.gate_reason for call in calls if call.gated}.values())
    said = ", ".join(f"{reason or 'no reason given'} {count}" for reason, count in reasons.most_common(3))
    missing = what_was_missing(calls)
    share = rate_words(found.value, found.low, found.high)
    turned = f"{share} of its {counted(sums.n, 'call')} were turned away ({said})"
    if missing is None:
        text = f"{tool}: {turned}; of all other tools' calls {percent(standout.others)} were."
    else:
        text = (
            f"{tool} is called too early: {turned}. In {missing.gated - missing.gated_with} of these "
            f"{missing.gated} {missing.tool_name} had not succeeded before; of the calls that passed, "
            f"{missing.passed_with} of {missing.passed} came after it."
        )
    return Finding(
        kind="early_call",
        tool_name=tool,
        text=text,
        weight=standout.surely * sums.n / weeks,
        evidence={
            "calls": sums.n, "hits": sums.y, "conversations": sums.conversations,
            "rate": found.value, "low": found.low, "high": found.high, "n_eff": found.n_eff,
            "others": standout.others, "level": LEVEL,
            "reasons": {str(reason): count for reason, count in reasons.most_common()},
            "missing_before": None if missing is None else missing.tool_name,
            "gated_with": None if missing is None else missing.gated_with,
            "passed_with": None if missing is None else missing.passed_with,
            "passed": None if missing is None else missing.passed,
        },
    )  # fmt: skip  # evidence reads by its groups
