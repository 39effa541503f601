"""A Quality API on the loopback interface that keeps what is written to it, filters as upstream does, and may fail."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from quality_lab.quality_api.bodies import BodyError, label_body, status_change

TOKEN = "tok-very-secret-1"
NOW = 1781100000  # what every write is dated, unless told otherwise
ADMIN = "/api/admin/quality/"
Answer = tuple[int, bytes]


@dataclass
class QualityServer:
    """What the API holds, what it was asked, and how it misbehaves."""

    calls: list[dict[str, Any]] = field(default_factory=list)
    labels: list[dict[str, Any]] = field(default_factory=list)  # as feedback on a call
    cases: list[dict[str, Any]] = field(default_factory=list)
    proposals: list[dict[str, Any]] = field(default_factory=list)
    prefix: str = ""
    admin: int = 3
    now: int = NOW
    summary: bool = True  # False: it has no such endpoint
    asked: list[tuple[str, str]] = field(default_factory=list)  # method and target
    wrote: list[tuple[str, Any]] = field(default_factory=list)  # path and body
    before: Callable[[str, str], Answer | None] = lambda method, target: None  # answers in its place
    after_write: Callable[[], None] = lambda: None  # before the answer to a write leaves
    base: str = ""

    @property
    def reads(self) -> list[str]:
        """The targets of what was read, without the path that all of them share."""
        return [target.split(ADMIN)[1] for method, target in self.asked if method == "GET"]

    def answer(self, method: str, target: str, token: str | None, body: bytes) -> Answer:
        self.asked.append((method, target))
        if (told := self.before(method, target)) is not None:
            return told
        if token != f"Bearer {TOKEN}":
            return _json(401, {"error": "auth failed"})
        url = urlsplit(target)
        if not url.path.startswith(self.prefix + ADMIN):
            return _json(404, {"error": "not found"})
        path, query = url.path.removeprefix(self.prefix + ADMIN), dict(parse_qsl(url.query))
        if method != "GET":
            answer = self._write(path, json.loads(body))
            self.after_write()
            return answer
        return self._read(path, query)

    def _read(self, path: str, query: Mapping[str, str]) -> Answer:
        if path == "tool-call-feedback/export.jsonl":
            return _lines(self._page(self.exported(), query))
        if path == "tool-call-regression-cases/export.jsonl":
            status = query["status"]
            return _lines(self._page([one for one in self.cases if status in ("all", one["status"])], query))
        if path == "tool-calls":
            return _json(200, {"items": self._page(_newest(self.calls, "createdAt"), query)})
        if path == "tool-call-feedback/improvement-proposals":
            status = query["status"]
            found = [one for one in self.proposals if status in ("all", one["status"])]
            return _json(200, {"items": self._page(found, {"limit": query["limit"]})})
        if path == "tool-call-feedback/summary" and self.summary:
            tools = sorted({one["toolName"] for one in self.exported()})
            totals = {"total": len(self.labels)}
            return _json(200, {"totals": totals, "byTool": [{"toolName": name} for name in tools[:25]]})
        if path.startswith("tool-calls/") and path.endswith("/feedback"):
            call = self._call(path)
            found = [one for one in self.labels if call and one["toolCallId"] == call["id"]]
            return _json(200, {"items": _newest(found, "createdAt")[:50]}) if call else _no_call()
        return _json(404, {"error": "not found"})

    def _write(self, path: str, body: Any) -> Answer:
        self.wrote.append((path, body))
        try:
            if path.startswith("tool-calls/"):
                call, said = self._call(path), label_body(body)
                return self._label(call, said.label, said.note) if call else _no_call()
            number, change = int(path.split("/")[2]), status_change(body)
        except BodyError as error:
            return _json(400, error.body)
        found = next((one for one in self.proposals if one["id"] == number), None)
        if found is None:
            return _json(404, {"error": "proposal not found"})
        decided = self.now if change.decided else None
        told = change.resolution and dict(change.resolution)
        found |= {"status": change.status, "resolution": told, "decidedAt": decided, "updatedAt": self.now}
        return _json(200, {"ok": True, "proposal": found})

    def _label(self, call: Mapping[str, Any], label: str, note: str | None) -> Answer:
        made = {
            "id": 9000 + len(self.labels),
            "toolCallId": call["id"],
            "adminId": self.admin,
            "label": label,
            "note": note,
            "createdAt": self.now,
        }
        self.labels.append(made)
        return _json(201, {"ok": True, "feedback": made})

    def exported(self) -> list[dict[str, Any]]:
        """Return the rows of the feedback export: each label with its call, the newest first."""
        calls = {one["id"]: one for one in self.calls}
        rows = []
        for label in _newest(self.labels, "createdAt"):
            call = dict(calls[label["toolCallId"]])
            made_at, _ = call.pop("createdAt"), call.pop("id")
            head = {name: label[name] for name in ("id", "toolCallId", "adminId", "label", "note")}
            times = {"feedbackCreatedAt": label["createdAt"], "toolCallCreatedAt": made_at}
            rows.append(head | call | times)
        return rows

    def _page(self, rows: Sequence[dict[str, Any]], query: Mapping[str, str]) -> list[dict[str, Any]]:
        limit = int(query["limit"])
        assert 1 <= limit <= 1000
        wanted = {name: value for name, value in query.items() if name not in ("limit", "status")}
        fitting = [row for row in rows if all(_text(row[name]) == value for name, value in wanted.items())]
        return fitting[:limit]

    def _call(self, path: str) -> dict[str, Any] | None:
        number = unquote(path.split("/")[1])
        return next((one for one in self.calls if str(one["id"]) == number), None)


@contextmanager
def serving(server: QualityServer) -> Iterator[QualityServer]:
    """Let *server* answer at its `base` for as long as the context lasts."""

    class Handler(BaseHTTPRequestHandler):
        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, content = server.answer(self.command, self.path, self.headers.get("Authorization"), body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = _any

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients here are killed on purpose
        http.daemon_threads = True
        http.block_on_close = False
        server.base = f"http://127.0.0.1:{http.server_address[1]}{server.prefix}"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()


def _newest(rows: Sequence[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda one: (one[key], one["id"]), reverse=True)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _lines(rows: Sequence[Mapping[str, Any]]) -> Answer:
    return 200, b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _json(status: int, document: Mapping[str, Any]) -> Answer:
    return status, json.dumps(document).encode()


def _no_call() -> Answer:
    return _json(404, {"error": "tool call not found"})
