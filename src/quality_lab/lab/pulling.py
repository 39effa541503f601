"""What was pulled: rows as lines of files below data/exports, none of them twice, and what a pull says of itself."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from quality_lab import json_text
from quality_lab.answers import visible
from quality_lab.errors import OutputError, ServiceError
from quality_lab.quality_api.reading import Kind
from quality_lab.quality_api.slices import Gathered, Row, Slice
from quality_lab.store.forgotten import Forgotten, read_forgotten
from quality_lab.store.forgotten import Kind as ForgottenKind
from quality_lab.store.load_report import LoadReport
from quality_lab.store.sources import exports_folder

_MOST_SLICES_SHOWN = 5
_DRAFT = re.compile(r"\.pulled-.+-(?P<process>[1-9]\d*)-[0-9a-f]{8}", re.DOTALL)  # as `_write` calls it
_NAMES: Mapping[str, ForgottenKind] = {"conversationId": "conversation", "contactId": "contact"}


@dataclass(frozen=True, kw_only=True, slots=True)
class PulledKind:
    """What came of one kind of thing."""

    what: Kind
    rows: int  # that the API gave, each once
    new: int  # that no earlier pull had brought
    forgotten: int  # that belong to somebody who was forgotten: they are in no file
    file: Path | None  # that holds the new ones; None where there are none
    slices: Sequence[Slice]
    total: int | None  # rows there are, where the API says so
    possibly_truncated: bool
    truncated: Sequence[Slice]  # where rows may be missing, however it was asked
    masked: int = 0  # times that the token stood in a row and is `***` there

    @classmethod
    def of(cls, what: Kind, gathered: Gathered, kept: Kept) -> PulledKind:
        """Return what *gathered* came to."""
        truncated = gathered.full_to_the_end() if gathered.possibly_truncated else []
        return cls(
            what=what,
            rows=len(gathered.rows),
            new=kept.new,
            forgotten=kept.forgotten,
            file=kept.file,
            slices=gathered.slices,
            total=gathered.total,
            possibly_truncated=gathered.possibly_truncated,
            truncated=[one for one in truncated if not _has_parts(one, truncated)],
            masked=sum(row.masked for row in gathered.rows),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the kind's entry of `pull --json`."""
        return {
            "what": self.what,
            "rows": self.rows,
            "new": self.new,
            "forgotten": self.forgotten,
            "file": None if self.file is None else str(self.file),
            "requests": len(self.slices),
            "total": self.total,
            "masked": self.masked,
            "possibly_truncated": self.possibly_truncated,
            "slices": [
                {
                    "filters": dict(one.filters),
                    "rows": one.rows,
                    "full": one.full,
                    "possibly_truncated": self.possibly_truncated and one.possibly_truncated,
                }
                for one in self.slices
            ],
        }

    def notices(self) -> Iterator[str]:
        """Yield what has to be said: that the token was taken out, and where rows may be missing."""
        if self.masked:
            yield f"{self.what}: the API sent back the token in its rows, {self.masked:,} times; it is *** there"
        if not self.possibly_truncated:
            return
        known = "" if self.total is None else f" of {self.total:,}"
        yield f"{self.what}: possibly truncated; {self.rows:,} rows came{known}, and more may be there"
        for one in self.truncated[:_MOST_SLICES_SHOWN]:
            why = "no further filter shows that this is all" if one.heeded else "the filter was not heeded"
            yield f"  {one}: {'a full page of ' if one.full else ''}{one.rows:,} rows, and {why}"
        if len(self.truncated) > _MOST_SLICES_SHOWN:
            yield f"  and {len(self.truncated) - _MOST_SLICES_SHOWN:,} more such slices (see --json)"


@dataclass(kw_only=True, slots=True, repr=False)
class Pulled:
    """A whole pull: what came, the files it is in, and what loading them did. It shows itself in words."""

    api: str  # where from, without user and password
    tenant: str
    kinds: list[PulledKind] = field(default_factory=list)
    load: LoadReport

    @property
    def files(self) -> list[Path]:
        """Return the files that this pull wrote."""
        return [one.file for one in self.kinds if one.file is not None]

    @property
    def possibly_truncated(self) -> bool:
        """Return whether rows of any kind may be missing."""
        return any(one.possibly_truncated for one in self.kinds)

    @property
    def notices(self) -> list[str]:
        """Return what a person has to know beside the counts."""
        return [notice for one in self.kinds for notice in one.notices()] + list(self.load.notices)

    def correct_the_load(self) -> None:
        """Let the load say of a pulled file whether it is truncated: its number of rows is no sign of that."""
        known = {str(one.file): one.possibly_truncated for one in self.kinds}
        for file in self.load.files:
            file.possibly_truncated = known.get(file.path, False)

    def exit_code(self, *, strict: bool = False) -> int:
        """Return that of the load; under *strict* 1 where rows may be missing or were not understood."""
        lost = any(one.rejected or one.unmapped_labels or one.not_understood for one in self.load.files)
        return self.load.exit_code(strict=strict) or int(strict and (self.possibly_truncated or lost))

    def to_json(self) -> dict[str, Any]:
        """Return the document of `pull --json`."""
        return {
            "api": self.api,
            "tenant": self.tenant,
            "what": [one.to_json() for one in self.kinds],
            "possibly_truncated": self.possibly_truncated,
            "load": self.load.to_json(),
        }

    def __repr__(self) -> str:
        """Return what a person needs to know of the pull, as lines."""
        told = [
            f"{one.what}: {one.rows:,} {'row' if one.rows == 1 else 'rows'}, {one.new:,} new"
            + (f", {one.forgotten:,} forgotten" if one.forgotten else "")
            + (f", in {one.file}" if one.file else "")
            for one in self.kinds
        ]
        return "\n".join([*(visible(line) for line in (*told, *self.notices)), repr(self.load)])


