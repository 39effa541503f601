"""Inspect AI's evaluation logs: samples with their messages, the events of their tools, and their scores.

A log is a JSON file, or an archive (`.eval`) of its header and its samples. A call stands in a message and
once more as an event: the event only lends it its times. A call that stands in an event alone was made by a
sub-agent, or by an agent that has forgotten it. Texts that a log keeps apart (`attachment://…`) are put
back where they belong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object
from quality_lab.formats.exact import is_json
from quality_lab.formats.inspect_samples import Run, sample_records
from quality_lab.formats.json_pieces import Pieces, object_in, word
from quality_lab.formats.splitting import members, values
from quality_lab.formats.units import RawUnit
from quality_lab.records import Record, SetAside

NAME = "inspect_ai"

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    run = Run()

    def records(text: bytes, line: int) -> tuple[Record, ...]:
        found = {key: bytes(value) for key, value in _members.decode(text).items()}
        if "eval" in found and "messages" not in found:
            return (SetAside(kind="header", reason="it holds no sample"),)
        return tuple(sample_records(found, run, reading, line, NAME))

    for raw in raws:
        samples, header = _taken_apart(raw)
        if header is not None:
            run = _run(header)
        yield from each_object(iter(samples or [raw]), reading, records)


def _taken_apart(raw: RawUnit) -> tuple[list[RawUnit], Pieces | None]:
    """Return the samples of a whole log, and what it says of their run; nothing of what is no log."""
    if raw.problem is not None or b'"eval"' not in raw.text or not is_json(raw.text):
        return [], None
    if not raw.text.lstrip().startswith(b"{"):
        return [], None
    held = {key.decode("utf-8", "replace")[1:-1]: value for key, value in members(raw.text)}
    header = object_in(held.get("eval"))
    if header is None:
        return [], None
    listed = held.get("samples", b"")
    if not listed.startswith(b"["):
        return [], header
    return [RawUnit(raw.line, piece.text, piece.problem) for piece in values([listed])], header


def _run(header: Pieces) -> Run:
    return Run(
        id=word(header, "run_id", "eval_id", "task_id") or "run",
        model=word(header, "model"),
        created=header.get("created", b""),
    )


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    log = isinstance(found.get("eval"), dict)
    return {
        '"eval" beside "status", or a sample with "epoch"': (log and "status" in found) or "epoch" in found,
        "what a run or a sample has": (log and "task" in found["eval"])
        or (isinstance(found.get("messages"), list) and "target" in found),
    }


FORMAT = ObjectFormat(
    name=NAME,
    title="Inspect AI evaluation logs",
    recognised_by='An object with "eval" and "samples", or an .eval archive of a header and samples.',
    key="(run, sample, epoch; position of the message; place in its batch): a sample is logged when "
    "it is over",
    expectations=_expectations,
    shapes=("eval.task status samples.messages", "epoch messages target scores"),
    reader=_read,
)
