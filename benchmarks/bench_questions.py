"""Three questions to a lab of a million calls and a hundred thousand labels, against `baseline.sql`.

    python benchmarks/bench_questions.py                         # 1,000,000 calls, seven rounds
    python benchmarks/bench_questions.py --calls 200000 --rounds 3

The baseline asks the same tables for counts alone, without intervals, denominators or filters. Opening the
database and closing it again is part of every answer. A round is two fresh processes, one for each side; *first*
is the first time that a process asks, with whatever it has still to import, *again* the median of five more.
Target: at most 1.5 × the baseline.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import make_lines
from bench_load import environment

QUESTIONS = ("labels", "failing_tools", "proposals")


def baseline(home: Path) -> dict[str, Callable[[], int]]:
    """Return for each question a function that asks the baseline and says how many rows came."""
    import duckdb

    text = Path(__file__).with_name("baseline.sql").read_text("utf-8")
    statements = [statement for statement in text.split(";") if statement.strip()]

    def asking(sql: str) -> Callable[[], int]:
        def ask() -> int:
            with duckdb.connect(str(home / "data" / "quality.duckdb"), read_only=True) as connection:
                return len(connection.execute(sql).fetchall())

        return ask

    return {name: asking(sql) for name, sql in zip(QUESTIONS, statements, strict=True)}


def lab(home: Path) -> dict[str, Callable[[], int]]:
    """Return for each question a function that asks the lab and says how many rows came."""
    from quality_lab.lab import open_lab

    asked = open_lab(home)
    return {name: lambda name=name: len(getattr(asked, name)()) for name in QUESTIONS}  # type: ignore[misc]  # bound by default


def child(side: str, home: Path) -> None:
    """Ask everything six times, and print the milliseconds as JSON."""
    taken: dict[str, list[float]] = {}
    for name, ask in (lab if side == "lab" else baseline)(home).items():
        for _ in range(6):
            start = time.perf_counter()
            assert ask() > 0
            taken.setdefault(name, []).append((time.perf_counter() - start) * 1000)
    print(json.dumps(taken))


def main() -> None:
    """Make the lab where it is not there yet, let the two sides take turns, and print their table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "quality-lab-bench")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(asked.child, asked.home)
        return
    folder = asked.folder / str(asked.calls)
    make_lines.make(folder, calls=asked.calls)
    home = folder / "home-of-questions"
    command = [sys.executable, "-m", "quality_lab", "--home", str(home), "load"]
    subprocess.run(
        [*command, folder / "traces.jsonl", folder / "feedback.jsonl"], check=True, capture_output=True
    )
    taken: dict[str, list[dict[str, list[float]]]] = {"baseline": [], "lab": []}
    for _ in range(asked.rounds):
        for side, rounds in taken.items():
            asking = [sys.executable, __file__, "--child", side, "--home", str(home)]
            done = subprocess.run(asking, check=True, capture_output=True, text=True, env=environment(folder))
            rounds.append(json.loads(done.stdout.splitlines()[-1]))
    print(
        f"{asked.calls:,} calls, {asked.calls // 10:,} labels; {asked.rounds} rounds; {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}\n"
    )
    print("| question | baseline, first / again, ms | lab, first / again, ms | first | again |")
    print("|---|---:|---:|---:|---:|")
    for name in QUESTIONS:
        middle = {
            side: (
                statistics.median(one[name][0] for one in rounds),
                statistics.median(statistics.median(one[name][1:]) for one in rounds),
            )
            for side, rounds in taken.items()
        }
        ours, theirs = middle["lab"], middle["baseline"]
        print(
            f"| {name} | {theirs[0]:.0f} / {theirs[1]:.0f} | {ours[0]:.0f} / {ours[1]:.0f} "
            f"| {ours[0] / theirs[0]:.2f} × | {ours[1] / theirs[1]:.2f} × |"
        )


if __name__ == "__main__":
    main()
