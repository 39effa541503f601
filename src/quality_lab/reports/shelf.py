"""The shelf: the folder where runs of reports lie, each whole or not there, and the page that lists them."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from quality_lab.errors import OutputError, UsageError
from quality_lab.reports.blocks import Html, asset, join, paragraph, table, tag, text

_UNFINISHED = ".unfinished-"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a report as it lies on the shelf."""

    folder: Path
    report: str
    generated_at: str  # ISO 8601
    ok: bool
    summary: Mapping[str, Any]  # the whole of its summary.json


def runs(shelf: Path) -> list[Run]:
    """Return the runs that lie in a folder, newest first; a folder without a readable summary is left out."""
    found = []
    for path in shelf.glob("*/summary.json"):
        if path.parent.name.startswith("."):
            continue
        try:
            summary = json.loads(path.read_text(encoding="utf-8"))
            found.append(
                Run(
                    path.parent,
                    str(summary["report"]),
                    str(summary["generated_at"]),
                    bool(summary["ok"]),
                    summary,
                )
            )
        except (OSError, ValueError, KeyError, TypeError):
            continue  # not a run of ours, or one that is just being removed
    return sorted(found, key=lambda run: (run.generated_at, run.folder.name), reverse=True)


@contextmanager
def new_folder(shelf: Path) -> Iterator[Path]:
    """Yield an unfinished folder on the shelf; whatever happens it is gone afterwards, unless it was moved.

    Raises: OutputError if the shelf cannot be written.
    """
    try:
        shelf.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=shelf))
    except OSError as error:
        raise OutputError(f"no report can be written into {shelf}: {error}") from error
    try:
        yield folder
    except OSError as error:
        raise OutputError(f"the report could not be written into {shelf}: {error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def put_on_shelf(folder: Path, shelf: Path, day: date, name: str) -> Path:
    """Return where the finished *folder* lies now: `<day>-<name>`, numbered where that is taken.

    The move is one step of the operating system's, so two runs at once get two places and no run is seen
    half.
    """
    folder.chmod(0o755)
    number = 1
    while True:
        place = shelf / (f"{day.isoformat()}-{name}" if number == 1 else f"{day.isoformat()}-{name}-{number}")
        try:
            if not place.exists():
                folder.rename(place)
                return place
        except OSError:
            if not place.exists():
                raise
        number += 1


def prune(shelf: Path, *, keep: int, stays: Collection[str] = ()) -> list[Path]:
    """Return the folders that were removed: of each report all but the *keep* newest runs.

    Runs named in *stays* stay, and those in which minutes lie: they are what a meeting left behind.

    Raises: UsageError where nothing would be kept, OutputError where a folder cannot be removed.
    """
    if keep < 1:
        raise UsageError(f"wanted to keep at least one run of each report, came {keep}")
    seen: Counter[str] = Counter()
    removed = []
    for run in runs(shelf):
        seen[run.report] += 1
        kept = seen[run.report] <= keep or run.folder.name in stays
        if kept or (run.folder / "minutes.json").exists():
            continue
        aside = shelf / f"{_UNFINISHED}{run.folder.name}"  # gone in one step, however long removing takes
        try:
            run.folder.rename(aside)
            shutil.rmtree(aside)
        except OSError as error:
            raise OutputError(f"{run.folder} cannot be removed: {error.strerror or error}") from error
        removed.append(run.folder)
    if removed:
        write_index(shelf)
    return removed


def write_index(shelf: Path) -> Path:
    """Return the path of the page that lists every run on the shelf, written anew."""
    with _one_at_a_time(shelf):
        rows = [_row(run) for run in runs(shelf)]
        listed = table(["Run", "Report", "Window", "Calls", "Findings", "State"], rows, numeric=(3, 4))
        body = join_page(listed if rows else paragraph("No report has been made here yet."))
        unfinished = shelf / f"{_UNFINISHED}index-{os.getpid()}.html"
        unfinished.write_text(body, encoding="utf-8")
        unfinished.replace(shelf / "index.html")
    return shelf / "index.html"


def join_page(content: Html) -> str:
    """Return the list as a page that runs nothing and fetches nothing."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Reports</title>'
        f"<style>{asset('page.css')}\n{asset('pieces.css')}</style></head>\n"
        f'<body><main><div class="ql"><h1>Reports</h1>{content}</div></main></body></html>\n'
    )


def _row(run: Run) -> list[Html | str]:
    figures = run.summary.get("figures") or {}
    since, until = str(figures.get("since") or "")[:10], str(figures.get("until") or "")[:10]
    calls = figures.get("calls_in_window")
    problem = str(run.summary.get("problem") or "not fine")
    beside = [name for name in ("slides", "minutes") if (run.folder / f"{name}.html").exists()]
    links = [tag("a", name, href=f"{run.folder.name}/{name}.html") for name in beside]
    return [
        join([tag("a", run.folder.name, href=f"{run.folder.name}/report.html"), *links], " · "),
        run.report,
        f"{since} to {until}" if since and until else "–",
        f"{calls:,}" if isinstance(calls, int) else "–",
        str(len(run.summary.get("findings") or [])),
        text("fine") if run.ok else tag("span", problem, class_="warn"),
    ]


@contextmanager
def _one_at_a_time(shelf: Path) -> Iterator[None]:
    """Hold the shelf's lock, so that of two runs that end together the later list knows both."""
    try:
        import fcntl
    except ImportError:  # no such locks on Windows: the next run lists what this one might miss
        yield
        return
    with (shelf / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def moment(value: datetime) -> str:
    """Return a time as ISO 8601 in UTC, to the second."""
    from datetime import UTC

    return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
