"""The front of the cache: load files into it, ask it questions, make it anew."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from quality_lab import outcomes
from quality_lab.errors import InputError, OutputError
from quality_lab.formats import read_map_file
from quality_lab.records import Record
from quality_lab.store.asking import Asking
from quality_lab.store.database import writing
from quality_lab.store.file_reading import LoadOptions
from quality_lab.store.forgotten import read_forgotten
from quality_lab.store.kept import KeptQuestion, keep_answers, let_go
from quality_lab.store.label_table import label_table, told_of_change
from quality_lab.store.load_report import LoadReport
from quality_lab.store.loading import Loading, Progress
from quality_lab.store.rebuilding import draft_beside, known_files, put_in_place, remembered_in
from quality_lab.store.sources import (
    Found,
    Remembered,
    find,
    found_again,
    listed_beside,
    own_journal,
    real_path,
    shown_path,
    stored_path,
    write_list,
)
from quality_lab.store.totals import totals_in


@dataclass(frozen=True, kw_only=True, slots=True)
class RejectRow:
    """A line in quarantine."""

    file: str = field(metadata={"unit": "path"})
    line: int  # 1-based; the number of the object where the file is not line by line
    path: str  # dotted path of the field; "" is the whole line
    reason: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceRow:
    """A file behind the lab and what it brought."""

    path: str = field(metadata={"unit": "path"})
    format: str
    tenant: str
    options: str = field(metadata={"unit": "json", "help": "the flags it was loaded with"})
    digest: str = field(metadata={"compact": False, "help": "sha256"})
    size_bytes: int
    lines: int
    loaded: int
    rejected: int


class Store(Asking):
    """The cache of one home. It holds no connection: each question and each load opens its own.

    *wait_s* bounds how long a question or a load waits for another process; *on_wait* is told once that it waits.
    """

    def __init__(
        self,
        home: Path,
        *,
        wait_s: float = 30.0,
        on_wait: Callable[[str], None] | None = None,
        kept: Callable[[], Iterable[KeptQuestion]] = tuple,
    ) -> None:
        super().__init__(home / "data" / "quality.duckdb", wait_s=wait_s, on_wait=on_wait)
        self.home = home
        self._kept = kept  # questions whose rows a load is to keep

    def kept_questions(self) -> Iterable[KeptQuestion]:
        """Return the questions whose rows a load keeps."""
        return self._kept()

    def exists(self) -> bool:
        """Return whether anything was ever loaded here."""
        return self.database.exists()

    def load(
        self,
        paths: Iterable[str | os.PathLike[str]] = (),
        *,
        format: str | None = None,  # noqa: A002  # the flag's own name
        tenant: str = "default",
        source: str | None = None,
        style: str | None = None,
        map: str | os.PathLike[str] | None = None,  # noqa: A002  # the flag's own name
        keep: bool = False,
        rebuild: bool = False,
        progress: Progress | None = None,
    ) -> LoadReport:
        """Bring files into the cache, all of them or (under any failure of ours) nothing, and report every line.

        The home's own journal comes along. With *rebuild* the cache is first made anew from the files it remembers;
        so it is where a file comes with another *map* than before, which takes the old one's place.
        Raises: UsageError for an unknown format or a map that cannot be, StoreBusy, StoreError, OutputError;
        a file that cannot be read is not raised but reported.
        """
        started = time.monotonic()
        found = list(find(paths, home=self.home))
        text = None if map is None else read_map_file(map)
        options = LoadOptions(format=format, tenant=tenant, source=source, style=style, map=text)
        own = own_journal(self.home, found)
        mine = {real_path(one.path) for one in own}
        work = [(one, options, keep) for one in found if real_path(one.path) not in mine]
        work += [(one, LoadOptions(), False) for one in own]
        replaced = set() if text is None else self._mapped_otherwise(found, options)
        if rebuild or replaced:
            report = self._rebuild(work, started, progress, without=replaced)
            names = ", ".join(sorted({one.path for one in replaced}))
            anew = (
                [f"{names}: loaded with another map before, so the database was made anew"]
                if replaced
                else []
            )
            report.notices = [*report.notices, *anew]
            return report
        return self._load_into(self.database, work, started, progress)

    def write_records(
        self, records: Sequence[Record], *, origin: str = "records", tenant: str = "default"
    ) -> None:
        """Bring *records* into the cache without a file behind them: for tests and for small teaching examples."""
        keep = partial(keep_answers, questions=self._kept, changed=len(records))
        with writing(self.database, wait_s=self.wait_s, on_wait=self._on_wait, afterwards=keep) as connection:
            loading = Loading(connection, self.home, self._overrides())
            loading.start()
            loading.take_records(records, origin=origin, tenant=tenant)
            loading.finish(read_forgotten(self.home))
            let_go(connection)

    def rejects(self, path: str | None = None) -> list[RejectRow]:
        """Return the lines in quarantine, by file and line; those of *path* alone where it is given."""
        rows = self.ask(
            RejectRow,
            """
            with every as (
                select source_id, line, path, reason, text from rejects
                union all
                select source_id, line, '',
                       'id_conflict: another ' || case kind when 'feedback' then 'label' else 'call' end ||
                       ' with the same id and other content; neither counts (another tenant? see --tenant)', content
                from versions where conflicting
            )
            select sources.path as file, every.line, every.path, every.reason, every.text
            from every join sources using (source_id)
            order by file, line, path, reason""",
        )
        if path is None:
            return rows
        wanted = {path, shown_path(stored_path(Path(path), home=self.home))}
        return [row for row in rows if row.file in wanted]

    def sources(self) -> list[SourceRow]:
        """Return the files behind the lab, by path."""
        return self.ask(
            SourceRow,
            """
            select path, format, tenant, options, digest, size_bytes, (report ->> 'lines')::bigint as lines,
                   (report ->> 'loaded')::bigint + (report ->> 'updated')::bigint
                       + (report ->> 'merged')::bigint as loaded,
                   (report ->> 'rejected')::bigint as rejected
            from sources order by path, tenant, options""",
        )

    def source_reports(self) -> list[dict[str, Any]]:
        """Return for every file behind the lab its entry of `load --json` as it stood when it was loaded."""
        with self.question() as connection:
            return [
                json.loads(text)
                for (text,) in connection.execute("select report from sources order by path").fetchall()
            ]

    def totals(self) -> dict[str, int]:
        """Return how many of each noun the lab holds."""
        with self.question() as connection:
            return totals_in(connection)

    def _overrides(self) -> outcomes.OutcomeOverrides:
        path = self.home / "data" / "outcomes.toml"
        return outcomes.load_overrides(path) if path.exists() else outcomes.shipped()

    def _load_into(
        self,
        database: Path,
        work: Sequence[tuple[Found, LoadOptions, bool]],
        started: float,
        progress: Progress | None,
    ) -> LoadReport:
        changed = 0

        def keep_them(connection: duckdb.DuckDBPyConnection) -> None:
            keep_answers(connection, self._kept, changed=changed)

        with writing(database, wait_s=self.wait_s, on_wait=self._on_wait, afterwards=keep_them) as connection:
            before, anew = totals_in(connection), database == self.database and not remembered_in(connection)
            changed_table = told_of_change(connection, self.home)
            loading = Loading(connection, self.home, self._overrides(), progress, label_table(self.home))
            loading.start()
            for found, options, keep in sorted(work, key=_place_in_load):
                loading.take(found, options, keep=keep)
            loading.finish(read_forgotten(self.home))
            changed = sum(one.loaded + one.updated + one.merged for one in loading.reports)
            if changed:
                let_go(connection)
            after = totals_in(connection)
            remembered = remembered_in(connection)
        notices = [] if changed_table is None else [changed_table]
        if anew and (lost := listed_beside(remembered, home=self.home)):
            remembered = [*remembered, *lost]
            notices.append(
                f"the database was made anew and lacks {len(lost):,} files that were loaded before: "
                "`quality-lab load --rebuild` brings them back"
            )
        try:
            write_list(remembered, home=self.home)
        except OutputError as error:
            notices.append(f"{error}; a rebuild will need the database as it is")
        reports = [
            one
            for one in loading.reports
            if one.named or one.status != "unchanged" or not _is_journal(one.path, self.home)
        ]
        totals = {name: max(0, after[name] - before[name]) for name in after}
        totals["rejected"] = sum(one.rejected for one in reports if one.status == "loaded")
        return LoadReport(
            files=reports, totals=totals, store=after, seconds=time.monotonic() - started, notices=notices
        )

    def _rebuild(
        self,
        work: Sequence[tuple[Found, LoadOptions, bool]],
        started: float,
        progress: Progress | None,
        *,
        without: Collection[Remembered] = (),
    ) -> LoadReport:
        remembered = [one for one in known_files(self.database, self.home) if one not in without]
        known = {one: found_again(one.path, home=self.home) for one in remembered}
        gone = [one.path for one, path in known.items() if not path.is_file()]
        if gone:
            raise InputError(
                f"a rebuild needs files that are not there, so the database stays as it is: {', '.join(gone)}"
            )
        again = [
            (Found(given=one.path, path=path, named=True), LoadOptions.of(one), False)
            for one, path in known.items()
        ]
        taken = {(found.path.absolute(), options) for found, options, _ in again}
        more = [one for one in work if (one[0].path.absolute(), one[1]) not in taken]
        with draft_beside(self.database) as draft:
            report = self._load_into(draft, [*again, *more], started, progress)
            put_in_place(
                draft,
                self.database,
                self.home,
                files=report.files,
                known=[*known, *without],
                wait_s=self.wait_s,
                on_wait=self._on_wait,
            )
        return report

    def _mapped_otherwise(self, found: Iterable[Found], options: LoadOptions) -> set[Remembered]:
        """Return what is remembered of files that were loaded with another map than that of *options*."""
        paths = {stored_path(one.path, home=self.home) for one in found}
        return {
            one
            for one in known_files(self.database, self.home)
            if one.path in paths
            and one.tenant == options.tenant
            and LoadOptions.of(one).map not in (None, options.map)
        }


def _place_in_load(work: tuple[Found, LoadOptions, bool]) -> bool:
    """Put first what takes lines of the journal back: what it uncovers has to be read after it."""
    return work[0].path.name != "retractions.jsonl"


def _is_journal(path: str, home: Path) -> bool:
    return Path(path).parent == home / "data" / "journal"
