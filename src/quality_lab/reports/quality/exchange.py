"""A call told as the short exchange it was: the user's words, the call, what came back, a reviewer's note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quality_lab.answers.pretty import pretty
from quality_lab.metrics.asking import Asks
from quality_lab.metrics.filters import Filters
from quality_lab.metrics.signs.reviews import ChosenCall, LabelNote, asked, chosen_calls, label_notes
from quality_lab.reports.blocks import Html, join, tag, text

_LONGEST = 600  # characters of one part; the whole call stands in the lab
_LINES = "\n\t"


@dataclass(frozen=True, slots=True)
class Example:
    """One call with everything that belongs to it."""

    call: ChosenCall
    asked: str | None  # the last thing the user said; None where the traces do not hold it
    notes: tuple[LabelNote, ...]


def examples(
    store: Asks, filters: Filters, chosen: Sequence[str], notes: Sequence[LabelNote] | None = None
) -> Mapping[str, Example]:
    """Return the *chosen* calls (their uids) as examples, by uid; a call that is not here is left out."""
    if not chosen:
        return {}
    wanted = list(dict.fromkeys(chosen))
    if notes is None:
        notes = label_notes(store, filters=filters)
    said = {row.call_uid: row.text for row in asked(store, filters=filters, chosen=wanted)}
    return {
        call.call_uid: Example(
            call, said.get(call.call_uid), tuple(note for note in notes if note.call_uid == call.call_uid)
        )
        for call in chosen_calls(store, filters=filters, chosen=wanted)
    }


def exchange(example: Example) -> Html:
    """Return an example as markup: a line for each who had a part in it."""
    call = example.call
    outcome = call.outcome.replace("_", " ") + (f", {call.gate_reason}" if call.gate_reason else "")
    parts: list[tuple[str, Html | str]] = []
    if example.asked is not None:
        parts.append(("user", _words(example.asked)))
    parts.append(("call", join([tag("code", call.tool_name), _json(call.arguments, call.arguments_state)])))
    parts.append((f"result: {outcome}", _json(call.result, call.result_state)))
    for note in example.notes:
        says = join([tag("strong", note.label), Html(" "), _words(note.note)]) if note.note else note.label
        parts.append((f"reviewer {note.author}" if note.author else "reviewer", says))
    rows = join(join([tag("dt", who), tag("dd", what)]) for who, what in parts)
    return tag("div", tag("dl", rows), class_="exchange")


def _words(words: str) -> Html:
    return text(_cut(words), keep=_LINES)


def _json(json_text: str | None, state: str) -> Html:
    if json_text is None:
        return tag("span", f" ({state.replace('_', ' ')})", class_="quiet")
    return tag("pre", text(_cut(pretty(json_text, width=74)), keep=_LINES))


def _cut(words: str) -> str:
    left = len(words) - _LONGEST
    return words if left <= 0 else f"{words[:_LONGEST]}… ({left:,} more characters)"
