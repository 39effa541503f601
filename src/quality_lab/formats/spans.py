"""Spans, whatever wraps them: OTLP, Tempo, Jaeger, Phoenix, console exporters, flat lists, log records.

What is returned is one kind of span with its ids in hex, its times in nanoseconds and its attributes as JSON
text by dotted name. What the attributes mean is for others to say.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from quality_lab.formats.json_pieces import (
    Pieces,
    first,
    is_nothing,
    list_in,
    object_in,
    object_of,
    word,
)
from quality_lab.formats.span_attributes import attributes_in, laid_flat
from quality_lab.formats.span_envelopes import SCOPES, Resource, resource_in, resources_in
from quality_lab.formats.span_ids import span_id_of, trace_id_of
from quality_lab.formats.span_times import nanoseconds_in, status_in, times_in
from quality_lab.formats.validation import Refused, refusal, tally
from quality_lab.records import ReadNotes

RESOURCES = ("resourceSpans", "resource_spans", "batches")
LOGS = ("resourceLogs", "resource_logs")
_SCOPE_LOGS = ("scopeLogs", "scope_logs")
TRACE_IDS = ("traceId", "trace_id", "traceID", "context.trace_id")
SPAN_IDS = ("spanId", "span_id", "spanID", "context.span_id")
_PARENT_IDS = ("parentSpanId", "parent_span_id", "parentSpanID", "parent_id", "parentId")
_NAMES = ("name", "operationName", "span_name")
_OTHER_FIELDS = """
    context id kind span_kind attributes tags events span_events logs links references resource scope
    instrumentationScope instrumentation_scope instrumentation_library instrumentationLibrary flags process
    start_time startTime startTimeUnixNano start_time_unix_nano timestamp end_time endTime endTimeUnixNano
    end_time_unix_nano duration duration_ms latency_ms status status_code status_message statusCode
    statusMessage traceState trace_state processID warnings annotations span_annotations ended
    durationNano duration_nano droppedAttributesCount droppedEventsCount droppedLinksCount parentSpanContext parent
"""
_KNOWN = frozenset((*TRACE_IDS, *SPAN_IDS, *_PARENT_IDS, *_NAMES, *_OTHER_FIELDS.split()))


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened within a span."""

    name: str
    attributes: Pieces
    at: int | None  # nanoseconds since 1970


@dataclass(slots=True, kw_only=True)
class Span:
    """One span as it was written."""

    unit: int  # place of the line or object it came from, among those that were read
    trace_id: str
    span_id: str
    parent_id: str | None = None
    name: str = ""
    kind: str | None = None  # the field "span_kind" of Phoenix
    attributes: Pieces = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    resource: Pieces = field(default_factory=dict)
    scope: str | None = None
    started: int | None = None  # nanoseconds since 1970
    ended: int | None = None
    failed: bool | None = None  # by its status; None is "unset", which says nothing
    status_text: str | None = None
    annotations: list[bytes] = field(default_factory=list)
    conversation_id: str | None = None  # where what wraps the span names it
    is_log: bool = False  # only a carrier of events for the span of its ids


def spans_of(text: bytes, unit: int, notes: ReadNotes) -> list[Span]:
    """Return the spans in one line or object.

    Raises:
        Refused: it holds no spans, or one that has no ids.
        msgspec.DecodeError: it is not JSON.
    """
    members = object_of(text)
    try:
        return list(_spans(members, unit, notes, path=""))
    except msgspec.ValidationError as problem:
        raise Refused(*refusal(problem)) from None


