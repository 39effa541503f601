"""What a span says of a model's answer: what it was told, what it said, with what tools, at whatcost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from quality_lab.formats.json_pieces import (
    Pieces,
    expanded,
    first,
    integer_in,
    is_nothing,
    list_in,
    object_in,
    quoted,
    string_in,
    tree_of,
    unquoted,
    word,
)
from quality_lab.formats.said import message_attributes, messages_in, offers_a_tool
from quality_lab.formats.said_parts import Said
from quality_lab.formats.spans import Event, Span

_TOLD = (
    "gen_ai.input.messages", "llm.input_messages", "gen_ai.prompt", "ai.prompt.messages", "ai.prompt",
    "gcp.vertex.agent.llm_request", "gen_ai.request.messages",
)  # fmt: skip
_TOLD_LOOSELY = ("langfuse.observation.input", "input.value", "traceloop.entity.input", "input")
_SAID = (
    "gen_ai.output.messages", "llm.output_messages", "gen_ai.completion", "gcp.vertex.agent.llm_response",
    "gen_ai.response.messages",
)  # fmt: skip
_SAID_LOOSELY = ("langfuse.observation.output", "output.value", "traceloop.entity.output", "output")
_HISTORIES = ("pydantic_ai.all_messages", "all_messages_events")
_ROLES = {
    "gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.tool.message": "tool",
    "gen_ai.assistant.message": "assistant", "gen_ai.choice": "assistant",
}  # fmt: skip
_MODELS = (
    "gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.response.model", "ai.model.id",
    "llm.request.model",
)  # fmt: skip
_TOKENS_IN = (
    "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt",
    "llm.usage.prompt_tokens", "ai.usage.inputTokens", "ai.usage.promptTokens",
)  # fmt: skip
_TOKENS_OUT = (
    "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion",
    "llm.usage.completion_tokens", "ai.usage.outputTokens", "ai.usage.completionTokens",
)  # fmt: skip
_COSTS = ("gen_ai.usage.cost", "llm.cost.total", "operation.cost", "gen_ai.usage.total_cost")
_SCHEMAS = (
    "parameters", "parameters_json_schema", "parametersJsonSchema", "input_schema", "inputSchema",
    "json_schema",
)  # fmt: skip


@dataclass(slots=True, kw_only=True)
class ModelTurn:
    """One answer of a model."""

    told: list[Said]
    said: list[Said]
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    response_id: str | None

    @property
    def worth(self) -> int:
        """Return how much is known of it: calls and roles before bare text, bare text before nothing."""
        return 2 * any(one.role != "text" for one in (*self.told, *self.said)) + bool(self.told or self.said)


def model_turn(span: Span) -> ModelTurn:
    """Return what *span* says of an answer; messages that are bare text have the role "text"."""
    attributes = span.attributes
    told, said = _in_attributes(attributes)
    if not (told and said):
        heard, spoken = _in_events(span.events)
        told, said = told or heard, said or spoken
    if not (told and said):
        heard, spoken = _in_event_list(attributes.get("events"))
        told, said = told or heard, said or spoken
    told = told or _loosely(attributes, _TOLD_LOOSELY, None)
    said = said or _loosely(attributes, _SAID_LOOSELY, "assistant")
    if not told and not said:
        told = next(filter(None, (messages_in(attributes.get(name)) for name in _HISTORIES)), [])
    instructions = first(attributes, "gen_ai.system_instructions", "gen_ai.system.instructions")
    if instructions is not None and not any(one.role == "system" for one in told):
        told = [*messages_in(b'{"role":"system","content":' + _content(instructions) + b"}"), *told]
    finish = list_in(attributes.get("gen_ai.response.finish_reasons")) or [b"null"]
    reason = string_in(finish[0]) or word(attributes, "ai.response.finishReason")
    if not any(one.asked for one in said) and "langfuse.observation.calls" in attributes:
        asked = messages_in(
            b'{"role":"assistant","tool_calls":' + attributes["langfuse.observation.calls"] + b"}"
        )
        said = [one for one in said if one.role != "text"] + asked
    said = _one_text(said)
    if said and said[-1].finish_reason is None:
        said[-1] = replace(said[-1], finish_reason=reason)
    return ModelTurn(
        told=told,
        said=said,
        model=word(attributes, *_MODELS),
        input_tokens=_tokens(attributes, _TOKENS_IN),
        output_tokens=_tokens(attributes, _TOKENS_OUT),
        cost_usd=_cost(attributes),
        response_id=word(attributes, "gen_ai.response.id", "ai.response.id"),
    )


def _one_text(said: list[Said]) -> list[Said]:
    """Return an answer in one piece, where it was written as the pieces of a stream."""
    if len(said) < 3 or any(one.asked or one.answered or one.role != "assistant" for one in said):
        return said
    return [replace(said[-1], text="".join(one.text or "" for one in said))]


def _content(raw: bytes) -> bytes:
    plain = unquoted(raw)
    return plain if plain[:1] in (b"[", b"{") else raw


def _in_attributes(attributes: Pieces) -> tuple[list[Said], list[Said]]:
    told = next(filter(None, (message_attributes(attributes, name) for name in _TOLD)), [])
    said = next(filter(None, (message_attributes(attributes, name, role="assistant") for name in _SAID)), [])
    if not said and not is_nothing(attributes.get("ai.response.toolCalls")):
        calls = unquoted(attributes["ai.response.toolCalls"])
        text = attributes.get("ai.response.text", b"null")
        said = messages_in(b'{"role":"assistant","content":' + text + b',"tool_calls":' + calls + b"}")
    elif not said and string_in(attributes.get("ai.response.text")):
        said = [Said("assistant", string_in(attributes["ai.response.text"]))]
    return told, said


def _in_events(events: list[Event]) -> tuple[list[Said], list[Said]]:
    told: list[Said] = []
    said: list[Said] = []
    for event in events:
        members = event.attributes
        if "gen_ai.event.content" in members:
            members = {**members, **(object_in(members["gen_ai.event.content"]) or {})}
        heard, spoken = _in_attributes(members)
        told, said = told or heard, said or spoken
        if event.name in _ROLES and not (heard or spoken):
            (said if event.name == "gen_ai.choice" else told).extend(_event_message(event.name, members))
    return told, said


def _event_message(name: str, members: Pieces) -> list[Said]:
    """Return the message that an event of its own tells."""
    role = _ROLES[name]
    inner = members.get("message")
    if inner is not None and object_in(inner) is None:  # the content alone
        members = {**members, "content": inner}
    elif inner is not None:
        members = {**members, **(object_in(inner) or {})}
    plain = {
        key: value for key, value in members.items() if "." not in key and key not in ("message", "name")
    }
    plain.setdefault("role", quoted(role))
    if "content" in plain:
        plain["content"] = _content(plain["content"])
    if "tool_calls" in plain:
        plain["tool_calls"] = unquoted(plain["tool_calls"])
    return messages_in(tree_of(plain.items()), role=role)


def _in_event_list(raw: bytes | None) -> tuple[list[Said], list[Said]]:
    """Return the messages of events that were laid into one attribute."""
    told: list[Said] = []
    said: list[Said] = []
    for one in list_in(raw) or ():
        members = object_in(one) or {}
        is_choice = word(members, "event.name") == "gen_ai.choice"
        (said if is_choice else told).extend(messages_in(one, role="assistant" if is_choice else None))
    return told, said


def _loosely(attributes: Pieces, names: tuple[str, ...], role: str | None) -> list[Said]:
    for name in names:
        raw = attributes.get(name)
        if is_nothing(raw):
            continue
        found = messages_in(raw, role=role)
        if found:
            return found
        plain = string_in(raw)
        if plain is not None and unquoted(raw)[:1] not in (b"{", b"["):
            return [Said("text", plain)]
    return []


def _tokens(attributes: Pieces, names: tuple[str, ...]) -> int | None:
    found = next((count for name in names if (count := integer_in(attributes.get(name))) is not None), None)
    return found if found is not None and 0 <= found < 2**31 else None


def _cost(attributes: Pieces) -> float | None:
    text = word(attributes, *_COSTS)
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def tools_of(span: Span) -> bytes | None:
    """Return the tools that *span* says were offered, as a list of OpenAI's functions; None for none."""
    found = [function for raw in _offered(span) if (function := _function(raw)) is not None]
    return b"[" + b",".join(found) + b"]" if found else None


