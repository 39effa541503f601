"""A clock that stands still until it is moved by hand, so that stand-ins tell the same story every time."""

from __future__ import annotations

from collections.abc import Callable

Clock = Callable[[], int]  # epoch seconds

STORY_BEGINS = 1_781_000_000  # 9 June 2026, 10:13:20 UTC


class HandClock:
    """A clock in epoch seconds that moves only by `advance`.

    >>> clock = HandClock()
    >>> clock.advance(60)
    >>> clock() - STORY_BEGINS
    60
    """

    def __init__(self, now: int = STORY_BEGINS) -> None:
        self._now = now

    def __call__(self) -> int:
        """Return the time in epoch seconds."""
        return self._now

    def advance(self, seconds: int) -> None:
        """Move the clock *seconds* forward."""
        self._now += seconds
