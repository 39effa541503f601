"""The openai client as the loop uses it: over aiohttp where that is installed, and without detours."""

from __future__ import annotations

import contextvars
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

attempts: contextvars.ContextVar[list[int] | None] = contextvars.ContextVar("attempts", default=None)


def connect(
    *, base_url: str, api_key: str, timeout_s: float, max_retries: int, headers: Mapping[str, str]
) -> AsyncOpenAI:
    """Return a client whose every attempt adds one to the first number of the list in `attempts`.

    It sends the key and *headers*, and tells the server nothing of the machine it runs on, nor of the
    organisation that the environment names for another server.
    """
    import openai

    plain = {"Accept": "application/json", "Content-Type": "application/json", "User-Agent": "quality-lab"}

    class Plain(openai.AsyncOpenAI):
        @property
        def default_headers(self) -> dict[str, str | openai.Omit]:
            return {**plain, **headers}

    try:
        http = _straight(openai.DefaultAioHttpClient, timeout_s)
    except RuntimeError:  # aiohttp is not installed: the same, slower
        http = _straight(openai.DefaultAsyncHttpxClient, timeout_s)
    http.event_hooks = {"request": [_count_attempt]}
    return Plain(
        api_key=api_key, base_url=base_url, timeout=timeout_s, max_retries=max_retries, http_client=http
    )


async def _count_attempt(_request: object) -> None:
    count = attempts.get()
    if count is not None:
        count[0] += 1


def _straight(kind: type[httpx2.AsyncClient], timeout_s: float) -> httpx2.AsyncClient:
    """Return a client of *kind* that takes the openai client's finished requests as they are.

    Merging them once more with defaults and cookies that do not exist costs a tenth of a conversation.
    """
    import httpx2

    parsed = lru_cache(maxsize=8)(httpx2.URL)
    extensions = {"timeout": httpx2.Timeout(timeout_s).as_dict()}

    class Straight(kind):  # type: ignore[valid-type,misc]  # which kind it is depends on what is installed
        def build_request(
            self,
            method: str,
            url: str,
            *,
            content: Any = None,
            headers: Any = None,
            timeout: Any,
            **more: Any,
        ) -> httpx2.Request:
            if timeout != timeout_s or any(value is not None for value in more.values()):
                given = {"content": content, "headers": headers, "timeout": timeout, **more}
                return super().build_request(method, url, **given)  # type: ignore[no-any-return]  # as above
            return httpx2.Request(
                method, parsed(url), content=content, headers=headers, extensions=dict(extensions)
            )

    return Straight(timeout=timeout_s)
