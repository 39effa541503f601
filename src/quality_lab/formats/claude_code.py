"""Claude Code sessions: the lines of a session file, or the messages that a headless run prints.

One message of the model is spread over several lines of one `message.id`, each with the usage once more:
it is one message here. Results come on lines of the user's; each is told as a message of its own in the
role "tool". A person's no is a refusal and feedback, not a failure. What a resumed session writes again is
told once. A file that begins in the middle of a session cannot say in which turn its calls were made; its
messages are placed from the second of its first line on, behind those of other parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from quality_lab.formats.claude_entries import Entry
from quality_lab.formats.claude_sessions import Sessions
from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object
from quality_lab.formats.flat import FlatDecoder
from quality_lab.formats.json_pieces import object_in, word
from quality_lab.formats.units import RawUnit
from quality_lab.formats.validation import Refused, tally
from quality_lab.records import Record, SetAside

NAME = "claude_code"
_SPOKEN = ("user", "assistant")
_QUIET = frozenset(
    """
    system summary progress result file-history-snapshot queue-operation attachment last-prompt custom-title
    ai-title agent-name agent-color tag pr-link mode permission-mode worktree-state content-replacement
    rate_limit_event tool_progress auth_status control_cancel_request keep_alive
    """.split()  # noqa: SIM905 - a list of twenty quoted words is harder to read
)
_line = FlatDecoder(Entry)
_HELD = 200  # lines that are held before a new turn lets them go


class _Outer(msgspec.Struct):
    messages: list[msgspec.Raw] | None = None
    type: str | None = None


_outer = msgspec.json.Decoder(_Outer)


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    sessions = Sessions(reading, NAME)

    def take(text: bytes, line: int) -> tuple[Record, ...]:
        outer = _outer.decode(text)
        if outer.type is None and outer.messages is not None:  # a recording of what went to and fro
            found = [object_in(bytes(one)) or {} for one in outer.messages]
            inner = [one.get("message", b"{}") for one in found]
            session_id = sessions.only_session(inner)
            return tuple(
                record
                for one in inner
                for record in _one(one, line, sessions, reading, session_id=session_id)
            )
        return tuple(_one(text, line, sessions, reading))

    held: list[Unit] = []
    for unit in each_object(raws, reading, take):
        if unit.rejects or unit.blank or not sessions.speaks(unit.line):
            yield unit
            continue
        held.append(unit)
        if sessions.turned and len(held) > _HELD:
            yield from _let_go(held, sessions, at_last=False)
    yield from _let_go(held, sessions, at_last=True)


def _let_go(held: list[Unit], sessions: Sessions, *, at_last: bool) -> Iterator[Unit]:
    """Yield the held units of which all is known; the rest stay held."""
    told, waiting = sessions.told(at_last=at_last)
    ready = [unit for unit in held if unit.line not in waiting]
    held[:] = [unit for unit in held if unit.line in waiting]
    for unit in ready:
        yield Unit(unit.line, (*unit.records, *told.pop(unit.line, ())))


def _one(
    text: bytes, line: int, sessions: Sessions, reading: Reading, *, session_id: str | None = None
) -> Iterator[Record]:
    notes = reading.notes
    kind = word(object_in(text) or {}, "type")
    if kind is None:
        raise Refused("type", "required field is missing")
    if kind not in _SPOKEN:
        if kind not in _QUIET:
            tally(notes, notes.not_understood, kind)
        yield SetAside(kind=kind, reason="it is nothing that was said or called")
        return
    entry = _line.decode(text, notes)
    if entry.sessionId is None and entry.session_id in (None, "default") and session_id is not None:
        entry.sessionId = session_id
    sessions.take(entry, line)


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    listed = found.get("messages")
    if isinstance(listed, list) and listed and isinstance(listed[0], dict) and "direction" in listed[0]:
        inner = [one.get("message") for one in listed if isinstance(one, dict)]
        found = next((one for one in inner if isinstance(one, dict) and one.get("type") in _SPOKEN), found)
    message = found.get("message")
    spoken = found.get("type") in _SPOKEN
    named = any(name in found for name in ("sessionId", "session_id", "leafUuid", "messageId"))
    return {
        '"type" as "user", "assistant" or one of a session\'s own': spoken
        or (str(found.get("type")) in _QUIET and (named or "total_cost_usd" in found)),
        '"message" with "content"': isinstance(message, dict) and "content" in message
        if spoken
        else named or "total_cost_usd" in found,
    }


FORMAT = ObjectFormat(
    name=NAME,
    title="Claude Code sessions",
    recognised_by='Lines whose "type" is "user" or "assistant" with a "message", as sessions (JSONL) and '
    "headless runs (stream-json) hold them.",
    key="(session, id of the call): lines are only ever added to a session, and its ids do not repeat",
    expectations=_expectations,
    shapes=("type message.role message.content sessionId uuid parentUuid",),
    reader=_read,
)
