"""Which field of a kind of record is what: by its name, and by what it holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from quality_lab.formats.mapping import field_words as words
from quality_lab.formats.mapping.survey import Field, folded
from quality_lab.labels import fold_label

_PATTERNS = (
    *("%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M", "%d.%m.%Y %H:%M:%S"),
    *("%d.%m.%Y %H:%M", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%Y-%m-%d %H:%M:%S,%f", "%d-%m-%Y %H:%M:%S"),
    *("%d/%b/%Y:%H:%M:%S %z", "%a %b %d %H:%M:%S %Y", "%a, %d %b %Y %H:%M:%S %z", "%d %b %Y %H:%M:%S"),
)
_MISREAD = {"%d/%m/%Y %H:%M:%S": "%m/%d/%Y %H:%M:%S", "%d/%m/%Y %H:%M": "%m/%d/%Y %H:%M"}
_EPOCHS = ((10**11, "s"), (10**14, "ms"), (10**17, "us"), (10**20, "ns"))
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_ARGUMENT_COLUMN = re.compile(r"(?:args?|params?|input|argument|parameter)[_. :-](?=\S)", re.IGNORECASE)

Test = Callable[[Field], bool]


@dataclass(slots=True)
class Kind:
    """The fields of one kind of record; each is taken for one thing alone."""

    fields: dict[tuple[str, ...], Field]
    records: int
    below: tuple[str, ...] = ()  # where the noun stands that is looked for: ("calls", "[]")
    taken: set[tuple[str, ...]] = field(default_factory=set)

    def own(self) -> list[Field]:
        """Return the fields of the noun itself that nobody has taken, the uppermost first."""
        depth = len(self.below)
        found = [
            one
            for keys, one in self.fields.items()
            if keys[:depth] == self.below and len(keys) > depth and "[]" not in keys[depth:]
        ]
        return sorted((one for one in found if not self.is_taken(one)), key=lambda one: len(one.keys))

    def is_taken(self, one: Field) -> bool:
        """Say whether a field, or one that it belongs to, was taken."""
        return any(one.keys[: len(keys)] == keys for keys in self.taken)

    def best(
        self, names: Collection[str], test: Test = lambda one: True, *, deepest: int = 2
    ) -> Field | None:
        """Return the field with the likeliest of *names* that passes the *test*, and take it; None for none."""
        order = {name: place for place, name in enumerate(reversed(list(names)))}
        fitting = [
            one
            for one in self.own()
            if one.word in order and len(one.keys) - len(self.below) <= deepest and test(one)
        ]
        if not fitting:
            return None
        found = min(fitting, key=lambda one: (len(one.keys), -order[one.word]))
        self.taken.add(found.keys)
        return found

    def relative(self, one: Field) -> Field:
        """Return the field as it is named from the noun."""
        return Field(one.keys[len(self.below) :] or one.keys)


def is_name(one: Field) -> bool:
    """Say whether a field may name something: short texts."""
    return one.filled > 0 and one.mostly("string", "number") and one.is_short


def is_tool_name(one: Field) -> bool:
    """Say whether a field may name tools: short texts without many words, that are no times or labels."""
    if not (one.filled > 0 and one.mostly("string") and one.is_short):
        return False
    values = [value for value in one.values if value]
    wordy = sum(len(value.split()) > 4 for value in values)
    return wordy <= len(values) / 4 and not is_time(one)


def is_structure(one: Field) -> bool:
    """Say whether a field holds objects or lists, as such or as text."""
    return one.kinds["object"] + one.kinds["list"] > 0


def is_flag(one: Field) -> bool:
    """Say whether a field is true or false, or spells it."""
    spelled = {value.strip().casefold() for value in one.values}
    return one.mostly("bool") or (one.mostly("string") and bool(spelled) and spelled <= {"true", "false", ""})


def is_number(one: Field) -> bool:
    """Say whether a field holds numbers, as such or as text."""
    values = [value for value in one.values if value]
    return (
        bool(values) and one.mostly("number", "string") and all(_NUMBER.fullmatch(value) for value in values)
    )


def is_count(one: Field) -> bool:
    """Say whether a field holds whole numbers from 0 on."""
    return is_number(one) and all(value.isdigit() and len(value) < 7 for value in one.values if value)


def is_time(one: Field) -> bool:
    """Say whether a field holds times."""
    return one.filled > 0 and time_form(one) is not None


def time_form(one: Field) -> tuple[str | None, str | None, bool] | None:
    """Return unit, strptime pattern, and whether no zone is named, of a field that holds times; None for others."""
    values = [value for value in one.values if value][:50]
    if not values or one.kinds["object"] or one.kinds["bool"]:
        return None
    if all(_NUMBER.fullmatch(value) for value in values):
        least = min(abs(float(value)) for value in values)
        named = re.search(r"time|date|(?:^|_)ts|at$|epoch|fecha", one.keys[-1].lower())
        if least < 10**8 or not named:
            return None
        return next((unit for end, unit in _EPOCHS if least < end), "ns"), None, False
    try:
        moments = [datetime.fromisoformat(value.strip()) for value in values]
        if all(":" in value or "T" in value for value in values):
            return None, None, any(moment.tzinfo is None for moment in moments)
    except ValueError:
        pass  # not ISO 8601: one of the patterns
    for pattern in _PATTERNS:
        if all(map(_fits(pattern), values)):
            return None, pattern, "%z" not in pattern
    return None


def is_descending(one: Field) -> bool:
    """Say whether the times of a field go backwards from its first record to its last."""
    values = list(filter(None, one.values))
    unit, pattern, _ = time_form(one) or (None, "", False)
    if len(values) < 3 or pattern is not None:
        return False
    moments = [float(value) if unit else datetime.fromisoformat(value).timestamp() for value in values]
    return all(later <= earlier for earlier, later in zip(moments, moments[1:], strict=False))


def other_reading(one: Field, pattern: str) -> str | None:
    """Return the pattern by which the same times could be read with day and month changed places."""
    other = _MISREAD.get(pattern)
    return other if other and all(map(_fits(other), filter(None, one.values))) else None


def _fits(pattern: str) -> Callable[[str], bool]:
    def fits(value: str) -> bool:
        try:
            datetime.strptime(value.strip(), pattern)  # noqa: DTZ007  # it is only asked whether it can be
        except ValueError:
            return False
        return True

    return fits


def unit_of(one: Field) -> tuple[str, bool]:
    """Return the unit of a duration, and whether its name says so."""
    name = one.keys[-1]
    for ending, unit in words.UNITS:
        if folded(name).endswith(ending) and (
            len(ending) > 3 or re.search(rf"(?:_|[a-z0-9]|\b){ending}\W*$", name, re.I)
        ):
            return unit, True
    if re.search(r"(?:_s|S|\W\(?s\)?)$", name):
        return "s", True
    numbers = sorted(float(value) for value in one.values if _NUMBER.fullmatch(value))
    fractions = any("." in value for value in one.values)
    middle = numbers[len(numbers) // 2] if numbers else 0.0
    return ("s" if fractions and middle < 100 else "ms"), False


def argument_columns(kind: Kind) -> list[Field]:
    """Return columns that hold one argument each (`arg_city`, `params.nights`), and take them."""
    found = [one for one in kind.own() if len(one.keys) == 1 and _ARGUMENT_COLUMN.match(one.keys[-1])]
    kind.taken.update(one.keys for one in found)
    return found


def failing_words(one: Field) -> list[str]:
    """Return the values of a status that say that a call failed."""
    return sorted(value for value in one.values if folded(value) in words.FAILING)


def is_status(one: Field) -> bool:
    """Say whether a field's few words tell how calls went."""
    few = 0 < len(one.values) <= 12 and one.mostly("string") and one.is_short
    known = {*words.FAILING, *words.ENDS, "ok", "okay", "passed", "normal", "exito"}
    return few and any(folded(value) in known for value in one.values)


