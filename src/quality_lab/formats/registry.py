"""All formats there are, in one table; which of them a file is; and the reading of it.

A new format is a file of its own that sets `FORMAT`, a test, and a row here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from quality_lab import json_text
from quality_lab.errors import UnrecognisedFormat, UsageError
from quality_lab.formats.contract import Format, Reading, ReadOptions, Sample, Unit
from quality_lab.formats.mapped import MappedFormat
from quality_lab.formats.nearness import nearness
from quality_lab.formats.splitting import values
from quality_lab.formats.streams import Stream
from quality_lab.formats.units import HEAD, RawUnit, layout_of, raw_units
from quality_lab.records import ReadNotes

if TYPE_CHECKING:
    from quality_lab.formats.columns import Batch

# Modules of this folder; the order settles a tie.
FORMATS = (
    "upstream_traces",
    "upstream_feedback",
    "upstream_cases",
    "upstream_joined",
    "upstream_labels",
    "upstream_proposals",
    "upstream_matches",
    "journal",
    "own_export",
    "tau_bench",
    "tau2_bench",
    "livemcpbench",
    "anthropic_messages",
    "managed_agents",
    "claude_code",
    "inspect_ai",
    "sharegpt",
    "openai_chat",
    "openai_responses",
    "openai_agents",
    "google_adk",
    "openinference",
    "otel_genai",
    "phoenix_annotations",
    "langfuse",
    "tool_lists",
    "mapped",
)
_OBJECTS_LOOKED_AT = 50
_UNITS_LOOKED_AT = 500
_BYTES_LOOKED_AT = 8 << 20


@cache
def registry() -> tuple[Format, ...]:
    """Return every format that can be read."""
    return tuple(map(_format, FORMATS))


@cache
def _format(module: str) -> Format:
    found: Format = import_module(f"quality_lab.formats.{module}").FORMAT
    return found


def by_name(name: str) -> Format:
    """Return the format called *name*.

    Raises:
        UsageError: no format has that name.
    """
    for known in registry():
        if known.name == name:
            return known
    raise UsageError(f"no format is called {name}; known are {', '.join(known.name for known in registry())}")


def recognise(path: Path) -> Format:
    """Return the format of the file at *path*, told by its content.

    Raises:
        UnrecognisedFormat: none fits; the text names the three nearest and what was missing for each.
        InputError: the file cannot be read.
    """
    sample = _sample(path)
    found = []
    for known in map(_format, FORMATS):
        fit = known.recognise(sample)
        if sample.objects and fit.fitting == len(sample.objects):
            return known  # none of the others, which are not even imported then, could fit better
        found.append((known, fit))
    best, recognition = max(found, key=lambda pair: pair[1].fitting)
    if recognition.fitting:
        return best
    if not sample.objects and not path.stat().st_size:
        raise UnrecognisedFormat(f"{path}: is empty; --format says what an empty file is")
    if not sample.objects:
        raise UnrecognisedFormat(f"{path}: no JSON object among its first lines")
    nearest = sorted(found, key=lambda pair: -nearness(sample.objects, pair[0].shapes))[:3]
    missing = "; ".join(f"{known.name}: missing {', '.join(result.missing)}" for known, result in nearest)
    raise UnrecognisedFormat(f"{path}: no format fits. Nearest are {missing}")


def read(
    path: Path, known: Format, *, options: ReadOptions, notes: ReadNotes, display_path: str
) -> Iterator[Unit]:
    """Yield the units of a file: one for each line, or for each object where it is not line by line.

    *notes* is filled on the way and complete when the last unit was yielded.

    Raises:
        InputError: the file cannot be read.
    """
    reading = Reading(options=options, notes=notes, display_path=display_path)
    with Stream(path, shown=display_path) as stream:
        if isinstance(known, MappedFormat):
            yield from known.read_stream(stream, reading)
        else:
            yield from known.read(raw_units(stream, notes), reading)


def read_in_bulk(
    path: Path, known: Format, *, options: ReadOptions, notes: ReadNotes, display_path: str
) -> Iterator[Unit | Batch]:
    """Yield what `read` yields, but lines that can be taken many at once in batches; for a format with `bulk`.

    Raises:
        InputError: the file cannot be read.
    """
    assert known.bulk is not None
    reading = Reading(options=options, notes=notes, display_path=display_path)
    with Stream(path, shown=display_path) as stream:
        yield from known.bulk().read(stream, known, reading)


def _sample(path: Path) -> Sample:
    with Stream(path, shown=str(path)) as stream:
        layout = layout_of(stream.head(HEAD))
        objects = islice(
            _objects(islice(raw_units(stream, ReadNotes()), _UNITS_LOOKED_AT)), _OBJECTS_LOOKED_AT
        )
        return Sample(layout=layout, objects=tuple(objects))


def _objects(raws: Iterator[RawUnit]) -> Iterator[Mapping[str, Any]]:
    size = 0
    for raw in raws:
        size += len(raw.text)
        if raw.problem is None:
            for value in _values(raw.text):
                yield from _within(value, deeper=2)
        if size > _BYTES_LOOKED_AT:
            return


def _values(text: bytes) -> Iterator[Any]:
    """Yield the value of a line, or the objects that share it."""
    value = _value(text)
    if value is not None or not text.lstrip().startswith(b"{"):
        yield value
    else:
        yield from (_value(piece.text) for piece in values([text]) if piece.problem is None)


def _within(value: Any, *, deeper: int) -> Iterator[Mapping[str, Any]]:
    """Yield the object that a line is, or those of the list that it is."""
    if isinstance(value, dict):
        yield value
    elif isinstance(value, list) and deeper:
        for one in value:
            yield from _within(one, deeper=deeper - 1)


def _value(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        pass  # not JSON, or JSON that only the slower reader takes
    try:
        return json_text.parse(text)
    except json_text.JsonTextError:
        return None
