"""The most memory that a load ever holds, at several sizes of file.

    python benchmarks/bench_memory.py                         # 1,000,000 and 10,000,000 calls (9 GB of lines)
    python benchmarks/bench_memory.py --calls 200000

Target: under 1.2 GiB at any size. Each load runs in a process of its own, whose greatest resident size counts;
loads of the labels on a tenth of the calls follow into the same home.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import tempfile
from pathlib import Path

import make_lines
from bench_load import measured

LIMIT_MIB = 1.2 * 1024


def main() -> None:
    """Load files of the sizes asked for and print what it took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "quality-lab-bench")
    asked = parser.parse_args()
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}\n")
    print("| lines | | MB | seconds | processor | peak MiB | of the limit | database MB |")
    print("|---:|---|---:|---:|---:|---:|---:|---:|")
    for calls in asked.calls:
        folder = asked.folder / f"memory-{calls}"
        make_lines.make(folder, calls=calls, clean=False)
        home = folder / "home"
        shutil.rmtree(home, ignore_errors=True)
        for name in ("traces", "feedback"):
            lines = folder / f"{name}.jsonl"
            took = measured("load more", lines, home)
            database = (home / "data" / "quality.duckdb").stat().st_size
            print(
                f"| {took['lines']:,.0f} | {name} | {lines.stat().st_size / 1e6:,.0f} | {took['seconds']:.1f} "
                f"| {took['processor']:.1f} | {took['peak_mib']:.0f} | {took['peak_mib'] / LIMIT_MIB:.0%} "
                f"| {database / 1e6:,.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
