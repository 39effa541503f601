"""What is said beside the answer: notices on stderr, and progress there only where a person is watching."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from quality_lab.answers import visible

_EVERY_S = 0.2
_CLEAR_LINE = "\r\x1b[2K"


def say(text: str) -> None:
    """Write a notice to stderr, a line for each of its lines."""
    print(visible(text, keep="\n"), file=sys.stderr)


@contextmanager
def reading_progress() -> Iterator[Callable[[str, int], None] | None]:
    """Yield what a load may tell its progress to, or None where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    last = 0.0

    def show(path: str, lines: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _EVERY_S:
            last = now
            sys.stderr.write(f"{_CLEAR_LINE}{visible(path)}: {lines:,} lines")
            sys.stderr.flush()

    try:
        yield show
    finally:
        if last:
            sys.stderr.write(_CLEAR_LINE)
            sys.stderr.flush()
