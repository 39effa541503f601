"""The files behind a lab: found, digested, remembered, so that the cache can be made anew from them."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from pathlib import Path

from quality_lab.errors import InputError, OutputError
from quality_lab.whole_files import write_whole

_AT_ONCE = 1 << 22  # bytes
_WORTH_A_THREAD = 1 << 21  # bytes


_NOT_UTF8 = re.compile(r"\\x([89a-f][0-9a-f])")  # a byte as `sources.path` shows it


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A file to load, or a path that cannot be one."""

    given: str  # as a report names it
    path: Path
    named: bool  # given by name, not found inside a folder
    problem: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Remembered:
    """A file that was loaded, and how; enough to load it again."""

    path: str  # relative to the home where it lies below it, else absolute
    digest: str
    tenant: str
    options: str  # JSON text

    @property
    def source_id(self) -> int:
        """A number of 63 bits that depends on nothing but path, tenant and options: no two files share one."""
        text = json.dumps([self.path, self.tenant, self.options])
        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
        return int.from_bytes(digest[:8], "big") >> 1


def find(paths: Iterable[str | os.PathLike[str]], *, home: Path) -> Iterator[Found]:
    """Yield every file that *paths* name: files, folders (all below, sorted), globs; "-" spools standard input."""
    for given in paths:
        text = os.fspath(given)
        if text == "-":
            yield _spool(home)
            continue
        path = Path(text)
        if path.is_dir():
            yield from _walk(path)
        elif path.exists() or path.is_symlink():
            yield Found(given=text, path=path, named=True, problem=_unfit(path))
        elif matches := _matches(text):
            for match in matches:
                if Path(match).is_dir():
                    yield from _walk(Path(match))
                else:
                    yield Found(given=match, path=Path(match), named=True, problem=_unfit(Path(match)))
        else:
            yield Found(given=text, path=path, named=True, problem="no such file or folder")


def real_path(path: Path) -> str:
    """Return where *path* leads, links followed; where they lead in circles, as far as they can be."""
    return os.path.realpath(path)  # Path.resolve raises there, in Python 3.11


def own_journal(home: Path, found: Iterable[Found]) -> list[Found]:
    """Return the files of the journal of *home*, as *found* where a path that was given leads to them too."""
    given = {real_path(one.path): one for one in reversed([*found])}
    own = []
    for path in sorted((home / "data" / "journal").glob("*.jsonl")):
        one = given.get(real_path(path))
        own.append(Found(given=str(path), path=path, named=False) if one is None else replace(one, path=path))
    return own


def _matches(pattern: str) -> list[str]:
    """Return what a *pattern* matches as it was written: absolute, or relative to the current folder."""
    if not glob.has_magic(pattern):
        return []
    return sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207  # Path.glob takes no absolute pattern


