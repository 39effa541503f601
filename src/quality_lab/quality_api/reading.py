"""Each kind of thing that can be pulled: its endpoint, the filters that it has, and the rows that it answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import msgspec

from quality_lab import js_text, json_text
from quality_lab.labels import FIVE
from quality_lab.quality_api.bodies import SOURCES, STATUSES
from quality_lab.quality_api.session import ApiError, Session
from quality_lab.quality_api.slices import MOST_REQUESTS, Filter, Gathered, Plan, Row, gather

Kind = Literal["feedback", "cases", "calls", "proposals"]
KINDS: tuple[Kind, ...] = get_args(Kind)

NO_SUCH_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_FLAGS = ("false", "true")
_LONGEST_NAME = 500  # of a tool that is asked for; a URL has its limits
_LEARNED = ("toolName", "conversationId")
_CLOSED = ("label", "source", "status")


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """Where a kind comes from."""

    path: str
    plan: Plan
    document: bool  # one `{"items": […]}`; else a JSON object a line
    always: Mapping[str, str]  # filters of the first request, which the plan's replace


ENDPOINTS: dict[Kind, Endpoint] = {
    "feedback": Endpoint(
        path="tool-call-feedback/export.jsonl",
        plan=Plan(
            limit=1000,
            filters=(
                Filter(name="label", values=FIVE),
                Filter(name="source", values=SOURCES),
                Filter(name="error", values=_FLAGS),
                Filter(name="toolName"),
            ),
        ),
        document=False,
        always={},
    ),
    "cases": Endpoint(
        path="tool-call-regression-cases/export.jsonl",
        plan=Plan(limit=1000, filters=(Filter(name="status", values=("active", "archived")),)),
        document=False,
        always={"status": "all"},
    ),
    "calls": Endpoint(
        path="tool-calls",
        plan=Plan(
            limit=1000,
            filters=(
                Filter(name="source", values=SOURCES),
                Filter(name="error", values=_FLAGS),
                Filter(name="toolName"),
                Filter(name="conversationId", alone=True),
            ),
        ),
        document=True,
        always={},
    ),
    "proposals": Endpoint(
        path="tool-call-feedback/improvement-proposals",
        plan=Plan(limit=200, filters=(Filter(name="status", values=STATUSES),)),
        document=True,
        always={"status": "all"},
    ),
}


class _Items(msgspec.Struct):
    items: list[msgspec.Raw]


class _Totals(msgspec.Struct):
    total: int


class _Tool(msgspec.Struct):
    toolName: str


class _Summary(msgspec.Struct):
    totals: _Totals
    byTool: list[_Tool] = []


_items = msgspec.json.Decoder(_Items)
_summary = msgspec.json.Decoder(_Summary)


def everything(
    session: Session,
    kind: Kind,
    *,
    learned: Mapping[str, set[str]] | None = None,
    most_requests: int = MOST_REQUESTS,
    progress: Callable[[str, int], None] | None = None,
) -> Gathered:
    """Return all rows of a *kind* that the API gives, each once, and what may be missing of it.

    *learned* are tools and conversations met elsewhere. *progress* is told the kind and the rows that came.

    Raises: ApiError.
    """
    endpoint = ENDPOINTS[kind]
    came = 0

    def ask(filters: Mapping[str, str]) -> list[Row]:
        nonlocal came
        rows = page(session, endpoint, filters)
        came += len(rows)
        if progress is not None:
            progress(kind, came)
        return rows

    return gather(
        ask,
        endpoint.plan,
        learned=learned,
        overview=(lambda: overview(session)) if kind == "feedback" else None,
        most_requests=most_requests,
    )


def page(session: Session, endpoint: Endpoint, filters: Mapping[str, str]) -> list[Row]:
    """Return the rows of one request, as full as the endpoint allows. Raises: ApiError."""
    query: dict[str, str | int] = {**endpoint.always, **filters, "limit": endpoint.plan.limit}
    body = session.get(endpoint.path, query)
    texts = _of_document(session, endpoint, body) if endpoint.document else _of_lines(session, endpoint, body)
    return [_row(*session.row(text)) for text in texts]


def _of_lines(session: Session, endpoint: Endpoint, body: bytes) -> list[str]:
    """Return the lines of an export; a broken one among them is a row too, and `load` will say so."""
    text = body.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    lines = [stripped for line in text.split("\n") if (stripped := line.strip(" \t\r"))]
    if lines and not (_is_object(lines[0]) and (text.endswith("\n") or _is_object(lines[-1]))):
        raise session.unusable(endpoint.path, "a JSON object a line, the last of them whole", body)
    return lines


def _of_document(session: Session, endpoint: Endpoint, body: bytes) -> list[str]:
    text = body.removeprefix(b"\xef\xbb\xbf")
    try:
        items = _items.decode(text).items
        return [bytes(one).decode("utf-8").replace("\n", " ").replace("\r", " ") for one in items]
    except RecursionError:  # values nested by the thousand: slower, and as they were written too
        listed = _items_of_deep(text)
        if listed is not None:
            return listed
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    raise session.unusable(endpoint.path, 'an object {"items": […]}', body)


def _items_of_deep(text: bytes) -> list[str] | None:
    try:
        found = json_text.parse(text)
    except json_text.JsonTextError:
        return None
    listed = found.get("items") if isinstance(found, dict) else None
    return [json_text.compact(one) for one in listed] if isinstance(listed, list) else None


def _is_object(text: str) -> bool:
    try:
        return isinstance(json_text.parse(text), dict)
    except json_text.JsonTextError:
        return False


def _row(text: str, masked: int) -> Row:
    try:
        seen = json.loads(text)
    except (ValueError, RecursionError):
        return Row(text=text, key=text, masked=masked)
    if not isinstance(seen, dict) or type(seen.get("id")) is not int:
        return Row(text=text, key=text, masked=masked)
    names = {name: str(seen[name]) for name in _LEARNED if _can_be_asked_for(seen.get(name))}
    names |= {name: seen[name] for name in _CLOSED if isinstance(seen.get(name), str)}
    if isinstance(seen.get("error"), bool):
        names["error"] = _FLAGS[seen["error"]]
    return Row(text=text, key=seen["id"], names=names, masked=masked)


def _can_be_asked_for(value: object) -> bool:
    """Return whether a filter finds *value*: upstream trims a name, and a URL carries no lone surrogate."""
    if type(value) is int:
        return 0 < value < 2**53
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_NAME:
        return False
    return js_text.trim(value) == value and js_text.well_formed(value) == value


def overview(session: Session) -> tuple[int | None, set[str]]:
    """Return how many labels there are and the tools that they are about; nothing where the API does not say."""
    try:
        body = session.get("tool-call-feedback/summary", {"limit": 1})
        found = _summary.decode(session.row(body.decode("utf-8"))[0])
    except (ApiError, *NO_SUCH_JSON):
        return None, set()
    return found.totals.total, {one.toolName for one in found.byTool if _can_be_asked_for(one.toolName)}
