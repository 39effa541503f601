"""A map proposed for a home-grown file, in TOML with a word on each choice, and what a person should look at."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from quality_lab.formats.mapping import field_words as words
from quality_lab.formats.mapping.event_pairs import Event, events_of
from quality_lab.formats.mapping.guessing import Kind, is_count, is_name
from quality_lab.formats.mapping.noun_lines import call_lines, tool_field
from quality_lab.formats.mapping.paths import written_path
from quality_lab.formats.mapping.survey import Field, Sampled, fields_of, folded, sample
from quality_lab.formats.mapping.word_lines import label_lines, message_lines
from quality_lab.formats.toml_reading import quoted

_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_ENDINGS = (".gz", ".zst", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt", ".log")


@dataclass(slots=True)
class Proposal:
    """A proposed map, and what it rests on."""

    map: str  # TOML
    look_at: list[str] = field(default_factory=list)  # what to check, and the edit that would change it
    unmapped: list[str] = field(default_factory=list)  # paths of fields that no noun takes


def propose(path: Path) -> Proposal:
    """Return a map for the file at *path*.

    Raises: InputError: it cannot be read, or holds neither JSON objects nor a table.
    """
    found = sample(path)
    proposal = Proposal("")
    lines = [
        f"# A map for {_comment(path.name)}, proposed from its first {len(found.records):,} records.",
        f"name = {quoted(name_of(path))}  # whose ids these are: the same in maps of files that belong together",
    ]
    file_lines = _file_lines(found)
    inner = _inner_records(found)
    if inner is not None:
        file_lines.append(f"records = {quoted(written_path(inner, '[]'))}  # the records stand in this list")
        records = [node for top in found.records if (held := top.below(inner)) for node in held.elements]
        found = replace(found, records=tuple(records))
    body: list[str] = []
    events = events_of(found.records)
    for event in events or [Event(records=found.records)]:
        ignored, more = _record_lines(event, proposal, alone=not events, file_lines=file_lines)
        if events:
            place = next((at for at, line in enumerate(more) if line.startswith("when =")), -1) + 1
            body += [*more[:place], *ignored, *more[place:]]
        else:
            lines += ignored
            body += more
    proposal.map = "\n".join([*lines, *(["", "[file]", *file_lines] if file_lines else []), *body]) + "\n"
    return proposal


def _inner_records(found: Sampled) -> str | None:
    """Return the key of the list in which the records of a lone document stand; None where it is one itself."""
    if len(found.records) != 1 or found.is_table:
        return None
    top = found.records[0].members
    if any(folded(name) in (*words.CONVERSATION, *words.OWN_ID) for name in top):
        return None
    for name, node in sorted(top.items(), key=lambda pair: -len(pair[1].elements)):
        elements = [one for one in node.elements if one.members]
        below = fields_of(elements[:50])
        known = any(
            one.word in (*words.CONVERSATION, *words.TOOL[:9], *words.ARGUMENTS[:9]) for one in below.values()
        )
        if elements and known and "role" not in elements[0].members:
            return name
    return None


def name_of(path: Path) -> str:
    """Return the name of a file as the name of a map.

    >>> name_of(Path("my agent.tool_calls.jsonl.gz"))
    'my_agent_tool_calls'
    """
    name = path.name
    while (ending := Path(name).suffix.lower()) in _ENDINGS and Path(name).stem:
        name = name[: -len(ending)]
    return _NAME.sub("_", name).strip("_") or "home_grown"


def _comment(text: str, longest: int = 60) -> str:
    """Return *text* as it may stand in a comment: one line, no control characters."""
    shown = "".join(one if one.isprintable() else "·" for one in text)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def _file_lines(found: Sampled) -> list[str]:
    lines: list[str] = []
    if found.is_table:
        lines += ['kind = "csv"', f"delimiter = {quoted(found.delimiter or ',')}"]
    if found.encoding is not None:
        lines.append(f'encoding = "{found.encoding}"  # its bytes are not UTF-8')
    return lines


def _record_lines(
    event: Event, proposal: Proposal, *, alone: bool, file_lines: list[str]
) -> tuple[list[str], list[str]]:
    """Return the line that would ignore what is not mapped, and the lines for one kind of record."""
    kind = Kind(fields_of(event.records), len(event.records))
    head = "" if alone else "record."
    if event.field is not None:
        kind.taken.add(event.field.keys)
    lines: list[str] = []
    if not alone:
        lines += ["", f"# {len(event.records):,} records", "[[record]]", f"when = {event.condition()}"]
    below = _list_of_calls(kind)
    kind.below = below
    tool = tool_field(kind, lenient=event.answers)
    kind.below = ()
    conversation = _conversation_lines(kind, proposal, event, tool=tool, below=below)
    nouns: list[str] = []
    if event.answers:
        nouns += call_lines(
            kind, tool, proposal.look_at, head=head, noun="answer", event=event, file_lines=file_lines
        )
    elif tool is not None:
        kind.below = below
        nouns += call_lines(
            kind, tool, proposal.look_at, head=head, noun="call", event=event, file_lines=file_lines
        )
        kind.below = ()
    if not event.answers:
        nouns += message_lines(kind, proposal.look_at, head=head, asked=tool is None)
    labels = label_lines(
        kind, proposal.look_at, head=head, of_call=tool is not None and not event.answers, alone=not nouns
    )
    nouns += labels
    if not nouns:
        if not alone:
            proposal.look_at.append(
                f"{len(event.records):,} records ({event.condition()}) hold no tool, message or label that was found: "
                "they count as not understood; the last lines of the map would leave them aside"
            )
            words_on = (
                "# No tool, message or label was found in these; take the lines in to leave them aside:"
            )
            return [], ["", words_on, "# [[record]]", f"# when = {event.condition()}", "# skip = true"]
        proposal.look_at.append("no field names a tool: write its path under [call] tool")
        nouns = ["", "[call]", 'tool = "WRITE THE PATH OF THE TOOL\'S NAME HERE"']
    elif alone and tool is None and not labels:
        proposal.look_at.append(
            "no field names a tool, so these records are messages alone; if one does, add [call] with tool = its path"
        )
    left = _unmapped(kind)
    proposal.unmapped += [one.path for one in left]
    paths = ", ".join(quoted(one.path) for one in left)
    why = "not mapped, and counted as unknown unless this line is taken in"
    ignored = [f"# ignore = [{paths}]  # {why}"] if left else []
    return ignored, [*lines, *conversation, *nouns]


def _list_of_calls(kind: Kind) -> tuple[str, ...]:
    """Return where calls stand in a list below the record; nothing where the record is the call."""
    for keys, one in kind.fields.items():
        if "[]" not in keys or keys[-1] == "[]":
            continue
        depth = len(keys) - keys[::-1].index("[]")
        above = [name for name in keys[:depth] if name != "[]"]
        strong = one.word in words.TOOL[:9]
        weak = one.word in ("name", "function", "action") and any(
            "tool" in name or "call" in name for name in map(str.lower, above)
        )
        if (strong or weak) and one.mostly("string") and one.is_short:
            top_level = Kind(kind.fields, kind.records)
            if tool_field(top_level, strong=True) is None:
                return keys[:depth]
    return ()


def _conversation_lines(
    kind: Kind, proposal: Proposal, event: Event, *, tool: Field | None, below: tuple[str, ...]
) -> list[str]:
    """Return the table of the conversation."""
    named = kind.best(words.CONVERSATION, is_name)
    if named is None and (tool is None or below):
        named = kind.best(
            words.OWN_ID, lambda one: is_name(one) and len(one.values) == kind.records, deepest=1
        )
    lines = ["", f"[{'' if event.field is None else 'record.'}conversation]"]
    if named is not None:
        trial = kind.best(words.TRIAL, is_name) if named.word in ("taskid", "exampleid", "sampleid") else None
        if trial is not None:
            return [*lines, f"id = {{ join = [{quoted(named.path)}, {quoted(trial.path)}] }}"]
        many = len(named.values)
        return [
            *lines,
            f"id = {quoted(named.path)}  # {many:,}{'+' if many >= 500 else ''} of them in the records looked at",
        ]
    if tool is None or below:
        return [*lines, 'whole = "record"  # each record is a conversation of its own']
    counted = next(
        (one for one in kind.own() if one.word in (*words.CYCLE, *words.TURN) and is_count(one)), None
    )
    if counted is not None:
        least = min((value for value in counted.values if value), key=int)
        proposal.look_at.append(
            f"no field names a conversation: a new one begins where {counted.path} is {least}; "
            '[conversation] id = "PATH" if a field does'
        )
        return [*lines, f"begins = {{ path = {quoted(counted.path)}, equals = {least} }}"]
    proposal.look_at.append(
        'no field names a conversation: the whole file is taken as one; [conversation] id = "PATH" if a field does, '
        'whole = "record" if each record stands alone'
    )
    return [*lines, 'whole = "file"']


def _unmapped(kind: Kind) -> list[Field]:
    """Return the fields that nothing took and nothing within which was taken, without those below them."""
    left: list[Field] = []
    for keys, one in kind.fields.items():
        inside = any(taken[: len(keys)] == keys for taken in kind.taken)
        covered = kind.is_taken(one) or any(keys[: len(other.keys)] == other.keys for other in left)
        if not inside and not covered and keys[-1] != "[]":
            left.append(one)
    return left
