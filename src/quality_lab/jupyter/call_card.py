"""A call as a card for the browser: the story around it, what it was given, what came back, what the tool is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from quality_lab.answers import Step, visible
from quality_lab.answers.pretty import pretty, readable
from quality_lab.answers.words import number, time
from quality_lab.errors import NoData
from quality_lab.jupyter.schema_words import parameter_rows
from quality_lab.people import shown

if TYPE_CHECKING:
    from quality_lab.lab import Lab
    from quality_lab.metrics.conversation_calls import ConversationCall
    from quality_lab.metrics.offered_definitions import OfferedDefinition

BEFORE, AFTER = 30, 12  # steps of the story that come with a card; the others are asked for
_LONGEST = 60_000  # characters of arguments or of a result
_LONGEST_SAID = 4_000  # characters of a message
_BRIEF = 160  # characters of arguments on one line
_KEEP = "\n\t"
_WHY_NOTHING = {
    "absent": "none were given",
    "not_captured": "not captured",
    "pending": "no result yet",
}
_WIDTH = 48  # characters of a line of JSON, which has half of the page


def call_card(lab: Lab, call_uid: str, *, whole: bool = False) -> dict[str, Any]:
    """Return the card of a call as JSON; *whole* brings the whole conversation. Nobody's label is on it.

    All text is made visible: nothing in it moves a cursor or turns a line round.

    Raises: NoData for an unknown call.
    """
    from quality_lab.metrics.call_place import call_place
    from quality_lab.metrics.conversation_calls import conversation_calls
    from quality_lab.metrics.offered_definitions import offered_definitions

    if not lab.store.exists():
        raise NoData(
            f"wanted the uid of a call, came {call_uid!r}; {lab.where()}, and nothing was loaded yet"
        )
    with lab.store.together():
        place = call_place(lab.store, call_uid)
        if place is None:
            raise NoData(f"wanted the uid of a call in this lab, came {call_uid!r}; `calls` lists them")
        told = lab.conversation(place.conversation_uid)
        (row,) = (
            one for one in conversation_calls(lab.store, place.call_uid) if one.call_uid == place.call_uid
        )
        offered = offered_definitions(lab.store, place.call_uid)
    story = [step for step in told.steps if step.kind != "labelled"]
    index = next(index for index, step in enumerate(story) if step.call_uid == place.call_uid)
    first = 0 if whole else max(0, index - BEFORE)
    last = len(story) if whole else min(len(story), index + AFTER + 1)
    said = any(step.kind == "said" for step in story)
    return {
        "uid": place.call_uid,
        "tool": visible(row.tool_name),
        "state": visible(story[index].state or ""),
        "fine": story[index].fine,
        "facts": _facts(row, story[index]),
        "arguments": _block(row.arguments, row.arguments_state),
        "result": _block(row.result, row.result_state),
        "editable": _editable(row.arguments),
        "story": [story_step(step, chosen=first + i == index) for i, step in enumerate(story[first:last])],
        "before": first,
        "after": len(story) - last,
        "told": ""
        if said
        else "The words around the call are not in this lab: the export holds calls alone.",
        "definition": _definition(row.tool_name, offered),
        "tools": sorted({visible(one.name) for one in offered} | {visible(row.tool_name)}),
    }


def story_step(step: Step, *, chosen: bool = False) -> dict[str, Any]:
    """Return one thing that happened as JSON for the browser."""
    return {
        "kind": step.kind,
        "who": visible(shown(step.who)),
        "text": _cut(visible(step.text or "", keep=_KEEP), _LONGEST_SAID),
        "brief": _brief(step.arguments),
        "arguments": _shown(step.arguments) if step.arguments is not None else "",
        "result": _shown(step.result) if step.result is not None else "",
        "state": visible(step.state or ""),
        "fine": step.fine,
        "at": stamp(step.at),
        "uid": step.call_uid,
        "chosen": chosen,
    }


def _brief(arguments: str | None) -> str:
    """Return the arguments on one line, as far as one line goes."""
    return (
        "" if arguments is None else visible(pretty(arguments[:_LONGEST_SAID], width=_LONGEST_SAID))[:_BRIEF]
    )


def stamp(moment: datetime | None) -> str:
    """Return a time in UTC to the minute, or an empty text."""
    return "" if moment is None else time(moment)


def _facts(row: ConversationCall, step: Step) -> list[str]:
    """Return what else is known of a call, each in a few words."""
    words = [
        f"{stamp(row.created_at)} UTC" if row.created_at else "undated",
        row.source or "",
        "" if row.latency_ms is None else f"{number(row.latency_ms)} ms",
        f"made by {row.actor}" if row.actor != "model" else "",
        "" if row.tenant == "default" else f"tenant {row.tenant}",
        f"conversation {row.conversation_id}",
        (step.origin or "").replace("\\", "/").rpartition("/")[2],  # file and line
    ]
    return [visible(word) for word in words if word]


def _block(json_text: str | None, state: str) -> dict[str, Any]:
    """Return JSON text laid out, and a word on its state where that is no plain one."""
    words = {"invalid_json": "no JSON, shown as it came", "truncated": "cut short in the export"}
    if json_text is None:
        return {"text": "", "word": _WHY_NOTHING.get(state, "nothing")}
    return {"text": _shown(json_text), "word": words.get(state, "")}


def _shown(json_text: str) -> str:
    return _cut(visible(pretty(readable(json_text), width=_WIDTH), keep=_KEEP), _LONGEST)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text) - longest:,} more characters)"


def _definition(tool: str, offered: Sequence[OfferedDefinition]) -> dict[str, Any] | None:
    found = next((one for one in offered if one.name == tool), None)
    if found is None:
        return None
    return {
        "description": _cut(visible(found.description or "", keep=_KEEP), _LONGEST_SAID),
        "parameters": parameter_rows(found.parameters),
        "schema": _shown(found.parameters) if found.parameters else "",
    }


def _editable(arguments: str | None) -> str:
    r"""Return arguments laid out to be edited; what the eye cannot see is written as JSON escapes it.

    >>> print(_editable('{"to": "a\u202e", "n": 5}'))
    {
      "to": "a\u202e",
      "n": 5
    }
    """
    text = pretty(arguments or "{}", width=1)
    return "".join(
        letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1] for letter in text
    )