class PullStopped(ServiceError):
    """The API failed on the way; what had come whole by then is in *pulled*, and in the lab."""

    def __init__(self, error: ServiceError, kind: Kind, pulled: Pulled) -> None:
        super().__init__(f"{kind} could not be pulled. {error}")
        self.pulled = pulled


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """What became of rows that came."""

    new: int
    forgotten: int
    file: Path | None


def keep_rows(rows: Iterable[Row], what: Kind, *, home: Path, tenant: str, now: datetime) -> Kept:
    """Return how many *rows* no earlier file of the tenant holds, and the file that now holds them.

    The file is there whole or not at all. Where nothing is new there is none. Rows are in the order of their
    ids, however they were asked for. What was forgotten is written to none. What a pull that was killed had
    begun is taken away. Raises: OutputError, InputError.
    """
    _tidy(exports_folder(home))
    had = set()
    for path in pulled_files(home, tenant=tenant, what=what):
        had |= _digests(path)
    forgotten = read_forgotten(home)
    unknown = [row for row in rows if _digest(_bytes(row)) not in had]
    new = [row for row in unknown if not (forgotten.digests and _is_forgotten(row, forgotten, tenant))]
    left_out = len(unknown) - len(new)
    if not new:
        return Kept(new=0, forgotten=left_out, file=None)
    new.sort(key=lambda row: (isinstance(row.key, str), row.key if isinstance(row.key, int) else 0, row.text))
    stem = f"{_prefix(what, tenant)}{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    file = _write(b"".join(map(_bytes, new)), exports_folder(home), stem)
    return Kept(new=len(new), forgotten=left_out, file=file)


def pulled_files(home: Path, *, tenant: str, what: Kind) -> list[Path]:
    """Return the files that pulls of one kind have written for a tenant, the earliest first."""
    prefix = _prefix(what, tenant)
    folder = home / "data" / "exports"
    return sorted(path for path in folder.glob("pulled-*.jsonl") if path.name.startswith(prefix))


def _prefix(what: Kind, tenant: str) -> str:
    """Return how the name of a file begins: `@` stands in no kind and, unquoted, in no tenant."""
    return f"pulled-{what}-" if tenant == "default" else f"pulled-{what}@{quote(tenant, safe='')}@"


def _has_parts(one: Slice, among: Sequence[Slice]) -> bool:
    """Return whether *among* the slices are parts of *one*: they say better where rows may be missing."""
    size = len(one.filters)
    return any(len(other.filters) > size and other.filters[:size] == one.filters for other in among)


def _is_forgotten(row: Row, forgotten: Forgotten, tenant: str) -> bool:
    """Return whether a row names a conversation or a contact that was forgotten, however deep in it."""
    if forgotten.digest("tenant", tenant, "") in forgotten.digests:
        return True
    try:
        waiting: list[Any] = [json_text.parse(row.text)]
    except json_text.JsonTextError:
        return False
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            for name, kind in _NAMES.items():
                if forgotten.digest(kind, tenant, str(value.get(name))) in forgotten.digests:
                    return True
            waiting += value.values()
    return False


def _bytes(row: Row) -> bytes:
    return row.text.encode("utf-8", "surrogateescape") + b"\n"


def _digest(line: bytes) -> bytes:
    return hashlib.blake2b(line, digest_size=16).digest()


def _digests(path: Path) -> set[bytes]:
    try:
        with path.open("rb") as file:
            return {_digest(line) for line in file}
    except OSError as error:
        raise OutputError(f"{path} cannot be read: {error.strerror or error}") from error


def _write(content: bytes, folder: Path, stem: str) -> Path:
    """Return the file that holds *content*, under a name of its own."""
    draft = folder / f".{stem}-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return _named(draft, folder, stem)
    except OSError as error:
        raise OutputError(f"{folder} cannot take what was pulled: {error.strerror or error}") from error
    finally:
        draft.unlink(missing_ok=True)


def _tidy(folder: Path) -> None:
    """Take away the drafts of pulls whose process is no more."""
    for draft in folder.glob(".pulled-*"):
        found = _DRAFT.fullmatch(draft.name)
        if found is not None and not _lives(int(found["process"])):
            with contextlib.suppress(OSError):  # another pull was quicker, or it is not ours to take
                draft.unlink()


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # somebody else's
        return True
    return True


def _named(draft: Path, folder: Path, stem: str) -> Path:
    copy = 0
    while True:
        path = folder / (f"{stem}-{copy}.jsonl" if copy else f"{stem}.jsonl")
        try:
            os.link(draft, path)  # never over another pull's file
            return path
        except FileExistsError:
            copy += 1
