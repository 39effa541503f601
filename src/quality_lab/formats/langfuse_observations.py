"""Observations of Langfuse as the spans they were: attributes, usage and tools under their usual names."""

from __future__ import annotations

from quality_lab.formats.json_pieces import Pieces, first, is_nothing, list_in, object_in, quoted, word
from quality_lab.formats.span_attributes import attributes_in, laid_flat
from quality_lab.formats.span_times import nanoseconds_in
from quality_lab.formats.spans import Span
from quality_lab.formats.validation import Refused, tally
from quality_lab.records import ReadNotes

_KIND_NAMES = "TOOL GENERATION AGENT CHAIN RETRIEVER EMBEDDING EVALUATOR GUARDRAIL"
_KINDS = frozenset(_KIND_NAMES.split())
TYPES = _KINDS | {"SPAN", "EVENT"}  # which say nothing of what they are
_FIELDS = """
    id traceId trace_id projectId parentObservationId parent_observation_id type environment name level
    statusMessage status_message version createdAt updatedAt startTime start_time endTime end_time input
    output model internalModelId internalModel modelId modelParameters completionStartTime promptId promptName
    promptVersion latency timeToFirstToken usage usageDetails usage_details costDetails cost_details metadata
    providedCostDetails providedUsageDetails inputCost outputCost totalCost inputUsage outputUsage totalUsage
    calculatedInputCost calculatedOutputCost calculatedTotalCost inputPrice outputPrice totalPrice unit
    usagePricingTierId usagePricingTierName toolDefinitions toolCalls toolCallNames promptTokens totalTokens
    completionTokens sessionId userId traceName tags release scores traceTags bookmarked public
    time_to_first_token session_id user_id trace_name prompt_name prompt_version
"""
_KNOWN = frozenset(_FIELDS.split())
_USAGE = {"input_tokens": ("input", "promptTokens"), "output_tokens": ("output", "completionTokens")}


def observation_span(one: Pieces, unit: int, path: str, notes: ReadNotes) -> Span:
    """Return the span that the observation *one*, at *path* in its line, was made of.

    Raises:
        Refused: it has no ids, or a time that is none.
    """
    for name in one.keys() - _KNOWN:
        tally(notes, notes.unknown_fields, f"observations[].{name}" if path else name)
    trace_id, span_id = word(one, "traceId", "trace_id"), word(one, "id")
    if trace_id is None or span_id is None:
        missing = "traceId" if trace_id is None else "id"
        raise Refused(f"{path}.{missing}".lstrip("."), "required field is missing")
    kind = word(one, "type") or ""
    if kind not in TYPES:
        tally(notes, notes.not_understood, f"observation type {kind or '(none)'}")
    span = Span(
        unit=unit,
        trace_id=trace_id,
        span_id=span_id,
        parent_id=word(one, "parentObservationId", "parent_observation_id"),
        name=word(one, "name") or "",
        kind=kind if kind in _KINDS else None,
        attributes=_attributes(one),
        started=nanoseconds_in(first(one, "startTime", "start_time"), f"{path}.startTime".lstrip(".")),
        ended=nanoseconds_in(first(one, "endTime", "end_time"), f"{path}.endTime".lstrip(".")),
        failed=True if word(one, "level") == "ERROR" else None,
        status_text=word(one, "statusMessage", "status_message"),
    )
    span.conversation_id = word(one, "sessionId", "session_id")
    return span


def _attributes(one: Pieces) -> Pieces:
    """Return an observation's attributes, and what was taken out of them under the names it has there."""
    metadata = object_in(one.get("metadata")) or {}
    attributes = attributes_in(metadata["attributes"]) if object_in(metadata.get("attributes")) else {}
    if not attributes:
        attributes = {name: value for name, value in laid_flat(metadata) if "." in name}
    attributes["langfuse.observation.input"] = one.get("input", b"null")
    attributes["langfuse.observation.output"] = one.get("output", b"null")
    for name, value in (("toolDefinitions", one.get("toolDefinitions")), ("tools", metadata.get("tools"))):
        tools = _tools(value) if name == "toolDefinitions" else list_in(value)
        if tools and "gen_ai.tool.definitions" not in attributes:
            attributes["gen_ai.tool.definitions"] = b"[" + b",".join(tools) + b"]"
    calls = _calls(one)
    if calls:
        attributes["langfuse.observation.calls"] = b"[" + b",".join(calls) + b"]"
    model = first(one, "model", "modelId")
    if model is not None:
        attributes["gen_ai.response.model"] = model
    for usage in (one.get("usageDetails"), one.get("usage_details"), one.get("usage"), _legacy_usage(one)):
        members = usage if isinstance(usage, dict) else object_in(usage) or {}
        for name, keys in _USAGE.items():
            count = first(members, *keys)
            if count is not None and is_nothing(attributes.get(f"langfuse.{name}")):
                attributes[f"gen_ai.usage.{name}"] = attributes[f"langfuse.{name}"] = count
    costs = object_in(first(one, "costDetails", "cost_details")) or {}
    cost = first(costs, "total") or first(one, "calculatedTotalCost", "totalCost", "totalPrice")
    if cost is not None:
        attributes["gen_ai.usage.cost"] = cost
    return attributes


def _calls(one: Pieces) -> list[bytes]:
    """Return the calls in the column of their own, each with its name, which lies in another."""
    found: list[bytes] = []
    names = list_in(one.get("toolCallNames")) or []
    for name, raw in zip(names, list_in(one.get("toolCalls")) or (), strict=False):
        fields = {"name": name, **(object_in(raw) or {})}
        found.append(b"{" + b",".join(quoted(key) + b":" + text for key, text in fields.items()) + b"}")
    return found


def _legacy_usage(one: Pieces) -> Pieces:
    return {name: one[name] for name in ("promptTokens", "completionTokens") if name in one}


def _tools(value: bytes | None) -> list[bytes]:
    """Return tools that are written as an object, name to definition."""
    found: list[bytes] = []
    for name, definition in (object_in(value) or {}).items():
        members = object_in(definition) or {}
        fields = {"name": quoted(name), **members}
        found.append(b"{" + b",".join(quoted(key) + b":" + text for key, text in fields.items()) + b"}")
    return found or list_in(value) or []
