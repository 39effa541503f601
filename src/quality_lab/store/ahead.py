"""What one thread makes while others take it: an iterator that runs a few steps ahead of who asks it."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import TypeVar

Thing = TypeVar("Thing")
_LOOKS_UP_S = 0.1  # after which a maker that cannot hand over looks whether it is still wanted


class _End:
    """Stands behind the last thing."""


@contextmanager
def ahead(things: Iterator[Thing], *, steps: int) -> Iterator[Iterator[Thing]]:
    """Yield an iterator over *things*, which a thread of its own asks for up to so many *steps* ahead.

    It ends where they end or fail; what they raise is raised when the block is left. Then the thread has ended
    too, and *things* can be asked on.

    >>> with ahead(iter(range(5)), steps=2) as numbers:
    ...     list(numbers)
    [0, 1, 2, 3, 4]
    """
    waiting: queue.Queue[Thing | _End] = queue.Queue(steps)
    unwanted = Event()

    def hand_over(one: Thing | _End) -> None:
        while not unwanted.is_set():
            try:
                waiting.put(one, timeout=_LOOKS_UP_S)
            except queue.Full:
                continue
            return

    def make() -> None:
        try:
            for one in things:
                hand_over(one)
                if unwanted.is_set():
                    return
        finally:
            hand_over(_End())

    def take() -> Iterator[Thing]:
        while not isinstance(one := waiting.get(), _End):
            yield one

    with ThreadPoolExecutor(1) as thread:
        making = thread.submit(make)
        try:
            yield take()
        finally:
            unwanted.set()
        making.result()
