"""How long it takes to judge 50 expected calls against 50 made ones.

    python benchmarks/bench_matching.py

Each line is the median and the worst of 31 runs, in milliseconds of processor time; reading the rules is
timed apart, since a case is read once and judged as often as it is tried. The shapes are the ones that
cost most: one tool, so that every call could stand for every entry, and nothing that fits, so that the
best explanation is sought.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from quality_lab.matching import Run, judge_run, read_rules, recorded_calls

SIZE = 50
RUNS = 31


def made(tool: Callable[[int], str], args: Callable[[int], dict[str, Any]]) -> list[dict[str, Any]]:
    """Return 50 calls, a cycle each."""
    return [
        {"tool": tool(at), "args": args(at), "result": {"ok": True}, "error": False, "cycle": at}
        for at in range(SIZE)
    ]


def shapes() -> dict[str, tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Return what is timed, by name: ``expected`` and the calls."""
    dice = random.Random(7)

    def some(at: int) -> dict[str, Any]:
        return {"id": at, "q": f"text {at}", "at": {"day": at % 7, "hour": at % 24}, "tags": ["a", "b"]}

    def noise(_: int) -> dict[str, Any]:
        return {key: dice.randrange(3) for key in "abcdef"}

    def ruled(at: int) -> dict[str, Any]:
        return {
            "id": {"$approx": at, "$abs": 0.5},
            "q": {"$regex": f"text {at}"},
            "at": {"day": {"$one_of": [at % 7, 9]}, "hour": {"$type": "integer"}},
        }

    never = {"$approx": -9, "$abs": 1}
    backwards = [{"tool": "t", "args": some(at)} for at in reversed(range(SIZE))]
    return {
        "distinct tools, all fit": (
            {"mode": "exact", "calls": [{"tool": f"t{at}", "args": some(at)} for at in range(SIZE)]},
            made(lambda at: f"t{at}", some),
        ),
        "distinct tools, none fits": (
            {"mode": "exact", "calls": [{"tool": f"t{at}", "args": some(at + 1)} for at in range(SIZE)]},
            made(lambda at: f"t{at}", some),
        ),
        "one tool, subset, all fit": ({"calls": backwards}, made(lambda _: "t", some)),
        "one tool, subset, one is missing": (
            {"calls": [*backwards[:-1], {"tool": "t", "args": {"id": 99}}]},
            made(lambda _: "t", some),
        ),
        "one tool, subset, none fits": (
            {"calls": [{"tool": "t", "args": {**some(at), "q": "no"}} for at in range(SIZE)]},
            made(lambda _: "t", some),
        ),
        "one tool, subset, noise": (
            {"calls": [{"tool": "t", "args": {**noise(at), "g": 1}} for at in range(SIZE)]},
            made(lambda _: "t", noise),
        ),
        "one tool, rules, all fit": (
            {"calls": [{"tool": "t", "args": ruled(at)} for at in reversed(range(SIZE))]},
            made(lambda _: "t", some),
        ),
        "one tool, rules, none fits": (
            {"calls": [{"tool": "t", "args": {**ruled(at), "id": never}} for at in range(SIZE)]},
            made(lambda _: "t", some),
        ),
    }


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return median and worst of the runs, in milliseconds."""
    took = []
    for _ in range(RUNS):
        started = time.thread_time()
        work()
        took.append((time.thread_time() - started) * 1000)
    return statistics.median(took), max(took)


def main() -> None:
    """Time every shape and print a table."""
    print("| 50 against 50 | verdict | judge, median ms | worst ms | read rules, median ms |")
    print("|---|---|---:|---:|---:|")
    for name, (expected, calls) in shapes().items():
        print(f"| {name} | {row(expected, calls)} |")


def row(expected: dict[str, Any], calls: list[dict[str, Any]]) -> str:
    """Return what one shape took."""
    rules, run = read_rules(expected), Run(calls=recorded_calls(calls))
    verdict = judge_run(rules, run).verdict
    judging, worst = timed(lambda: judge_run(rules, run))
    reading, _ = timed(lambda: read_rules(expected))
    return f"{verdict} | {judging:.2f} | {worst:.2f} | {reading:.2f}"


if __name__ == "__main__":
    main()
