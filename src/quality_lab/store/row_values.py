"""What every row is made with: its surrogate key, its place, times in UTC and text as UTF-8 holds it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from quality_lab.outcomes import OutcomeOverrides

Row = dict[str, object]


def uid(*parts: str) -> str:
    """Return the md5 of the *parts*, each behind its length, as 32 hex digits: the surrogate key of a row.

    The lengths keep ("a", "bc") and ("ab", "c") apart. The bytes stand in the order of DuckDB's `md5_number`.
    """
    text = "".join(f"{len(part)}:{part}" for part in parts)
    digest = hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
    return digest[::-1].hex()


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a record was read: small number of the file, line, and the ordinal of its unit within this load."""

    tenant: str
    source_id: int
    line: int
    unit: int
    overrides: OutcomeOverrides


def utc(moment: datetime | None) -> datetime | None:
    """Return *moment* as the tables keep times: UTC without a zone."""
    return None if moment is None else moment.astimezone(UTC).replace(tzinfo=None)


def clean(text: str | None) -> str | None:
    """Return *text* as UTF-8 can hold it: a lone surrogate becomes U+FFFD (JSON text keeps it as its escape)."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
