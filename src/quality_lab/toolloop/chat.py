"""OpenAI's chat completions on the wire: what goes into a request, and what is and is not an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .record import Message, ModelReply, RequestedCall
from .wire import NotOneJsonValue, one_value, to_json


def request_body(
    model: str, messages: Sequence[Message], *, tools: Sequence[dict[str, Any]], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the body of a request; ``tools`` is left out where there are none."""
    body: dict[str, Any] = {
        "model": model,
        **options,
        "messages": [on_the_wire(message) for message in messages],
    }
    if tools:
        body["tools"] = list(tools)
    return body


def on_the_wire(message: Message) -> Message:
    """Return *message* as servers take it.

    Some fail on a null text beside calls, or on arguments that are no object. The loop's own list keeps the
    message as the model wrote it.
    """
    calls = message.get("tool_calls")
    if not calls:
        return message
    return {
        **message,
        "content": message.get("content") or "",
        "tool_calls": [_call_on_the_wire(call) for call in calls],
    }


def _call_on_the_wire(call: dict[str, Any]) -> dict[str, Any]:
    function = call.get("function")
    if not isinstance(function, dict):
        return call
    text = function.get("arguments")
    if isinstance(text, str) and text.startswith("{") and text.endswith("}") and _is_json(text):
        return call
    return {**call, "function": {**function, "arguments": to_json(arguments_object(text))}}


def _is_json(text: str) -> bool:
    try:
        one_value(text)
    except NotOneJsonValue:
        return False
    return True


def arguments_object(text: Any) -> dict[str, Any]:
    """Return arguments as the object they are, ``{}`` for none, or one that says that they are no object."""
    if isinstance(text, dict):
        return text
    if text is None or not str(text).strip():
        return {}
    try:
        value = one_value(str(text))
    except NotOneJsonValue:
        return {"invalid_json": str(text)}
    return value if isinstance(value, dict) else {"not_an_object": value}


def reply_from(answer: object, *, attempts: int = 1) -> ModelReply:
    """Return the reply that a server's *answer* holds.

    Raises:
        ValueError: it holds none; the text goes on from "answered 200 …".
    """
    if isinstance(answer, str):
        raise ValueError(f"with text that is no JSON: {_start(answer)}")
    if not isinstance(answer, dict):
        raise ValueError(f"with {type(answer).__name__} in place of an object")
    choices = answer.get("choices")
    if not choices and answer.get("error"):
        error = answer["error"]
        raise ValueError(
            f"with an error: {_start(error.get('message') if isinstance(error, dict) else error)}"
        )
    if not isinstance(choices, list) or not choices:
        raise ValueError("without any choice")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise ValueError("with a choice that holds no message")
    usage = answer.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return ModelReply(
        content=_text(message.get("content")),
        calls=requested_calls(message),
        finish_reason=_string(choice.get("finish_reason")),
        refusal=_string(message.get("refusal")),
        model=_string(answer.get("model")),
        response_id=_string(answer.get("id")),
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        attempts=attempts,
    )


def requested_calls(message: Mapping[str, Any]) -> tuple[RequestedCall, ...]:
    """Return the calls that an assistant *message* asks for; an id, name or arguments it lacks is ""."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return ()
    found = []
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        function = function if isinstance(function, dict) else {}
        arguments = function.get("arguments")
        found.append(
            RequestedCall(
                call_id=_string(call.get("id")) or "" if isinstance(call, dict) else "",
                tool_name=_string(function.get("name")) or "",
                arguments_text=arguments
                if isinstance(arguments, str)
                else ""
                if arguments is None
                else to_json(arguments),
            )
        )
    return tuple(found)


def _text(content: object) -> str | None:
    """Return the text of a message whose content is text or a list of parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return _string(content)


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _start(value: object) -> str:
    line = " ".join(str(value).split())
    return line if len(line) <= 120 else line[:119] + "…"
