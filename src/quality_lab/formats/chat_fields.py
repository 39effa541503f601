"""The fields of chat messages and of the calls in them, as OpenAI and its many imitators write them."""

from __future__ import annotations

import msgspec

from quality_lab.formats.flat import FlatDecoder
from quality_lab.formats.validation import Refused, refusal

_ABSENT = msgspec.Raw()


class MessageFields(msgspec.Struct, kw_only=True, gc=False):
    """A message as it is written; its answer's usage and reason may be laid beside it by a reader."""

    role: str
    content: msgspec.Raw = _ABSENT
    refusal: str | None = None
    name: str | None = None
    tool_calls: msgspec.Raw = _ABSENT
    function_call: msgspec.Raw = _ABSENT
    tool_call_id: str | None = None
    id: str | None = None
    model: str | None = None
    created_at: msgspec.Raw = _ABSENT


class CallFields(msgspec.Struct, kw_only=True, gc=False):
    """A call in a message."""

    id: str | None = None
    type: str | None = None
    index: int | None = None
    function: msgspec.Raw = _ABSENT
    custom: msgspec.Raw = _ABSENT


class FunctionFields(msgspec.Struct, kw_only=True, gc=False):
    """The function that is called."""

    name: str
    arguments: msgspec.Raw = _ABSENT


class CustomFields(msgspec.Struct, kw_only=True, gc=False):
    """A tool that takes text as it is."""

    name: str
    input: msgspec.Raw = _ABSENT


class _Part(msgspec.Struct):
    text: str | None = None


MESSAGE = FlatDecoder(MessageFields)
CALL = FlatDecoder(CallFields)
FUNCTION = FlatDecoder(FunctionFields)
CUSTOM = FlatDecoder(CustomFields)


def elements(raw: msgspec.Raw, path: str) -> list[msgspec.Raw]:
    """Return the elements of the list at *path*; none where it is null or not there.

    Raises:
        Refused: something else stands there.
    """
    if not bytes(raw):
        return []
    try:
        return msgspec.json.decode(raw, type=list[msgspec.Raw] | None) or []
    except msgspec.ValidationError as problem:
        raise Refused(*refusal(problem, below=path)) from None


def text_of(message: MessageFields) -> str | None:
    """Return what a person would read of *message*: its text, the text of its parts, or its refusal."""
    content = bytes(message.content)
    if content.startswith(b'"'):
        return msgspec.json.decode(content, type=str)
    if content.startswith(b"["):
        try:
            parts = msgspec.json.decode(content, type=list[_Part | str])
        except msgspec.ValidationError:
            return None
        texts = [part if isinstance(part, str) else part.text for part in parts]
        return "\n".join(text for text in texts if text is not None) or None
    return message.refusal


def content_of(message: MessageFields) -> str | None:
    """Return content that is more than its text, as JSON text; None otherwise."""
    content = bytes(message.content)
    return None if not content or content == b"null" or content.startswith(b'"') else content.decode()
