"""How a question is put: its `.sql` file, the steps it stands on, and the parameters it names."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any, Protocol, TypeVar

from quality_lab.metrics.filters import Filters, Timed

Row = TypeVar("Row")

_STEPS = re.compile(r"^-- steps: (.+)$", re.MULTILINE)
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
    """Return the rows of a question; *more* are parameters beside those of the filters."""
    sql = sql_of(question, room=room)
    given = filters.parameters(time=time) | more
    named = set(_PARAMETER.findall(sql))
    return store.ask(row_class, sql, **{name: value for name, value in given.items() if name in named})


@cache
def sql_of(question: str, *, room: str = "quality_lab.metrics") -> str:
    """Return the text of a question: after its `with`, the steps that its head names, then its own."""
    text = files(room).joinpath(f"{question}.sql").read_text("utf-8")
    named = _STEPS.search(text)
    if named is None:
        return text
    steps = [
        files("quality_lab.metrics").joinpath(f"steps/{name.strip()}.sql").read_text("utf-8").strip()
        for name in named[1].split(",")
    ]
    head, opening, rest = text.partition("\nwith\n")
    if not opening:
        raise ValueError(f"{question}.sql names steps, so it must have a line `with`")
    return head + opening + ",\n".join(steps) + ",\n" + rest