def _spans(members: Pieces, unit: int, notes: ReadNotes, *, path: str, depth: int = 0) -> Iterator[Span]:
    for wrapper in ("trace", "data", "result"):
        inner = members.get(wrapper, b"")
        if inner[:1] in (b"{", b"[") and depth < 4 and not _has(members, SPAN_IDS):
            for place, one in enumerate(list_in(inner) or [inner]):
                below = object_in(one)
                if below is None:
                    raise Refused(f"{path}{wrapper}[{place}]", "wanted an object")
                yield from _spans(below, unit, notes, path=f"{path}{wrapper}[{place}].", depth=depth + 1)
            return
    resources = next((name for name in RESOURCES if name in members), None)
    if resources is not None:
        for place, found in enumerate(resources_in(members[resources], path + resources)):
            yield from _of_resource(found, unit, notes, f"{path}{resources}[{place}]")
    elif _has(members, SCOPES):
        yield from _of_resource(resource_in(members, path.rstrip(".")), unit, notes, path.rstrip("."))
    elif _has(members, LOGS):
        yield from _of_logs(members, unit, path)
    elif "spans" in members:
        yield from _of_trace(members, unit, notes, path)
    elif members:
        yield _span(members, unit, notes, path.rstrip("."))


def _of_resource(found: Resource, unit: int, notes: ReadNotes, path: str) -> Iterator[Span]:
    resource = attributes_in((object_in(bytes(found.resource)) or {}).get("attributes"))
    for name in SCOPES:
        for scope in getattr(found, name) or ():
            about = next(
                filter(None, (scope.scope, scope.instrumentationLibrary, scope.instrumentation_library)), b""
            )
            scope_name = word(object_in(bytes(about)) or {}, "name")
            for place, one in enumerate(scope.spans or ()):
                where = f"{path}.{name}[].spans[{place}]"
                members = object_in(bytes(one))
                if members is None:
                    raise Refused(where, "wanted an object")
                span = _span(members, unit, notes, where)
                span.resource, span.scope = resource, scope_name or span.scope
                yield span


def _of_trace(members: Pieces, unit: int, notes: ReadNotes, path: str) -> Iterator[Span]:
    """Yield the spans of one trace as Jaeger writes it, or of a bare `{"spans": […]}`."""
    processes = object_in(members.get("processes")) or {}
    resources: dict[str, Pieces] = {}
    for name, process in processes.items():
        about = object_in(process) or {}
        resources[name] = attributes_in(about.get("tags"))
        if "serviceName" in about:
            resources[name]["service.name"] = about["serviceName"]
    above = {name: members[name] for name in TRACE_IDS if name in members}
    for place, one in enumerate(_objects(members["spans"], f"{path}spans")):
        span = _span({**above, **one}, unit, notes, f"{path}spans[{place}]")
        process_id = word(one, "processID")
        if process_id in resources:
            span.resource = resources[process_id]
        yield span


def _of_logs(members: Pieces, unit: int, path: str) -> Iterator[Span]:
    """Yield a carrier for each log record that belongs to a span: its body is what an event would say."""
    for logs in (members[name] for name in LOGS if name in members):
        for resource in _objects(logs, f"{path}resourceLogs"):
            for scopes in (resource[name] for name in _SCOPE_LOGS if name in resource):
                for scope in _objects(scopes, f"{path}scopeLogs"):
                    records = first(scope, "logRecords", "log_records")
                    for one in _objects(records, f"{path}logRecords"):
                        yield from _of_record(one, unit)


def _of_record(one: Pieces, unit: int) -> Iterator[Span]:
    trace_id, span_id = word(one, *TRACE_IDS), word(one, *SPAN_IDS)
    if trace_id is None or span_id is None:
        return
    attributes = attributes_in(one.get("attributes"))
    body = attributes_in(b'[{"key":"body","value":' + one["body"] + b"}]") if "body" in one else {}
    attributes.update(object_in(body.get("body")) or body)
    name = word(one, "eventName", "event_name") or word(attributes, "event.name") or ""
    at = nanoseconds_in(first(one, "timeUnixNano", "observedTimeUnixNano", "timestamp"), "timeUnixNano")
    yield Span(
        unit=unit,
        trace_id=trace_id_of(trace_id),
        span_id=span_id_of(span_id),
        events=[Event(name, attributes, at)],
        is_log=True,
    )


