"""When a span began, how long it took and how it ended, in each way in which exporters write that."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation

from quality_lab.formats.json_pieces import Pieces, first, list_in, object_in, scalar_in, string_in, word
from quality_lab.formats.moments import iso_moment
from quality_lab.formats.validation import Refused

_NANOSECONDS = ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3))  # numbers below this have so many
_LENGTHS = {  # the field of a span's length → nanoseconds of its unit
    "duration": 1_000,  # Jaeger and the console of JavaScript
    "durationNano": 1,
    "duration_ms": 1_000_000,
    "latency_ms": 1_000_000,
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def times_in(one: Pieces, path: str) -> tuple[int | None, int | None]:
    """Return when the span *one* began and ended, in nanoseconds since 1970.

    Raises:
        Refused: what stands there is no time.
    """
    where = path + "." if path else ""
    begun = first(one, "startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "timestamp")
    done = first(one, "endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")
    started = nanoseconds_in(begun, f"{where}start_time")
    ended = nanoseconds_in(done, f"{where}end_time")
    if ended is None and started is not None:
        for name, factor in _LENGTHS.items():
            length = scalar_in(one.get(name))
            if length is not None:
                return started, started + int(_number(length, f"{where}{name}") * factor)
    return started, ended


def nanoseconds_in(raw: bytes | None, path: str) -> int | None:
    """Return a time since 1970, its unit told by its size; a list is of seconds and nanoseconds."""
    digits = b"" if raw is None else raw.strip(b'"')
    if digits.isdigit() and len(digits) == 19:  # as OTLP writes it
        return int(digits)
    pair = list_in(raw) if raw is not None and raw.startswith(b"[") else None
    if pair is not None and len(pair) == 2:
        seconds, rest = (int(_number(one.decode(), path)) for one in pair)
        return seconds * 10**9 + rest
    text = scalar_in(raw)
    if text is None:
        return None
    if string_in(raw) is not None and not text.lstrip("-").replace(".", "", 1).isdigit():
        since = iso_moment(text, path) - _EPOCH
        return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1_000
    number = _number(text, path)
    factor = next((factor for below, factor in _NANOSECONDS if abs(number) < below), 1)
    nanoseconds = int(number * factor)
    if abs(nanoseconds) >= 10**20:
        raise Refused(path, f"wanted a time, got {text[:40]}")
    return nanoseconds or None  # nought is how protocol buffers write "not set"


def _number(text: str, path: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise Refused(path, f"wanted a number, got {text[:40]}") from None
    if not number.is_finite() or abs(number.adjusted()) > 40:
        raise Refused(path, f"wanted a number, got {text[:40]}")
    return number


def status_in(one: Pieces, attributes: Pieces) -> tuple[bool | None, str | None]:
    """Return whether a span failed, None for "unset", and what its status says.

    A status may be a number, a word with or without a prefix, an object with either, or two tags.
    """
    status = object_in(one.get("status")) or {}
    code = word(status, "code", "status_code", "statusCode") or scalar_in(one.get("status"))
    code = code or word(one, "status_code", "statusCode") or word(attributes, "otel.status_code")
    ending = (code or "").upper().rpartition("_")[2].rpartition(".")[2]
    failed = {"ERROR": True, "2": True, "OK": False, "1": False}.get(ending)
    if attributes.get("error") in (b"true", b'"true"'):
        failed = True
    said = word(status, "message", "description") or word(one, "status_message", "statusMessage")
    return failed, said or word(attributes, "otel.status_description")
