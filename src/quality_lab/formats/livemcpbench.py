"""LiveMCPBench runs: one task each, its chat messages, and a person's word on whether it succeeded.

The model is given a search (`route`) and a dispatcher (`execute-tool`): the tool that really ran and its
server stand in the dispatcher's arguments. Results are the text of a Python object that ends with
`isError=…`; texts of 10,000 characters and more were cut before that, so of those nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from quality_lab.formats.chat import Made, Setting, Talk, tool_call
from quality_lab.formats.chat_fields import elements
from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object
from quality_lab.formats.flat import FlatDecoder
from quality_lab.formats.tool_facts import wrapped_tool
from quality_lab.formats.units import RawUnit
from quality_lab.formats.upstream import label_of
from quality_lab.records import Conversation, Feedback, Record, ToolCall

NAME = "livemcpbench"
_ABSENT = msgspec.Raw()
_REPR = "meta="
_TIMED_OUT = "Tool call timed out"


class _Run(msgspec.Struct, kw_only=True, gc=False):
    task_id: int | str
    messages: msgspec.Raw
    Question: msgspec.Raw = _ABSENT
    answers: msgspec.Raw = _ABSENT
    category: msgspec.Raw = _ABSENT
    file_name: msgspec.Raw = _ABSENT
    annotator: msgspec.Raw = msgspec.field(default=_ABSENT, name="Annotator Metadata")
    response: msgspec.Raw = _ABSENT
    task_success: str | None = None


_run = FlatDecoder(_Run)


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    def records(text: bytes, line: int) -> tuple[Record, ...]:
        run = _run.decode(text, reading.notes)
        talk = Talk(reading.notes)
        talk.read(elements(run.messages, "messages"), below="messages")
        talk.finish()
        setting = Setting(
            key_space=NAME,
            conversation_id=f"{run.task_id}/{talk.digests()[-1][:8]}",
            source=reading.options.source,
            style=reading.options.style,
        )
        return (
            Conversation(
                key_space=NAME,
                conversation_id=setting.conversation_id,
                source=setting.source,
                style=setting.style,
            ),
            *talk.message_records(NAME, setting.conversation_id),
            *(_call(made, setting) for made in talk.calls),
            *_verdict(run, setting, reading),
        )

    return each_object(raws, reading, records)


def _call(made: Made, setting: Setting) -> ToolCall:
    said = msgspec.json.decode(made.result) if made.result and made.result.startswith('"') else ""
    failed = said.endswith("isError=True") or said.startswith(_TIMED_OUT)
    cut = said.startswith(_REPR) and not said.endswith(("isError=True", "isError=False"))
    call = tool_call(made, setting, error_text=said if failed else None, can_say=not cut)
    if cut:
        call = replace(call, result_state="truncated")
    if failed and said.startswith(_TIMED_OUT):
        call = replace(call, error_kind="timeout")
    wrapped, server = wrapped_tool(made.tool_name, made.arguments)
    return call if wrapped is None else replace(call, wrapped_tool=wrapped, tool_server=server)


def _verdict(run: _Run, setting: Setting, reading: Reading) -> Iterator[Feedback]:
    """Yield the annotator's word on the run; it is about the run, not about its calls."""
    if run.task_success is None:
        return
    yield Feedback(
        key_space=NAME,
        key=f"{setting.conversation_id}/task_success",
        target_level="conversation",
        target_key_space=NAME,
        conversation_id=setting.conversation_id,
        name="task_success",
        label=label_of(run.task_success, reading),
        label_raw=run.task_success,
        author_kind="HUMAN",
        source=setting.source,
    )


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    return {
        'the keys "task_id" and "Question"': "task_id" in found and "Question" in found,
        'a list "messages"': isinstance(found.get("messages"), list),
        'the key "task_success" or "Annotator Metadata"': "task_success" in found
        or "Annotator Metadata" in found,
    }


FORMAT = ObjectFormat(
    name=NAME,
    title="LiveMCPBench runs with a person's verdict",
    recognised_by='Objects with "task_id", "Question", a list "messages", and "task_success" or '
    '"Annotator Metadata".',
    key="(task and digest of the messages; position of the message; place in its batch): a run is finished "
    "when it is written, and the task alone repeats from model to model",
    expectations=_expectations,
    shapes=("task_id Question messages.role task_success",),
    reader=_read,
)
