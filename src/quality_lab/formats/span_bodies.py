"""Spans whose input and output were cut off and lie in the body of an event, as AWS's collector leaves them.

Such a span has lost what it is: no kind, no tool's name. What came back tells it: LangChain's generations are a
model's answer, its message of the type "tool" is a tool's result.
"""

from __future__ import annotations

from quality_lab.formats.json_pieces import Pieces, first, list_in, object_in, quoted, string_in, word
from quality_lab.formats.spans import Span


def with_bodies(span: Span) -> Span:
    """Return *span* with the attributes that the body of one of its events stands for."""
    if any(name.startswith(("gen_ai.", "llm.", "openinference.", "traceloop.")) for name in span.attributes):
        return span
    for event in span.events:
        told, said = _content(event.attributes, "input"), _content(event.attributes, "output")
        if said is not None:
            span.attributes = {**span.attributes, **_attributes(told, said)}
    return span


def _content(attributes: Pieces, name: str) -> bytes | None:
    """Return the content of the one message that a body holds under *name*."""
    for one in (list_in((object_in(attributes.get(name)) or {}).get("messages")) or ())[:1]:
        return first(object_in(one) or {}, "content")
    return None


def _attributes(told: bytes | None, said: bytes) -> Pieces:
    members = object_in(said) or {}
    found: Pieces = {"output.value": said}
    if told is not None:
        found["input.value"] = told
    if "generations" in members:
        found["openinference.span.kind"] = b'"LLM"'
        if told is not None and object_in(told) is None and list_in(told) is None:
            text = string_in(told) or ""
            found["input.value"] = b'[{"role":"user","content":' + quoted(text) + b"}]"
    elif word(members, "type") == "tool" and "tool_call_id" in members:
        found["openinference.span.kind"] = b'"TOOL"'
        found["tool.name"] = members.get("name", b"null")
    return found
