"""Google ADK sessions: events with parts, of which some are calls of functions and some their responses.

Old sessions have no ids: a response belongs to the first open call of its name in the batch before it. A
transfer to another agent is control flow and no call. A tool's "no" in a confirmation is a person's.
Nothing flags a failure: what a response says in its "error" is for the rule that looks at results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from quality_lab.formats.chat import Setting, call_key
from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object
from quality_lab.formats.exchange import Called, Exchange, Said
from quality_lab.formats.json_pieces import (
    Pieces,
    first,
    integer_in,
    is_nothing,
    list_in,
    object_in,
    string_in,
    word,
)
from quality_lab.formats.moments import moment_of
from quality_lab.formats.units import RawUnit
from quality_lab.formats.upstream import arguments_of
from quality_lab.formats.validation import Refused, tally
from quality_lab.records import Conversation, Feedback, Record

NAME = "google_adk"
_OF_A_SESSION = frozenset(
    (
        "id",
        "app_name",
        "appName",
        "user_id",
        "userId",
        "state",
        "events",
        "last_update_time",
        "lastUpdateTime",
    )
)
_TRANSFER = "transfer_to_agent"
_CONFIRMATION = "adk_request_confirmation"
_CREDENTIAL = "adk_request_credential"

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])


class _Session:
    """One session being read."""

    def __init__(self, reading: Reading, line: int) -> None:
        self._reading, self._notes, self._line = reading, reading.notes, line
        self._exchange = Exchange(reading.notes)
        self._moments: list[datetime] = []
        self._transfers: set[str | None] = set()  # ids of the calls that are none
        self._asked: dict[str | None, str | None] = {}  # id of a confirmation → of the call that waits for it
        self._denied: list[tuple[Called, datetime | None]] = []
        self._model: str | None = None

    def records(self, session: Pieces) -> tuple[Record, ...]:
        """Return all that a session says."""
        session_id = word(session, "id")
        if session_id is None:
            raise Refused("id", "required field is missing")
        for key in session:
            if key not in _OF_A_SESSION:
                tally(self._notes, self._notes.unknown_fields, key)
        for place, one in enumerate(list_in(session.get("events")) or ()):
            event = object_in(one)
            if event is None:
                raise Refused(f"events[{place}]", "wanted an object")
            self._event(event, f"events[{place}]")
        self._exchange.finish()
        options = self._reading.options
        setting = Setting(
            key_space=NAME,
            conversation_id=session_id,
            source=options.source,
            style=options.style,
            model=self._model,
        )
        return (
            Conversation(
                key_space=NAME,
                conversation_id=session_id,
                source=options.source,
                style=options.style,
                model=self._model,
                started_at=min(self._moments, default=None),
                ended_at=max(self._moments, default=None),
            ),
            *(record for _, record in self._exchange.records(setting)),
            *(_refusal(call, moment, setting) for call, moment in self._denied),
        )

    def _event(self, event: Pieces, path: str) -> None:
        if event.get("partial") == b"true":
            self._notes.count(self._notes.merged, "part of an event that comes whole")
            return
        moment = moment_of(msgspec.Raw(event.get("timestamp", b"")), f"{path}.timestamp")
        if moment is not None:
            self._moments.append(moment)
        content = object_in(event.get("content")) or {}
        parts = [object_in(one) or {} for one in list_in(content.get("parts")) or ()]
        asked = [call for part in parts if (call := object_in(first(part, "function_call", "functionCall")))]
        answers = [
            one for part in parts if (one := object_in(first(part, "function_response", "functionResponse")))
        ]
        texts = [text for part in parts if (text := string_in(part.get("text"))) and not _thought(part)]
        more = len(parts) > len(asked) + len(answers) + len(texts)
        for answer in answers:
            self._answer(answer, moment, path)
        if not asked and not texts and not more:
            return
        author = word(event, "author")
        person = author == "user"
        said = self._exchange.say(
            "user" if person else "assistant", "\n".join(texts) or None, line=self._line
        )
        said.content = content["parts"].decode() if more else None
        said.message_id, said.name, said.created_at = word(event, "id"), None if person else author, moment
        self._lay_beside(said, event)
        for place, call in enumerate(asked):
            self._ask(said, call, event, f"{path}.content.parts[{place}]")

    def _ask(self, said: Said, call: Pieces, event: Pieces, path: str) -> None:
        name = string_in(call.get("name"))
        if name is None:
            raise Refused(f"{path}.function_call.name", "required field is missing")
        call_id = word(call, "id")
        if name in (_TRANSFER, _CREDENTIAL, _CONFIRMATION):
            self._transfers.add(call_id)
            if name == _TRANSFER:
                self._notes.count(self._notes.not_understood, "hand-off, which is no call of a tool")
            arguments = object_in(call.get("args")) or {}
            waiting = object_in(first(arguments, "originalFunctionCall", "original_function_call")) or {}
            self._asked[call_id] = word(waiting, "id")
            return
        made = self._exchange.call(
            said, name, arguments_of(msgspec.Raw(call.get("args", b""))), call_id=call_id
        )
        made.actor = "sub_agent" if "." in (word(event, "branch") or "") else "model"

    def _answer(self, answer: Pieces, moment: datetime | None, path: str) -> None:
        name, call_id = string_in(answer.get("name")), word(answer, "id")
        if name in (_TRANSFER, _CREDENTIAL, _CONFIRMATION):
            confirmed = (object_in(answer.get("response")) or {}).get("confirmed")
            if name == _CONFIRMATION and confirmed == b"false":
                self._deny(self._asked.get(call_id), moment)
            return
        response = answer.get("response")
        said = self._exchange.say("tool", None, line=self._line)
        said.text = None if response is None else string_in(response) or response.decode()
        said.call_id, said.name, said.created_at = call_id, name, moment
        call = self._exchange.asker(call_id, tool_name=name)
        if call is not None:
            call.answered(None if response is None else response.decode(), position=said.position)
            if moment is not None and call.created_at is not None:
                call.latency_ms = (moment - call.created_at).total_seconds() * 1000

    def _deny(self, call_id: str | None, moment: datetime | None) -> None:
        call = next((one for one in reversed(self._exchange.calls) if one.call_id == call_id), None)
        if call is None or call_id is None:
            self._notes.count(self._notes.missing, "confirmation without call")
            return
        call.person_refused = True
        self._denied.append((call, moment))

    def _lay_beside(self, said: Said, event: Pieces) -> None:
        """Lay what an event says of the model's answer beside it."""
        usage = object_in(first(event, "usage_metadata", "usageMetadata")) or {}
        said.input_tokens = integer_in(first(usage, "prompt_token_count", "promptTokenCount"))
        said.output_tokens = integer_in(first(usage, "candidates_token_count", "candidatesTokenCount"))
        said.finish_reason = word(event, "error_code", "errorCode", "finish_reason", "finishReason")
        said.model = word(event, "model_version", "modelVersion")
        self._model = self._model or said.model


