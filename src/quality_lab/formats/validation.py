"""From what a parser says to what a person needs: the path of the field, what was wanted, what came."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Annotated

import msgspec

from quality_lab.records import ReadNotes

Count = Annotated[int, msgspec.Meta(ge=0, le=2_147_483_647)]  # a position or an index
Amount = Annotated[int, msgspec.Meta(ge=0, le=9_223_372_036_854_775_807)]  # of something that is counted

_INDEX = re.compile(r"\[\d+\]")
_LONGEST = 200  # characters of a stranger's word in a reason or a count
_MOST_NAMES = 1_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KINDS = {"int": "integer", "str": "string", "bool": "boolean", "float": "number", "number": "number"}
_EXPECTED = re.compile(r"Expected `(?P<wanted>[^`]+)`(?P<bound> [<>]=? \S+)?(?:, got `(?P<came>[^`]+)`)?")
_MISSING = re.compile(r"Object missing required field `(?P<name>.*)`", re.DOTALL)
_WHERE = re.compile(r" - at `(?P<path>.*)`$", re.DOTALL)


class Refused(Exception):
    """A line breaks its format's promise at *path* (dotted; "" is the whole line)."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason


def refusal(problem: Exception, *, below: str = "") -> tuple[str, str]:
    """Return path and reason of a *problem* met while reading what stands at the path *below*."""
    if isinstance(problem, Refused):
        return joined(below, problem.path), problem.reason
    if isinstance(problem, RecursionError):
        return below, "nested too deeply"
    text = str(problem)
    if not isinstance(problem, msgspec.ValidationError):
        return below, f"not JSON: {text.removeprefix('JSON is malformed: ')}"
    where = _WHERE.search(text)
    path = where["path"].removeprefix("$").lstrip(".") if where else ""
    text = text[: where.start()] if where else text
    if missing := _MISSING.fullmatch(text):
        return joined(below, joined(path, missing["name"])), "required field is missing"
    if (expected := _EXPECTED.fullmatch(text)) and (expected["came"] or expected["bound"]):
        wanted = " or ".join(_KINDS.get(kind, kind) for kind in expected["wanted"].split(" | "))
        came = expected["came"]
        reason = f"wanted {wanted}{expected['bound'] or ''}"
        return joined(below, path), f"{reason}, got {_KINDS.get(came, came)}" if came else reason
    return joined(below, path), text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def tally(notes: ReadNotes, counts: dict[str, int], name: str, times: int = 1) -> None:
    """Count *name* so many *times* in one of the dictionaries of *notes*, within bounds.

    Names are what strangers wrote: one longer than 200 characters is cut, and beyond a thousand different ones the
    rest counts as "…".
    """
    name = cut_name(name)
    notes.count(counts, name if name in counts or len(counts) < _MOST_NAMES else "…", times)


def cut_name(name: str) -> str:
    """Return *name* as it is counted: its first 200 characters."""
    return name if len(name) <= _LONGEST else name[:_LONGEST] + "…"


def joined(above: str, name: str) -> str:
    """Return the path of *name* below the path *above*; an index needs no full stop."""
    return f"{above}.{name}" if above and name and not name.startswith("[") else above + name


def without_indexes(path: str) -> str:
    """Return *path* with `[3]` as `[]`, so that equal fields of many elements count as one."""
    return _INDEX.sub("[]", path)


@lru_cache(maxsize=4096)
def epoch_s(seconds: int, path: str) -> datetime:
    """Return the time that upstream writes as *seconds* since 1970, in UTC.

    Raises:
        Refused: the number is out of range, as milliseconds are.
    """
    try:
        return _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        hint = " (milliseconds?)" if 10**11 <= abs(seconds) < 10**14 else ""
        raise Refused(path, f"wanted seconds since 1970, got {seconds}{hint}") from None
