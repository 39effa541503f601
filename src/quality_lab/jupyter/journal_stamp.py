"""Whether a journal has grown since it was looked at last."""

from __future__ import annotations

from collections.abc import Iterable

from quality_lab.journal import Journal

JournalStamp = tuple[tuple[int, int], ...]


def journal_stamp(journal: Journal, shelves: Iterable[str]) -> JournalStamp:
    """Return size and time of the shelves that are there; another stamp means that somebody wrote.

    >>> import tempfile
    >>> from pathlib import Path
    >>> journal = Journal(Path(tempfile.mkdtemp()))
    >>> before = journal_stamp(journal, ["labels"])
    >>> _ = journal.append("labels", {"label": "other"}, author="dana")
    >>> before, journal_stamp(journal, ["labels"]) == before
    ((), False)
    """
    found = []
    for shelf in shelves:
        try:
            state = journal.path(shelf).stat()
        except OSError:
            continue
        found.append((state.st_size, state.st_mtime_ns))
    return tuple(found)
