"""Threads for synchronous tools: kept for the next call while they come back, left behind when they do not.

An executor would wait at the end of the program for tools that never return, and let them use up its workers.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

_MOST_IDLE = 32
_idle: deque[_Worker] = deque()


class _Worker(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="tool", daemon=True)
        self.jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()

    def run(self) -> None:
        while True:
            self.jobs.get()()
            if len(_idle) >= _MOST_IDLE:
                return
            _idle.append(self)


def in_thread(job: Callable[[], None]) -> None:
    """Run *job*, which must not raise, in a thread that is idle or new."""
    while True:
        try:
            worker = _idle.pop()
        except IndexError:
            worker = _Worker()
            worker.start()
            break
        if worker.is_alive():  # after a fork the threads of the parent are not here
            break
    worker.jobs.put(job)
