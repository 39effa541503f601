"""What a format promises: how it is recognised, what its keys are, and how raw units become records.

A format is one file in this folder that sets `FORMAT`, one row in `registry.FORMATS`, and one test. Its
reader gets the raw units of a file and yields one `Unit` for each, in its own time: a reader line by line
yields each at once (`each_object` does all but the making of records), a reader that has to join spans may
read on before it answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from quality_lab.formats.exact import restored, restored_names, restored_text, without_lone_surrogates
from quality_lab.formats.splitting import values
from quality_lab.formats.units import Layout, RawUnit, as_shown, is_blank, trouble
from quality_lab.formats.validation import Refused, refusal
from quality_lab.records import ReadNotes, Record, Reject

if TYPE_CHECKING:
    from quality_lab.formats.bulk import BulkReader


class Unit(msgspec.Struct, frozen=True, gc=False):
    """What became of one line, or of one object where a file is not line by line or objects share a line.

    (A msgspec struct, since millions of them are made.)
    """

    line: int  # 1-based
    records: tuple[Record, ...] = ()
    rejects: tuple[Reject, ...] = ()
    blank: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadOptions:
    """What the person who loads a file says about it."""

    tenant: str = "default"
    source: str | None = None  # for files that do not name the strategy or export they come from
    style: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """One file being read: what was said about it, what is noted on the way, and its name in rejects."""

    options: ReadOptions
    notes: ReadNotes
    display_path: str

    def reject(self, raw: RawUnit, path: str, reason: str) -> Unit:
        """Return the unit of a line that broke its format's promise at *path*."""
        text = as_shown(raw.text)
        reject = Reject(source=self.display_path, line=raw.line, path=path, reason=reason, text=text)
        return Unit(raw.line, rejects=(reject,))


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """The beginning of a file: its layout and the first objects in it, as far as they are JSON."""

    layout: Layout
    objects: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Recognition:
    """How well a sample fits a format."""

    fitting: int  # objects of the sample that are the format's
    missing: tuple[str, ...]  # what the nearest object lacked, where none fits; in words


class Format(Protocol):
    """A kind of file that can be read."""

    @property
    def name(self) -> str:
        """Return the name by which `--format` calls it."""

    @property
    def title(self) -> str:
        """Return what such a file is, in a few words."""

    @property
    def recognised_by(self) -> str:
        """Return a sentence on how its content is told from others."""

    @property
    def key(self) -> str:
        """Return a sentence on the key of its records and why it is stable across re-exports."""

    @property
    def upstream_export(self) -> bool:
        """Say whether a file with exactly 100, 200, 500 or 1,000 rows may have been cut by a limit."""

    @property
    def shapes(self) -> Sequence[str]:
        """Return what its objects look like, for `nearness`; nothing where there is nothing to be near to."""

    def recognise(self, sample: Sample) -> Recognition:
        """Return how well *sample* fits."""

    def read(self, raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
        """Yield one unit for each raw unit (more where objects share a line), in any order."""

    @property
    def bulk(self) -> Callable[[], BulkReader[Any]] | None:
        """Return what makes the reader of many lines at once, for a format that has one."""


# Of an object: each expectation in words, and whether it is met.
Expectations = Callable[[Mapping[str, Any]], Mapping[str, bool]]
Reader = Callable[[Iterator[RawUnit], Reading], Iterator[Unit]]


@dataclass(frozen=True, kw_only=True, slots=True)
class ObjectFormat:
    """A format that is told by what its objects hold."""

    name: str
    title: str
    recognised_by: str
    key: str
    expectations: Expectations
    reader: Reader
    shapes: tuple[str, ...] = ()
    upstream_export: bool = False
    bulk: Callable[[], BulkReader[Any]] | None = None

    def recognise(self, sample: Sample) -> Recognition:
        """Return how well the objects of *sample* fit."""
        fitting, nearest = 0, -1.0
        missing: tuple[str, ...] = ("an object to look at",)
        for found in map(self.expectations, sample.objects):
            met = sum(found.values())
            fitting += met == len(found)
            if met / len(found) > nearest:
                nearest = met / len(found)
                missing = tuple(words for words, is_met in found.items() if not is_met)
        return Recognition(fitting=fitting, missing=missing)

    def read(self, raws: Iterator[RawUnit], reading: Reading) -> Iterator[Unit]:
        """Yield the units of a file."""
        return self.reader(raws, reading)


def keys(wanted: str, *, but: str = "") -> Expectations:
    """Return the expectation that an object has the *wanted* keys and none of *but* (both in one text)."""

    def expectations(found: Mapping[str, Any]) -> Mapping[str, bool]:
        met = {f'the key "{name}"': name in found for name in wanted.split()}
        return met | {f'no key "{name}"': name not in found for name in but.split()}

    return expectations


def each_object(
    raws: Iterator[RawUnit], reading: Reading, make: Callable[[bytes, int], tuple[Record, ...]]
) -> Iterator[Unit]:
    """Yield one unit for each object, whose records *make* returns from its text and its line.

    *make* may raise `Refused` and whatever msgspec raises: the line becomes a reject that says where and why.
    """
    for raw in raws:
        if raw.problem is not None:
            yield reading.reject(raw, "", raw.problem)
            continue
        try:
            yield Unit(raw.line, make(raw.text, raw.line))
        except (msgspec.MsgspecError, Refused, RecursionError) as problem:
            if is_blank(raw.text):
                yield Unit(raw.line, blank=True)
            else:
                yield from _second_look(raw, reading, make, problem)


def _second_look(
    raw: RawUnit, reading: Reading, make: Callable[[bytes, int], tuple[Record, ...]], problem: Exception
) -> Iterator[Unit]:
    """Yield the units of a line that was not taken at first: lone surrogates, glued objects, or a reject."""
    if not isinstance(problem, msgspec.DecodeError) or isinstance(problem, msgspec.ValidationError):
        yield reading.reject(raw, *refusal(problem))
        return
    marked = without_lone_surrogates(raw.text)
    if marked is not None:
        try:
            yield Unit(raw.line, tuple(map(restored, make(marked, raw.line))))
            return
        except (msgspec.MsgspecError, Refused, RecursionError) as other:
            problem = other
        finally:
            for counts in (reading.notes.unknown_fields, reading.notes.unmapped_labels):
                restored_names(counts)
    pieces = [piece for piece in values([raw.text]) if piece.text]
    if len(pieces) < 2 or not raw.text.lstrip().startswith(b"{"):
        yield reading.reject(raw, *map(restored_text, refusal(problem)))
        return
    reading.notes.glued += len(pieces) - 1
    glued = (RawUnit(raw.line, piece.text, piece.problem or trouble(piece.text)) for piece in pieces)
    yield from each_object(glued, reading, make)
