"""What a span is: a call of a tool, an answer of a model, an agent at work, a hand-off, or something else.

Three vocabularies say so, each in a current and in older spellings: OpenTelemetry's for generative AI,
OpenInference's, and Traceloop's; ADK, Vercel's SDK, MCP and LangSmith have words of their own.
"""

from __future__ import annotations

import re
from typing import Literal

from quality_lab.formats.json_pieces import is_nothing, word
from quality_lab.formats.spans import Span
from quality_lab.formats.validation import tally
from quality_lab.records import ReadNotes

Role = Literal["tool", "handoff", "llm", "agent", "merged", "other"]

_OPERATIONS: dict[str, Role] = {
    "execute_tool": "tool", "chat": "llm", "generate_content": "llm", "text_completion": "llm",
    "completion": "llm", "invoke_agent": "agent", "create_agent": "other", "invoke_workflow": "agent",
    "embeddings": "other", "retrieval": "other", "rerank": "other", "plan": "other", "message": "llm",
    "load_skill": "other", "search_memory": "other", "update_memory": "other", "delete_memory": "other",
    "create_memory": "other", "upsert_memory": "other", "create_memory_store": "other", "handoff": "handoff",
    "delete_memory_store": "other", "generate_text": "llm", "agent_handoff": "handoff",
}  # fmt: skip
_KINDS: dict[str, Role] = {
    "TOOL": "tool", "LLM": "llm", "AGENT": "agent", "CHAIN": "other", "RETRIEVER": "other",
    "EMBEDDING": "other", "RERANKER": "other", "GUARDRAIL": "other", "EVALUATOR": "other", "PROMPT": "other",
    "UNKNOWN": "other", "TASK": "other", "WORKFLOW": "other", "HANDOFF": "handoff", "GENERATION": "llm",
}  # fmt: skip
_SAYING_NOTHING = ("unknown", "chain", "tool", "llm")  # what LangSmith and Traceloop write beside a kind
_WIRE_KINDS = frozenset(["INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER", "UNSPECIFIED"])
_HANDOFF = re.compile(r"hand-?off(?:$|[ :_.])", re.IGNORECASE)
_TOOL_NAMES = ("execute_tool ", "running tool: ", "running tool", "tools/call ")
_TELLING_NAMES = (*_TOOL_NAMES, "call_llm", "invoke_agent ", "handoff", "hand-off", "Handoff")
_MODEL_MARKS = (
    "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.prompt", "gen_ai.completion",
    "gen_ai.prompt.0.role", "gen_ai.completion.0.role", "llm.input_messages", "llm.output_messages",
    "llm.input_messages.0.message.role", "llm.output_messages.0.message.role", "ai.prompt.messages",
    "gen_ai.prompt.0.content", "gen_ai.completion.0.content",
)  # fmt: skip


def role_of(span: Span, notes: ReadNotes) -> Role:
    """Return what *span* is; an operation or a kind that nobody knows is counted in *notes*."""
    attributes = span.attributes
    if not attributes and span.kind is None and not span.name.startswith(_TELLING_NAMES):
        return "other"
    if word(attributes, "gen_ai.tool.name") == "(merged tools)" or span.name == "execute_tool (merged)":
        return "merged"  # ADK tells the results of a parallel batch once more, together
    stated = _stated(span, notes)
    named = word(attributes, "gen_ai.tool.name", "tool.name", "ai.toolCall.name") is not None
    if stated == "tool" and not named and _HANDOFF.match(span.name):
        return "handoff"
    if stated == "tool" and word(attributes, "gen_ai.tool.name") == "transfer_to_agent":
        return "handoff"  # ADK: control flow
    if stated is not None:
        return stated
    if word(attributes, "mcp.method.name") is not None:
        return "tool" if word(attributes, "mcp.method.name") == "tools/call" else "other"
    if named or span.name.startswith(_TOOL_NAMES):
        return "tool"
    if span.name.startswith("invoke_agent "):
        return "agent"
    if span.name == "call_llm" or any(not is_nothing(attributes.get(mark)) for mark in _MODEL_MARKS):
        return "llm"
    return "other"


def _stated(span: Span, notes: ReadNotes) -> Role | None:
    """Return what the span says itself to be, in the first of the vocabularies that it speaks."""
    attributes = span.attributes
    operation = word(attributes, "gen_ai.operation.name")
    if operation is not None:
        role = _OPERATIONS.get(operation)
        if role is not None:
            return role
        if operation not in _SAYING_NOTHING:
            tally(notes, notes.not_understood, f"gen_ai.operation.name {operation}")
    kind = (
        word(attributes, "openinference.span.kind", "traceloop.span.kind", "langsmith.span.kind") or span.kind
    )
    kind = (kind or "").upper().rpartition(".")[2].removeprefix("SPAN_KIND_")
    if kind and kind not in _WIRE_KINDS:
        if kind in _KINDS:
            return None if kind == "UNKNOWN" else _KINDS[kind]
        tally(notes, notes.not_understood, f"span kind {kind}")
    vercel = word(attributes, "ai.operationId")
    if vercel is not None:
        return (
            "tool"
            if vercel == "ai.toolCall"
            else "llm"
            if vercel.startswith(("ai.generate", "ai.stream"))
            else "other"
        )
    if word(attributes, "llm.request.type") in ("chat", "completion"):
        return "llm"
    return {"agentic.tool.invocation": "tool", "agentic.mcp.invocation": "tool"}.get(
        word(attributes, "span.type") or ""
    )  # type: ignore[return-value]  # a literal in, a literal out
