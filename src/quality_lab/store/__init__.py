"""The cache that answers questions: the only room that knows DuckDB.

`Store` opens a connection for as long as one question or one load takes, so an open notebook never blocks a
scheduled load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quality_lab.store.store import Store as Store

__all__ = ["Store"]


def __getattr__(name: str) -> object:
    if name == "Store":
        from quality_lab.store.store import Store

        return Store
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
