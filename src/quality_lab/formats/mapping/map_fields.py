"""The fields of a map's tables: conditions, paths, times with their units, and where a text comes from."""

from __future__ import annotations

from typing import Any, cast, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from quality_lab.formats.mapping.paths import EACH, BadPath, Path, Step, parse_path
from quality_lab.formats.mapping.rules import (
    Condition,
    Duration,
    DurationUnit,
    ErrorRule,
    HowRead,
    Number,
    Scalar,
    Time,
    TimeUnit,
    Value,
)
from quality_lab.formats.toml_reading import TomlTable
from quality_lab.records import ErrorOrigin

_VERBS = ("equals", "not_equals", "nonempty", "present", "starts_with", "contains")


def zone_in(table: TomlTable) -> ZoneInfo | None:
    """Return the time zone that a table names under `zone`, or None.

    Raises: UsageError: there is no such zone.
    """
    name = table.take_a(str, "zone")
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise table.wrong("zone", "a time zone such as Europe/Madrid", name) from None


class FieldReader:
    """Reads single fields; *zone* is that of times that name none. Every method raises UsageError."""

    def __init__(self, zone: ZoneInfo | None) -> None:
        """Keep the zone."""
        self._zone = zone

    def error(self, table: TomlTable) -> ErrorRule:
        """Return a rule by which a call failed."""
        origin, text, kind = table.take_a(str, "origin"), self.value(table, "text"), self.value(table, "kind")
        if origin is not None and origin not in get_args(ErrorOrigin):
            raise table.wrong("origin", f"one of {', '.join(get_args(ErrorOrigin))}", origin)
        condition = self.condition(table)
        by_verb: dict[str, ErrorOrigin] = {"nonempty": "exception", "starts_with": "text", "contains": "text"}
        found = cast("ErrorOrigin", origin or by_verb.get(condition.verb, "flag"))
        return ErrorRule(condition=condition, origin=found, text=text, kind=kind)

    def condition(self, table: TomlTable) -> Condition:
        """Return a condition: a path, and one verb."""
        path = self.path(table, "path", table.take("path"))
        given = [(verb, value) for verb in _VERBS if (value := table.take(verb)) is not None]
        table.done()
        if len(given) != 1:
            raise table.wrong("path", f"one of {', '.join(_VERBS)} beside it", [verb for verb, _ in given])
        verb, value = given[0]
        if verb in ("nonempty", "present"):
            if value is not True:
                raise table.wrong(verb, "true", value)
            return Condition(path=path, verb=cast(Any, verb))
        several = value if isinstance(value, list) else [value]
        kinds = str if verb in ("starts_with", "contains") else (str, int, float, bool)
        if not several or not all(isinstance(one, kinds) for one in several):
            raise table.wrong(verb, "a text, a number, true or false, or a list of such", value)
        return Condition(path=path, verb=cast(Any, verb), wanted=tuple(cast("list[Scalar]", several)))

    def value(self, table: TomlTable, name: str) -> Value | None:
        """Return where the text under *name* comes from, or None."""
        given = table.take(name)
        if given is None:
            return None
        if isinstance(given, dict):
            inner = TomlTable(given, file=table.file, where=table.key(name))
            found = self._value_of(inner)
            inner.done()
            return found
        return Value(paths=self.paths(table, name, given))

    def _value_of(self, table: TomlTable) -> Value:
        const, path, join, listed = (table.take(name) for name in ("const", "path", "join", "fields"))
        read_as = table.take_a(str, "as") or "auto"
        if read_as not in get_args(HowRead):
            raise table.wrong("as", f"one of {', '.join(get_args(HowRead))}", read_as)
        if sum(one is not None for one in (const, path, join, listed)) != 1:
            raise table.wrong("", "one of path, const, join and fields", None)
        if const is not None:
            if isinstance(const, list | dict):
                raise table.wrong("const", "a text, a number, true or false", const)
            return Value(const=("true" if const else "false") if isinstance(const, bool) else str(const))
        if listed is not None:
            return Value(fields=self.paths(table, "fields", listed))
        name = "path" if join is None else "join"
        found = self.paths(table, name, path if join is None else join)
        return Value(paths=found, joined=join is not None, read_as=cast("HowRead", read_as))

    def _with_unit(self, table: TomlTable, name: str) -> tuple[Value | None, TomlTable | None]:
        """Return the value under *name*, and its table where it has one, whose other keys are still there."""
        given = table.take(name)
        if given is None:
            return None, None
        if not isinstance(given, dict):
            return Value(paths=self.paths(table, name, given)), None
        inner = TomlTable(given, file=table.file, where=table.key(name))
        return Value(paths=self.paths(inner, "path", inner.take("path"))), inner

    def time(self, table: TomlTable, name: str) -> Time | None:
        """Return where the time under *name* stands, or None."""
        value, inner = self._with_unit(table, name)
        if value is None:
            return None
        if inner is None:
            return Time(value=value, zone=self._zone)
        unit, pattern = inner.take_a(str, "unit"), inner.take_a(str, "format")
        if unit is not None and unit not in get_args(TimeUnit):
            raise inner.wrong("unit", f"one of {', '.join(get_args(TimeUnit))}", unit)
        zone = zone_in(inner) or self._zone
        inner.done()
        return Time(value=value, unit=cast("TimeUnit | None", unit), pattern=pattern, zone=zone)

    def duration(self, table: TomlTable, name: str) -> Duration | None:
        """Return where the duration under *name* stands, or None; it has a unit."""
        value, inner = self._with_unit(table, name)
        if value is None:
            return None
        unit = None if inner is None else inner.take_a(str, "unit")
        if unit not in get_args(DurationUnit):
            units = ", ".join(get_args(DurationUnit))
            raise table.wrong(
                name, f'a unit beside the path: {{ path = "…", unit = "ms" }} (one of {units})', unit
            )
        if inner is not None:
            inner.done()
        return Duration(value=value, unit=cast("DurationUnit", unit))

    def number(self, table: TomlTable, name: str) -> Number | None:
        """Return where the number under *name* stands, or None."""
        value, inner = self._with_unit(table, name)
        if value is None:
            return None
        starts_at = 0 if inner is None else inner.take_a(int, "starts_at") or 0
        if inner is not None:
            inner.done()
        return Number(value=value, starts_at=starts_at)

    def each(self, table: TomlTable, name: str = "each") -> tuple[Step, ...]:
        """Return the steps to the elements that a noun is made of; none where it is the record itself."""
        given = table.take_a(str, name)
        if given is None:
            return ()
        path = self.path(table, name, given)
        if EACH not in path.steps:
            raise table.wrong(name, f'a path with [] for "every element", such as {given}[]', given)
        return path.steps

    def paths(self, table: TomlTable, name: str, given: object) -> tuple[Path, ...]:
        """Return the path *given* under *name*, or all of a list."""
        several = given if isinstance(given, list) else [given]
        if not several:
            raise table.wrong(name, "a path, or a list of them", given)
        return tuple(self.path(table, name, one) for one in several)

    def path(self, table: TomlTable, name: str, given: object) -> Path:
        """Return the path *given* under *name*."""
        if not isinstance(given, str):
            raise table.wrong(name, "a path such as result.error", given)
        try:
            return parse_path(given)
        except BadPath as problem:
            raise table.wrong(name, f"a path ({problem})", given) from None
