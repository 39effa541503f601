"""A server on the loopback interface that answers as a script says, rightly or not, over a real socket."""

from __future__ import annotations

import http
import socket
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One answer, and what is wrong with the way it is given."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    reason: str | None = None  # None is the usual one
    waits_s: float = 0.0  # before its first byte
    cut_after: int | None = None  # bytes of the body, whatever length was announced
    drips_s: float = 0.0  # between two bytes of the body
    endless_head: bool = False  # a header a drip, and no end of them


@dataclass(frozen=True)
class Seen:
    """What the server was asked."""

    method: str
    target: str
    headers: Mapping[str, str]  # names in lower case
    body: bytes = b""


class Loopback:
    """A server that gives the n-th request the n-th of its replies; the last one repeats."""

    def __init__(self, *replies: Reply) -> None:
        self.replies: Sequence[Reply] = replies
        self.seen: list[Seen] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._closing = threading.Event()
        self.host = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.base = f"http://{self.host}"
        threading.Thread(target=self._serve, daemon=True).start()

    def __enter__(self) -> Loopback:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._closing.set()
        self._socket.close()

    def _serve(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            try:
                head = _read_head(connection)
                if head is None:
                    return
                self.seen.append(head)
                self._send(connection, self.replies[min(len(self.seen), len(self.replies)) - 1])
            except OSError:
                return  # the client has left

    def _send(self, connection: socket.socket, reply: Reply) -> None:
        if self._closing.wait(reply.waits_s):
            return
        reason = http.HTTPStatus(reply.status).phrase if reply.reason is None else reply.reason
        headers = dict(reply.headers)
        if reply.status not in (204, 304):
            headers.setdefault("Content-Length", str(len(reply.body)))
        lines = [f"HTTP/1.1 {reply.status} {reason}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        connection.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n")
        while reply.endless_head and not self._closing.wait(reply.drips_s):
            connection.sendall(b"X-More: yes\r\n")
        connection.sendall(b"\r\n")
        body = reply.body if reply.cut_after is None else reply.body[: reply.cut_after]
        if not reply.drips_s:
            connection.sendall(body)
            return
        for at in range(len(body)):
            if self._closing.wait(reply.drips_s):
                return
            connection.sendall(body[at : at + 1])


def _read_head(connection: socket.socket) -> Seen | None:
    connection.settimeout(10)
    head = b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(65_536)
        if not piece:
            return None
        head += piece
    told, _, body = head.partition(b"\r\n\r\n")
    request, *lines = told.decode("latin-1").split("\r\n")
    method, target, _ = request.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65_536)
    return Seen(method, target, headers, body)


def closed_port() -> int:
    """Return a port where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
