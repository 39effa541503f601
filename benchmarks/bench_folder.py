"""Load the same calls from one file and from a folder with a file for each.

    python benchmarks/bench_folder.py                     # 4,000 calls, three rounds

Each measurement is a fresh process and an empty home; both take turns, medians count. What a file costs beside its
lines should not depend on how many there are: *half as many files* tells.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import tempfile
from pathlib import Path

import make_lines
from bench_load import measured


def one_file_each(lines: Path, folder: Path, *, calls: int) -> Path:
    """Return *folder*, with a file for each of the first *calls* lines."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with lines.open(encoding="utf-8") as file:
        for number, line in zip(range(calls), file, strict=False):
            (folder / f"{number:06}.jsonl").write_text(line, encoding="utf-8")
    return folder


def main() -> None:
    """Take the measurements in turn and print their table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=4_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "quality-lab-bench")
    asked = parser.parse_args()
    work = asked.folder / f"folder-{asked.calls}"
    make_lines.make(work, calls=asked.calls, bad_share=0)
    one = work / "traces-clean.jsonl"
    paths = {
        "one file": one,
        "half as many files": one_file_each(one, work / "half", calls=asked.calls // 2),
        "a file each": one_file_each(one, work / "each", calls=asked.calls),
    }
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in paths}
    for _ in range(asked.rounds):
        for name, rounds in taken.items():
            rounds.append(measured("load", paths[name], work / "home"))
    print(
        f"{asked.calls:,} calls; {asked.rounds} rounds; {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}\n"
    )
    print("| | seconds | processor | ms of processor a file |")
    print("|---|---:|---:|---:|")
    first = statistics.median(each["processor"] for each in taken["one file"])
    for name, rounds in taken.items():
        seconds, processor = (
            statistics.median(each[what] for each in rounds) for what in ("seconds", "processor")
        )
        files = {"one file": 1, "half as many files": asked.calls // 2, "a file each": asked.calls}[name]
        cost = "" if files == 1 else f"{1000 * (processor - first) / files:.2f}"
        print(f"| {name} | {seconds:.2f} | {processor:.2f} | {cost} |")


if __name__ == "__main__":
    main()
