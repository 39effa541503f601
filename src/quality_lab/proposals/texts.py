"""What a proposal says: a title, a sentence, the reasons and what to do, in plain text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from quality_lab.intervals import Rate
from quality_lab.proposals.evidence import Evidence
from quality_lab.proposals.signatures import Signature

_LONGEST_NOTE = 160  # characters

_TITLE = {
    "schema_fix": "Make the arguments of {tool} harder to get wrong",
    "routing_prompt_fix": "Say when {tool} is the wrong choice",
    "tool_candidate": "Find out what is missing where {tool} was called",
}
_CAUSE = {
    "schema_fix": "Wrong arguments mostly come from a schema that allows them, or leaves words unexplained.",
    "routing_prompt_fix": "Wrong choices mostly come from two descriptions that promise the same.",
    "tool_candidate": "The label hangs on the call that was made; what was wanted was not there.",
}
_ACTIONS = {
    "schema_fix": (
        "Narrow the schema of {tool}: what is required, which values are allowed, what null means.",
        "Put one well-formed call into its description.",
        "Keep one of the examples as a regression case before changing anything.",
    ),
    "routing_prompt_fix": (
        "Write into the description of {tool} when not to call it, and what to call instead.",
        "Give the prompt one counter-example from the calls below.",
        "Keep one of the examples as a regression case before changing anything.",
    ),
    "tool_candidate": (
        "Read the examples and decide: a new tool, a route to an old one, or an honest no.",
        "Write down the contract of what is missing, or the words in which the agent declines.",
        "Keep one of the examples as a regression case once that is decided.",
    ),
}

_NO_RATE = {
    "guard": "these are a guard's rows, not calls, so there is no rate",
    "no_trace": "without a trace export nobody can say how often that is",
    "outside_trace": "the trace export does not hold these calls, so there is no rate",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Texts:
    """The words of a proposal."""

    title: str
    summary: str
    rationale: tuple[str, ...]
    action_items: tuple[str, ...]


def texts(
    *,
    kind: str,
    tool: str,
    source: str | None,
    label: str,
    rate: Rate | None,
    judged: int,
    feedback_count: int,
    calls: int,
    error_count: int,
    per_week: float | None,
    signatures: Sequence[Signature],
    evidence: Sequence[Evidence],
    why_no_rate: Literal["guard", "no_trace", "outside_trace"],
    decided_at: datetime | None,
) -> Texts:
    """Return the words of a proposal.

    *decided_at* is the decision after which the fault came back, else None; *why_no_rate* counts where *rate*
    is None.
    """
    name = tool or "a call without a tool name"
    place = f"{name} in {source}" if source else name
    return Texts(
        title=_TITLE[kind].format(tool=name),
        summary=_summary(place, label, rate, judged, feedback_count, calls, per_week, why_no_rate),
        rationale=tuple(
            _rationale(kind, label, feedback_count, calls, error_count, signatures, evidence, decided_at)
        ),
        action_items=tuple(_actions(kind, name, signatures)),
    )


def _summary(
    place: str,
    label: str,
    rate: Rate | None,
    judged: int,
    given: int,
    calls: int,
    per_week: float | None,
    why_no_rate: str,
) -> str:
    if rate is None:
        labels = f"{_counted(given, 'label')} {label} on {_counted(calls, 'call')} of {place}"
        return f"{labels}; {_NO_RATE[why_no_rate]}."
    share = f"{_percent(rate.value)} ({_percent(rate.low)} to {_percent(rate.high)})"
    reviewed = f"{judged} of {_counted(rate.n, 'reviewed call')} of {place}"
    said = f"{reviewed} {'was' if judged == 1 else 'were'} judged {label}: {share}"
    return f"{said}; it is called {_number(per_week)} times a week." if per_week is not None else f"{said}."


def _rationale(
    kind: str,
    label: str,
    given: int,
    calls: int,
    errors: int,
    signatures: Sequence[Signature],
    evidence: Sequence[Evidence],
    decided_at: datetime | None,
) -> list[str]:
    reasons = []
    if decided_at is not None:
        reasons.append(f"It was decided on {decided_at:%Y-%m-%d}, and such calls were made after that.")
    given_on = f"{_counted(given, 'label')} {label} on {_counted(calls, 'call')}"
    reasons.append(f"{given_on}; {errors} of them on a call that failed.")
    for one in signatures[:2]:
        odd = f" ({one.detail})" if one.detail else ""
        words = {
            "argument": "have in common",
            "error": "failed alike",
            "expected_tool": "should have gone to",
        }[one.kind]
        reasons.append(f"{one.calls} of the {one.of} newest {words}: {one.signature}{odd}.")
    notes = list(
        dict.fromkeys(_short(piece.note) for piece in evidence if piece.note and piece.note.strip())
    )[:2]
    if notes:
        reasons.append("Reviewers wrote: " + " · ".join(notes))
    reasons.append(_CAUSE[kind])
    return reasons


def _actions(kind: str, tool: str, signatures: Sequence[Signature]) -> list[str]:
    actions = [action.format(tool=tool) for action in _ACTIONS[kind]]
    first = next((one for one in signatures if one.kind in ("argument", "expected_tool")), None)
    if first is not None and first.kind == "argument":
        actions.insert(0, f"Start with {first.signature}: {first.calls} of {first.of} calls point there.")
    elif first is not None:
        actions.insert(
            0, f"Compare the descriptions of {tool} and {first.signature}: reviewers name the latter."
        )
    return actions


def _short(note: str) -> str:
    text = " ".join(note.split())
    return text if len(text) <= _LONGEST_NOTE else text[: _LONGEST_NOTE - 1].rstrip() + "…"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _percent(share: float) -> str:
    """Return a share in per cent: whole from 10 % on, one digit below.

    Never 0 % for something that is more than nothing.
    """
    if 0 < share < 0.0005:
        return "<0.1 %"
    return (
        f"{share:.0%}".replace("%", " %")
        if share >= 0.0995 or share == 0
        else f"{share:.1%}".replace("%", " %")
    )


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"
