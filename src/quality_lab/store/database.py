"""Connections: opened late, closed early, waited for with a bound, and refused with a reason."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

import duckdb

from quality_lab.errors import OutputError, StoreBusy, StoreError

SCHEMA_VERSION = "8"
MEMORY_LIMIT = "800MB"

# Spark's names for what DuckDB calls otherwise, so that one text of a question runs on both.
MACROS = (
    "create or replace temp macro get_json_object(json_text, json_path) as json_extract_string(json_text, json_path)",
    "create or replace temp macro slice(items, first, size) as list_slice(items, first, first + size - 1)",
    "create or replace temp macro from_utc_timestamp(moment, zone) as "
    "case when zone = 'UTC' then moment else timezone(zone, timezone('UTC', moment)) end",
)

# DuckDB refuses a second connection of another kind to the same file in one process: readers share, a
# writer is alone.
_gates: dict[str, _Gate] = {}
_gates_lock = threading.Lock()


class _Gate:
    """Many readers or one writer of one database file within this process."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._readers = 0
        self._writing = False

    @contextlib.contextmanager
    def reading(self, deadline: float) -> Iterator[None]:
        with self._free:
            if not self._free.wait_for(
                lambda: not self._writing, timeout=max(0.0, deadline - time.monotonic())
            ):
                raise StoreBusy("the database is being loaded by another thread of this process")
            self._readers += 1
        try:
            yield
        finally:
            with self._free:
                self._readers -= 1
                self._free.notify_all()

    @contextlib.contextmanager
    def writing(self, deadline: float) -> Iterator[None]:
        with self._free:
            free = self._free.wait_for(
                lambda: not self._writing and self._readers == 0,
                timeout=max(0.0, deadline - time.monotonic()),
            )
            if not free:
                raise StoreBusy("the database is in use by another thread of this process")
            self._writing = True
        try:
            yield
        finally:
            with self._free:
                self._writing = False
                self._free.notify_all()


def _gate(database: Path) -> _Gate:
    with _gates_lock:
        return _gates.setdefault(str(database.resolve()), _Gate())


def _settings(*, spill: Path | None = None) -> dict[str, str | bool | int | float | list[str]]:
    settings: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    if spill is not None:
        settings |= {
            "storage_compatibility_version": "latest",  # for the compression of long texts
            "memory_limit": MEMORY_LIMIT,
            "temp_directory": utf8_path(spill),
            "preserve_insertion_order": "true",
        }
    return settings


def _open(
    database: Path, *, read_only: bool, wait_s: float, deadline: float, on_wait: Callable[[str], None] | None
) -> duckdb.DuckDBPyConnection:
    told = False
    pause_s = 0.02
    while True:
        try:
            config = _settings() if read_only else _settings(spill=database.with_name(database.name + ".tmp"))
            return duckdb.connect(utf8_path(database), read_only=read_only, config=config)
        except duckdb.IOException as error:
            text = str(error)
            if "lock" not in text.lower():
                raise _unreadable(database, text) from error
            holder = _holder(text)
            if time.monotonic() >= deadline:
                raise StoreBusy(
                    f"{database} is held by {holder}; waited {wait_s:g} s (see --wait)"
                ) from error
            if not told and on_wait is not None:
                on_wait(f"waiting up to {wait_s:g} s for {database}, held by {holder}")
                told = True
            time.sleep(min(pause_s, max(0.0, deadline - time.monotonic())))
            pause_s = min(pause_s * 1.5, 0.5)
        except duckdb.Error as error:
            raise _unreadable(database, str(error)) from error


