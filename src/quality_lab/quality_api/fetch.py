"""One GET with bounded patience: what comes back, or an error that says what went wrong without the token."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

import httpx2
import tenacity

from quality_lab import js_text
from quality_lab.errors import ServiceError, UsageError
from quality_lab.quality_api.address import endpoint
from quality_lab.quality_api.token import bearer, without_token

FAILED = "Quality API export failed"
_PASSING = {408, 429, 500, 502, 503, 504}  # may be another one when asked again
_MOST_BYTES = 256 * 2**20
_MOST_BYTES_OF_A_REFUSAL = 2**20
_MOST_SHOWN = 240  # UTF-16 units of a refusal's body
_ACCEPTED = b"application/x-ndjson, application/json;q=0.9, */*;q=0.1"


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """How long is waited, and how often is asked."""

    connect_s: float = 5.0
    read_s: float = 20.0  # between two pieces of an answer
    total_s: float = 60.0  # for everything: each try, and each wait between them
    tries: int = 3
    first_wait_s: float = 0.5  # before the second try; doubled each time, unless the server says how long


class ApiError(ServiceError):
    """The API could not be reached, refused, or gave no answer that can be used."""

    def __init__(
        self, text: str, *, status: int | None = None, passing: bool, wait_s: float | None = None
    ) -> None:
        super().__init__(text)
        self.status = status  # None: no answer came
        self.passing = passing  # asking again may help
        self.wait_s = wait_s  # how long the server asks us to wait


def fetch_regression_cases(
    base: str, *, token: str, status: str, limit: int, patience: Patience | None = None
) -> bytes:
    """Return the export of regression cases as it came: JSONL, the newest *limit* of that *status*.

    Raises:
        ApiError: no answer, or another status than 200 to 299.
        UsageError: *base* or *token* cannot be put into a request.
    """
    url = endpoint(base, "tool-call-regression-cases/export.jsonl", {"status": status, "limit": limit})
    return fetch(url, token=token, patience=patience)


def fetch(url: str, *, token: str, patience: Patience | None = None) -> bytes:
    """Return the body of what a GET of *url* answers, after redirects; another origin does not get the token.

    Where asking again may help it is asked again, after as long as the server says (Retry-After).

    Raises:
        ApiError: no answer in time, or another status than 200 to 299.
        UsageError: *token* cannot stand in a header, or the environment's proxy cannot be used.
    """
    patience = patience or Patience()
    ends_at = time.monotonic() + patience.total_s
    backoff = tenacity.wait_exponential(multiplier=patience.first_wait_s)

    def wait(state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        return error.wait_s if isinstance(error, ApiError) and error.wait_s is not None else backoff(state)

    retrying = tenacity.Retrying(
        stop=tenacity.stop_any(
            tenacity.stop_after_attempt(patience.tries), tenacity.stop_before_delay(patience.total_s)
        ),
        wait=wait,
        retry=tenacity.retry_if_exception(lambda error: isinstance(error, ApiError) and error.passing),
        reraise=True,
    )
    with _client(token, patience) as client:
        return retrying(_one_try, client, url, token, ends_at)


def _client(token: str, patience: Patience) -> httpx2.Client:
    headers = {b"Authorization": bearer(token), b"Accept": _ACCEPTED}
    timeout = httpx2.Timeout(patience.read_s, connect=patience.connect_s)
    try:
        return httpx2.Client(headers=headers, timeout=timeout, follow_redirects=True)
    except (ImportError, ValueError):  # what it says may hold the proxy's password
        raise UsageError(
            "the environment names a proxy (HTTPS_PROXY or its like) that cannot be used"
        ) from None


class _Answer(NamedTuple):
    status: int
    reason: str
    retry_after: str | None
    body: bytes


def _one_try(client: httpx2.Client, url: str, token: str, ends_at: float) -> bytes:
    passing = True
    try:
        answer = _within(ends_at - time.monotonic(), lambda: _ask(client, url))
    except TimeoutError:
        problem = "the answer was not complete when time was up"
    except httpx2.TimeoutException as error:
        problem = f"no {'connection' if isinstance(error, httpx2.ConnectTimeout) else 'answer'} in time"
    except (httpx2.TooManyRedirects, httpx2.UnsupportedProtocol, httpx2.InvalidURL):
        problem, passing = "redirected without end, or to no http or https URL", False
    except httpx2.RequestError as error:
        problem = f"{_how(error)} ({without_token(str(error) or type(error).__name__, token)})"
    else:
        if 200 <= answer.status <= 299:
            return answer.body
        raise ApiError(
            _refusal(answer, url, token),
            status=answer.status,
            passing=answer.status in _PASSING,
            wait_s=_seconds(answer.retry_after),
        )
    raise ApiError(f"{FAILED}: {problem}\nurl={url}", passing=passing)


def _ask(client: httpx2.Client, url: str) -> _Answer:
    with client.stream("GET", url) as response:
        most = _MOST_BYTES if response.is_success else _MOST_BYTES_OF_A_REFUSAL
        pieces, size = [], 0
        for piece in response.iter_bytes():
            pieces.append(piece)
            size += len(piece)
            if size > most:
                break
    if response.is_success and size > most:
        raise ApiError(f"{FAILED}: the answer is larger than {most:,} bytes\nurl={url}", passing=False)
    retry_after = response.headers.get("Retry-After")
    return _Answer(response.status_code, response.reason_phrase, retry_after, b"".join(pieces))


def _within(seconds: float, ask: Callable[[], _Answer]) -> _Answer:
    """Return what *ask* returns, or raise TimeoutError when it takes longer.

    The client bounds each step of a request, but neither the look-up of a name nor the sum of many small
    steps; so it asks in a thread of its own, which ends by itself when the client is closed.
    """
    ended: list[_Answer | BaseException] = []

    def run() -> None:
        try:
            ended.append(ask())
        except BaseException as error:  # noqa: BLE001  # whatever it is, it is raised again below
            ended.append(error)

    thread = threading.Thread(target=run, name="quality-api", daemon=True)
    thread.start()
    thread.join(max(seconds, 0.0))
    if not ended:
        raise TimeoutError
    if isinstance(ended[0], BaseException):
        raise ended[0]
    return ended[0]


def _how(error: httpx2.RequestError) -> str:
    reached = not isinstance(error, httpx2.ConnectError)
    return "no complete answer came" if reached else "the server could not be reached"


def _refusal(answer: _Answer, url: str, token: str) -> str:
    """Return what is said of an answer that is none: status, URL, and the start of its body."""
    reason = without_token(answer.reason, token)
    lines = [f"{FAILED}: {answer.status} {reason}".rstrip(), f"url={url}"]
    if answer.body:
        body = js_text.collapse(without_token(answer.body.decode("utf-8", "replace"), token))
        if js_text.length(body) > _MOST_SHOWN:
            body = js_text.cut(body, _MOST_SHOWN - 3) + "..."
        lines.append(f"body={js_text.well_formed(body)}")
    return "\n".join(lines)


def _seconds(retry_after: str | None) -> float | None:
    """Return how long a Retry-After header asks to wait, be it in seconds or as a date; None for neither."""
    if retry_after is None:
        return None
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max((until.astimezone(UTC) - datetime.now(UTC)).total_seconds(), 0.0)
