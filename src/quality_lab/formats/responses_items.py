"""The items of OpenAI's Responses API: what was said, called and answered.

An item has an id of its own (`fc_…`); a call and its result share a `call_id`. Items that follow one another
on the model's side (its reasoning, its words, its calls) are one message of the model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import msgspec

from quality_lab.formats.exchange import Called, Exchange, Said
from quality_lab.formats.json_pieces import Pieces, first, is_nothing, list_in, object_in, string_in, word
from quality_lab.formats.upstream import arguments_of
from quality_lab.formats.validation import Refused, joined, tally

_PARTS = ("input_text", "output_text", "text", "summary_text", "refusal", "reasoning_text")
_OWN_TOOLS = {  # of the provider: type of the item → members that hold what was asked, and what came back
    "web_search_call": (("action", "query"), ("results",)),
    "file_search_call": (("queries",), ("results",)),
    "code_interpreter_call": (("code",), ("outputs",)),
    "image_generation_call": (("revised_prompt", "action"), ("result",)),
    "computer_call": (("action", "actions"), ()),
    "local_shell_call": (("action",), ()),
    "shell_call": (("action",), ()),
    "apply_patch_call": (("operation",), ()),
    "tool_search_call": (("arguments",), ()),
    "mcp_call": (("arguments",), ("output",)),
}
_HANDOFF = re.compile(r"transfer_to_(.+)")
_PENDING = ("in_progress", "searching", "interpreting", "generating", "calling", "queued")


@dataclass(slots=True)
class Denial:
    """A person's no to a call that asked for an approval."""

    call: Called
    key: str  # of the answer, or else of what it answers
    reason: str | None