def utf8_path(path: Path) -> str:
    """Return *path* as DuckDB takes it: in UTF-8, whatever this process's locale says of file names.

    Raises: StoreError where its bytes are not UTF-8.
    """
    try:
        return os.fsencode(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise StoreError(f"{path} cannot be opened: a database wants a path in UTF-8") from error


def _holder(text: str) -> str:
    found = re.search(r"held in (.+?) \(PID (\d+)\)", text)
    return f"process {found[2]} ({found[1]})" if found else "another process"


def _unreadable(database: Path, text: str) -> StoreError:
    first = text.strip().splitlines()[0] if text.strip() else "no reason given"
    if "permission denied" in text.lower() or "read-only file system" in text.lower():
        return StoreError(f"{database} cannot be opened: {first}")
    return StoreError(
        f"{database} cannot be read as a database ({first}); "
        "it is only a cache: `quality-lab load --rebuild` makes it anew"
    )


def _check_version(connection: duckdb.DuckDBPyConnection, database: Path) -> None:
    try:
        row = connection.execute("select value from lab_meta where name = 'schema_version'").fetchone()
    except duckdb.Error as error:
        raise _unreadable(database, str(error)) from error
    if row is None or row[0] != SCHEMA_VERSION:
        came = "none" if row is None else row[0]
        raise StoreError(
            f"{database} has schema {came}, this version wants {SCHEMA_VERSION}: "
            "`quality-lab load --rebuild` makes it anew from its files"
        )


def create_schema(connection: duckdb.DuckDBPyConnection) -> None:
    """Lay out empty tables in *connection*."""
    connection.execute(files("quality_lab.store").joinpath("schema.sql").read_text("utf-8"))
    connection.execute(
        "insert into lab_meta values ('schema_version', $v), ('duckdb_version', $d)",
        {"v": SCHEMA_VERSION, "d": duckdb.__version__},
    )


@contextlib.contextmanager
def reading(
    database: Path, *, wait_s: float, on_wait: Callable[[str], None] | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a read-only connection; an absent database reads as an empty one.

    Raises: StoreBusy after *wait_s* seconds, StoreError where it cannot be read or has another schema.
    """
    if not database.exists():
        with _empty() as connection:
            yield connection
        return
    deadline = time.monotonic() + wait_s
    with _gate(database).reading(deadline):
        opened = _open(database, read_only=True, wait_s=wait_s, deadline=deadline, on_wait=on_wait)
        with contextlib.closing(opened):
            if _lacks_meta(opened) and _has_no_tables(
                opened
            ):  # a first load was ended before it could commit
                with _empty() as connection:
                    yield connection
                return
            _check_version(opened, database)
            for macro in MACROS:
                opened.execute(macro)
            yield opened


@contextlib.contextmanager
def _empty() -> Iterator[duckdb.DuckDBPyConnection]:
    with contextlib.closing(duckdb.connect(":memory:", config=_settings())) as connection:
        create_schema(connection)
        for macro in MACROS:
            connection.execute(macro)
        yield connection


def _has_no_tables(connection: duckdb.DuckDBPyConnection) -> bool:
    return connection.execute("select count(*) from duckdb_tables()").fetchone() == (0,)


def _lacks_meta(connection: duckdb.DuckDBPyConnection) -> bool:
    """Say whether the table is missing that every lab has; sooner answered than how many tables there are."""
    try:
        connection.execute("select value from lab_meta limit 0")
        return False
    except duckdb.CatalogException:
        return True
    except duckdb.Error:
        return False  # what it is, a closer look will say


@contextlib.contextmanager
def writing(
    database: Path,
    *,
    wait_s: float,
    on_wait: Callable[[str], None] | None = None,
    afterwards: Callable[[duckdb.DuckDBPyConnection], None] | None = None,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection inside one transaction, committed at the end and rolled back by any exception.

    What is done *afterwards* stands in a transaction of its own, and where DuckDB cannot do it, it is not done.

    Raises: StoreBusy, StoreError as `reading` does; OutputError where the folder or the disk refuses.
    """
    deadline = time.monotonic() + wait_s
    try:
        database.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{database.parent} cannot be made: {error.strerror or error}") from error
    with _gate(database).writing(deadline):
        connection = _open(database, read_only=False, wait_s=wait_s, deadline=deadline, on_wait=on_wait)
        with contextlib.closing(connection):
            connection.execute("begin")
            if _has_no_tables(connection):
                create_schema(connection)
            else:
                _check_version(connection, database)
            try:
                yield connection
                connection.execute("commit")
            except duckdb.Error as error:
                raise _write_failure(database, error) from error
            if afterwards is not None:
                with contextlib.suppress(duckdb.Error):
                    connection.execute("begin")
                    afterwards(connection)
                    connection.execute("commit")


@contextlib.contextmanager
def keeping_others_out(
    database: Path, *, wait_s: float, on_wait: Callable[[str], None] | None = None
) -> Iterator[duckdb.DuckDBPyConnection | None]:
    """Yield a connection while which no other process has one; None where no database is there to be opened.

    Raises: StoreBusy after *wait_s* seconds.
    """
    deadline = time.monotonic() + wait_s
    with _gate(database).writing(deadline), contextlib.ExitStack() as closing:
        opened = None
        if database.exists():
            try:
                opened = _open(database, read_only=False, wait_s=wait_s, deadline=deadline, on_wait=on_wait)
            except StoreBusy:
                raise
            except StoreError:
                pass  # damaged, so that nobody else has it open either
            else:
                closing.callback(opened.close)
        yield opened


def _write_failure(database: Path, error: duckdb.Error) -> StoreError | OutputError:
    first = str(error).strip().splitlines()[0]
    if any(
        word in first.lower() for word in ("no space", "could not write", "file too large", "out of disk")
    ):
        return OutputError(f"{database} cannot be written ({first}); nothing of this load was kept")
    return StoreError(f"{database}: {first}; nothing of this load was kept")
