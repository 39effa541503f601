"""The effect of a decision as sentences that people can say in a meeting."""

from __future__ import annotations

from datetime import date, tzinfo
from typing import TYPE_CHECKING

from quality_lab.answers.words import percent, percent_range

if TYPE_CHECKING:
    from quality_lab.proposals.effect import Effect

_LEAST = 10  # reviewed calls: below that a rate is not said


def sentence(effect: Effect, *, zone: tzinfo) -> str:
    """Return what became of a change: the verdict, the figures, and what would tell where nothing does yet."""
    told = [_since(effect, zone), _before(effect)]
    told += [_expected(effect)] if effect.limit is not None else []
    figures = "; ".join(part for part in told if part)
    beside = f" What was expected cannot be read: {effect.unread}." if effect.unread else ""
    beside += _preferred(effect)
    if effect.verdict != "inconclusive":
        if effect.limit is not None:
            return f"{'Verified' if effect.verdict == 'verified' else 'Not verified'}: {figures}.{beside}"
        moved = "It fell" if effect.verdict == "verified" else "It rose"
        return f"{moved} beyond noise: {figures}.{beside}"
    if not effect.calls_since:
        head = "Not enough data yet"
    elif effect.still_open and _broken(effect):
        return f"Too early to say: {figures}.{beside}"
    elif _told_apart(effect):
        head = "No difference beyond noise"
    else:
        head = "Not enough data yet"
    return f"{head}: {figures}.{_wanted(effect)}{beside}"


def in_short(effect: Effect) -> str:
    """Return the verdict as few words, for a mark on a card."""
    if effect.verdict != "inconclusive":
        if effect.limit is None:
            return "it fell" if effect.verdict == "verified" else "it rose"
        return effect.verdict.replace("_", " ")
    if effect.calls_since and effect.still_open and _broken(effect):
        return "too early to say"
    return "no difference beyond noise" if _told_apart(effect) else "not enough data yet"


def _told_apart(effect: Effect) -> bool:
    """Return whether enough was reviewed on both sides to say that no difference shows."""
    return effect.limit is None and effect.reviewed_since >= _LEAST and effect.reviewed_before >= _LEAST


def _since(effect: Effect, zone: tzinfo) -> str:
    day = effect.changed_at.astimezone(zone)
    since = f"since {day.day} {day:%B}"
    if not effect.calls_since:
        return f"no call of {effect.tool_name} was made {since}"
    if effect.rate_since is None or effect.low_since is None or effect.high_since is None:
        return f"nobody has reviewed any of the {_calls(effect.calls_since)} made {since}"
    share = f"{percent(effect.rate_since)} ({percent_range(effect.low_since, effect.high_since)})"
    of = _calls(effect.reviewed_since, "reviewed ")
    return f"{share} of {of} made {since} {'was' if effect.reviewed_since == 1 else 'were'} judged {effect.label}"


def _before(effect: Effect) -> str:
    if effect.rate_before is None or effect.low_before is None or effect.high_before is None:
        return "of the time before, nothing is known"
    share = f"{percent(effect.rate_before)} ({percent_range(effect.low_before, effect.high_before)})"
    return f"before, {share} of {effect.reviewed_before:,}"


def _expected(effect: Effect) -> str:
    assert effect.limit is not None  # asked only where a limit was read
    limit = f"{'under' if effect.below else 'at most'} {percent(effect.limit)}"
    by = date.fromisoformat(effect.by) if effect.by else None
    return f"expected: {limit}" + (f" by {by.day} {by:%B %Y}" if by else "")


def _preferred(effect: Effect) -> str:
    """Return that reviewed calls were chosen because they looked bad; nothing where none was."""
    if not effect.preferred_before and not effect.preferred_since:
        return ""
    since = f"{effect.preferred_since:,} of {effect.reviewed_since:,} since"
    before = f"{effect.preferred_before:,} of {effect.reviewed_before:,} before"
    return f" Mind that queues drew some of these calls because they had failed or were disputed: {since}, {before}."


def _wanted(effect: Effect) -> str:
    """Return how many reviewed calls would tell."""
    if effect.needed is None:
        return ""
    if not effect.reviewed_since:
        return f" If none were judged so, {effect.needed:,} reviewed calls would tell."
    more = effect.needed - effect.reviewed_since
    left = effect.calls_since - effect.reviewed_since
    here = (
        f"{left:,} made since then wait for a review" if left else "none made since then waits for a review"
    )
    return f" At this rate {effect.needed:,} reviewed calls would tell, {more:,} more; {here}."


def _broken(effect: Effect) -> bool:
    """Return whether the rate breaks the limit beyond noise, which counts once its day is over."""
    low = effect.low_since
    return low is not None and effect.limit is not None and low >= effect.limit


def _calls(count: int, kind: str = "") -> str:
    return f"{count:,} {kind}call{'' if count == 1 else 's'}"
