"""Three questions to a lab of a million calls and a hundred thousand labels, against `baseline.sql`.

    python benchmarks/bench_questions.py                         # 1,000,000 calls, seven rounds
    python benchmarks/bench_questions.py --calls 200000 --rounds 3
    python benchmarks/bench_questions.py --home HOME             # a lab that is there already

The baseline asks the same tables for counts alone, without intervals, denominators or filters. Opening the
database and closing it again is part of every answer. *lab* asks unfiltered, *filtered* for the calls of one source,
three quarters of them. A round is three fresh processes, one for each side; *first* is the first time that a process
asks, with whatever it has still to import, *again* the median of five more. Target: at most 1.5 × the baseline.
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


def lab(home: Path, **filters: str) -> dict[str, Callable[[], int]]:
    """Return for each question a function that asks the lab and says how many rows came."""
    from quality_lab.lab import open_lab

    asked = open_lab(home)

    def asking(name: str) -> Callable[[], int]:
        return lambda: len(getattr(asked, name)(**filters))

    return {name: asking(name) for name in QUESTIONS}


def filtered(home: Path) -> dict[str, Callable[[], int]]:
    """Return the same about the calls of one source."""
    return lab(home, source="rag_reply")


SIDES: dict[str, Callable[[Path], dict[str, Callable[[], int]]]] = {
    "baseline": baseline,
    "lab": lab,
    "filtered": filtered,
}


def child(side: str, home: Path) -> None:
    """Ask everything six times, and print the milliseconds as JSON: by the clock, and of the processor."""
    taken: dict[str, list[tuple[float, float]]] = {}
    for name, ask in SIDES[side](home).items():
        for _ in range(6):
            start, before = time.perf_counter(), time.process_time()
            assert ask() > 0
            spent = (time.perf_counter() - start, time.process_time() - before)
            taken.setdefault(name, []).append((spent[0] * 1000, spent[1] * 1000))
    print(json.dumps(taken))


def main() -> None:
    """Make the lab where it is not there yet, let the two sides take turns, and print their table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "quality-lab-bench")
    parser.add_argument("--home", type=Path, help="ask this lab, and make none")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(asked.child, asked.home)
        return
    folder, home = asked.folder / str(asked.calls), asked.home
    if home is None:
        make_lines.make(folder, calls=asked.calls)
        home = folder / "home-of-questions"
        command = [sys.executable, "-m", "quality_lab", "--home", str(home), "load"]
        files = [folder / "traces.jsonl", folder / "feedback.jsonl"]
        subprocess.run([*command, *files], check=True, capture_output=True)
    taken: dict[str, list[dict[str, list[tuple[float, float]]]]] = {side: [] for side in SIDES}
    for _ in range(asked.rounds):
        for side, rounds in taken.items():
            asking = [sys.executable, __file__, "--child", side, "--home", str(home)]
            done = subprocess.run(
                asking, check=True, capture_output=True, text=True, env=environment(asked.folder)
            )
            rounds.append(json.loads(done.stdout.splitlines()[-1]))
    print(
        f"{home if asked.home else f'{asked.calls:,} calls, {asked.calls // 10:,} labels'}; {asked.rounds} rounds; "
        f"{os.cpu_count()} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}\n"
    )
    print("| question | | first, ms | again, ms | against | processor, ms | against |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for name in QUESTIONS:
        against: tuple[float, float] | None = None
        for side, rounds in taken.items():
            first = statistics.median(one[name][0][0] for one in rounds)
            again, spent = (
                statistics.median(statistics.median(pair[at] for pair in one[name][1:]) for one in rounds)
                for at in (0, 1)
            )
            against = against or (again, spent)
            print(
                f"| {name} | {side} | {first:.0f} | {again:.0f} | {again / against[0]:.2f} × "
                f"| {spent:.0f} | {spent / against[1]:.2f} × |"
            )


if __name__ == "__main__":
    main()
