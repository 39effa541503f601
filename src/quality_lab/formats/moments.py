"""Times as files write them: ISO 8601 text, or a number of (milli-, micro-, nano-) seconds since 1970."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import msgspec

from quality_lab.formats.validation import Refused

_NUMBER = re.compile(r"-?[0-9.]{1,40}(?:[eE][+-]?[0-9]{1,3})?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = ((10**11, 10**6), (10**14, 10**3), (10**17, 1))  # numbers below this have so many microseconds
_NANOSECONDS_END = 10**20  # beyond it there is no unit


def iso_moment(text: str, path: str) -> datetime:
    """Return the time that ISO 8601 *text* names, in UTC; without a zone it is taken as UTC.

    Raises:
        Refused: it is no such text.

    >>> iso_moment("2026-06-01T10:00:00+02:00", "created_at").isoformat()
    '2026-06-01T08:00:00+00:00'
    """
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Refused(path, f"wanted an ISO 8601 time, got {text[:40]!r}") from None


def moment_of(raw: msgspec.Raw, path: str) -> datetime | None:
    """Return the time that stands in a field, told apart by its size where it is a number; None for none.

    Raises:
        Refused: what stands there is no time.
    """
    text = str(raw, "utf-8")
    if text in ("", "null"):
        return None
    if text.startswith('"'):
        return iso_moment(msgspec.json.decode(raw, type=str), path)
    number = Decimal(text) if _NUMBER.fullmatch(text) else None
    if number is None:
        raise Refused(path, "wanted a time: ISO 8601 text or a number since 1970")
    factor = next((factor for below, factor in _UNITS if abs(number) < below), None)
    if factor is not None or abs(number) < _NANOSECONDS_END:
        since = int(number * factor) if factor is not None else int(number) // 1000
        try:
            return _EPOCH + timedelta(microseconds=since)
        except OverflowError:
            pass  # before the year 1: told below
    raise Refused(path, f"wanted a time, got {text[:40]}")
