"""Load and reload against what they are measured by: a bare read_ndjson, and sha256sum.

    python benchmarks/bench_load.py                              # 1,000,000 calls, five rounds
    python benchmarks/bench_load.py --calls 200000 --rounds 3

*bare* is DuckDB's read_ndjson with explicit columns into a file database with defaults, on the same lines
without the bad ones. *load* is the whole load into an empty home: every line validated, the bad ones in
quarantine, values exact, keys checked against what is there, outcomes computed. *sha256sum* is that command on
the same file, *reload* a load of it again, *more* the load of two thousand further calls into that home. Each
measurement is a fresh process, with two threads; contenders take turns, medians count. Beside the seconds stands the
processor time, which a busy machine changes less.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import make_lines

MORE = 2_000  # calls
COLUMNS = {
    **dict.fromkeys(("id", "conversationId", "contactId", "messageId", "outboundQueueId"), "BIGINT"),
    **dict.fromkeys(("source", "toolName"), "VARCHAR"),
    **dict.fromkeys(("args", "result"), "JSON"),
    "error": "BOOLEAN",
    **dict.fromkeys(("cycle", "toolCallIndex"), "INTEGER"),
    "latencyMs": "DOUBLE",
    "createdAt": "BIGINT",
}


def bare(lines: Path, home: Path) -> dict[str, object]:
    """Read *lines* with nothing but DuckDB."""
    import duckdb

    with duckdb.connect(str(home / "bare.duckdb"), config={"threads": 2}) as connection:
        connection.execute(
            f"create table calls ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())})"
        )
        sql = f"insert into calls select * from read_ndjson($lines, columns = {json.dumps(COLUMNS)})"
        (count,) = connection.execute(sql, {"lines": str(lines)}).fetchone() or (0,)
    return {"calls": count}


def load(lines: Path, home: Path) -> dict[str, object]:
    """Load *lines* as `quality-lab load` does."""
    from quality_lab.lab import open_lab

    report = open_lab(home).load(lines)
    one = report.files[0]
    return {
        "calls": report.store["tool_calls"],
        "status": one.status,
        "rejected": one.rejected,
        "lines": one.lines,
    }


def child(what: str, lines: Path, home: Path) -> None:
    """Do one thing, and print what it took as JSON."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    found = bare(lines, home) if what == "bare" else load(lines, home)
    after = resource.getrusage(resource.RUSAGE_SELF)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    taken = {"seconds": time.perf_counter() - start, "processor": spent, "peak_mib": after.ru_maxrss >> 10}
    print(json.dumps(taken | found))


def environment(folder: Path) -> dict[str, str]:
    """Return an environment in which modules are compiled once, as they are where a package is installed."""
    given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return given | {"PYTHONPYCACHEPREFIX": str(folder / "pycache")}


def measured(what: str, lines: Path, home: Path) -> dict[str, float]:
    """Return what it takes to do one thing in a process of its own."""
    if what == "sha256sum":
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["sha256sum", lines], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return {"seconds": time.perf_counter() - start, "processor": spent, "peak_mib": 0}
    if what in ("bare", "load"):  # each of them begins with nothing
        shutil.rmtree(home, ignore_errors=True)
    home.mkdir(exist_ok=True)
    command = [sys.executable, __file__, "--child", what, "--lines", str(lines), "--home", str(home)]
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environment(lines.parent)
    )
    return json.loads(done.stdout.splitlines()[-1])


def medians(rounds: list[dict[str, float]], beside: list[dict[str, float]]) -> str:
    """Return the cells of a row: median seconds and processor time, each with how often the one *beside* it fits in."""
    cells = []
    for what in ("seconds", "processor"):
        middle, against = (statistics.median(one[what] for one in some) for some in (rounds, beside))
        cells += [f"{middle:.2f}", f"{middle / against:.2f} ×"]
    return " | ".join(cells)


def main() -> None:
    """Take the measurements in turn and print their table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "quality-lab-bench")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--lines", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(asked.child, asked.lines, asked.home)
        return
    folder = asked.folder / str(asked.calls)
    spoilt = make_lines.make(folder, calls=asked.calls)
    every, clean, home = folder / "traces.jsonl", folder / "traces-clean.jsonl", folder / "home"
    for path in (every, clean):  # into the page cache
        with path.open("rb") as file:
            while file.read(1 << 20):  # not at once: a child's greatest size begins with its parent's
                pass
    more = folder / "more.jsonl"
    with clean.open(encoding="utf-8") as file, more.open("w", encoding="utf-8") as further:
        for line, _ in zip(file, range(MORE), strict=False):
            call = json.loads(line)
            call = {
                **call,
                "id": call["id"] + (1 << 40),
                "conversationId": call["conversationId"] + (1 << 40),
            }
            further.write(json.dumps(call, separators=(",", ":")) + "\n")
    files = {"bare": clean, "load": every, "sha256sum": every, "reload": every, "more": more}
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in files}
    for _ in range(asked.rounds):
        for name, rounds in taken.items():
            rounds.append(measured(name, files[name], home))
    for one in taken["load"]:
        assert (one["rejected"], one["calls"]) == (spoilt, asked.calls - spoilt), one
    assert all(one["status"] == "unchanged" for one in taken["reload"]), taken["reload"]
    print(
        f"{asked.calls:,} lines, {every.stat().st_size / 1e6:,.0f} MB, {spoilt} bad; {asked.rounds} rounds; "
        f"{os.cpu_count()} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}\n"
    )
    print("| | seconds | against | processor | against | peak MiB |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, rounds in taken.items():
        beside = taken["bare" if name in ("bare", "load") else "sha256sum" if name != "more" else "more"]
        print(f"| {name} | {medians(rounds, beside)} | {max(one['peak_mib'] for one in rounds):.0f} |")


if __name__ == "__main__":
    main()
