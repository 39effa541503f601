"""What other people's scores and annotations mean in the five labels: a table that stands in TOML.

`data/labels.toml` of a home, and `[labels]` of a map, hold it:

    [values]                          # whatever the score is called
    "did not invoke tool" = "missing_tool"
    "n/a" = "none"                    # known, and no label

    [[score]]                         # more exactly, tried first, in this order
    name = "correctness"
    value = "incorrect"               # or true, or a number; or at_least / below for numbers
    format = "langfuse"               # or source = "…"; each may be left out
    label = "wrong_tool"

Texts are compared without regard to case, spaces, `-` and `_`. A label that spells one of the five needs no
row. What no row maps stays as it came, and is counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from quality_lab import json_text
from quality_lab.formats.toml_reading import TomlTable, toml_table
from quality_lab.labels import FIVE, fold_label
from quality_lab.records import Feedback, Label

_SPACING = re.compile(r"[\s_-]+")
_LONGEST = 80  # characters of a value that is counted by name

Meaning = Label | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreAlias:
    """What a score means: every condition that it names must hold."""

    label: Meaning
    name: str | None = None  # folded
    value: str | None = None  # folded
    equals: Decimal | None = None  # a value that is a number
    at_least: Decimal | None = None
    below: Decimal | None = None
    format: str | None = None
    source: str | None = None

    def fits(
        self, feedback: Feedback, value: str | None, number: Decimal | None, *, format_name: str
    ) -> bool:
        """Say whether *feedback*, whose value is *value* (folded) or a *number*, is meant."""
        return (
            (self.name is None or self.name == _folded(feedback.name or ""))
            and (self.value is None or self.value == value)
            and (self.equals is None or self.equals == number)
            and (self.at_least is None or (number is not None and number >= self.at_least))
            and (self.below is None or (number is not None and number < self.below))
            and (self.format is None or self.format == format_name)
            and (self.source is None or self.source == feedback.source)
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelAliases:
    """Rows that say what scores mean, exact ones first; an empty table maps nothing."""

    scores: tuple[ScoreAlias, ...] = ()
    values: dict[str, Meaning] = field(default_factory=dict)  # folded text → label

    def __bool__(self) -> bool:
        """Say whether there is any row."""
        return bool(self.scores or self.values)

    def meaning(self, feedback: Feedback, *, format_name: str) -> tuple[bool, Meaning]:
        """Return whether a row speaks of *feedback*, and the label that it gives (None: known to be none)."""
        value = _folded(_value_text(feedback) or "")
        number = _number(feedback)
        for row in self.scores:
            if row.fits(feedback, value, number, format_name=format_name):
                return True, row.label
        if value in self.values:
            return True, self.values[value]
        return False, None

    def labelled(self, feedback: Feedback, *, format_name: str) -> tuple[Feedback, bool]:
        """Return *feedback* with the label that the table gives it, and whether the table knows it.

        A label that is one of the five by itself stays.
        """
        if feedback.label is not None or not self:
            return feedback, False
        known, label = self.meaning(feedback, format_name=format_name)
        return (replace(feedback, label=label) if label is not None else feedback), known


def score_in_words(feedback: Feedback) -> str | None:
    """Return how a score without a label is counted: `name = value`, or `name (a number)`; None for none.

    >>> asked = {"key_space": "k", "key": "1", "target_level": "call", "target_key_space": "k"}
    >>> one = Feedback(**asked, conversation_id=None, name="helpful", score="true")
    >>> score_in_words(one), score_in_words(replace(one, score="0.5"))
    ('helpful = true', 'helpful (a number)')
    """
    if feedback.score is None:
        return None
    name = feedback.name or "score"
    if _number(feedback) is not None:
        return f"{name} (a number)"
    value = _value_text(feedback) or ""
    return f"{name} = {value}" if len(value) <= _LONGEST else f"{name} = {value[:_LONGEST]}…"


def read_aliases(text: str, *, file: str) -> LabelAliases:
    """Return the table that a TOML *text* holds.

    Raises: InputError (no TOML), UsageError (a row that cannot be).

    >>> read_aliases('[values]\\n"side effect" = "other"', file="labels.toml").values
    {'sideeffect': 'other'}
    """
    table = toml_table(text, file=file)
    found = aliases_in(table)
    table.done()
    return found


def aliases_in(table: TomlTable) -> LabelAliases:
    """Return the rows that stand in a *table* under `values` and `score`.

    Raises: UsageError.
    """
    values: dict[str, Meaning] = {}
    named = table.table("values")
    if named is not None:
        for text, label in named.rest().items():
            values[_folded(text)] = _meaning(named, text, label)
    return LabelAliases(scores=tuple(map(_score_alias, table.tables("score"))), values=values)


def _score_alias(row: TomlTable) -> ScoreAlias:
    name, label, value = row.take_a(str, "name"), row.take("label"), row.take("value")
    if isinstance(value, list | dict):
        raise row.wrong("value", "a text, a number, true or false", value)
    alias = ScoreAlias(
        label=_meaning(row, "label", label),
        name=None if name is None else _folded(name),
        value=None if value is None or _is_number(value) else _folded(_scalar_text(value)),
        equals=Decimal(str(value)) if _is_number(value) else None,
        at_least=_limit(row, "at_least"),
        below=_limit(row, "below"),
        format=row.take_a(str, "format"),
        source=row.take_a(str, "source"),
    )
    row.done()
    if name is None and value is None and alias.at_least is None and alias.below is None:
        raise row.wrong("name", "a name, a value, at_least or below", None)
    return alias


def _limit(row: TomlTable, name: str) -> Decimal | None:
    value = row.take(name)
    if value is None:
        return None
    if not _is_number(value):
        raise row.wrong(name, "a number", value)
    return Decimal(str(value))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _meaning(table: TomlTable, name: str, label: object) -> Meaning:
    found = fold_label(label) if isinstance(label, str) else None
    if found is None and label != "none":
        raise table.wrong(name, f"one of {', '.join(FIVE)}, or none", label)
    return found


def _folded(text: str) -> str:
    return _SPACING.sub("", text).casefold()


def _scalar_text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _value_text(feedback: Feedback) -> str | None:
    """Return the value of a score as text: the label as it came, else the score's own text."""
    if feedback.label_raw is not None or feedback.score is None:
        return feedback.label_raw
    try:
        value = json_text.parse(feedback.score)
    except json_text.JsonTextError:
        return feedback.score
    return value if isinstance(value, str) else feedback.score


def _number(feedback: Feedback) -> Decimal | None:
    if feedback.score is None:
        return None
    try:
        number = Decimal(feedback.score)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
