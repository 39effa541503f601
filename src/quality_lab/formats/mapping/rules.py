"""What a map says, as records: how each noun is made of what stands in a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal
from zoneinfo import ZoneInfo

from quality_lab.formats.label_aliases import LabelAliases
from quality_lab.formats.mapping.paths import Path, Step
from quality_lab.records import ErrorOrigin

TimeUnit = Literal["iso", "s", "ms", "us", "ns"]
DurationUnit = Literal["s", "ms", "us", "ns", "min", "iso"]
HowRead = Literal["auto", "json", "text"]
Scalar = str | int | bool | float


@dataclass(frozen=True, kw_only=True, slots=True)
class Value:
    """Where a text comes from: a constant, or the first of the paths that leads to something."""

    paths: tuple[Path, ...] = ()
    const: str | None = None  # the text itself
    joined: bool = False  # all paths together, as one text
    read_as: HowRead = "auto"  # of arguments and results: whether text is JSON
    fields: tuple[Path, ...] = ()  # of arguments: an object made of these
    key: str | None = field(
        init=False, default=None, compare=False
    )  # where it is nothing but one key's value

    def __post_init__(self) -> None:
        """Find out whether it is as plain as most are: then it is read without going any path."""
        one = self.paths[0] if len(self.paths) == 1 else None
        plain = self.const is None and not self.joined and not self.fields
        if plain and one is not None and not one.from_top and len(one.steps) == 1:
            (step,) = one.steps
            object.__setattr__(self, "key", step if isinstance(step, str) else None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Time:
    """A time: in a unit that the map names, or told by what stands there."""

    value: Value
    unit: TimeUnit | None = None
    pattern: str | None = None  # as strptime has it
    zone: ZoneInfo | None = None  # of a time without one


@dataclass(frozen=True, kw_only=True, slots=True)
class Duration:
    """How long something took."""

    value: Value
    unit: DurationUnit


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """A place in an order; *starts_at* is the file's first number, ours is 0."""

    value: Value
    starts_at: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """Something that is so of a record, or not."""

    path: Path
    verb: Literal["equals", "not_equals", "nonempty", "present", "starts_with", "contains"]
    wanted: tuple[Scalar, ...] = ()  # any of them


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorRule:
    """A condition that says that a call failed, and where its words stand."""

    condition: Condition
    origin: ErrorOrigin
    text: Value | None = None
    kind: Value | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ConversationRule:
    """To which conversation a record belongs."""

    id: Value | None = None
    whole: Literal["file", "record"] = "file"  # where there is no id
    begins: Condition | None = None  # a record that begins another conversation of the file
    source: Value | None = None
    style: Value | None = None
    model: Value | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelRule:
    """An opinion: on the call of the same record, on one that it names, or on a conversation."""

    label: Value | None = None
    score: Value | None = None
    name: Value | None = None
    note: Value | None = None
    author: Value | None = None
    author_kind: Value | None = None
    created_at: Time | None = None
    expected_tool: Value | None = None
    expected_arguments: Value | None = None
    id: Value | None = None
    call: Value | None = None  # the `id` of the call it is about
    turn: Number | None = None
    key_space: str | None = None  # whose ids it names, where they are not this map's
    each: tuple[Step, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class CallRule:
    """How a call is made."""

    tool: Value
    arguments: Value | None = None
    result: Value | None = None
    id: Value | None = None
    call_id: Value | None = None
    server: Value | None = None
    wrapped_tool: Value | None = None
    actor: Value | None = None
    source: Value | None = None
    style: Value | None = None
    model: Value | None = None
    contact: Value | None = None
    message: Value | None = None
    turn: Number | None = None
    cycle: Number | None = None
    index: Number | None = None
    started: Time | None = None
    ended: Time | None = None
    latency: Duration | None = None
    errors: tuple[ErrorRule, ...] = ()
    error_text: Value | None = None
    error_kind: Value | None = None
    labels: tuple[LabelRule, ...] = ()
    each: tuple[Step, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerRule:
    """How a record that only brings the result of an earlier call is read."""

    result: Value | None = None
    call_id: Value | None = None
    tool: Value | None = None
    ended: Time | None = None
    latency: Duration | None = None
    errors: tuple[ErrorRule, ...] = ()
    error_text: Value | None = None
    error_kind: Value | None = None
    each: tuple[Step, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageRule:
    """How a message is made."""

    role: Value
    text: Value
    created_at: Time | None = None
    id: Value | None = None
    name: Value | None = None
    model: Value | None = None
    latency: Duration | None = None
    each: tuple[Step, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordRule:
    """One kind of record of a file, and the nouns that it holds."""

    when: tuple[Condition, ...] = ()  # all of them
    skip: bool = False  # known, and of no use here
    conversation: ConversationRule = field(default_factory=ConversationRule)
    calls: tuple[CallRule, ...] = ()
    answers: tuple[AnswerRule, ...] = ()
    messages: tuple[MessageRule, ...] = ()
    labels: tuple[LabelRule, ...] = ()
    ignored: tuple[Path, ...] = ()
    used: tuple[tuple[Step, ...], ...] = ()  # every path that the record's rules name, from its top


@dataclass(frozen=True, kw_only=True, slots=True)
class FileRule:
    """How the file is cut into records."""

    kind: Literal["json", "csv"] | None = None  # None: told by its beginning
    delimiter: str | None = None
    encoding: str | None = None
    records: tuple[Step, ...] = ()  # to the records inside each line or document; none: it is one itself
    by_time: bool = False  # records stand in any order: calls are numbered by their times


@dataclass(frozen=True, kw_only=True, slots=True)
class Map:
    """A whole map."""

    name: str
    file: FileRule
    records: tuple[RecordRule, ...]
    aliases: LabelAliases

    @property
    def key_space(self) -> str:
        """Return the key space of the ids that stand in files of this map."""
        return f"map:{self.name}"

    @property
    def waits(self) -> bool:
        """Say whether what a record becomes may depend on later ones."""
        return self.file.by_time or any(record.answers for record in self.records)


MILLISECONDS: dict[str, Decimal] = {
    "s": Decimal(1000),
    "ms": Decimal(1),
    "us": Decimal("0.001"),
    "ns": Decimal("0.000001"),
    "min": Decimal(60_000),
}
MICROSECONDS: dict[str, Decimal] = {
    "s": Decimal(10**6),
    "ms": Decimal(1000),
    "us": Decimal(1),
    "ns": Decimal("0.001"),
}
