"""What every row is made with: its surrogate key, its place, times in UTC and text as UTF-8 holds it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import overload

from quality_lab.store.call_outcomes import CallOutcomes


@lru_cache(maxsize=1024)
def _counted(*parts: str) -> str:
    return "".join(f"{len(part)}:{part}" for part in parts)


def uid(*parts: str) -> str:
    """Return the md5 of the *parts*, each behind its length, as 32 hex digits: the surrogate key of a row.

    The lengths keep ("a", "bc") and ("ab", "c") apart. The bytes stand in the order of DuckDB's `md5_number`.
    """
    *before, last = parts
    text = f"{_counted(*before)}{len(last)}:{last}"
    digest = hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
    return digest[::-1].hex()


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where records are read: for whom, the small number of the file, and the outcomes that calls have in this load."""

    tenant: str
    source_id: int
    outcomes: CallOutcomes


def utc(moment: datetime | None) -> datetime | None:
    """Return *moment* in UTC; what lays rows down leaves the zone out."""
    return moment if moment is None or moment.tzinfo is UTC else moment.astimezone(UTC)


@overload
def clean(text: str) -> str: ...
@overload
def clean(text: str | None) -> str | None: ...
def clean(text: str | None) -> str | None:
    """Return *text* as UTF-8 can hold it: a lone surrogate becomes U+FFFD (JSON text keeps it as its escape)."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
