"""What a map makes of a file, before anything is loaded: counts, the first calls, what is left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from quality_lab.errors import UnrecognisedFormat
from quality_lab.formats.contract import Reading, ReadOptions
from quality_lab.formats.mapped import mapped
from quality_lab.formats.mapping.proposing import propose
from quality_lab.formats.streams import Stream
from quality_lab.records import Conversation, Feedback, Message, ReadNotes, Reject, ToolCall

_UNITS_LOOKED_AT = 20_000
_ROWS = 5


@dataclass(kw_only=True, slots=True)
class Preview:
    """What became of the records of a file, as far as it was read."""

    records: int = 0
    whole: bool = True  # the file was read to its end
    calls: int = 0
    conversations: int = 0
    messages: int = 0
    labels: int = 0
    errors: int = 0  # calls that failed: by a flag, an exception, an exit code or the words of the result
    errors_unknown: int = 0  # calls of which nothing says whether they failed
    rejected: int = 0
    unknown_fields: dict[str, int] = field(default_factory=dict)
    not_understood: dict[str, int] = field(default_factory=dict)
    unmapped_labels: dict[str, int] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    first_calls: list[ToolCall] = field(default_factory=list)
    first_messages: list[Message] = field(default_factory=list)
    first_labels: list[Feedback] = field(default_factory=list)
    first_rejects: list[Reject] = field(default_factory=list)


@dataclass(kw_only=True, slots=True, repr=False)
class SuggestedMap:
    """A map proposed for a file, what to look at in it, and what it makes of the file."""

    file: str
    recognised_as: str | None  # the format that reads the file without a map
    map: str  # TOML
    look_at: list[str]
    preview: Preview

    def __repr__(self) -> str:
        """Return the map, and what it makes of the file, as lines."""
        from quality_lab.formats.mapping.preview_words import preview_lines

        return "\n".join([self.map, *preview_lines(self)])


def suggest(path: Path) -> SuggestedMap:
    """Return a map for the file at *path* and what it makes of it; nothing is loaded.

    Raises: InputError: it cannot be read, or holds neither JSON objects nor a table.
    """
    proposal = propose(path)
    return SuggestedMap(
        file=str(path),
        recognised_as=_recognised_as(path),
        map=proposal.map,
        look_at=proposal.look_at,
        preview=preview(path, proposal.map),
    )


def _recognised_as(path: Path) -> str | None:
    from quality_lab.formats.registry import recognise  # it knows the mapped format, and so this room

    try:
        return recognise(path).name
    except UnrecognisedFormat:
        return None


def preview(path: Path, text: str) -> Preview:
    """Return what the map whose TOML is *text* makes of the file at *path*.

    Raises: InputError, UsageError.
    """
    known = mapped(text, file="the map")
    notes = ReadNotes()
    reading = Reading(options=ReadOptions(), notes=notes, display_path=str(path))
    found = Preview(
        unknown_fields=notes.unknown_fields,
        not_understood=notes.not_understood,
        unmapped_labels=notes.unmapped_labels,
        missing=notes.missing,
    )
    conversations: set[str] = set()
    with Stream(path, shown=str(path)) as stream:
        units = known.read_stream(stream, reading)
        for unit in islice(units, _UNITS_LOOKED_AT):
            found.records += not unit.blank
            found.rejected += bool(unit.rejects)
            found.first_rejects += unit.rejects[: max(0, _ROWS - len(found.first_rejects))]
            for record in unit.records:
                if isinstance(record, Conversation):
                    conversations.add(record.conversation_id)
                else:
                    _count(record, found)
        found.whole = next(units, None) is None
    found.conversations = len(conversations)
    return found


def _count(record: object, found: Preview) -> None:
    if isinstance(record, ToolCall):
        found.calls += 1
        failed = record.is_error is True or record.error_origin is not None
        found.errors += failed
        found.errors_unknown += record.is_error is None and not failed
        if len(found.first_calls) < _ROWS:
            found.first_calls.append(record)
    elif isinstance(record, Message):
        found.messages += 1
        if len(found.first_messages) < _ROWS:
            found.first_messages.append(record)
    elif isinstance(record, Feedback):
        found.labels += 1
        if len(found.first_labels) < _ROWS:
            found.first_labels.append(record)
