"""What a rebuild stands on: the files that are known, and a draft beside the database that takes its place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from quality_lab.errors import InputError, StoreBusy
from quality_lab.store.database import keeping_others_out, utf8_path
from quality_lab.store.load_report import FileReport
from quality_lab.store.sources import Remembered, listed_beside, read_list

_DRAFT = "quality.duckdb.rebuild-"  # and the number of the process


def remembered_in(connection: duckdb.DuckDBPyConnection) -> list[Remembered]:
    """Return the files behind the database, in order."""
    rows = connection.execute(
        "select path, digest, tenant, options from sources order by path, tenant, options"
    ).fetchall()
    return [
        Remembered(path=path, digest=digest, tenant=tenant, options=options)
        for path, digest, tenant, options in rows
    ]


def known_files(database: Path, home: Path) -> list[Remembered]:
    """Return the files behind the lab: those of the database, and those that the list beside it names too."""
    if database.exists():
        try:
            with duckdb.connect(utf8_path(database), read_only=True) as connection:
                return _known_to(connection, home)
        except duckdb.Error:
            pass  # damaged: the list says the same
    return read_list(home=home)


@contextmanager
def draft_beside(database: Path) -> Iterator[Path]:
    """Yield where to build a database anew; what is left of it afterwards, and of killed rebuilds, is removed."""
    _clear_unfinished(database.parent)
    draft = draft_path(database)
    try:
        yield draft
    finally:
        for leftover in database.parent.glob(f"{draft.name}*"):
            if leftover.is_file():
                leftover.unlink(missing_ok=True)


def draft_path(database: Path) -> Path:
    """Return where this process writes the database anew."""
    return database.with_name(f"{_DRAFT}{os.getpid()}")


def put_in_place(
    draft: Path,
    database: Path,
    home: Path,
    *,
    files: Collection[FileReport],
    known: Collection[Remembered],
    wait_s: float,
    on_wait: Callable[[str], None] | None = None,
) -> None:
    """Let *draft* take the place of the database, if all of its *files* were read and nothing came meanwhile.

    Nobody else has the database open then: what a load were to write into it would be lost.

    Raises: InputError where a file failed, StoreBusy where the database holds files that are not *known*, or
    is held by another process for longer than *wait_s* seconds.
    """
    failed = [one for one in files if one.status in ("failed", "unrecognised") and one.named]
    if failed:
        raise InputError(
            "the rebuild failed, so the database stays as it is: "
            + "; ".join(f"{one.path}: {one.reason}" for one in failed)
        )
    with duckdb.connect(utf8_path(draft), read_only=True) as connection:
        names = {(one.path, one.tenant, one.options) for one in (*known, *remembered_in(connection))}
    with keeping_others_out(database, wait_s=wait_s, on_wait=on_wait) as old:
        there = _known_to(old, home) if old is not None else []
        late = [one for one in there if (one.path, one.tenant, one.options) not in names]
        if late:
            raise StoreBusy(
                f"{len(late):,} files were loaded while the rebuild ran, so the database stays as it is; "
                "run it again"
            )
        draft.replace(database)
    database.with_name(database.name + ".wal").unlink(missing_ok=True)


def _known_to(connection: duckdb.DuckDBPyConnection, home: Path) -> list[Remembered]:
    """Return the files behind an open database, and those that the list beside it names too."""
    try:
        remembered = remembered_in(connection)
    except duckdb.Error:  # of another make: the list says the same
        return read_list(home=home)
    return [*remembered, *listed_beside(remembered, home=home)]


def _clear_unfinished(folder: Path) -> None:
    """Remove what rebuilds left behind whose process was killed."""
    for path in folder.glob(f"{_DRAFT}*"):
        number = path.name.removeprefix(_DRAFT).split(".")[0]
        try:
            os.kill(int(number), 0)
        except ProcessLookupError:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        except (ValueError, PermissionError):
            continue  # not ours, or of somebody who still runs
