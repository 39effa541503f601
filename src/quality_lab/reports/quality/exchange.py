"""A call told as the short exchange it was: the user's words, the call, what came back, a reviewer's note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from quality_lab import json_text
from quality_lab.answers.pretty import pretty
from quality_lab.masking import Masker
from quality_lab.metrics.asking import Asks
from quality_lab.metrics.filters import Filters
from quality_lab.metrics.signs.reviews import ChosenCall, LabelNote, asked, chosen_calls, label_notes
from quality_lab.people import NOBODY, People
from quality_lab.reports.blocks import Html, join, tag, text

_LONGEST = 600  # characters of one part; the whole call stands in the lab
_ONE_LINE = 240  # characters of JSON that stand in one line, which wraps; longer JSON is indented
_LINES = "\n\t"


@dataclass(frozen=True, slots=True)
class Example:
    """One call with everything that belongs to it."""

    call: ChosenCall
    asked: str | None  # the last thing the user said; None where the traces do not hold it
    notes: tuple[LabelNote, ...]
    people: People = NOBODY


def examples(
    store: Asks, filters: Filters, chosen: Sequence[str], *, masker: Masker | None, people: People = NOBODY
) -> Mapping[str, Example]:
    """Return the *chosen* calls (their uids) as examples, by uid; a call that is not here is left out.

    With a *masker* their arguments and results are masked here, where a member's name still tells a password.
    """
    if not chosen:
        return {}
    wanted = list(dict.fromkeys(chosen))
    notes = label_notes(store, filters=filters, chosen=wanted)
    said = {row.call_uid: row.text for row in asked(store, filters=filters, chosen=wanted)}
    return {
        call.call_uid: Example(
            _masked(call, masker),
            said.get(call.call_uid),
            tuple(note for note in notes if note.call_uid == call.call_uid),
            people,
        )
        for call in chosen_calls(store, filters=filters, chosen=wanted)
    }


def _masked(call: ChosenCall, masker: Masker | None) -> ChosenCall:
    if masker is None:
        return call
    return replace(
        call,
        arguments=call.arguments and masker.json_text(call.arguments),
        result=call.result and masker.json_text(call.result),
    )


def exchange(example: Example) -> Html:
    """Return an example as markup: a line for each who had a part in it."""
    call = example.call
    outcome = "outcome not known" if call.outcome == "unknown" else call.outcome.replace("_", " ")
    if call.gate_reason:
        outcome += f", {call.gate_reason}"
    parts: list[tuple[str, Html | str]] = []
    if example.asked is not None:
        parts.append(("user", _words(example.asked)))
    parts.append(("call", join([tag("code", call.tool_name), _json(call.arguments, call.arguments_state)])))
    came = join([tag("span", outcome, class_="quiet"), _json(call.result, call.result_state)])
    parts.append(("result", came))
    for note in example.notes:
        name = f"{person(note.author, example.people)}: " if note.author else None
        words = join([" ", _words(note.note)]) if note.note else None
        parts.append(("reviewer", join([name, tag("strong", note.label), words])))
    rows = join(join([tag("dt", who), tag("dd", what)]) for who, what in parts)
    return tag("div", tag("dl", rows), class_="exchange")


def person(author: str, people: People = NOBODY) -> str:
    """Return a reviewer as colleagues call one: by name where *people* has it, of an address what is before the @.

    >>> person("dana@example.com"), person("3"), person("3", People({"3": "Dana"}))
    ('dana', '3', 'Dana')
    """
    return people.names.get(author) or author.partition("@")[0] or author


def _words(words: str) -> Html:
    return text(_cut(words), keep=_LINES)


def _json(content: str | None, state: str) -> Html:
    if content is None:
        return tag("span", f" ({state.replace('_', ' ')})", class_="quiet")
    return tag("pre", text(_cut(pretty(_inner(content), width=_ONE_LINE)), keep=_LINES))


def _inner(text_of_json: str) -> str:
    """Return the text that a JSON string holds, as many tools answer in one; any other JSON as it is."""
    try:
        value = json_text.parse(text_of_json)
    except (ValueError, RecursionError):
        return text_of_json
    return value if isinstance(value, str) else text_of_json


def _cut(words: str) -> str:
    left = len(words) - _LONGEST
    return words if left <= 0 else f"{words[:_LONGEST]}… ({left:,} more characters)"
