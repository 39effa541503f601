"""One guarded request: every address is checked, a checked one is connected to, the answer is bounded."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import httpcore2

from quality_lab.toolbox.addresses import why_not_public
from quality_lab.toolbox.endpoint_guard import Endpoint
from quality_lab.toolloop.contract import ToolError

Resolve = Callable[[str, int], Awaitable[list[str]]]

MOST_BYTES = 1_048_576


class EndpointRefused(ToolError):
    """The request was not made, because the endpoint leads where a tool may not go."""


class EndpointFailed(ToolError):
    """The endpoint could not be reached, or its answer is none that can be used."""


async def system_addresses(host: str, port: int) -> list[str]:
    """Return the addresses that the system's resolver gives for *host*, in its order."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True, kw_only=True)
class Network:
    """How endpoints are reached: who resolves names, which inner addresses are allowed, how long it may take.

    *allowed* holds addresses that a tool may reach although they are not public: an inner service that one
    means to offer, or the loopback server of a test. A name with one address that is neither is refused.
    """

    resolve: Resolve = field(default=system_addresses, repr=False)
    allowed: frozenset[str] = frozenset()
    ssl_context: ssl.SSLContext | None = field(default=None, repr=False)
    open_s: float = 2.0  # to connect, and again for the TLS handshake
    read_s: float = 20.0  # between two pieces of the answer
    total_s: float = 30.0  # for everything, so that a slow drip ends too
    most_bytes: int = MOST_BYTES


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What the endpoint said, with a status of 200 to 299."""

    status: int
    headers: Mapping[str, str]  # names in lower case
    content: bytes


async def fetch(
    network: Network, method: str, endpoint: Endpoint, *, headers: Mapping[str, str], content: bytes | None
) -> Answer:
    """Return the answer of one request; redirects are not followed, proxies and cookies play no part.

    Raises:
        EndpointRefused: the name leads to an address that is not public.
        EndpointFailed: no connection, no answer in time, a status outside of 200 to 299, or a too large one.
    """
    if not endpoint.host.isascii() or "@" in endpoint.host:
        raise EndpointRefused(f"{endpoint.host} is no hostname that can be reached")
    try:
        async with asyncio.timeout(network.total_s):
            return await _fetch(network, method, endpoint, headers, content)
    except TimeoutError:
        raise EndpointFailed(f"{endpoint.host} did not answer within {network.total_s:g} seconds") from None
    except httpcore2.TimeoutException:
        raise EndpointFailed(f"{endpoint.host} took too long to connect or to answer") from None
    except (httpcore2.NetworkError, httpcore2.ProtocolError, ssl.SSLError, OSError):
        raise EndpointFailed(f"{endpoint.host} could not be reached or cut its answer short") from None


async def _fetch(
    network: Network, method: str, endpoint: Endpoint, headers: Mapping[str, str], content: bytes | None
) -> Answer:
    url = httpcore2.URL(
        scheme=endpoint.scheme.encode("ascii"),
        host=endpoint.host.encode("ascii"),
        port=endpoint.port,
        target=endpoint.target.encode("ascii"),
    )
    limits = {
        "connect": network.open_s,
        "read": network.read_s,
        "write": network.read_s,
        "pool": network.open_s,
    }
    pool = httpcore2.AsyncConnectionPool(
        ssl_context=network.ssl_context or _system_trust(),
        network_backend=_CheckedBackend(network),
        max_connections=1,
    )
    # A compressed answer could unpack to any size, so none is asked for and none is taken.
    sent = {**headers, "Accept-Encoding": "identity", "Connection": "close"}
    async with (
        pool,
        pool.stream(
            method, url, headers=list(sent.items()), content=content, extensions={"timeout": limits}
        ) as response,
    ):
        told = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        _check_status(endpoint.host, response.status)
        if told.get("content-encoding", "identity").lower() != "identity":
            raise EndpointFailed(f"{endpoint.host} answered in a coding that was not asked for")
        return Answer(
            status=response.status,
            headers=told,
            content=await _bounded(response, told.get("content-length"), network.most_bytes, endpoint.host),
        )


def _check_status(host: str, status: int) -> None:
    if 300 <= status < 400:
        raise EndpointFailed(f"{host} answered with a redirect (status {status}), which is not followed")
    if not 200 <= status < 300:
        raise EndpointFailed(f"{host} answered with status {status}")


async def _bounded(response: httpcore2.Response, announced: str | None, most: int, host: str) -> bytes:
    too_large = EndpointFailed(f"the answer of {host} is larger than {most} bytes")
    if announced is not None and announced.isdigit() and int(announced[:20]) > most:
        raise too_large
    pieces, size = [], 0
    async for piece in response.aiter_stream():
        size += len(piece)
        if size > most:
            raise too_large
        pieces.append(piece)
    return b"".join(pieces)


class _CheckedBackend(httpcore2.AsyncNetworkBackend):
    """Resolves once, checks every address, and connects to the checked ones: nothing is resolved again."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        addresses = await self._network.resolve(host, port)
        for address in addresses:
            reason = None if address in self._network.allowed else why_not_public(address)
            if reason is not None:
                raise EndpointRefused(f"{host} leads to an address that is not public ({reason})")
        failure: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in addresses:
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure


@lru_cache(maxsize=1)
def _system_trust() -> ssl.SSLContext:
    return httpcore2.default_ssl_context()
