"""The journal: what people say and re-runs find out, one JSON object a line, only ever appended to.

Each line has an id of its own, so that git can merge two journals by taking the lines of both, and so that
another line can take it back. A line is written in one write under a lock, after a line feed where the file
does not end in one (a writer that was killed half-way leaves its half to itself). The lines come into the lab
as every file does: by `load`.
"""

from __future__ import annotations

import fcntl
import json
import os
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from quality_lab.errors import OutputError, UsageError
from quality_lab.json_text import compact

SHELVES = ("labels", "decisions", "cases", "queues", "verdicts", "pushes", "retractions")


@dataclass(frozen=True, slots=True)
class Journal:
    """The journal in one folder: a file of lines for each kind of thing that people say.

    >>> import tempfile
    >>> journal = Journal(Path(tempfile.mkdtemp()) / "journal")
    >>> line = journal.append("labels", {"label": "bad_args"}, author="dana@example.com")
    >>> [found["label"] for found in journal.lines("labels")]
    ['bad_args']
    """

    folder: Path

    def path(self, shelf: str) -> Path:
        """Return the file of *shelf*, one of `SHELVES`."""
        if shelf not in SHELVES:
            raise UsageError(f"the journal has no shelf {shelf!r}; it has {', '.join(SHELVES)}")
        return self.folder / f"{shelf}.jsonl"

    def append(
        self, shelf: str, entry: Mapping[str, Any], *, author: str | None, now: datetime | None = None
    ) -> dict[str, Any]:
        """Return the line that was written: *entry* with an `id`, `created_at` and `author` of its own.

        When this returns, the line is on the disk.

        Raises: OutputError where the folder or the disk refuses; then nothing of the line counts.
        """
        return self.extend(shelf, [entry], author=author, now=now)[0]

    def extend(
        self,
        shelf: str,
        entries: Iterable[Mapping[str, Any]],
        *,
        author: str | None,
        now: datetime | None = None,
    ) -> list[dict[str, Any]]:
        """Return the lines that were written for *entries*, all of them in one write, or none where there is
        no entry.

        Raises: OutputError where the folder or the disk refuses; then no line of them counts.
        """
        path = self.path(shelf)
        moment = (
            (now or datetime.now(UTC))
            .astimezone(UTC)
            .isoformat(timespec="microseconds")
            .replace("+00:00", "Z")
        )
        lines: list[dict[str, Any]] = []
        for entry in entries:
            head = {"record_type": entry.get("record_type", shelf.removesuffix("s")), "id": uuid.uuid4().hex}
            lines.append({**head, "created_at": moment, "author": author, **entry})
        if not lines:
            return []
        # numbers as they were written, a lone surrogate as its escape
        data = "".join(f"{compact(line)}\n" for line in lines).encode()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            _append(path, data)
        except OSError as error:
            raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error
        return lines

    def retract(self, line_id: str, *, author: str | None, note: str | None = None) -> dict[str, Any]:
        """Return the line that takes back the line called *line_id*, which stays where it is.

        Raises: UsageError where there is no such line, it was taken back already, or it was pushed.
        """
        known = {str(line.get("id")): line for shelf in SHELVES for line in self.lines(shelf)}
        if line_id not in known:
            raise UsageError(f"the journal in {self.folder} has no line with the id {line_id}")
        if line_id in self.retracted():
            raise UsageError(f"the line {line_id} was taken back already")
        self._stay_where_pushed(line_id)
        return self.append(
            "retractions", {"record_type": "retraction", "retracts": line_id, "note": note}, author=author
        )

    def _stay_where_pushed(self, line_id: str) -> None:
        """Raises: UsageError where a label was sent and stands upstream now, or the line says what was pushed."""
        for push in self.lines("pushes"):
            if push.get("id") == line_id:
                raise UsageError(f"the line {line_id} says what was pushed, and that cannot be taken back")
            if push.get("pushes") == line_id and "feedback_id" in push and push.get("theirs") is not True:
                place = f"label {push['feedback_id']} at {push.get('api')}"
                raise UsageError(
                    f"the line {line_id} was pushed: it is {place}, where nothing can be taken back; "
                    "label the call anew and push that"
                )

    def retracted(self) -> set[str]:
        """Return the ids of the lines that other lines take back."""
        return {str(line["retracts"]) for line in self.lines("retractions") if "retracts" in line}

    def latest(self, *, authors: Collection[str]) -> dict[str, Any] | None:
        """Return the newest line of one of *authors* that still stands and is no verdict, or None.

        A queue is taken back by its first line, so its calls are no lines to take back.
        """
        gone = self.retracted()
        standing = [
            line
            for shelf in ("labels", "decisions", "cases", "queues")
            for line in self.lines(shelf)
            if line.get("author") in authors
            and line.get("id") not in gone
            and line.get("record_type") != "queued_call"
        ]
        return max(
            standing, key=lambda line: (str(line.get("created_at")), str(line.get("id"))), default=None
        )

    def remove(self, goes: Callable[[dict[str, Any]], bool]) -> int:
        """Return how many lines were removed: those that *goes* says go. It is for `forget` alone.

        All else appends; what a person asks to be forgotten must not stay. *goes* is asked line by line,
        shelf by shelf, retractions last.
        """
        removed = 0
        for shelf in SHELVES:
            path = self.path(shelf)
            try:
                removed += _rewrite(path, goes) if path.exists() else 0
            except OSError as error:
                raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error
        return removed

    def lines(self, shelf: str) -> Iterator[dict[str, Any]]:
        """Yield the whole lines of *shelf* in order; what is no JSON object is left to `load`."""
        try:
            text = self.path(shelf).read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise OutputError(f"{self.path(shelf)} cannot be read: {error.strerror or error}") from error
        for raw in text.split(b"\n"):
            try:
                line = json.loads(raw)
            except ValueError:
                continue
            if isinstance(line, dict):
                yield line


def _rewrite(path: Path, goes: Callable[[dict[str, Any]], bool]) -> int:
    """Take lines out of *path* in place, under the lock of those who append; what stays is kept aside meanwhile."""
    with path.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        raws = file.read().split(b"\n")
        kept = [raw for raw in raws if not _goes(raw, goes)]
        if len(kept) == len(raws):
            return 0
        content = b"\n".join(kept)
        aside = path.with_name(f"{path.name}.kept")
        with aside.open("wb") as spare:
            spare.write(content)
            spare.flush()
            os.fsync(spare.fileno())
        file.seek(0)
        file.write(content)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
        aside.unlink()
        return len(raws) - len(kept)


def _goes(raw: bytes, goes: Callable[[dict[str, Any]], bool]) -> bool:
    try:
        line = json.loads(raw)
    except ValueError:
        return False
    return isinstance(line, dict) and goes(line)


def _append(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            data = b"\n" + data
        written = os.write(descriptor, data)
        if written != len(data):  # the disk is full: take the half line away again
            os.ftruncate(descriptor, size)
            raise OSError(None, f"only {written} of {len(data)} bytes could be written")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
