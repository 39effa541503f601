"""The common filters of every question: which calls, which labels, which window."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal, get_args
from zoneinfo import ZoneInfo

from quality_lab.errors import UsageError
from quality_lab.labels import FIVE, HUMAN_ONLY, fold_label
from quality_lab.records import Actor, AuthorKind, Outcome

Moment = datetime | date | str
Timed = Literal["call", "label"]

_DAYS_BACK = re.compile(r"(\d{1,5})([dw])")
_LISTS = (
    "tool", "source", "label", "outcome", "style", "model", "conversation", "contact", "message", "outbound",
    "reviewer", "author_kind", "actor", "tenant",
)  # fmt: skip
_CALL_LISTS = tuple(name for name in _LISTS if name not in ("label", "reviewer", "author_kind"))
_CLOSED: dict[str, tuple[str, ...]] = {
    "outcome": get_args(Outcome),
    "actor": get_args(Actor),
    "author_kind": get_args(AuthorKind),
    "label": (*FIVE, "unmapped", "disputed"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """From *since* on, up to but without *until*; UTC, None is open."""

    since: datetime | None = None
    until: datetime | None = None

    @property
    def bounded(self) -> bool:
        """Say whether undated rows stand outside."""
        return self.since is not None or self.until is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Filters:
    """What a question is about. An empty list picks everything; values within a list are alternatives.

    tool to tenant, error and the window pick calls; label, reviewer and author_kind pick labels and never
    change a denominator of calls. `since` and `until` (exclusive) are dates, times, or days back such as
    "7d": the seven whole days before today in `tz`.
    """

    tool: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    label: tuple[str, ...] = ()
    outcome: tuple[str, ...] = ()
    style: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    conversation: tuple[str, ...] = ()
    contact: tuple[str, ...] = ()
    message: tuple[str, ...] = ()
    outbound: tuple[str, ...] = ()
    reviewer: tuple[str, ...] = ()
    author_kind: tuple[str, ...] = HUMAN_ONLY
    actor: tuple[str, ...] = ()
    tenant: tuple[str, ...] = ()
    error: bool | None = None
    since: Moment | None = None
    until: Moment | None = None
    tz: str = "UTC"
    as_of: datetime | str | None = None  # what counts as now
    time: Timed | None = None  # which time the window means; None is the question's own

    @classmethod
    def of(cls, **keywords: Any) -> Filters:
        """Return filters from what people write: one text or several, None for "no such filter".

        >>> Filters.of(tool="compute_exchange_quote", label=["bad-args"], since="7d").label
        ('bad_args',)

        Raises:
            UsageError: a name, label, zone or time that does not exist.
        """
        known = [field.name for field in fields(cls)]
        given: dict[str, Any] = {}
        for name, value in keywords.items():
            if name not in known:
                raise UsageError(f"there is no filter {name!r}; there are {', '.join(known)}")
            if value is not None:
                given[name] = _list_of(name, value) if name in _LISTS else value
        if not given.get("author_kind", HUMAN_ONLY):
            del given["author_kind"]
        found = cls(**given)
        if found.error not in (None, True, False):
            raise UsageError(f"error is true or false, not {found.error!r}")
        if found.time not in (None, "call", "label"):
            raise UsageError(f"time is 'call' or 'label', not {found.time!r}")
        found.now()
        found.window()
        return found

    @property
    def picks_calls(self) -> bool:
        """Say whether any filter but the window picks calls."""
        return self.error is not None or any(getattr(self, name) for name in _CALL_LISTS)

    @property
    def picks_by_labels(self) -> bool:
        """Say whether a list of calls is to hold those alone on which such a label stands."""
        return bool(self.label or self.reviewer) or (self.time == "label" and self.window().bounded)

    def zone(self) -> ZoneInfo:
        """Return the time zone. Raises UsageError if there is none of that name."""
        try:
            return ZoneInfo(self.tz)
        except (KeyError, ValueError, OSError) as problem:
            raise UsageError(
                f"there is no time zone {self.tz!r}; write one like Europe/Berlin or UTC"
            ) from problem

    def now(self) -> datetime:
        """Return what counts as now: `as_of`, else the clock."""
        if self.as_of is None:
            return datetime.now(UTC)
        return self._moment("as_of", self.as_of)

    def window(self) -> Window:
        """Return the window as instants in UTC.

        Raises:
            UsageError: a bound is no time, or the window ends before it begins.
        """
        since = None if self.since is None else self._moment("since", self.since)
        until = None if self.until is None else self._moment("until", self.until)
        if until is None and isinstance(self.since, str) and _DAYS_BACK.fullmatch(self.since.strip()):
            until = self._midnight(self.now().astimezone(self.zone()).date())
        if since is not None and until is not None and until < since:
            raise UsageError(f"the window ends ({until.isoformat()}) before it begins ({since.isoformat()})")
        return Window(since=since, until=until)

    def parameters(self, *, time: Timed = "call") -> dict[str, Any]:
        """Return what the queries' parameters are, by name; *time* is the question's own reading of the
        window.
        """
        window, open_ended = self.window(), Window()
        by_label = (self.time or time) == "label"
        of_calls, of_labels = (open_ended, window) if by_label else (window, open_ended)
        return {
            **{f"{name}s": list(getattr(self, name)) for name in _LISTS},
            "picks_calls": self.picks_calls or of_calls.bounded,
            "joins_calls": False,
            "error": self.error,
            "since": _naive(of_calls.since),
            "until": _naive(of_calls.until),
            "window_since": _naive(window.since),
            "window_until": _naive(window.until),
            "label_since": _naive(of_labels.since),
            "label_until": _naive(of_labels.until),
            "tz": self.tz,
        }

    def _moment(self, name: str, value: Moment) -> datetime:
        """Return the instant that *value* means in the zone of these filters."""
        try:
            if isinstance(value, datetime):
                return (value if value.tzinfo else value.replace(tzinfo=self.zone())).astimezone(UTC)
            if isinstance(value, date):
                return self._midnight(value)
            text = value.strip()
            back = _DAYS_BACK.fullmatch(text)
            if back and name != "as_of":
                today = self.now().astimezone(self.zone()).date()
                return self._midnight(today - timedelta(days=int(back[1]) * (7 if back[2] == "w" else 1)))
            try:
                return self._midnight(date.fromisoformat(text))
            except ValueError:
                return self._moment(name, datetime.fromisoformat(text))
        except (ValueError, OverflowError, AttributeError) as problem:
            wanted = "a date (2026-06-01), a time (2026-06-01T08:00:00Z)" + (
                "" if name == "as_of" else " or days back (7d)"
            )
            raise UsageError(f"{name} is {wanted}, not {value!r}") from problem

    def _midnight(self, day: date) -> datetime:
        return datetime.combine(day, time.min, self.zone()).astimezone(UTC)


def _list_of(name: str, value: Any) -> tuple[str, ...]:
    """Return the values of the list filter *name*, spelt as the lab spells them."""
    several = (
        [value] if isinstance(value, str) else list(value) if not isinstance(value, Mapping) else [value]
    )
    texts = [text if isinstance(text, str) else str(text) for text in several]
    if name == "label":
        texts = [fold_label(text) or text for text in texts]
    if name == "author_kind":
        texts = [text.upper() for text in texts]
    allowed = _CLOSED.get(name)
    for text in texts:
        if allowed and text not in allowed:
            raise UsageError(f"{name} {text!r} is none of {', '.join(allowed)}")
    return tuple(dict.fromkeys(texts))


def _naive(moment: datetime | None) -> datetime | None:
    """Return *moment* as the store keeps times: UTC without a zone."""
    return None if moment is None else moment.astimezone(UTC).replace(tzinfo=None)


EVERYTHING = Filters()
