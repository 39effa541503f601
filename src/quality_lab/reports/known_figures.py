"""The figures that shipped reports hand over, whatever the lab holds: a threshold on another is refused at once."""

from __future__ import annotations

from collections.abc import Mapping

_WINDOW = frozenset(
    (
        *("calls_in_window", "conversations", "coverage", "hours_since_newest_call", "labels_in_window"),
        *("newest_call_at", "reviewed_calls", "reviewers", "since", "undated_calls", "until"),
        *("error_rate", "error_low", "error_high", "error_rate_before", "error_rate_changed"),
        *("judged_failure_rate", "judged_low", "judged_high"),
    )
)
KNOWN_FIGURES: Mapping[str, frozenset[str]] = {
    "quality": _WINDOW | {"weighted_failure_rate", "weighted_low", "weighted_high"},
    "coach-review": _WINDOW
    | {
        *("decisions_to_follow", "decisions_recurred", "decisions_verified", "decisions_not_verified"),
        *("groups", "groups_new", "disputes", "tools_with_unreviewed_calls"),
    },
    "tool": _WINDOW | {"tool", "picked"},
}
