"""What the rules of a map find in a record: texts, times, durations, numbers, and JSON as it was written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation

import msgspec

from quality_lab.formats.exact import is_json
from quality_lab.formats.json_pieces import quoted, string_in
from quality_lab.formats.mapping.paths import Node, Path, text_in
from quality_lab.formats.mapping.rules import (
    MICROSECONDS,
    MILLISECONDS,
    Condition,
    Duration,
    Number,
    Scalar,
    Time,
    Value,
)
from quality_lab.formats.moments import moment_of
from quality_lab.formats.upstream import arguments_of
from quality_lab.formats.validation import Refused
from quality_lab.records import ArgumentsState, ResultState

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ISO_DURATION = re.compile(
    r"P(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)
_CLOCK = re.compile(r"(?:(?P<days>\d+) days?, )?(?P<hours>\d+):(?P<minutes>\d\d):(?P<seconds>\d\d(?:\.\d+)?)")
_GREATEST_PLACE = 2_147_483_647


class Place:
    """Where rules look: at one element of a record, and at its top (the same where there is no `each`)."""

    __slots__ = ("here", "top")

    def __init__(self, here: Node, top: Node) -> None:
        """Keep both."""
        self.here, self.top = here, top

    def node(self, path: Path) -> Node | None:
        """Return the first value that *path* leads to, or None."""
        return (self.top if path.from_top else self.here).first(path.steps)

    def found(self, value: Value | None) -> Node | None:
        """Return the first value of a rule that is more than null and ""; a null where there is only that."""
        if value is not None and value.key is not None:
            return self.here.member(value.key)
        empty: Node | None = None
        for path in () if value is None else value.paths:
            node = self.node(path)
            if node is not None and (node.text is not None or node.raw[:1] in b"{["):
                return node
            empty = empty or node
        return empty

    def text(self, value: Value | None) -> str | None:
        """Return the text of a rule, or None."""
        if value is None:
            return None
        if value.key is not None:
            plain = self.here.pieces.get(value.key)
            return None if plain is None else text_in(plain)
        if value.const is not None:
            return value.const
        if value.joined:
            parts = [None if (node := self.node(path)) is None else node.text for path in value.paths]
            return None if not any(parts) else "/".join(part or "" for part in parts)
        node = self.node(value.paths[0]) if len(value.paths) == 1 else self.found(value)
        return None if node is None else node.text

    def json(self, value: Value) -> bytes | None:
        """Return what a rule leads to as JSON text: as written, or an object of the fields that it lists."""
        if value.key is not None:
            return self.here.pieces.get(value.key)
        if value.const is not None:
            return quoted(value.const)
        if value.fields:
            named = [(str(path.steps[-1]), node) for path in value.fields if (node := self.node(path))]
            members = (quoted(name) + b":" + node.raw for name, node in named)
            return b"{" + b",".join(members) + b"}" if named else None
        node = self.found(value)
        return None if node is None else node.raw

    def arguments(self, value: Value | None) -> tuple[str | None, ArgumentsState]:
        """Return the JSON text of arguments and their state."""
        raw = None if value is None else self.json(value)
        if raw is not None and value is not None and value.read_as == "text":
            return raw.decode(), "object"
        return arguments_of(msgspec.Raw(raw or b""))

    def result(self, value: Value | None, *, cells: bool) -> tuple[str | None, ResultState]:
        """Return the JSON text of a result and its state; text that holds an object or a list is read one level.

        In a table an empty cell is no result; elsewhere null and "" are results, and empty ones.
        """
        if value is None:
            return None, "not_captured"
        raw = self.json(value)
        if raw is None or (cells and raw == b'""'):
            return None, "absent"
        inner = string_in(raw) if value.read_as != "text" else None
        if inner is not None:
            looks = value.read_as == "json" or inner.lstrip()[:1] in ("{", "[")
            if looks and inner and is_json(inner.encode()):
                return inner, "present"
        return raw.decode(), "present"

    def score(self, value: Value | None, *, cells: bool) -> str | None:
        """Return the JSON text of a score; in a table a cell that spells a number, true or false is one."""
        node = self.found(value)
        if node is None or node.text is None:
            return None
        text = node.text.strip()
        bare = cells and (text in ("true", "false") or _decimal(text) is not None)
        return text if bare and is_json(text.encode()) else node.raw.decode()

    def moment(self, rule: Time | None) -> datetime | None:
        """Return the time of a rule in UTC, or None where nothing stands there.

        Raises: Refused: what stands there is no such time.
        """
        if rule is None:
            return None
        if rule.value.key is not None:
            text = self.text(rule.value)
        else:
            node = self.found(rule.value)
            text = None if node is None else node.text
        if text is None:
            return None
        path = rule.value.paths[0].text
        if rule.pattern is not None:
            try:
                moment = datetime.strptime(text, rule.pattern)  # noqa: DTZ007  # the zone is put on below
            except ValueError:
                raise Refused(path, f"wanted a time as {rule.pattern}, got {text[:40]!r}") from None
            return _in_utc(moment, rule)
        if rule.unit not in (None, "iso"):
            return _since_epoch(text, rule.unit, path)
        if rule.unit is None and _decimal(text) is not None:
            return moment_of(msgspec.Raw(text.encode()), path)
        try:
            return _in_utc(datetime.fromisoformat(text.strip()), rule)
        except (ValueError, OverflowError):
            raise Refused(path, f"wanted an ISO 8601 time, got {text[:40]!r}") from None

    def milliseconds(self, rule: Duration | None) -> float | None:
        """Return how long something took, or None where nothing stands there.

        Raises: Refused: what stands there is no such duration.
        """
        text = None if rule is None else self.text(rule.value)
        if rule is None or text is None:
            return None
        if rule.unit == "ms" and _is_short_number(text):
            return float(text)
        if rule.unit == "iso":
            found = _iso_ms(text)
        else:
            number = _decimal(text)
            found = None if number is None else number * MILLISECONDS[rule.unit]
        if found is None:
            raise Refused(rule.value.paths[0].text, f"wanted a duration ({rule.unit}), got {text[:40]!r}")
        return float(found)

    def number(self, rule: Number | None) -> int | None:
        """Return a place in an order, counted from 0, or None.

        Raises: Refused: it is no whole number, or lies before the first.
        """
        text = None if rule is None else self.text(rule.value)
        if rule is None or text is None:
            return None
        if _is_short_number(text) and int(text) >= rule.starts_at:
            return int(text) - rule.starts_at
        number = _decimal(text)
        place = None if number is None else number - rule.starts_at
        if place is None or place % 1 or not 0 <= place <= _GREATEST_PLACE:
            wanted = f"a whole number from {rule.starts_at} on"
            raise Refused(rule.value.paths[0].text, f"wanted {wanted}, got {text[:40]!r}")
        return int(place)

    def holds(self, condition: Condition) -> bool | None:
        """Say whether a condition holds; None where nothing stands there that could tell."""
        nodes = (self.top if condition.path.from_top else self.here).all(condition.path.steps)
        if condition.verb == "present":
            return any(not node.is_null for node in nodes)
        if len(nodes) == 1:  # as nearly always: nothing to go through
            return _holds(condition, nodes[0])
        if not nodes:
            return None
        return any(_holds(condition, node) for node in nodes)


def _holds(condition: Condition, node: Node) -> bool:
    if condition.verb == "nonempty":
        return node.is_nonempty
    text = node.text or ""
    if condition.verb in ("equals", "not_equals"):
        met = any(_same(text, wanted) for wanted in condition.wanted)
        return met if condition.verb == "equals" else not met and not node.is_null
    if condition.verb == "starts_with":
        return text.lstrip().startswith(tuple(map(str, condition.wanted)))
    return any(str(wanted) in text for wanted in condition.wanted)


def _same(text: str, wanted: Scalar) -> bool:
    """Say whether a value is the *wanted* one; a text is compared as what it spells, since cells are texts."""
    if isinstance(wanted, bool):
        spelt = "true" if wanted else "false"
        return text == spelt or text.strip().casefold() == spelt
    if isinstance(wanted, str):
        return text == wanted
    number = _decimal(text)
    return number is not None and number == Decimal(str(wanted))


def text_of(node: Node | None) -> Iterator[str]:
    """Yield the text of a value that says something."""
    if node is not None and node.is_nonempty and node.text is not None:
        yield node.text


def _since_epoch(text: str, unit: str, path: str) -> datetime:
    number = _decimal(text)
    try:
        if number is not None:
            return _EPOCH + timedelta(microseconds=int(number * MICROSECONDS[unit]))
    except (OverflowError, ValueError):
        pass  # no year that Python knows: told below
    raise Refused(path, f"wanted a number of {unit} since 1970, got {text[:40]!r}")


def _in_utc(moment: datetime, rule: Time) -> datetime:
    if moment.tzinfo is UTC:  # as most are
        return moment
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=rule.zone or UTC)).astimezone(UTC)


def _is_short_number(text: str) -> bool:
    """Say whether it is a whole number of at most nine digits, as most are: then it needs no Decimal."""
    return len(text) < 10 and text.isascii() and text.isdigit()


def _decimal(text: str) -> Decimal | None:
    text = text.strip()
    if "-" in text[1:] and "e" not in text and "E" not in text:
        return None  # as times are; to be refused by Decimal takes ten times as long
    try:
        number = Decimal(text) if len(text) <= 100 and "_" not in text else None
    except InvalidOperation:
        return None
    return number if number is not None and number.is_finite() and abs(number.adjusted()) < 60 else None


def _iso_ms(text: str) -> Decimal | None:
    found = _ISO_DURATION.fullmatch(text.strip()) or _CLOCK.fullmatch(text.strip())
    if found is None or text.strip() in ("P", "PT"):
        return None
    parts = {name: Decimal(value or 0) for name, value in found.groupdict().items()}
    hours = parts["days"] * 24 + parts["hours"]
    return ((hours * 60 + parts["minutes"]) * 60 + parts["seconds"]) * 1000
