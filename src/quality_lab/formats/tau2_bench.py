"""tau2-bench results: simulated conversations in which the agent and the user both call tools.

A result file holds all its simulations; each is read by itself, so that a broken one costs no other. Calls
of the simulated user are told apart by their actor. Times are written without a zone: they are taken as
UTC, which keeps their order and their distances, and that is noted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from quality_lab.formats.chat import Setting
from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object
from quality_lab.formats.exact import is_json
from quality_lab.formats.exchange import Called, Exchange
from quality_lab.formats.flat import FlatDecoder
from quality_lab.formats.json_pieces import Pieces, integer_in, list_in, number_in, object_in, string_in, word
from quality_lab.formats.moments import moment_of
from quality_lab.formats.splitting import members, values
from quality_lab.formats.tau2_scores import scores
from quality_lab.formats.units import RawUnit
from quality_lab.formats.upstream import arguments_of
from quality_lab.formats.validation import Refused, tally
from quality_lab.records import Conversation, Record, SetAside

NAME = "tau2_bench"
_ABSENT = msgspec.Raw()
_OF_A_MESSAGE = frozenset(
    ("role", "content", "tool_calls", "turn_idx", "timestamp", "cost", "usage", "raw_data", "id", "requestor",
     "error", "generation_time_seconds", "tool_messages")
)  # fmt: skip


class _Simulation(msgspec.Struct, kw_only=True, gc=False):
    id: str | None = None
    task_id: int | str
    trial: int | None = None
    seed: int | None = None
    timestamp: msgspec.Raw = _ABSENT
    start_time: msgspec.Raw = _ABSENT
    end_time: msgspec.Raw = _ABSENT
    duration: msgspec.Raw = _ABSENT
    termination_reason: str | None = None
    agent_cost: msgspec.Raw = _ABSENT
    user_cost: msgspec.Raw = _ABSENT
    reward_info: msgspec.Raw = _ABSENT
    messages: msgspec.Raw = _ABSENT
    ticks: msgspec.Raw = _ABSENT
    mode: msgspec.Raw = _ABSENT
    policy: msgspec.Raw = _ABSENT
    info: msgspec.Raw = _ABSENT
    review: msgspec.Raw = _ABSENT
    auth_classification: msgspec.Raw = _ABSENT
    hallucination_retries_used: msgspec.Raw = _ABSENT
    speech_environment: msgspec.Raw = _ABSENT


_simulation = FlatDecoder(_Simulation)


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    for raw in raws:
        simulations, model = _taken_apart(raw)
        if not simulations:
            yield Unit(raw.line, (SetAside(kind="results", reason="it holds no simulation"),))
            continue
        simulator = _Simulator(reading, model)
        yield from each_object(iter(simulations), reading, simulator.records)


def _taken_apart(raw: RawUnit) -> tuple[list[RawUnit], str | None]:
    """Return the simulations of a result file, and the agent's model; a simulation alone is itself."""
    if raw.problem is not None or not is_json(raw.text) or not raw.text.lstrip().startswith(b"{"):
        return [raw], None
    held = dict(members(raw.text))
    listed = held.get(b'"simulations"')
    if listed is None:
        return [raw], None
    info = object_in(held.get(b'"info"')) or {}
    model = word(object_in(info.get("agent_info")) or {}, "llm")
    return [RawUnit(raw.line, piece.text, piece.problem) for piece in values([listed])], model


