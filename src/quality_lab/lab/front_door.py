"""A lab: one home with its files, its cache and its answers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from quality_lab.answers import Answer
from quality_lab.errors import UnknownName
from quality_lab.lab.casework import Casework
from quality_lab.lab.coaching import Coaching
from quality_lab.lab.exchanging import Exchanging
from quality_lab.lab.home import Home, find_home
from quality_lab.lab.meeting import Meetings
from quality_lab.lab.questions import Questions
from quality_lab.lab.queue_opening import QueueOpening
from quality_lab.lab.reporting import Reporting
from quality_lab.lab.rerunning import Rerunning
from quality_lab.lab.upkeep import Upkeep
from quality_lab.store import Store

if TYPE_CHECKING:
    import polars

    from quality_lab.formats.mapping.preview import SuggestedMap
    from quality_lab.lab.export import Exported, Noun
    from quality_lab.store.kept import KeptQuestion
    from quality_lab.store.load_report import LoadReport
    from quality_lab.store.loss_rows import LossRow
    from quality_lab.store.store import RejectRow, SourceRow


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadableFormat:
    """Something that `load` can read."""

    name: str
    title: str
    recognised_by: str  # one sentence
    key: str  # what identifies a record, and why that is stable across re-exports


def open_lab(
    home: Path | str | None = None, *, wait_s: float = 30.0, on_wait: Callable[[str], None] | None = None
) -> Lab:
    """Return the lab at *home*, by default the one that `QUALITY_LAB_HOME` or the nearest `data/` points to.

    Opening reads nothing and makes nothing; a question asked of an empty lab is answered with no rows. A
    question waits up to *wait_s* seconds for a database that another process is loading, and tells *on_wait*
    (stderr, if nothing else is given).

    >>> import quality_lab as ql
    >>> lab = ql.open("my-project")
    >>> lab.home.name
    'my-project'
    """
    return Lab(find_home(home, environment=os.environ, start=Path.cwd()), wait_s=wait_s, on_wait=on_wait)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def readable_formats() -> Answer[ReadableFormat]:
    """Return the formats that `load` reads, how it recognises each, and what their keys are.

    >>> from quality_lab.lab import readable_formats
    >>> readable_formats()[0].name
    'quality_lab.traces'
    """
    from quality_lab import formats

    rows = [
        ReadableFormat(name=known.name, title=known.title, recognised_by=known.recognised_by, key=known.key)
        for known in formats.registry()
    ]
    return Answer(rows, ReadableFormat, title="Formats that can be read")


class Lab(Upkeep, Questions, Reporting, Rerunning, Exchanging, QueueOpening, Meetings, Coaching, Casework):
    """One home with its files, its cache and its answers; each answer shows itself in a notebook.

    Questions take the common filters as keywords: `lab.failing_tools(source="rag_reply", since="7d")`.

    >>> import quality_lab as ql
    >>> lab = ql.open_demo()
    >>> worst = lab.failing_tools(top=3)
    >>> worst[0].tool_name
    'verify_exchange_payment'
    >>> worst.to_polars().height
    3
    """

    def __init__(
        self, home: Home, *, wait_s: float = 30.0, on_wait: Callable[[str], None] | None = None
    ) -> None:
        """Keep where the home is; nothing is read or made."""
        self.home = home.path
        self.home_found = home.found
        self.store = Store(home.path, wait_s=wait_s, on_wait=on_wait or _say, kept=_kept_questions)

    def __repr__(self) -> str:
        """Return where the lab is."""
        return f"Lab({str(self.home)!r})"

    # ---- bring data in ----

    def load(
        self,
        *paths: Path | str,
        format: str | None = None,  # noqa: A002  # as --format, and named as people name it
        tenant: str = "default",
        source: str | None = None,
        style: str | None = None,
        map: Path | str | None = None,  # noqa: A002  # as --map, and named as people name it
        keep: bool = False,
        rebuild: bool = False,
        progress: Callable[[str, int], None] | None = None,
    ) -> LoadReport:
        """Return the report of a load of files, folders and globs: what came in, and what was not understood.

        Each line is accounted for; files that are here already are not read again. With *rebuild* the
        database is made anew from the files behind it. A home-grown file is read as a *map* says (TOML);
        `suggest_map` proposes one.

        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> import quality_lab as ql
        >>> home = Path(mkdtemp())
        >>> _ = (home / "calls.jsonl").write_text("not a trace")
        >>> report = ql.open(home).load(home / "calls.jsonl")
        >>> report.files[0].status
        'unrecognised'

        Raises: UsageError for an unknown format or a map that cannot be, StoreBusy, StoreError,
        OutputError; a file that cannot be
        read is in the report.
        """
        return self.store.load(
            paths,
            format=format,
            tenant=tenant,
            source=source,
            style=style,
            map=map,
            keep=keep,
            rebuild=rebuild,
            progress=progress,
        )

    def suggest_map(self, path: Path | str) -> SuggestedMap:
        """Return a map (TOML) proposed for a home-grown file, with a preview of what it brings; nothing is loaded.

        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> import quality_lab as ql
        >>> path = Path(mkdtemp()) / "calls.jsonl"
        >>> _ = path.write_text('{"session": "a", "tool": "quote", "args": {"amount": 5}}')
        >>> suggested = ql.open(path.parent).suggest_map(path)
        >>> suggested.preview.calls, 'tool = "tool"' in suggested.map
        (1, True)

        Raises: InputError where the file cannot be read, or holds neither JSON objects nor a table.
        """
        from quality_lab.formats.mapping.preview import suggest

        return suggest(Path(path))

    def rejects(self, path: str | None = None) -> Answer[RejectRow]:
        """Return the lines that could not be read, with file, line and reason; of *path* alone if given.

        >>> import quality_lab as ql
        >>> {row.reason for row in ql.open_demo().rejects() if row.path == "label"}
        {'wanted string, got integer'}

        Raises: UnknownName where no such file is behind the lab.
        """
        from quality_lab.store.sources import shown_path, stored_path
        from quality_lab.store.store import RejectRow

        rows = self.store.rejects(path)
        if path is not None and not rows:
            names = {path, shown_path(stored_path(Path(path), home=self.store.home))}
            if not any(source.path in names for source in self.store.sources()):
                raise UnknownName(f"no file {path} is behind this lab; `sources` lists those that are")
        return Answer(rows, RejectRow, title="Lines that could not be read")

    def losses(self) -> Answer[LossRow]:
        """Return what the files behind the lab hold and the lab does not: fields and kinds of record that nobody
        knows, labels that no table maps, what was written more than once and merged, what was missing.

        >>> import quality_lab as ql
        >>> [(row.kind, row.what) for row in ql.open_demo().losses() if row.kind.startswith("fields")]
        [('fields that nobody knows', 'widget')]
        """
        from quality_lab.store.loss_rows import loss_answer

        return loss_answer(self.store.source_reports())

    def sources(self) -> Answer[SourceRow]:
        """Return the files behind the lab, with what they brought.

        >>> import quality_lab as ql
        >>> ql.open_demo().sources()[0].format
        'quality_lab.proposals'
        """
        from quality_lab.store.store import SourceRow

        return Answer(self.store.sources(), SourceRow, title="Files behind the lab")

    def totals(self) -> dict[str, int]:
        """Return how many of each noun the lab holds; a lab without a database holds none.

        >>> import quality_lab as ql
        >>> ql.open_demo().totals()["tool_calls"]
        486
        """
        return self.store.totals()

    def tables(self) -> list[str]:
        """Return the names of the tables that `sql` reads; `store/schema.sql` explains their columns."""
        names = self.sql("select table_name from duckdb_tables() order by table_name")["table_name"]
        return [str(name) for name in names]

    def sql(self, query: str, **parameters: object) -> polars.DataFrame:
        """Return the rows of your own SQL as a polars frame; it reads this lab's tables and nothing else.

        >>> import quality_lab as ql
        >>> asked = "select count(*) as calls from tool_calls where tool_name = $tool"
        >>> ql.open_demo().sql(asked, tool="check_slots")["calls"][0] > 0
        True

        Raises: UsageError where DuckDB refuses it.
        """
        import polars

        from quality_lab.store.taking_out import own_sql

        frame = polars.from_arrow(own_sql(self.store, query, parameters))
        assert isinstance(frame, polars.DataFrame)  # a table never becomes a Series
        return frame

    # ---- take away and look after ----

    def export(
        self, noun: Noun, path: Path | str, *, compat: bool = False, tenant: str | None = None
    ) -> Exported:
        """Return what was written to *path*: the calls or the feedback, a JSON object a line, newest first.

        With *compat* the lines are upstream's own records, and hold what came from upstream alone.

        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> import quality_lab as ql
        >>> path = Path(mkdtemp()) / "feedback.jsonl"
        >>> written = ql.open_demo().export("feedback", path, compat=True)
        >>> path.read_text().count("toolCallId") == written.rows
        True

        Raises: UsageError where several tenants have data and none is named, OutputError.
        """
        from quality_lab.lab.export import export_lines

        return export_lines(self.store, noun, path, compat=compat, tenant=tenant)

    def export_parquet(self, folder: Path | str) -> list[Path]:
        """Return the Parquet files written into *folder*, one for each table of the lab.

        >>> from tempfile import mkdtemp
        >>> import quality_lab as ql
        >>> "tool_calls.parquet" in [path.name for path in ql.open_demo().export_parquet(mkdtemp())]
        True

        Raises: OutputError where the folder or a file cannot be written.
        """
        from quality_lab.store.taking_out import write_tables

        return write_tables(self.store, Path(folder))


def _kept_questions() -> list[KeptQuestion]:
    """Return the questions whose rows a load keeps for those who ask without a filter."""
    from quality_lab.proposals import heavy_questions
    from quality_lab.store.kept import KeptQuestion

    return [KeptQuestion(sql=sql, parameters=parameters) for sql, parameters in heavy_questions()]