def _span(one: Pieces, unit: int, notes: ReadNotes, path: str) -> Span:
    context = object_in(one.get("context")) or {}
    trace_id = word(one, *TRACE_IDS) or word(context, "trace_id", "traceId")
    span_id = word(one, *SPAN_IDS) or word(context, "span_id", "spanId") or word(one, "id")
    if trace_id is None and span_id is None and not _has(one, ("attributes", "tags", "spans")):
        return _of_attributes(one, unit, path)
    if trace_id is None or span_id is None:
        raise Refused(
            f"{path}.{'trace_id' if trace_id is None else 'span_id'}".lstrip("."), "a span needs it"
        )
    attributes = attributes_in(first(one, "attributes", "tags"))
    for name, value in one.items():
        if name in _KNOWN:
            continue
        if name.startswith("attributes."):  # a data frame's columns
            if value != b"null":
                attributes.update(laid_flat({name[11:]: value}))
        elif not name.startswith(("context.", "llm.", "cumulative")):
            tally(notes, notes.unknown_fields, name)
    span = Span(
        unit=unit,
        trace_id=trace_id_of(trace_id),
        span_id=span_id_of(span_id),
        parent_id=_parent(one),
        name=word(one, *_NAMES) or "",
        kind=word(one, "span_kind"),
        attributes=attributes,
        events=[_event(event) for event in list_in(first(one, "events", "span_events", "logs")) or ()],
        annotations=list_in(first(one, "annotations", "span_annotations")) or [],
    )
    span.resource = attributes_in((object_in(one.get("resource")) or {}).get("attributes"))
    scope = object_in(first(one, "scope", "instrumentationScope", "instrumentation_scope")) or {}
    span.scope = word(scope, "name") or word(attributes, "otel.scope.name")
    span.started, span.ended = times_in(one, path)
    span.failed, span.status_text = status_in(one, attributes)
    return span


def _of_attributes(one: Pieces, unit: int, path: str) -> Span:
    """Return a span of which only the attributes were written down; its ids are a digest of them."""
    attributes = dict(laid_flat(one))
    if not any(name.startswith(("gen_ai.", "llm.", "openinference.", "tool.")) for name in attributes):
        raise Refused(
            path, "wanted a span: no ids of a trace and a span, and no attributes of a model or a tool"
        )
    digest = hashlib.sha256(
        msgspec.json.encode([(name, str(value)) for name, value in one.items()])
    ).hexdigest()
    return Span(unit=unit, trace_id=digest[:32], span_id=digest[32:48], attributes=attributes)


def _parent(one: Pieces) -> str | None:
    found = word(one, *_PARENT_IDS)
    for reference in list_in(one.get("references")) or ():
        members = object_in(reference) or {}
        if found is None and word(members, "refType") != "FOLLOWS_FROM":
            found = word(members, *SPAN_IDS)
    if found is None:  # a console exporter writes the parent's whole context
        context = object_in(first(one, "parentSpanContext", "parent")) or {}
        found = word(context, *SPAN_IDS)
    parent = None if found is None else span_id_of(found)
    return None if parent is None or not parent.strip("0") else parent


def _event(text: bytes) -> Event:
    members = object_in(text) or {}
    attributes = attributes_in(first(members, "attributes", "fields"))
    name = word(members, "name", "event_name", "eventName") or word(attributes, "event.name", "event", "name")
    if "body" in members:
        attributes.update(object_in(members["body"]) or {"body": members["body"]})
    at = nanoseconds_in(
        first(members, "timeUnixNano", "time_unix_nano", "timestamp", "time"), "events.timestamp"
    )
    return Event(name or "", attributes, at)


def _objects(text: bytes | None, path: str) -> Iterator[Pieces]:
    if is_nothing(text):
        return
    listed = list_in(text)
    if listed is None:
        raise Refused(path, "wanted an array")
    for place, one in enumerate(listed):
        members = object_in(one)
        if members is None:
            raise Refused(f"{path}[{place}]", "wanted an object")
        yield members


def _has(members: Pieces, names: tuple[str, ...]) -> bool:
    return any(name in members for name in names)
