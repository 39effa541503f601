"""Models behind one small protocol, and the one that speaks to any server with OpenAI's chat completions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self
from urllib.parse import urlsplit, urlunsplit

from ..errors import ServiceError, UsageError
from .record import LoopResult, Message, ModelReply
from .wire import to_json

if TYPE_CHECKING:
    from openai import AsyncOpenAI

FailureKind = Literal["connection", "timeout", "status", "malformed", "script"]
NO_KEY = "none"  # what is sent where no key was given: the client wants one
_HIDDEN = "***"
_SHORTEST_KEY = 4  # characters; what is shorter is found in any text
_NO_WORD_FROM = 16  # characters; what is shorter may be a word of an answer
_UNMET = ("ClientConnectorError", "ConnectError")  # what aiohttp and httpx call a door that nobody opens


class ModelError(ServiceError):
    """A model could not be asked, or what came back is no answer; *result* holds the run up to there."""

    def __init__(
        self, message: str, *, kind: FailureKind, status: int | None = None, attempts: int = 1
    ) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.status = status
        self.attempts = attempts
        self.result: LoopResult | None = None


class Model(Protocol):
    """Whatever can answer a conversation."""

    @property
    def name(self) -> str:
        """What the model is called."""
        ...

    async def complete(
        self, messages: Sequence[Message], *, tools: Sequence[dict[str, Any]], options: Mapping[str, Any]
    ) -> ModelReply:
        """Return the model's answer to *messages*; *tools* are OpenAI function definitions, empty for none.

        Raises:
            ModelError: there is no answer.
        """
        ...


class OpenAICompatible:
    """A model on any server that speaks chat completions, through the openai client over aiohttp.

    *options* go into every request, *headers* go with it. *timeout_s* bounds each wait for the server,
    *deadline_s* a whole answer with all its retries. Rate limits, server errors and broken connections are
    tried again up to *max_retries* times; a Retry-After of up to two minutes is kept to, one beyond that
    ends the attempt. Use it as ``async with`` or call `aclose`.

    Raises:
        UsageError: the base URL holds a user name, where a key does not belong.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str,
        api_key: str = NO_KEY,
        timeout_s: float = 60.0,
        deadline_s: float = 300.0,
        max_retries: int = 2,
        options: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        address = urlsplit(base_url)
        if address.username is not None:
            raise UsageError("the model's base URL holds a user name; a key is given as api_key")
        self.name = name
        self.base_url = base_url
        self._url = urlunsplit(address._replace(path=address.path.rstrip("/") + "/chat/completions"))
        self.timeout_s = timeout_s
        self.deadline_s = deadline_s
        self.options = dict(options or {})
        self._settings: dict[str, Any] = {
            "base_url": base_url,
            "api_key": api_key,
            "timeout_s": timeout_s,
            "max_retries": max_retries,
            "headers": dict(headers or {}),
        }
        self._client: AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"OpenAICompatible({self.name!r}, base_url={self._where!r})"

    @property
    def _where(self) -> str:
        parts = urlsplit(self.base_url)  # without the query: it may hold a secret
        return f"{parts.scheme}://{parts.netloc}{parts.path}"

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        options: Mapping[str, Any] = {},
    ) -> ModelReply:
        """Return the server's answer. *options* go into the request as they are, over the model's own.

        Raises:
            ModelError: no connection, no answer in time, a refusal, or an answer that is none.
        """
        import httpx2
        import openai

        from .chat import reply_from, request_body
        from .connection import attempts

        body = to_bytes(request_body(self.name, messages, tools=tools, options={**self.options, **options}))
        count = [0]
        attempts.set(count)
        try:
            async with asyncio.timeout(self.deadline_s):
                response = await self._connected().post(self._url, cast_to=httpx2.Response, content=body)
        except TimeoutError:
            raise self._failure(f"gave no answer within {self.deadline_s:g} s", "timeout", count) from None
        except openai.APIStatusError as error:
            said = excerpt(self._without_key(_message_of(error.body) or error.response.text))
            what = f"refused with {error.status_code}" + (f": {said}" if said else "")
            raise self._failure(what, "status", count, status=error.status_code) from error
        except openai.APIConnectionError as error:  # the transport calls most of these time-outs
            causes = list(_causes(error))
            if isinstance(causes[-1], TimeoutError) or type(causes[-1]).__name__.endswith("Timeout"):
                raise self._failure(f"was silent for {self.timeout_s:g} s", "timeout", count) from error
            unmet = any(kind.__name__ in _UNMET for cause in causes for kind in type(cause).__mro__)
            what = "could not be reached" if unmet else "broke the connection"
            said = excerpt(self._without_key(str(causes[-1])) or type(causes[-1]).__name__)
            raise self._failure(f"{what}: {said}", "connection", count) from error
        except openai.OpenAIError as error:
            raise self._failure(f"could not be asked: {error}", "connection", count) from error
        try:
            return reply_from(_value(self._answer_without_key(response.content)), attempts=max(count[0], 1))
        except ValueError as error:
            status = response.status_code
            raise self._failure(f"answered {status} {error}", "malformed", count, status=status) from None

    def _without_key(self, text: str) -> str:
        """Return what a server said with the key that it sent back made unreadable."""
        key = str(self._settings["api_key"]).strip()
        return text if key == NO_KEY or len(key) < _SHORTEST_KEY else text.replace(key, _HIDDEN)

    def _answer_without_key(self, body: bytes) -> bytes:
        """Return an answer as it came, but for a key in it that is too long to be a word."""
        key = str(self._settings["api_key"]).strip()
        return body if len(key) < _NO_WORD_FROM else body.replace(key.encode(), _HIDDEN.encode())

    def _failure(
        self, what: str, kind: FailureKind, count: list[int], *, status: int | None = None
    ) -> ModelError:
        attempts = max(count[0], 1)
        tried = f" (tried {attempts} times)" if attempts > 1 else ""
        return ModelError(
            f"{self.name} at {self._where} {what}{tried}", kind=kind, status=status, attempts=attempts
        )

    def _connected(self) -> AsyncOpenAI:
        """Return the client of the running event loop: connections do not outlive their loop."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            from .connection import connect

            self._client, self._loop = connect(**self._settings), loop
        return self._client

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None and self._loop is asyncio.get_running_loop():
            await self._client.close()
        self._client = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _value(body: bytes) -> object:
    """Return the JSON value of *body*, or its text where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body.decode(errors="replace")


def to_bytes(body: Mapping[str, Any]) -> bytes:
    """Return *body* as JSON in UTF-8."""
    return to_json(body).encode()


def excerpt(text: str | None, *, longest: int = 240) -> str:
    """Return the beginning of *text* on one line."""
    line = " ".join((text or "").split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _message_of(body: object) -> str | None:
    if isinstance(body, dict):
        error = body.get("error", body)
        said = error.get("message") if isinstance(error, dict) else error
        return said if isinstance(said, str) else None
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__
