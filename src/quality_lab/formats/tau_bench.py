"""tau-bench result files: one run of one task each, with the conversation and a reward.

Ids of calls repeat from run to run and within one; each result stands behind its call. There is no flag for
an error: a result that starts with "Error:" is one. `think` is a tool like any other here: it was offered
and called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from quality_lab.formats.chat import Made, Setting, Talk, tool_call
from quality_lab.formats.chat_fields import elements
from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object
from quality_lab.formats.flat import FlatDecoder
from quality_lab.formats.units import RawUnit
from quality_lab.formats.validation import Refused
from quality_lab.records import Conversation, Feedback, Record

NAME = "tau_bench"
_ABSENT = msgspec.Raw()


class _Run(msgspec.Struct, kw_only=True, gc=False):
    task_id: int | str
    trial: int | None = None
    reward: msgspec.Raw = _ABSENT
    info: msgspec.Raw = _ABSENT
    traj: msgspec.Raw


_run = FlatDecoder(_Run)


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    def records(text: bytes, line: int) -> tuple[Record, ...]:
        run = _run.decode(text, reading.notes)
        talk = Talk(reading.notes)
        talk.read(elements(run.traj, "traj"), below="traj")
        talk.finish()
        if not talk.messages:
            reading.notes.count(reading.notes.missing, "messages of a run that crashed")
        setting = Setting(
            key_space=NAME,
            conversation_id=_conversation_id(run, talk),
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
            *(tool_call(made, setting, error_text=_error(made), can_say=True) for made in talk.calls),
            *_reward(run, setting),
        )

    return each_object(raws, reading, records)


def _conversation_id(run: _Run, talk: Talk) -> str:
    """Return task, trial and a digest of what was said.

    Task and trial alone are the same in the results of every model; a finished run is never written again.
    """
    return f"{run.task_id}/{0 if run.trial is None else run.trial}/{talk.digests()[-1][:8]}"


def _error(made: Made) -> str | None:
    """Return the result where it is an error's text."""
    if made.result is None or not made.result.startswith(('"E', '"\\')):
        return None
    said = msgspec.json.decode(made.result, type=str)
    return said if said.startswith("Error:") else None


def _reward(run: _Run, setting: Setting) -> Iterator[Feedback]:
    """Yield the run's reward as the score of a program; it is about the run, not about its calls."""
    reward = str(run.reward, "utf-8")
    if reward in ("", "null"):
        return
    if not reward[0].isdigit() and reward[0] not in '-tf"':
        raise Refused("reward", "wanted a number")
    yield Feedback(
        key_space=NAME,
        key=f"{setting.conversation_id}/reward",
        target_level="conversation",
        target_key_space=NAME,
        conversation_id=setting.conversation_id,
        name="reward",
        score=reward,
        author_kind="CODE",
        author=NAME,
        source=setting.source,
    )


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    return {
        'the key "task_id"': "task_id" in found,
        'a list "traj"': isinstance(found.get("traj"), list),
        'the key "reward" or "info"': "reward" in found or "info" in found,
    }


FORMAT = ObjectFormat(
    name=NAME,
    title="tau-bench results",
    recognised_by='Objects with "task_id", a list "traj" of chat messages, and "reward".',
    key="(task, trial and digest of the messages; position of the message; place in its batch): a run is "
    "finished when it is written, and task and trial alone repeat from model to model",
    expectations=_expectations,
    shapes=("task_id traj.role traj.content reward info",),
    reader=_read,
)
