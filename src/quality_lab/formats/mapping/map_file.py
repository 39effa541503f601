"""From the TOML of a map to its rules; a map that cannot be says its file, the key, and what was wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, cast
from zoneinfo import ZoneInfo

from quality_lab.formats.label_aliases import LabelAliases, aliases_in
from quality_lab.formats.mapping.map_fields import FieldReader, zone_in
from quality_lab.formats.mapping.paths import Path, Step
from quality_lab.formats.mapping.rules import (
    AnswerRule,
    CallRule,
    ConversationRule,
    FileRule,
    LabelRule,
    Map,
    MessageRule,
    RecordRule,
)
from quality_lab.formats.toml_reading import TomlTable, toml_table

_CALL_VALUES = (
    *("arguments", "result", "id", "call_id", "server", "wrapped_tool", "actor", "source", "style", "model"),
    *("contact", "message", "error_text", "error_kind"),
)
_LABEL_VALUES = (
    *("label", "score", "name", "note", "author", "author_kind", "expected_tool", "expected_arguments"),
    *("id", "call"),
)


@cache
def read_map(text: str, *, file: str) -> Map:
    """Return the map that the TOML *text* writes; *file* names it in errors.

    Raises: InputError (no TOML), UsageError (a key or a value that cannot be).

    >>> found = read_map('name = "desk"\\n[call]\\ntool = "fn"', file="map.toml")
    >>> found.records[0].calls[0].tool.paths[0].text
    'fn'
    """
    top = toml_table(text, file=file)
    name = top.take_a(str, "name")
    if not name or not name.replace("_", "").replace("-", "").replace(".", "").isalnum():
        raise top.wrong("name", "a name for the ids of this file: letters, digits, '-', '_' and '.'", name)
    file_rule, zone = _file(top.table("file"))
    reader = _MapReader(zone)
    conversation = reader.conversation(top.table("conversation"), ConversationRule())
    records = tuple(reader.record(one, conversation) for one in top.tables("record"))
    if not records:
        records = (reader.record(top, conversation, alone=True),)
    labels = top.table("labels")
    aliases = LabelAliases() if labels is None else aliases_in(labels)
    if labels is not None:
        labels.done()
    top.done()
    return Map(name=name, file=file_rule, records=records, aliases=aliases)


def _file(table: TomlTable | None) -> tuple[FileRule, ZoneInfo | None]:
    if table is None:
        return FileRule(), None
    kind, order = table.take_a(str, "kind"), table.take_a(str, "order")
    if kind not in (None, "json", "csv"):
        raise table.wrong("kind", "json or csv", kind)
    if order not in (None, "file", "time"):
        raise table.wrong("order", "file or time", order)
    delimiter = table.take_a(str, "delimiter")
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise table.wrong("delimiter", "one character", delimiter)
    encoding = table.take_a(str, "encoding")
    if encoding is not None and not _is_encoding(encoding):
        raise table.wrong("encoding", "the name of a text encoding such as utf-8 or cp1252", encoding)
    zone = zone_in(table)
    records = FieldReader(zone).each(table, "records")
    table.done()
    rule = FileRule(
        kind=cast('Literal["json", "csv"] | None', kind),
        delimiter=delimiter,
        encoding=encoding,
        by_time=order == "time",
        records=records,
    )
    return rule, zone


def _is_encoding(name: str) -> bool:
    try:
        return "a".encode(name).decode(name) == "a"
    except (LookupError, ValueError, TypeError, AttributeError):
        return False


class _MapReader(FieldReader):
    """Reads the tables of a map."""

    def record(self, table: TomlTable, conversation: ConversationRule, *, alone: bool = False) -> RecordRule:
        when = tuple(self.condition(one) for one in table.tables("when"))
        skip = bool(table.take_a(bool, "skip"))
        own = conversation if alone else self.conversation(table.table("conversation"), conversation)
        ignored = tuple(self.path(table, "ignore", one) for one in table.take_a(list, "ignore") or ())
        calls = tuple(self.call(one) for one in table.tables("call"))
        answers = tuple(self.answer(one) for one in table.tables("answer"))
        messages = tuple(self.message(one) for one in table.tables("message"))
        labels = tuple(self.label(one) for one in table.tables("label"))
        if skip and (calls or answers or messages or labels):
            raise table.wrong("skip", "either skip or nouns", True)
        if not (skip or calls or answers or messages or labels):
            raise table.wrong("call", "at least one of call, answer, message, label (or skip = true)", None)
        if not alone:
            table.done()
        nouns: tuple[CallRule | AnswerRule | MessageRule | LabelRule, ...] = (
            *calls,
            *answers,
            *messages,
            *labels,
        )
        return RecordRule(
            when=when,
            skip=skip,
            conversation=own,
            calls=calls,
            answers=answers,
            messages=messages,
            labels=labels,
            ignored=ignored,
            used=tuple(_used((when, own, ignored), ()))
            + tuple(steps for noun in nouns for steps in _used(noun, noun.each)),
        )

    def conversation(self, table: TomlTable | None, above: ConversationRule) -> ConversationRule:
        if table is None:
            return above
        whole = table.take_a(str, "whole")
        if whole not in (None, "file", "record"):
            raise table.wrong("whole", "file or record", whole)
        begins = table.table("begins")
        rule = ConversationRule(
            id=self.value(table, "id"),
            whole=cast('Literal["file", "record"]', whole or "file"),
            begins=None if begins is None else self.condition(begins),
            source=self.value(table, "source"),
            style=self.value(table, "style"),
            model=self.value(table, "model"),
        )
        table.done()
        if rule.id is not None and (whole or begins):
            raise table.wrong(
                "id", "either id, or whole and begins", rule.id.paths[0].text if rule.id.paths else None
            )
        return rule

    def call(self, table: TomlTable) -> CallRule:
        each = self.each(table)
        tool = self.value(table, "tool")
        if tool is None:
            raise table.wrong("tool", "the path of the tool's name", None)
        values: dict[str, Any] = {name: self.value(table, name) for name in _CALL_VALUES}
        rule = CallRule(
            tool=tool,
            **values,
            turn=self.number(table, "turn"),
            cycle=self.number(table, "cycle"),
            index=self.number(table, "index"),
            started=self.time(table, "started"),
            ended=self.time(table, "ended"),
            latency=self.duration(table, "latency"),
            errors=tuple(self.error(one) for one in table.tables("error")),
            labels=tuple(self.label(one) for one in table.tables("label")),
            each=each,
        )
        table.done()
        return rule

    def answer(self, table: TomlTable) -> AnswerRule:
        values: dict[str, Any] = {
            name: self.value(table, name)
            for name in ("result", "call_id", "tool", "error_text", "error_kind")
        }
        rule = AnswerRule(
            **values,
            ended=self.time(table, "ended"),
            latency=self.duration(table, "latency"),
            errors=tuple(self.error(one) for one in table.tables("error")),
            each=self.each(table),
        )
        table.done()
        return rule

    def message(self, table: TomlTable) -> MessageRule:
        role, text = self.value(table, "role"), self.value(table, "text")
        if role is None or text is None:
            wanted = 'both role (a path, or { const = "user" }) and text'
            raise table.wrong("role" if role is None else "text", wanted, None)
        rule = MessageRule(
            role=role,
            text=text,
            created_at=self.time(table, "at"),
            id=self.value(table, "id"),
            name=self.value(table, "name"),
            model=self.value(table, "model"),
            latency=self.duration(table, "latency"),
            each=self.each(table),
        )
        table.done()
        return rule

    def label(self, table: TomlTable) -> LabelRule:
        values: dict[str, Any] = {name: self.value(table, name) for name in _LABEL_VALUES}
        rule = LabelRule(
            **values,
            created_at=self.time(table, "at"),
            turn=self.number(table, "turn"),
            key_space=table.take_a(str, "of"),
            each=self.each(table),
        )
        table.done()
        if rule.label is None and rule.score is None and rule.note is None:
            raise table.wrong("label", "at least one of label, score and note", None)
        return rule


def _used(rule: Any, each: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Yield every path that stands in a rule, from the top of the record."""
    if isinstance(rule, Path):
        yield rule.steps if rule.from_top else (*each, *rule.steps)
    elif is_dataclass(rule):
        for field in fields(rule):
            yield from _used(getattr(rule, field.name), each)
    elif isinstance(rule, tuple):
        for one in cast("Iterable[Any]", rule):
            yield from _used(one, each)