def is_label(one: Field) -> bool:
    """Say whether a field may hold labels: few short words, or the five."""
    if not one.filled or not (one.mostly("string", "number", "bool") and one.is_short):
        return False
    return any(fold_label(value) for value in one.values) or len(one.values) <= 40


def nested_failures(kind: Kind, result: Field | None) -> Iterable[tuple[Field, str]]:
    """Yield fields deeper down that say, somewhere, that a call failed, and how: "false", "true" or "nonempty".

    Above all those within its *result*, where an error hides behind an outer "ok".
    """
    for keys, one in kind.fields.items():
        depth = len(keys) - len(kind.below)
        if keys[: len(kind.below)] != kind.below or depth < 2 or "[]" in keys[len(kind.below) :]:
            continue
        inside = result is not None and keys[: len(result.keys)] == result.keys
        if not inside and kind.is_taken(one):
            continue
        direct = inside and result is not None and len(keys) == len(result.keys) + 1
        if one.word in words.GOOD_FLAG and is_flag(one):
            if direct or any(value.casefold() == "false" for value in one.values):
                yield one, "false"
        elif one.word in words.BAD_FLAG and is_flag(one):
            if direct or any(value.casefold() == "true" for value in one.values):
                yield one, "true"
        elif (
            one.word in words.ERROR
            and not is_number(one)
            and (is_structure(one) or any(one.values.keys() - {""}))
        ):
            yield one, "nonempty"