class _Simulator:
    """Reads the simulations of one file."""

    def __init__(self, reading: Reading, model: str | None) -> None:
        self._reading, self._notes, self._model = reading, reading.notes, model

    def records(self, text: bytes, line: int) -> tuple[Record, ...]:
        found = _simulation.decode(text, self._notes)
        messages = list_in(bytes(found.messages))
        if not messages and bytes(found.ticks) not in (b"", b"null", b"[]"):
            raise Refused("ticks", "a voice run: what was said stands in ticks, which nothing here can read")
        exchange = Exchange(self._notes)
        for place, one in enumerate(messages or ()):
            message = object_in(one)
            if message is None:
                raise Refused(f"messages[{place}]", "wanted an object")
            self._take(exchange, message, f"messages[{place}]", line)
        exchange.finish()
        options = self._reading.options
        conversation_id = found.id or f"{found.task_id}/{found.trial or 0}/{found.seed}"
        setting = Setting(
            key_space=NAME,
            conversation_id=conversation_id,
            source=options.source,
            style=options.style,
        )
        began = self._moment(found.start_time, "start_time")
        return (
            Conversation(
                key_space=NAME,
                conversation_id=conversation_id,
                source=options.source,
                style=options.style,
                model=self._model,
                started_at=began,
                ended_at=self._moment(found.end_time, "end_time"),
            ),
            *(record for _, record in exchange.records(setting)),
            *scores(found.reward_info, found.termination_reason, setting),
        )

    def _take(self, exchange: Exchange, message: Pieces, path: str, line: int) -> None:
        role = string_in(message.get("role"))
        if role is None:
            raise Refused(f"{path}.role", "required field is missing")
        inner = list_in(message.get("tool_messages"))
        if inner is not None:  # several results in one message
            for place, one in enumerate(inner):
                held = {"role": b'"tool"'} | (object_in(one) or {})
                self._take(exchange, held, f"{path}.tool_messages[{place}]", line)
            return
        for key in message:
            if key not in _OF_A_MESSAGE:
                tally(self._notes, self._notes.unknown_fields, f"messages[].{key}")
        said = exchange.say(role, string_in(message.get("content")), line=line)
        said.created_at = self._moment(msgspec.Raw(message.get("timestamp", b"")), f"{path}.timestamp")
        if role == "tool":
            self._answer(exchange, message, said.position)
            said.call_id = word(message, "id")
            return
        usage = object_in(message.get("usage")) or {}
        said.input_tokens = integer_in(usage.get("prompt_tokens"))
        said.output_tokens = integer_in(usage.get("completion_tokens"))
        said.cost_usd = number_in(message.get("cost")) if usage else None
        said.model = self._model if role == "assistant" else None
        for place, one in enumerate(list_in(message.get("tool_calls")) or ()):
            call = object_in(one) or {}
            name = string_in(call.get("name"))
            if name is None:
                raise Refused(f"{path}.tool_calls[{place}].name", "required field is missing")
            given = arguments_of(msgspec.Raw(call.get("arguments", b"")))
            made = exchange.call(said, name, given, call_id=word(call, "id"))
            made.actor = "user" if (word(call, "requestor") or role) == "user" else "model"

    def _answer(self, exchange: Exchange, message: Pieces, position: int) -> None:
        call: Called | None = exchange.asker(word(message, "id", "tool_call_id"))
        if call is not None:
            content = message.get("content")
            failed = {b"true": True, b"false": False}.get(message.get("error", b""))
            text = string_in(content)
            call.answered(
                None if content is None else content.decode(),
                position=position,
                failed=failed,
                error_text=text,
            )

    def _moment(self, raw: msgspec.Raw, path: str) -> datetime | None:
        moment = moment_of(raw, path)
        text = str(raw, "utf-8")
        if moment is not None and text.startswith('"') and not text.endswith('Z"') and "+" not in text[11:]:
            self._notes.count(self._notes.missing, "zone of a time, which was taken as UTC")
        return moment


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    listed = found.get("simulations")
    one = listed[0] if isinstance(listed, list) and listed and isinstance(listed[0], dict) else found
    return {
        'a list "simulations", or one of them': isinstance(listed, list) or "termination_reason" in found,
        'simulations with "task_id", and "messages" or "ticks"': "task_id" in one
        and ("messages" in one or "ticks" in one),
        'the key "reward_info" or "termination_reason"': "reward_info" in one or "termination_reason" in one,
    }


FORMAT = ObjectFormat(
    name=NAME,
    title="tau2-bench results",
    recognised_by='An object with a list "simulations", or simulations alone: "task_id", "messages" and '
    '"reward_info".',
    key="(id of the simulation; position of the message; place in its batch): a run is finished when it is "
    "written",
    expectations=_expectations,
    shapes=(
        "simulations.task_id simulations.messages simulations.reward_info",
        "task_id messages.role reward_info termination_reason",
    ),
    reader=_read,
)
