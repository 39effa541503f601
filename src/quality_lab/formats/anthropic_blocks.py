"""The content blocks of Anthropic's messages: text, calls of tools, and their results."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from quality_lab.formats.exchange import Called, Exchange, Said
from quality_lab.formats.json_pieces import Pieces, list_in, object_in, string_in, word
from quality_lab.formats.moments import moment_of
from quality_lab.formats.upstream import arguments_of
from quality_lab.formats.validation import Refused, joined, tally
from quality_lab.records import ReadNotes

_USES = ("tool_use", "server_tool_use", "mcp_tool_use")
_SILENT = ("thinking", "redacted_thinking", "image", "document", "container_upload", "tool_reference")


@dataclass(slots=True)
class Result:
    """A result that stands in a block."""

    call_id: str | None
    content: bytes | None  # JSON text
    text: str | None
    failed: bool


@dataclass(slots=True)
class Blocks:
    """What stands in a message's content."""

    text: str | None = None
    more: list[bytes] = field(default_factory=list)  # all blocks, where some are neither text nor calls
    uses: list[Pieces] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)

    @property
    def content(self) -> str | None:
        """Return the blocks as JSON text, where they are more than text and calls."""
        return b"".join((b"[", b",".join(self.more), b"]")).decode() if self.more else None


def blocks_in(content: bytes | None, path: str, notes: ReadNotes) -> Blocks:
    """Return what the *content* at *path* holds.

    Raises:
        Refused: it is neither text nor a list.
    """
    text = string_in(content)
    if text is not None:
        return Blocks(text=text)
    listed = list_in(content)
    if listed is None:
        raise Refused(path, "wanted text or a list of blocks")
    found, texts, plain = Blocks(), [], True
    for one in listed:
        said = string_in(one)
        block = object_in(one)
        if block is None:
            if said is not None:
                texts.append(said)
            else:
                tally(notes, notes.not_understood, "block that is no object")
            continue
        kind = word(block, "type") or ("text" if "text" in block else "")
        if kind == "text":
            texts += filter(None, (string_in(block.get("text")),))
        elif kind in _USES:
            found.uses.append(block)
        elif kind.endswith("tool_result"):
            found.results.append(_result(block))
        else:
            plain = False
            if kind not in _SILENT:
                tally(
                    notes, notes.not_understood, f"block of type {kind}" if kind else "block without a type"
                )
    found.text = "\n".join(texts) or None
    found.more = [] if plain else listed
    return found


def ask(exchange: Exchange, said: Said, block: Pieces, path: str, *, line: int | None = None) -> Called:
    """Return the call that a block of *said* makes.

    Raises:
        Refused: it names no tool.
    """
    name = string_in(block.get("name"))
    if name is None:
        raise Refused(f"{path}.name", "required field is missing")
    given = arguments_of(msgspec.Raw(block.get("input", b"")))
    call = exchange.call(said, name, given, call_id=word(block, "id"), line=line)
    call.tool_server = word(block, "server_name", "mcp_server_name")
    return call


def take(exchange: Exchange, message: Pieces, path: str, line: int) -> Said | None:
    """Return the last message that an object says: a person's words, the model's, or the results in it."""
    role = string_in(message.get("role"))
    if role is None:
        raise Refused(joined(path, "role"), "required field is missing")
    blocks = blocks_in(message.get("content"), joined(path, "content"), exchange.notes)
    said: Said | None = None
    if role != "assistant":
        for result in blocks.results:
            said = answer(exchange, result, line)
        if blocks.results and blocks.text is None and not blocks.more:
            return said
    said = exchange.say(role, blocks.text, line=line)
    said.content = blocks.content if role == "assistant" or not blocks.results else None
    said.message_id, said.model = word(message, "id"), word(message, "model")
    said.created_at = moment_of(msgspec.Raw(message.get("created_at", b"")), joined(path, "created_at"))
    for place, block in enumerate(blocks.uses):
        ask(exchange, said, block, f"{joined(path, 'content')}[{place}]")
    if role == "assistant":  # the provider's own tools answer in the same message
        for result in blocks.results:
            call = exchange.asker(result.call_id)
            if call is not None:
                content = None if result.content is None else result.content.decode()
                call.answered(content, position=said.position, failed=result.failed, error_text=result.text)
    return said


def answer(exchange: Exchange, result: Result, line: int) -> Said:
    """Return the message that a result is, and give the result to its call."""
    said = exchange.say("tool", result.text, line=line)
    content = None if result.content is None else result.content.decode()
    said.call_id = result.call_id
    said.content = None if content is None or content.startswith('"') else content
    call = exchange.asker(result.call_id)
    if call is not None:
        call.answered(content, position=said.position, failed=result.failed, error_text=result.text)
    return said


def readable(content: bytes | None) -> str | None:
    """Return what a person would read of a result's content."""
    text = string_in(content)
    if text is not None:
        return text
    texts = []
    for one in list_in(content) or ():
        said = string_in(one) or string_in((object_in(one) or {}).get("text"))
        texts += [said] if said is not None else []
    return "\n".join(texts) or None


def _result(block: Pieces) -> Result:
    content = block.get("content")
    inner = object_in(content) if content is not None and content.startswith(b"{") else None
    failed = block.get("is_error") == b"true" or (
        inner is not None and (word(inner, "type") or "").endswith("_error")
    )
    return Result(word(block, "tool_use_id"), content, readable(content), failed)
