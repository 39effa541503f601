"""Many requests to one API with bounded patience: what comes back, or an error that says what went wrong.

What a server says is a stranger's: the token, which it may send back, is taken out of all of it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, Literal, NamedTuple

import httpx2
import tenacity

from quality_lab import js_text
from quality_lab.errors import ServiceError, UsageError
from quality_lab.quality_api.address import endpoint
from quality_lab.quality_api.token import bearer, row_without_token, without_token, without_token_in_json

_PASSING = {408, 429, 500, 502, 503, 504}  # may be another one when asked again
_MOST_BYTES = 256 * 2**20
_MOST_BYTES_OF_A_REFUSAL = 2**20
_MOST_SHOWN = 240  # UTF-16 units of a refusal's body
_ACCEPTED = b"application/x-ndjson, application/json;q=0.9, */*;q=0.1"
_FAILED = {"GET": "Quality API export failed"}  # upstream's words
_NOT_WRITTEN = "Quality API write failed"

Method = Literal["GET", "POST", "PATCH"]


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
        self,
        text: str,
        *,
        status: int | None = None,
        passing: bool,
        wait_s: float | None = None,
        untouched: bool = False,
        said: str = "",
    ) -> None:
        super().__init__(text)
        self.status = status  # None: no answer came
        self.passing = passing  # asking again may help
        self.wait_s = wait_s  # how long the server asks us to wait
        self.untouched = untouched  # it is certain that nothing was done about the request
        self.said = said  # the start of the body, without the token


class _Request(NamedTuple):
    method: Method
    url: str
    body: bytes | None = None

    @property
    def failed(self) -> str:
        return _FAILED.get(self.method, _NOT_WRITTEN)


class _Answer(NamedTuple):
    status: int
    reason: str
    retry_after: str | None
    body: bytes


class Session:
    """A connection to the API below *base*, for a `with`; its token is shown nowhere.

    A GET follows redirects, and another origin does not get the token. What writes follows none: another
    place would get what is written.
    """

    def __init__(self, base: str, *, token: str, patience: Patience | None = None) -> None:
        """Keep where the API lies. Raises: UsageError where *base* or *token* cannot be put into a request."""
        self._base = base
        self._token = token
        self._patience = patience or Patience()
        endpoint(base, "")
        self._client = _client(token, self._patience)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._client.close()

    def get(self, path: str, query: Mapping[str, str | int] | None = None) -> bytes:
        """Return the body of the answer. It is asked again where that may help. Raises: ApiError."""
        return self.ask(endpoint(self._base, path, query))

    def ask(self, url: str) -> bytes:
        """Return the body of what a GET of a whole *url* answers. Raises: ApiError."""
        return self._tried(_Request("GET", url), lambda error: error.passing)

    def post(self, path: str, body: Mapping[str, Any]) -> bytes:
        """Return the body of the answer to what may be done once alone: it is sent again only where it is
        certain that nothing was done about it. Raises: ApiError."""
        return self._tried(self._write("POST", path, body), lambda error: error.passing and error.untouched)

    def patch(self, path: str, body: Mapping[str, Any]) -> bytes:
        """Return the body of the answer to what comes to the same when it is done twice. Raises: ApiError."""
        return self._tried(self._write("PATCH", path, body), lambda error: error.passing)

    def row(self, text: str) -> tuple[str, int]:
        """Return a row of data as it came, and how often a token that can be no word was taken out of it."""
        return row_without_token(text, self._token)

    def shown(self, text: str) -> str:
        """Return what a server said, on one line, without the token, cut where it is long."""
        said = js_text.collapse(without_token_in_json(text, self._token))
        if js_text.length(said) > _MOST_SHOWN:
            said = js_text.cut(said, _MOST_SHOWN - 3) + "..."
        return js_text.well_formed(said)

    def unusable(self, path: str, wanted: str, body: bytes) -> ApiError:
        """Return the error for an answer of 200 that is not what was *wanted*."""
        came = self.shown(body.decode("utf-8", "replace")) or "nothing"
        url = endpoint(self._base, path)
        return ApiError(
            f"the Quality API answered with something else: wanted {wanted}\nurl={url}\nbody={came}",
            passing=False,
        )

    def _write(self, method: Method, path: str, body: Mapping[str, Any]) -> _Request:
        content = js_text.compact(dict(body)).encode("utf-8", "surrogatepass")
        return _Request(method, endpoint(self._base, path), content)

    def _tried(self, request: _Request, again: Callable[[ApiError], bool]) -> bytes:
        patience = self._patience
        ends_at = time.monotonic() + patience.total_s
        backoff = tenacity.wait_exponential(multiplier=patience.first_wait_s)

        def wait(state: tenacity.RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            return (
                error.wait_s if isinstance(error, ApiError) and error.wait_s is not None else backoff(state)
            )

        retrying = tenacity.Retrying(
            stop=tenacity.stop_any(
                tenacity.stop_after_attempt(patience.tries), tenacity.stop_before_delay(patience.total_s)
            ),
            wait=wait,
            retry=tenacity.retry_if_exception(lambda error: isinstance(error, ApiError) and again(error)),
            reraise=True,
        )
        return retrying(self._one_try, request, ends_at)

    def _one_try(self, request: _Request, ends_at: float) -> bytes:
        passing, untouched = True, False
        try:
            answer = _within(ends_at - time.monotonic(), lambda: _answered(self._client, request))
        except TimeoutError:
            problem = "the answer was not complete when time was up"
        except httpx2.TimeoutException as error:
            untouched = isinstance(error, httpx2.ConnectTimeout)
            problem = f"no {'connection' if untouched else 'answer'} in time"
        except (httpx2.TooManyRedirects, httpx2.UnsupportedProtocol, httpx2.InvalidURL):
            problem, passing = "redirected without end, or to no http or https URL", False
        except httpx2.RequestError as error:
            untouched = isinstance(error, httpx2.ConnectError)
            how = "the server could not be reached" if untouched else "no complete answer came"
            problem = f"{how} ({without_token(str(error) or type(error).__name__, self._token)})"
        else:
            if 200 <= answer.status <= 299:
                return answer.body
            raise self._refused(request, answer)
        raise ApiError(
            f"{request.failed}: {problem}\nurl={request.url}", passing=passing, untouched=untouched
        )

    def _refused(self, request: _Request, answer: _Answer) -> ApiError:
        """Return the error for an answer that is none: status, URL, and the start of its body."""
        reason = without_token(answer.reason, self._token)
        lines = [f"{request.failed}: {answer.status} {reason}".rstrip(), f"url={request.url}"]
        said = self.shown(answer.body.decode("utf-8", "replace"))
        if answer.body:
            lines.append(f"body={said}")
        if request.body is not None and 300 <= answer.status <= 399:
            lines.append("what is written goes to no other place: name the API where it lies")
        return ApiError(
            "\n".join(lines),
            status=answer.status,
            passing=answer.status in _PASSING,
            wait_s=_seconds(answer.retry_after),
            untouched=answer.status == 429,
            said=said,
        )


def _client(token: str, patience: Patience) -> httpx2.Client:
    headers = {b"Authorization": bearer(token), b"Accept": _ACCEPTED}
    timeout = httpx2.Timeout(patience.read_s, connect=patience.connect_s)
    try:
        return httpx2.Client(headers=headers, timeout=timeout, follow_redirects=True)
    except (ImportError, ValueError):  # what it says may hold the proxy's password
        raise UsageError(
            "the environment names a proxy (HTTPS_PROXY or its like) that cannot be used"
        ) from None


def _answered(client: httpx2.Client, request: _Request) -> _Answer:
    with client.stream(
        request.method,
        request.url,
        content=request.body,
        headers=None if request.body is None else {"Content-Type": "application/json"},
        follow_redirects=request.method == "GET",
    ) as response:
        most = _MOST_BYTES if response.is_success else _MOST_BYTES_OF_A_REFUSAL
        pieces, size = [], 0
        for piece in response.iter_bytes():
            pieces.append(piece)
            size += len(piece)
            if size > most:
                break
    if response.is_success and size > most:
        raise ApiError(
            f"{request.failed}: the answer is larger than {most:,} bytes\nurl={request.url}", passing=False
        )
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
