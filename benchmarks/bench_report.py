"""A quality report from notebook to page, against papermill's command and then nbconvert's on the same notebook.

    python benchmarks/bench_report.py                      # a lab of 10,000 calls, five rounds
    python benchmarks/bench_report.py --calls 100000 --rounds 3

*report* is `quality-lab report quality`, everything from the start of Python to its exit: the executed notebook, the
page, two summaries. *papermill, nbconvert* run the same template with the same parameters as two commands, one after
the other. They take turns; medians count; beside the seconds stands the processor time, kernels included. The page's
size stands below, and what it would fetch from elsewhere.

Targets: at most 0.8 × the two commands; a page under 6 MB that asks nothing of the network.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import make_lines
from bench_load import environment

from quality_lab.reports.templates import find_template

BESIDE = Path(sys.executable).parent  # where the commands lie
FETCHED = re.compile(r"""<(?:script|img|link|iframe|source)\b[^>]*?\b(?:src|href)=["'](?:https?:)?//[^"']+""")


def ours(home: Path, out: Path) -> list[list[str]]:
    """Return the command of the lab."""
    return [
        [sys.executable, "-m", "quality_lab", "--home", str(home), "report", "quality", "--out", str(out)]
    ]


def theirs(home: Path, out: Path) -> list[list[str]]:
    """Return the two commands that do the same."""
    template, executed = find_template(home, "quality").path, out / "report.ipynb"
    return [
        [
            str(BESIDE / "papermill"),
            str(template),
            str(executed),
            "-p",
            "home",
            str(home),
            "--no-progress-bar",
        ],
        [str(BESIDE / "jupyter-nbconvert"), "--to", "html", "--no-input", str(executed)],
    ]


def measured(commands: list[list[str]], out: Path) -> tuple[float, float]:
    """Return seconds and processor time of *commands*, one after the other, with *out* empty before."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    for command in commands:
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment(out.parent), check=False
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - start, spent


def main() -> None:
    """Make a lab, let the two take turns, and print their table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "quality-lab-bench")
    asked = parser.parse_args()
    folder = asked.folder / f"report-{asked.calls}"
    make_lines.make(folder, calls=asked.calls, clean=False)
    home = folder / "home"
    command = [sys.executable, "-m", "quality_lab", "--home", str(home), "load"]
    files = [folder / "traces.jsonl", folder / "feedback.jsonl"]
    subprocess.run([*command, *files], check=True, capture_output=True)
    contenders = {"papermill, nbconvert": theirs, "report": ours}
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for _ in range(asked.rounds):
        for name, rounds in taken.items():
            out = folder / ("ours" if name == "report" else "theirs")
            rounds.append(measured(contenders[name](home, out), out))
    print(
        f"{asked.calls:,} calls; {asked.rounds} rounds; {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}\n"
    )
    print("| | seconds | against | processor | against |")
    print("|---|---:|---:|---:|---:|")
    against = taken["papermill, nbconvert"]
    for name, rounds in taken.items():
        cells = []
        for at in (0, 1):
            middle, beside = (statistics.median(one[at] for one in some) for some in (rounds, against))
            cells += [f"{middle:.2f}", f"{middle / beside:.2f} ×"]
        print(f"| {name} | {' | '.join(cells)} |")
    (page,) = (folder / "ours").rglob("report.html")
    text = page.read_text("utf-8")
    print(
        f"\nthe page: {len(text.encode()) / 1e6:.2f} MB, {len(FETCHED.findall(text))} things fetched from elsewhere"
    )


if __name__ == "__main__":
    main()
