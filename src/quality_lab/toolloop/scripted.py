"""Models that need no server: one says what it was told to say, the other what was said before."""

from __future__ import annotations

import copy
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from .chat import requested_calls
from .models import ModelError
from .record import Message, ModelReply, RequestedCall
from .wire import to_json

Reply = (
    str
    | ModelReply
    | RequestedCall
    | Sequence[RequestedCall]
    | BaseException
    | Callable[["Request"], Any]
    | None
)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a model was asked: a copy made at that moment."""

    messages: list[Message]
    tools: list[dict[str, Any]]
    options: dict[str, Any]


def call(tool_name: str, arguments: Any = None, *, call_id: str = "") -> RequestedCall:
    """Return a call as a model would ask for it; *arguments* that are text are sent as they are.

    >>> call("quote", {"amount": 200}).arguments_text
    '{"amount":200}'
    """
    text = arguments if isinstance(arguments, str) else to_json({} if arguments is None else arguments)
    return RequestedCall(call_id=call_id, tool_name=tool_name, arguments_text=text)


class ScriptedModel:
    """A model that gives the replies it was handed, one a round: for tests and for lessons.

    A reply is a text, a call or several, a `ModelReply`, an exception to raise, or a function of the
    `Request` that gives one of these. What it was asked is kept in *requests*.
    """

    def __init__(self, *replies: Reply, name: str = "scripted") -> None:
        self.name = name
        self.requests: list[Request] = []
        self._replies: deque[Reply] = deque(replies)

    def enqueue(self, *replies: Reply) -> Self:
        """Add replies to the end of the script, and return the model."""
        self._replies.extend(replies)
        return self

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        options: Mapping[str, Any] = {},
    ) -> ModelReply:
        """Return the next reply.

        Raises:
            ModelError: the script is at its end.
        """
        asked = copy.deepcopy((list(messages), list(tools), dict(options)))
        request = Request(messages=asked[0], tools=asked[1], options=asked[2])
        self.requests.append(request)
        if not self._replies:
            raise ModelError(
                f"{self.name} was asked for reply {len(self.requests)}; its script has no more", kind="script"
            )
        return _reply(self._replies.popleft(), request)


def _reply(reply: Any, request: Request) -> ModelReply:
    if callable(reply):
        reply = reply(request)
    if isinstance(reply, BaseException):
        raise reply
    if isinstance(reply, ModelReply):
        return reply
    if reply is None or isinstance(reply, str):
        return ModelReply(content=reply, finish_reason="stop")
    calls: tuple[RequestedCall, ...] = (reply,) if isinstance(reply, RequestedCall) else tuple(reply)
    return ModelReply(calls=calls, finish_reason="tool_calls")


class RecordedModel:
    """A model whose decisions are those of a recording, whatever it is asked now."""

    def __init__(self, replies: Iterable[ModelReply], *, name: str = "recorded") -> None:
        self.name = name
        self._replies = list(replies)
        self._next = 0

    @classmethod
    def from_messages(cls, messages: Iterable[Message], *, name: str = "recorded") -> Self:
        """Return a model that gives the assistant's messages among *messages* (OpenAI's shape), in order."""
        spoken = [message for message in messages if message.get("role") == "assistant"]
        return cls([_said_before(message) for message in spoken], name=name)

    @classmethod
    def from_calls(
        cls, calls: Iterable[Mapping[str, Any]], *, content: str | None = None, name: str = "recorded"
    ) -> Self:
        """Return a model that makes *calls* again, those of one ``cycle`` together, and then says *content*.

        A call has ``tool`` (or ``toolName``), ``args`` and ``cycle``, as a case's ``recorded`` and an
        upstream trace have them; one without a cycle stands alone.
        """
        groups: list[ModelReply] = []
        numbered = itertools.count()
        for key, group in itertools.groupby(
            calls, key=lambda each: each.get("cycle", f"alone {next(numbered)}")
        ):
            made = tuple(_made_before(each, f"{key}_{position}") for position, each in enumerate(group))
            groups.append(ModelReply(calls=made, finish_reason="tool_calls"))
        return cls([*groups, ModelReply(content=content, finish_reason="stop")], name=name)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        options: Mapping[str, Any] = {},
    ) -> ModelReply:
        """Return the next recorded reply.

        Raises:
            ModelError: the recording is at its end.
        """
        if self._next == len(self._replies):
            raise ModelError(
                f"{self.name} was asked for reply {self._next + 1}; its recording has no more", kind="script"
            )
        self._next += 1
        return self._replies[self._next - 1]


def _said_before(message: Message) -> ModelReply:
    calls = requested_calls(message)
    content = message.get("content")
    return ModelReply(
        content=content if isinstance(content, str) else None,
        calls=calls,
        finish_reason="tool_calls" if calls else "stop",
    )


def _made_before(made: Mapping[str, Any], suffix: str) -> RequestedCall:
    name = made.get("tool", made.get("toolName", made.get("name")))
    return call(str(name), made.get("args"), call_id=f"recorded_{suffix}".replace(" ", "_"))