def _walk(folder: Path) -> Iterator[Found]:
    seen: set[tuple[int, int]] = set()  # a symlink loop leads to a folder that was met before
    closed: list[OSError] = []  # folders that may not be looked into
    for root, folders, names in os.walk(folder, followlinks=True, onerror=closed.append):
        here = Path(root).stat()
        if (here.st_dev, here.st_ino) in seen:
            folders.clear()
            continue
        seen.add((here.st_dev, here.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(root, name)
            if not name.startswith("."):
                yield Found(given=str(path), path=path, named=False, problem=_unfit(path))
    for error in closed:
        path, problem = Path(error.filename), f"the folder cannot be read: {error.strerror or error}"
        yield Found(given=str(path), path=path, named=path == folder, problem=problem)


def _unfit(path: Path) -> str | None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return error.strerror or str(error)
    if not stat.S_ISREG(mode):
        return "wanted a file, came something else (a device, a socket or a pipe)"
    return None


def _spool(home: Path) -> Found:
    folder = exports_folder(home)
    draft = folder / f".stdin-{os.getpid()}"
    digest = hashlib.sha256()
    try:
        with draft.open("wb") as spool:
            while block := sys.stdin.buffer.read(1 << 20):
                digest.update(block)
                spool.write(block)
        path = folder / f"stdin-{digest.hexdigest()[:16]}"
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise OutputError(f"{folder} cannot take standard input: {error.strerror or error}") from error
    return Found(given="-", path=path, named=True)


def exports_folder(home: Path) -> Path:
    """Return the folder for copies of what was loaded, made where it is not there yet."""
    folder = home / "data" / "exports"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {error.strerror or error}") from error
    return folder


def keep_copy(path: Path, digest: str, *, home: Path) -> Path:
    """Return the copy of *path* under the home's data/exports, made if it is not there yet."""
    copy = exports_folder(home) / f"{digest[:16]}-{path.name}"
    if not copy.exists():
        draft = copy.with_name(f".{copy.name}-{os.getpid()}")
        try:
            shutil.copyfile(path, draft)
            draft.replace(copy)
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise OutputError(f"{copy} cannot be written: {error.strerror or error}") from error
    return copy


def digest_of(path: Path, size: int | None = None) -> str:
    """Return the sha256 of the file's bytes in hex, of the first *size* alone where it is given.

    Raises: InputError where it cannot be read.
    """
    digest = hashlib.sha256()
    buffer = bytearray(_AT_ONCE)
    left = size
    try:
        with path.open("rb", buffering=0) as file:
            while left is None or left > 0:
                window = memoryview(buffer)[: min(_AT_ONCE, _AT_ONCE if left is None else left)]
                count = file.readinto(window)
                if not count:
                    break
                digest.update(window[:count])
                left = None if left is None else left - count
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    return digest.hexdigest()


class DigestOfReading:
    """The digest of what a load read of a file: a large one's is taken meanwhile, since it takes as long as reading."""

    def __init__(self, path: Path, size: int, known: str | None, *, pool: Executor) -> None:
        self._path, self._before = path, _state(path)
        self._waiting: Future[str] | None = None
        if known is None and size >= _WORTH_A_THREAD:
            self._waiting = pool.submit(digest_of, path, size)
        self._known = known or ("" if self._waiting else digest_of(path, size))

    def result(self) -> str:
        """Return the digest; "" where the file was written to meanwhile, so that the next load reads it again."""
        digest = self._waiting.result() if self._waiting else self._known
        return digest if _state(self._path) == self._before else ""


def _state(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0, 0)
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def stored_path(path: Path, *, home: Path) -> str:
    """Return *path* as the lab remembers it: relative to the home where it lies below it, else absolute."""
    full, root = path.absolute(), home.absolute()
    return full.relative_to(root).as_posix() if full.is_relative_to(root) else str(full)


def found_again(path: str, *, home: Path) -> Path:
    """Return where the file lies that the lab remembers under *path*, its name in UTF-8 or not."""
    plain = home / os.fsdecode(path.encode("utf-8", "surrogateescape"))  # as the locale spells it
    if "\\x" not in path or plain.is_file():
        return plain
    name = _NOT_UTF8.sub(lambda found: chr(0xDC00 + int(found[1], 16)), path)
    return home / name if (home / name).is_file() else plain


def shown_path(path: str) -> str:
    """Return *path* as a table holds it: bytes that are not UTF-8 as `\\xNN`."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _list_path(home: Path) -> Path:
    return home / "data" / "sources.json"


def write_list(remembered: Iterable[Remembered], *, home: Path) -> None:
    """Write the list of files beside the database, whole or not at all, so that it outlives the database."""
    target = _list_path(home)
    entries = [
        {"path": one.path, "digest": one.digest, "tenant": one.tenant, "options": one.options}
        for one in sorted(remembered, key=lambda one: (one.path, one.tenant, one.options))
    ]
    write_whole(target, json.dumps(entries, indent=1) + "\n")


def listed_beside(remembered: Sequence[Remembered], *, home: Path) -> list[Remembered]:
    """Return the files of the list that are not among *remembered*; none where it cannot be read."""
    here = {(one.path, one.tenant, one.options) for one in remembered}
    try:
        return [one for one in read_list(home=home) if (one.path, one.tenant, one.options) not in here]
    except InputError:
        return []


def read_list(*, home: Path) -> list[Remembered]:
    """Return the files that `write_list` remembered; none where there is no list."""
    path = _list_path(home)
    try:
        return [Remembered(**entry) for entry in json.loads(path.read_text("utf-8"))]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError) as error:
        raise InputError(f"{path} is not the list of files that was written there: {error}") from error