def _thought(part: Pieces) -> bool:
    return part.get("thought") == b"true"


def _refusal(call: Called, moment: datetime | None, setting: Setting) -> Feedback:
    key = call_key(setting.conversation_id, call.said.position, call.index)
    return Feedback(
        key_space=NAME,
        key=f"{key}/refusal",
        target_level="call",
        target_key_space=NAME,
        conversation_id=setting.conversation_id,
        call_key=key,
        name="approval",
        score="false",
        author_kind="HUMAN",
        created_at=moment,
        source=setting.source,
        tool_name=call.tool_name,
    )


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    def records(text: bytes, line: int) -> tuple[Record, ...]:
        members = {key: bytes(value) for key, value in _members.decode(text).items()}
        session = object_in(members.get("session")) or members
        if is_nothing(session.get("events")):
            raise Refused("events", "required field is missing")
        return _Session(reading, line).records(session)

    return each_object(raws, reading, records)


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    session = found["session"] if isinstance(found.get("session"), dict) else found
    events = session.get("events")
    said = [one for one in events if isinstance(one, dict)] if isinstance(events, list) else []
    return {
        'a list "events"': isinstance(events, list),
        '"app_name" and "user_id" beside it': any(name in session for name in ("app_name", "appName"))
        and any(name in session for name in ("user_id", "userId")),
        'events with "author"': all("author" in one for one in said),
    }


FORMAT = ObjectFormat(
    name=NAME,
    title="Google ADK sessions",
    recognised_by='Objects with "app_name", "user_id" and a list "events" with "author" and parts.',
    key="(session, position of the message, place in its batch): events are only ever added to a session",
    expectations=_expectations,
    shapes=("app_name user_id events.author events.content.parts",),
    reader=_read,
)