def _offered(span: Span) -> Iterator[bytes]:
    attributes = span.attributes
    for members in (attributes, *(event.attributes for event in span.events)):
        for name in ("gen_ai.tool.definitions", "ai.prompt.tools", "gen_ai.request.tools", "llm.tools"):
            yield from list_in(members.get(name)) or ()
    for prefix in ("llm.tools.", "llm.request.functions."):
        names = [name for name in attributes if name.startswith(prefix)]
        fields = [(name[len(prefix) :], attributes[name]) for name in names]
        if fields:
            yield from list_in(tree_of(one for one in fields if one[0][:1].isdigit())) or ()
    request = object_in(attributes.get("gcp.vertex.agent.llm_request")) or {}
    for tool in list_in((object_in(request.get("config")) or {}).get("tools")) or ():
        members = object_in(tool) or {}
        yield from list_in(first(members, "function_declarations", "functionDeclarations")) or ()
    parameters = object_in(attributes.get("model_request_parameters")) or {}
    for name in ("function_tools", "output_tools"):
        yield from list_in(parameters.get(name)) or ()
    for name in ("langfuse.observation.input", "input.value"):
        if b"tools" in attributes.get(name, b""):
            yield from list_in((object_in(attributes[name]) or {}).get("tools")) or ()
        if b"parameters" in attributes.get(name, b""):  # LangChain lists the tools among the messages
            for one in list_in(attributes[name]) or ():
                members = object_in(one) or {}
                if word(members, "role") == "tool" and offers_a_tool(members.get("content")):
                    yield members["content"]


def _function(raw: bytes) -> bytes | None:
    members = object_in(raw) or {}
    members = expanded(members)
    members = object_in(members.get("tool")) or members
    if "name" not in members:
        members = object_in(members.get("json_schema")) or members
    members = object_in(members.get("function")) or members
    name = word(members, "name")
    if name is None:
        return None
    schema = first(members, *_SCHEMAS)
    fields = [("name", quoted(name))]
    description = word(members, "description")
    if description is not None:
        fields.append(("description", quoted(description)))
    if object_in(schema) is not None and schema is not None:
        fields.append(("parameters", unquoted(schema)))
    inner = b",".join(quoted(key) + b":" + value for key, value in fields)
    return b'{"type":"function","function":{' + inner + b"}}"
