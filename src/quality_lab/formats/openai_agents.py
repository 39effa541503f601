"""Traces of OpenAI's Agents SDK, as its exporter sends them: traces and spans, children before their parents.

A function span is a call; a hand-off is a span of its own kind and no call. Arguments and outputs are text:
outputs are what Python makes of an object, so they stay the text that came.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from quality_lab.formats.contract import ObjectFormat, Reading, Unit, each_object
from quality_lab.formats.flat import FlatDecoder
from quality_lab.formats.holding import told_at_the_end
from quality_lab.formats.json_pieces import is_nothing, list_in, object_in, string_in, word
from quality_lab.formats.moments import moment_of
from quality_lab.formats.tool_facts import server_in, wrapped_tool
from quality_lab.formats.units import RawUnit
from quality_lab.formats.upstream import arguments_of
from quality_lab.formats.validation import Refused, joined, tally
from quality_lab.records import Actor, Conversation, Record, SetAside, ToolCall

NAME = "openai_agents"
_ABSENT = msgspec.Raw()


class _Line(msgspec.Struct, kw_only=True, gc=False):
    """A trace, a span of one, or a batch of both under "data"."""

    object: str | None = None
    id: str | None = None
    trace_id: str | None = None
    parent_id: str | None = None
    started_at: msgspec.Raw = _ABSENT
    ended_at: msgspec.Raw = _ABSENT
    span_data: msgspec.Raw = _ABSENT
    error: msgspec.Raw = _ABSENT
    workflow_name: msgspec.Raw = _ABSENT
    group_id: msgspec.Raw = _ABSENT
    metadata: msgspec.Raw = _ABSENT
    speech_group_id: msgspec.Raw = _ABSENT
    data: msgspec.Raw = _ABSENT


@dataclass(slots=True)
class _Span:
    """A function span on its way."""

    line: int
    span: _Line
    data: dict[str, bytes]
    started_at: datetime | None
    ended_at: datetime | None


@dataclass(slots=True)
class _Traces:
    """What has to be known of a file before its calls can be told: who stands above whom."""

    reading: Reading
    calls: dict[tuple[str, str], _Span] = field(default_factory=dict)
    above: dict[str, str | None] = field(default_factory=dict)  # id of a span → of its parent
    kinds: dict[str, str] = field(default_factory=dict)  # id of a span → its type
    lines: set[int] = field(default_factory=set)  # with function spans

    def take(self, text: bytes, line: int) -> tuple[Record, ...]:
        """Return what can be told of a line at once; its calls are told at the end."""
        found = _line.decode(text, self.reading.notes)
        if bytes(found.data):
            records: list[Record] = []
            for place, one in enumerate(list_in(bytes(found.data)) or ()):
                inner = _line.decode(one, self.reading.notes, below=f"data[{place}]")
                records += self._one(inner, line, f"data[{place}]")
            return tuple(records)
        return tuple(self._one(found, line, ""))

    def _one(self, found: _Line, line: int, path: str) -> Iterator[Record]:
        notes = self.reading.notes
        if found.id is None:
            raise Refused(joined(path, "id"), "required field is missing")
        if found.object == "trace":
            if bytes(found.group_id) not in (b"", b"null"):
                tally(notes, notes.not_understood, "group of traces")
            yield self._conversation(found.id)
            return
        data = object_in(bytes(found.span_data))
        if found.object != "trace.span" or data is None or found.trace_id is None:
            raise Refused(joined(path, "object"), 'wanted a "trace", or a "trace.span" with "span_data"')
        kind = word(data, "type") or "unknown"
        self.above[found.id], self.kinds[found.id] = found.parent_id, kind
        if kind != "function":
            if kind == "handoff":
                notes.count(notes.not_understood, "hand-off, which is no call of a tool")
            elif kind not in ("agent", "response"):
                tally(notes, notes.not_understood, f"span of type {kind}")
            yield SetAside(kind=f"span of type {kind}", reason="it is no call of a tool")
            return
        if string_in(data.get("name")) is None:
            raise Refused(joined(path, "span_data.name"), "required field is missing")
        span = _Span(
            line,
            found,
            data,
            moment_of(found.started_at, joined(path, "started_at")),
            moment_of(found.ended_at, joined(path, "ended_at")),
        )
        self.lines.add(line)
        known = self.calls.get((found.trace_id, found.id))
        if known is not None:
            notes.count(notes.merged, "span written again")
        if known is None or known.ended_at is None:
            self.calls[found.trace_id, found.id] = span

    def has_calls(self, line: int) -> bool:
        """Say whether a function span stands on this line."""
        return line in self.lines

    def told(self) -> Iterator[tuple[int, Record]]:
        """Yield the calls with their lines, and the conversations that they belong to."""
        for (trace_id, span_id), span in self.calls.items():
            yield span.line, self._conversation(trace_id, span.started_at)
            yield span.line, self._call(trace_id, span_id, span)

    def _conversation(self, trace_id: str, moment: datetime | None = None) -> Conversation:
        options = self.reading.options
        return Conversation(
            key_space=NAME,
            conversation_id=trace_id,
            source=options.source,
            style=options.style,
            started_at=moment,
        )

    def _call(self, trace_id: str, span_id: str, span: _Span) -> ToolCall:
        name = string_in(span.data.get("name")) or ""
        given, output = span.data.get("input", b""), span.data.get("output", b"")
        arguments, state = arguments_of(msgspec.Raw(b"" if given == b"null" else given))
        result = None if output in (b"", b"null") else output.decode()
        wrapped, server = wrapped_tool(name, arguments)
        mcp = object_in(span.data.get("mcp_data")) or {}
        error = bytes(span.span.error)
        failed = not is_nothing(error)
        ended = span.started_at is not None and span.ended_at is not None
        if result is None:
            self.reading.notes.count(self.reading.notes.missing, "call without result")
        took = span.ended_at - span.started_at if span.ended_at and span.started_at else None
        return ToolCall(
            key_space=NAME,
            key=f"{trace_id}/{span_id}",
            conversation_id=trace_id,
            tool_name=name,
            tool_server=word(mcp, "server") or server or server_in(name),
            wrapped_tool=wrapped,
            arguments=arguments,
            arguments_state=state,
            result=result,
            result_state="not_captured" if result is None else "present",
            is_error=True if failed else False if ended else None,
            error_origin="exception" if failed else None,
            error_text=_error_text(error) if failed else None,
            actor=self._actor(span_id),
            source=self.reading.options.source,
            style=self.reading.options.style,
            created_at=span.started_at,
            latency_ms=None if took is None else took.total_seconds() * 1000,
        )

    def _actor(self, span_id: str) -> Actor:
        """Return who made a call: a sub-agent, where an agent above it was itself called as a tool."""
        seen, agent = {span_id}, False
        above = self.above.get(span_id)
        while above is not None and above not in seen:
            seen.add(above)
            kind = self.kinds.get(above)
            if kind == "function" and agent:
                return "sub_agent"
            agent = agent or kind == "agent"
            above = self.above.get(above)
        return "model"


def _error_text(error: bytes) -> str:
    """Return the message of a span's error, and what the SDK laid beside it."""
    said = object_in(error) or {}
    text = string_in(said.get("message")) or error.decode()
    inner = word(object_in(said.get("data")) or {}, "error")
    return f"{text}: {inner}" if inner else text


_line = FlatDecoder(_Line)


def _read(raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
    traces = _Traces(reading)
    units = each_object(raws, reading, traces.take)
    return told_at_the_end(units, speaks=traces.has_calls, records=traces.told)


def _expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
    batch = found.get("data")
    one = batch[0] if isinstance(batch, list) and batch and isinstance(batch[0], dict) else found
    span = one.get("object") == "trace.span"
    return {
        '"object" as "trace" or "trace.span"': span or one.get("object") == "trace",
        'a span with "span_data", or a trace with "workflow_name"': "span_data" in one
        if span
        else "workflow_name" in one,
    }


FORMAT = ObjectFormat(
    name=NAME,
    title="OpenAI Agents SDK traces",
    recognised_by='Objects whose "object" is "trace" or "trace.span", with "span_data" in the spans.',
    key="(trace, span): the SDK's own ids, the same in every export; each trace is a conversation",
    expectations=_expectations,
    shapes=("object trace_id span_data.type started_at", "object workflow_name id"),
    reader=_read,
)
