"""How a question is put: its `.sql` file, the steps it stands on, and the parameters it names."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib.resources import files
from typing import Any, Protocol, TypeVar

from quality_lab.metrics.filters import EVERYTHING, Filters, Timed

Row = TypeVar("Row")

_STEPS = re.compile(r"^-- steps: (.+)$", re.MULTILINE)
_LAID_IN = re.compile(r"^-- laid in$", re.MULTILINE)
_NAMED_SELECT = re.compile(r"^(\w+) as \(\n(.*?)\n\)", re.MULTILINE | re.DOTALL)
_PARAMETER = re.compile(r"\$([a-z_]+)")


class Asks(Protocol):
    """Whatever answers SQL with rows: the store, or a store elsewhere."""

    def ask(self, row_class: type[Row], sql: str, **parameters: object) -> list[Row]:
        """Return the rows of *sql* as *row_class* objects."""
        ...


def put(
    store: Asks,
    row_class: type[Row],
    question: str,
    filters: Filters,
    *,
    time: Timed = "call",
    room: str = "quality_lab.metrics",
    **more: Any,
) -> list[Row]:
    """Return the rows of a question; *more* are parameters beside those of the filters.

    A store may have kept the rows of a question that is asked without any filter.
    """
    sql, parameters = prepared(question, filters, time=time, room=room, **more)
    kept = getattr(store, "ask_kept", None) if filters == EVERYTHING else None
    rows: list[Row] = (kept or store.ask)(row_class, sql, **parameters)
    return rows


def put_among(
    store: Asks,
    row_class: type[Row],
    question: str,
    filters: Filters,
    *,
    column: str,
    among: Collection[str],
    time: Timed = "call",
    room: str = "quality_lab.metrics",
    **more: Any,
) -> list[Row]:
    """Return those rows of a question whose *column* is *among* the values given."""
    sql, parameters = prepared(question, filters, time=time, room=room, **more)
    kept = getattr(store, "ask_kept", None) if filters == EVERYTHING else None
    if kept is not None:
        rows: list[Row] = kept(row_class, sql, column=column, among=sorted(among), **parameters)
        return rows
    return [row for row in store.ask(row_class, sql, **parameters) if getattr(row, column) in among]


def prepared(
    question: str, filters: Filters, *, time: Timed = "call", room: str = "quality_lab.metrics", **more: Any
) -> tuple[str, dict[str, Any]]:
    """Return the text of a question and the parameters that it names."""
    sql = sql_of(question, room=room)
    given = filters.parameters(time=time) | more
    named = set(_PARAMETER.findall(sql))
    return sql, {name: value for name, value in given.items() if name in named}


def together(store: Asks) -> AbstractContextManager[None]:
    """Return a context in which questions share one connection and one state, where the store knows how."""
    shared = getattr(store, "together", None)
    return nullcontext() if shared is None else shared()


@cache
def sql_of(question: str, *, room: str = "quality_lab.metrics") -> str:
    """Return the text of a question: after its `with`, the steps that its head names, then its own.

    A step whose file says `-- laid in` is no step of the `with` but stands, in brackets, wherever it is read:
    an engine would keep a copy of all calls for a step that is read twice.
    """
    text = files(room).joinpath(f"{question}.sql").read_text("utf-8")
    named = _STEPS.search(text)
    if named is None:
        return text
    head, opening, rest = text.partition("\nwith\n")
    if not opening:
        raise ValueError(f"{question}.sql names steps, so it must have a line `with`")
    steps = [_step(name.strip()) for name in named[1].split(",")]
    kept = [step for step in steps if not _LAID_IN.search(step)]
    body = head + opening + "".join(f"{step},\n" for step in kept) + rest
    for step in reversed([step for step in steps if _LAID_IN.search(step)]):
        for name, select in reversed(_NAMED_SELECT.findall(step)):
            body = _laid_in(body, name, select)
    return body


def _laid_in(sql: str, name: str, select: str) -> str:
    """Return *sql* with the *select* in brackets wherever it reads from *name*."""

    def spelt_out(found: re.Match[str]) -> str:
        return f"{found[1]} ({select.strip()})"

    return re.sub(rf"\b(from|join) {name}\b", spelt_out, sql)


def _step(name: str) -> str:
    return files("quality_lab.metrics").joinpath(f"steps/{name}.sql").read_text("utf-8").strip()
