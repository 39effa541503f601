"""Spans written by a test, in any of the wrappings in which exporters write them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

TRACE = "5b8efff798038103d269b633813fc60c"
START = 1_777_555_053_780_274_700  # nanoseconds; beyond what a double holds exactly


def span(number: int, name: str, *, parent: int | None = None, **attributes: Any) -> dict[str, Any]:
    """Return a flat span; `gen_ai__tool__name` is the attribute gen_ai.tool.name."""
    return {
        "trace_id": TRACE,
        "span_id": f"{number:016x}",
        "parent_span_id": None if parent is None else f"{parent:016x}",
        "name": name,
        "start_time": START + number * 1_000_000_000,
        "end_time": START + number * 1_000_000_000 + 250_000_000,
        "attributes": {key.replace("__", "."): value for key, value in attributes.items()},
        "status": {"code": "UNSET"},
    }


def tool(number: int, name: str, arguments: Any, result: Any, **more: Any) -> dict[str, Any]:
    """Return a span that runs a tool; arguments and result that are no text are written as JSON text."""
    given = {"gen_ai__tool__call__arguments": arguments, "gen_ai__tool__call__result": result}
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in given.items()}
    return span(
        number,
        f"execute_tool {name}",
        **{"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": name, **texts, **more},
    )


def chat(number: int, told: Sequence[Any], said: Sequence[Any], **more: Any) -> dict[str, Any]:
    """Return a span of a model's answer, with its messages as OpenTelemetry writes them."""
    messages = {
        "gen_ai__input__messages": json.dumps(told),
        "gen_ai__output__messages": json.dumps(said),
        "gen_ai__request__model": "gpt-4o",
    }
    return span(number, "chat gpt-4o", **{"gen_ai__operation__name": "chat", **messages, **more})


def says(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def asks(*calls: tuple[str | None, str, Any]) -> dict[str, Any]:
    """Return a message that makes these calls: id, name, arguments."""
    parts = [
        {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}
        for call_id, name, arguments in calls
    ]
    return {"role": "assistant", "parts": parts, "finish_reason": "tool_calls"}


def answers(call_id: str | None, result: Any) -> dict[str, Any]:
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, "response": result}]}


def otlp_value(value: Any) -> dict[str, Any]:
    """Return a value as OTLP JSON types it."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp_value(one) for one in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": otlp_attributes(value)}}
    return {"stringValue": value}


def otlp_attributes(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": otlp_value(value)} for key, value in attributes.items()]


def otlp_span(one: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "traceId": one["trace_id"],
        "spanId": one["span_id"],
        "parentSpanId": one["parent_span_id"] or "",
        "name": one["name"],
        "kind": 1,
        "startTimeUnixNano": str(one["start_time"]),
        "endTimeUnixNano": str(one["end_time"]),
        "attributes": otlp_attributes(one["attributes"]),
        "status": {"code": {"UNSET": 0, "OK": 1, "ERROR": 2}[one["status"]["code"]]},
        "events": [
            {
                "name": event["name"],
                "timeUnixNano": str(START),
                "attributes": otlp_attributes(event["attributes"]),
            }
            for event in one.get("events", ())
        ],
    }


def otlp(spans: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return spans as OTLP JSON."""
    scope = {"scope": {"name": "shop.agent"}, "spans": [otlp_span(one) for one in spans]}
    resource = {"attributes": otlp_attributes({"service.name": "shop"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def otlp_of_protobuf(spans: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return spans as protocol buffers print them: ids in base64, enumerations by name."""
    document = otlp(spans)
    for one in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for key in ("traceId", "spanId", "parentSpanId"):
            one[key] = base64.b64encode(bytes.fromhex(one[key])).decode()
        one["status"] = {
            "code": ("STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR")[one["status"]["code"]]
        }
    return document


def tempo(spans: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return spans as Tempo writes them, its times as numbers."""
    document = otlp(spans)["resourceSpans"][0]
    for one in document["scopeSpans"][0]["spans"]:
        for key in ("startTimeUnixNano", "endTimeUnixNano"):
            one[key] = int(one[key])
    return {
        "batches": [{"resource": document["resource"], "instrumentationLibrarySpans": document["scopeSpans"]}]
    }


def jaeger(spans: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return spans as Jaeger writes them, in microseconds."""
    listed = []
    for one in spans:
        tags = [{"key": key, "type": "string", "value": value} for key, value in one["attributes"].items()]
        code = one["status"]["code"]
        if code == "ERROR":
            tags += [{"key": "error", "type": "bool", "value": True}]
        if code != "UNSET":
            tags += [{"key": "otel.status_code", "type": "string", "value": code}]
        above = [{"refType": "CHILD_OF", "traceID": one["trace_id"], "spanID": one["parent_span_id"]}]
        listed.append(
            {
                "traceID": one["trace_id"],
                "spanID": one["span_id"],
                "operationName": one["name"],
                "references": above if one["parent_span_id"] else [],
                "startTime": one["start_time"] // 1_000,
                "duration": (one["end_time"] - one["start_time"]) // 1_000,
                "tags": tags,
                "logs": [],
                "processID": "p1",
            }
        )
    processes = {"p1": {"serviceName": "shop", "tags": []}}
    return {"data": [{"traceID": TRACE, "spans": listed, "processes": processes}], "total": 0, "errors": None}


def console(spans: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return spans as Python's console exporter prints them."""
    return [
        {
            "name": one["name"],
            "context": {
                "trace_id": f"0x{one['trace_id']}",
                "span_id": f"0x{one['span_id']}",
                "trace_state": "[]",
            },
            "kind": "SpanKind.INTERNAL",
            "parent_id": f"0x{one['parent_span_id']}" if one["parent_span_id"] else None,
            "start_time": one["start_time"],
            "end_time": one["end_time"],
            "status": {"status_code": one["status"]["code"]},
            "attributes": one["attributes"],
            "events": [],
            "links": [],
            "resource": {"attributes": {"service.name": "shop"}, "schema_url": ""},
        }
        for one in spans
    ]
