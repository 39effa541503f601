"""The three heavy questions against plain SQL for the same (baseline.sql), connection included.

    python benchmarks/bench_questions.py                              # 1,000,000 calls, 100,000 labels
    python benchmarks/bench_questions.py --calls 200000 --rounds 5

*baseline* opens the database, asks one statement of baseline.sql and fetches its rows. *lab* asks the same
question of an open lab: rates with their intervals, coverage, disputes, examples. *live* is the lab again with a
filter that leaves every row in (--since long ago), which takes the way of a filtered question. Contenders take
turns in one process; medians of milliseconds by the clock, and of processor time.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import make_lines

QUESTIONS = ("labels", "failing_tools", "proposals")


def contenders(home: Path) -> dict[str, dict[str, Callable[[], int]]]:
    """Return for each question what is measured: each asks and returns how many rows came."""
    import duckdb

    from quality_lab.lab import open_lab

    lab = open_lab(home)
    statements = (Path(__file__).with_name("baseline.sql")).read_text("utf-8").split("\n--\n")
    assert len(statements) == len(QUESTIONS)

    def plain(sql: str) -> Callable[[], int]:
        def ask() -> int:
            config = {"threads": 2}
            with duckdb.connect(str(lab.store.database), read_only=True, config=config) as connection:
                return len(connection.execute(sql).fetchall())

        return ask

    return {
        name: {
            "baseline": plain(sql),
            "lab": lambda name=name: len(getattr(lab, name)()),
            "live": lambda name=name: len(getattr(lab, name)(since="2020-01-01")),
        }
        for name, sql in zip(QUESTIONS, statements, strict=True)
    }


def main() -> None:
    """Load the lines once, ask in turns, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "quality-lab-bench")
    asked = parser.parse_args()
    folder = asked.folder / str(asked.calls)
    make_lines.make(folder, calls=asked.calls)
    home = folder / "home-of-questions"

    from quality_lab.lab import open_lab

    report = open_lab(home).load(folder / "traces.jsonl", folder / "feedback.jsonl")
    held = f"{report.store['tool_calls']:,} calls, {report.store['feedback']:,} labels"
    print(f"{held}; {asked.rounds} rounds; {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print("| question | baseline, ms | lab, ms | against | live, ms | against | processor: lab | live |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, asks in contenders(home).items():
        taken: dict[str, list[tuple[float, float]]] = {one: [] for one in asks}
        for ask in asks.values():
            assert ask() > 0, name  # once, so that nothing is compiled or read for the first time below
        for _ in range(asked.rounds):
            for one, ask in asks.items():
                start, before = time.perf_counter(), time.process_time()
                ask()
                taken[one].append((time.perf_counter() - start, time.process_time() - before))
        wall, processor = (
            {one: statistics.median(pair[which] for pair in pairs) for one, pairs in taken.items()}
            for which in (0, 1)
        )
        cells = [f"{wall['baseline'] * 1000:.0f}"]
        for one in ("lab", "live"):
            cells += [f"{wall[one] * 1000:.0f}", f"{wall[one] / wall['baseline']:.2f} ×"]
        cells += [f"{processor[one] / processor['baseline']:.2f} ×" for one in ("lab", "live")]
        print(f"| {name.replace('_', ' ')} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
