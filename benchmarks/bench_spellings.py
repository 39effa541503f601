"""Load the same calls as other programs write them: with blanks, more fields, fewer, fractions, other ends of lines.

    python benchmarks/bench_spellings.py                  # 200,000 calls, three rounds
    python benchmarks/bench_spellings.py --calls 50000

*as upstream writes them* is the yardstick. *singly* is what a load takes that has to look at every line by itself, here
since a letter of each is written as its escape. Each measurement is a fresh process and an empty home; spellings take
turns, medians count.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import make_lines
from bench_load import measured, medians


def compact(call: dict[str, Any]) -> str:
    """Return a call as upstream writes it."""
    return json.dumps(call, separators=(",", ":"), ensure_ascii=False)


def without(call: dict[str, Any]) -> dict[str, Any]:
    """Return a call without the fields of it that are null."""
    return {name: value for name, value in call.items() if value is not None}


SPELLINGS: dict[str, Callable[[dict[str, Any]], str]] = {
    "as upstream writes them": compact,
    "with blanks, as Python does": lambda call: json.dumps(call),
    "with a field that nobody knows": lambda call: compact(call | {"version": 2}),
    "without the fields that are null": lambda call: compact(without(call)),
    "with a fraction as latency": lambda call: compact(call | {"latencyMs": call["id"] % 4_000 + 0.125}),
    "with Windows ends of lines": lambda call: compact(call) + "\r",
    "singly": lambda call: compact(call).replace('"source":"', '"source":"\\u0061_', 1),
}


def spelt(lines: Path, spelling: Callable[[dict[str, Any]], str]) -> Iterator[str]:
    """Yield the calls of a file, each as a line."""
    with lines.open(encoding="utf-8") as file:
        for line in file:
            yield spelling(json.loads(line)) + "\n"


def main() -> None:
    """Take the measurements in turn and print their table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "quality-lab-bench")
    asked = parser.parse_args()
    folder = asked.folder / f"spellings-{asked.calls}"
    make_lines.make(folder, calls=asked.calls)
    files = {name: folder / f"{place}.jsonl" for place, name in enumerate(SPELLINGS)}
    for name, path in files.items():
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(spelt(folder / "traces-clean.jsonl", SPELLINGS[name]))
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in SPELLINGS}
    for _ in range(asked.rounds):
        for name, rounds in taken.items():
            rounds.append(measured("load", files[name], folder / "home"))
    assert len({one["calls"] for rounds in taken.values() for one in rounds}) == 1, taken
    print(
        f"{asked.calls:,} calls; {asked.rounds} rounds; {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}\n"
    )
    print("| calls written | seconds | against | processor | against |")
    print("|---|---:|---:|---:|---:|")
    for name, rounds in taken.items():
        print(f"| {name} | {medians(rounds, next(iter(taken.values())))} |")


if __name__ == "__main__":
    main()