@dataclass(slots=True)
class Items:
    """A list of items read into an exchange."""

    exchange: Exchange
    line: int
    denials: list[Denial] = field(default_factory=list)
    _spoken: Said | None = None  # the model's message that is still open
    _asked: dict[str, Called] = field(default_factory=dict)  # approvals asked for

    def read(self, texts: list[bytes], *, below: str) -> None:
        """Take in items, of which the first stands at `below[0]` in its line.

        Raises:
            Refused: one of them is no item.
        """
        for place, text in enumerate(texts):
            item = object_in(text)
            if item is None:
                raise Refused(f"{below}[{place}]", "wanted an object")
            self.take(item, f"{below}[{place}]")

    def take(self, item: Pieces, path: str) -> None:
        """Take in one item."""
        kind = word(item, "type") or ("message" if "role" in item else "")
        if kind == "message":
            self._message(item, path)
        elif kind in ("function_call", "custom_tool_call"):
            self._call(item, path, kind)
        elif kind.endswith("_call_output"):
            self._output(item)
        elif kind in _OWN_TOOLS:
            self._own_tool(item, kind)
        elif kind == "mcp_approval_request":
            self._approval_request(item)
        elif kind == "mcp_approval_response":
            self._approval_response(item)
        elif kind == "reasoning":
            self._model()
        elif kind not in ("item_reference", "mcp_list_tools", "compaction"):
            tally(self.exchange.notes, self.exchange.notes.not_understood, kind or "item without a type")

    def closed(self) -> Said | None:
        """Return the model's message that was open, and close it."""
        said, self._spoken = self._spoken, None
        return said

    def _model(self) -> Said:
        if self._spoken is None:
            self._spoken = self.exchange.say("assistant", None, line=self.line)
        return self._spoken

    def _message(self, item: Pieces, path: str) -> None:
        role = word(item, "role")
        if role is None:
            raise Refused(joined(path, "role"), "required field is missing")
        text, content = content_of(item.get("content"))
        if role != "assistant":
            self._spoken = None
            said = self.exchange.say(role, text, line=self.line)
        else:
            said = self._model()
            said.text = text if said.text is None else f"{said.text}\n{text}" if text else said.text
        if content is not None:
            said.content = content
        said.message_id = word(item, "id") or said.message_id

    def _call(self, item: Pieces, path: str, kind: str) -> None:
        name = string_in(item.get("name"))
        if name is None:
            raise Refused(joined(path, "name"), "required field is missing")
        given = arguments_of(msgspec.Raw(item.get("arguments" if kind == "function_call" else "input", b"")))
        call = self.exchange.call(self._model(), name, given, call_id=word(item, "call_id", "id"))
        handed = _HANDOFF.fullmatch(name)
        call.wrapped_tool = handed[1] if handed else None

    def _output(self, item: Pieces) -> None:
        self._spoken = None
        text, content = content_of(item.get("output"))
        said = self.exchange.say("tool", text, line=self.line)
        said.content, said.call_id = content, word(item, "call_id", "id")
        call = self.exchange.asker(said.call_id)
        if call is None:
            return
        output = item.get("output")
        call.answered(None if output is None else output.decode(), position=said.position)
        if word(item, "status") == "failed":
            call.is_error, call.error_origin = True, "flag"

    def _own_tool(self, item: Pieces, kind: str) -> None:
        """Take in a call of a tool that the provider runs itself: its result stands with it, or nowhere."""
        asked, answered = _OWN_TOOLS[kind]
        name = string_in(item.get("name")) if kind == "mcp_call" else kind.removesuffix("_call")
        given = arguments_of(msgspec.Raw(first(item, *asked) or b""))
        said = self._model()
        call_id = word(item, "call_id", "id")
        asked_before = self._asked.get(word(item, "approval_request_id") or "")
        if asked_before is not None:
            call = asked_before
        else:
            call = self.exchange.call(said, name or kind, given, call_id=call_id)
        call.tool_server = word(item, "server_label")
        result = first(item, *answered)
        status = word(item, "status")
        problem = item.get("error")
        failed = not is_nothing(problem) or status == "failed"
        if result is None and failed and problem is not None:
            result = problem
        if result is None and status in _PENDING:
            call.result_state = "pending"
        elif result is not None or status is not None:
            text = string_in(problem) or (None if is_nothing(problem) else (problem or b"").decode())
            call.answered(
                None if result is None else result.decode(),
                position=said.position,
                failed=failed,
                error_text=text,
            )
            call.result_state = "not_captured" if result is None else "present"

    def _approval_request(self, item: Pieces) -> None:
        name = string_in(item.get("name")) or "mcp"
        given = arguments_of(msgspec.Raw(item.get("arguments", b"")))
        call = self.exchange.call(self._model(), name, given, call_id=word(item, "id"))
        call.tool_server, call.result_state = word(item, "server_label"), "pending"
        self._asked[call.call_id or ""] = call

    def _approval_response(self, item: Pieces) -> None:
        self._spoken = None
        asked = word(item, "approval_request_id") or ""
        call = self._asked.get(asked)
        if call is None:
            self.exchange.notes.count(self.exchange.notes.missing, "approval without request")
        elif item.get("approve") == b"false":
            call.person_refused, call.result_state = True, "absent"
            self.denials.append(Denial(call, word(item, "id") or asked, string_in(item.get("reason"))))


def content_of(raw: bytes | None) -> tuple[str | None, str | None]:
    """Return what a person would read of some content, and the content as JSON text where it is more."""
    text = string_in(raw)
    if text is not None or raw is None or raw == b"null":
        return text, None
    texts: list[str] = []
    for one in list_in(raw) or ():
        part = object_in(one) or {}
        if word(part, "type") in _PARTS:
            texts += filter(None, (string_in(first(part, "text", "refusal")),))
    return "\n".join(texts) or None, raw.decode()


def chronological(texts: list[bytes]) -> list[bytes]:
    """Return listed items in the order in which they came: a list that has results before their calls is
    turned round."""
    called: set[str] = set()
    for text in texts:
        item = object_in(text) or {}
        kind, call_id = word(item, "type") or "", word(item, "call_id")
        if kind.endswith("_call") and call_id:
            called.add(call_id)
        elif kind.endswith("_call_output") and call_id not in called:
            return texts[::-1]
    return texts
