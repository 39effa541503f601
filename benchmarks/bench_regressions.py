"""Processor time to check case lines, against nothing but `json.loads` over the same lines.

    python benchmarks/bench_regressions.py                  # 100,000 lines, five rounds
    python benchmarks/bench_regressions.py --lines 20000 --rounds 3

Four corpora: cases in order, the smallest cases that are, cases of which each breaks two rules, and a mix
with lines that are not JSON. The contenders take turns; the median of the rounds counts. The whole command,
from the start of Python to its exit, is measured beside them, with and without its three report files.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from quality_lab.regressions import check_cases

WORDS = ("quote", "rate", "baht", "transfer", "office", "payment", "receipt", "network", "wallet", "courier")
MOST = 3.0  # times json.loads


def smallest(number: int) -> dict[str, Any]:
    """Return a case with nothing in it that could be left out."""
    return {
        "recordType": "tool_call_regression_case",
        "id": number,
        "proposalId": None,
        "toolCallId": None,
        "source": "tool_call_feedback",
        "toolName": "x",
        "label": "bad_args",
        "title": "t",
        "input": {"toolName": "x", "args": None},
        "expected": {"behavior": "b"},
        "context": {},
        "status": "active",
        "createdByAdminId": None,
        "createdAt": 1_781_003_600,
        "updatedAt": 1_781_003_600,
    }


def whole(number: int, chance: random.Random) -> dict[str, Any]:
    """Return a case as upstream exports it, of about 1,200 bytes."""

    def text(count: int) -> str:
        return " ".join(chance.choices(WORDS, k=count))

    tool = chance.choice(("compute_exchange_quote", "create_exchange_order", "offer_booking_link"))
    fingerprint = f"schema_fix:rag_reply:{tool}:bad_args"
    return {
        **smallest(number),
        "proposalId": number // 3 + 1,
        "toolCallId": number,
        "toolName": tool,
        "title": f"REG: Tighten args for {tool}",
        "input": {
            "source": "rag_reply",
            "toolName": tool,
            "args": {"asset": "USDT", "amount": chance.randrange(20_000), "amountMode": "target_thb"},
            "feedback": {"label": "bad_args", "note": text(8)},
        },
        "expected": {
            "behavior": text(12),
            "proposalKind": "schema_fix",
            "actionItems": [text(6), text(6), text(6)],
        },
        "context": {
            "proposal": {
                "id": number // 3 + 1,
                "fingerprint": fingerprint,
                "title": text(4),
                "summary": text(8),
                "rationale": [text(6), text(6)],
            },
            "exampleIndex": 0,
            "feedback": {"id": number, "createdAt": 1_781_000_450},
            "toolCall": {
                "id": number,
                "conversationId": number // 5 + 1,
                "contactId": None,
                "messageId": None,
                "outboundQueueId": None,
                "result": {"rate": 32.6, "display": text(6)},
                "error": False,
                "cycle": 0,
                "toolCallIndex": 0,
                "latencyMs": None,
                "createdAt": 1_781_000_120,
            },
        },
        "createdByAdminId": 3,
    }


def corpora(count: int) -> dict[str, list[bytes]]:
    """Return *count* lines of each kind, the same ones each time."""
    chance = random.Random(1)
    fine = [whole(number, chance) for number in range(1, count + 1)]
    broken = [{**case, "input": {**case["input"], "args": [1]}, "createdAt": "then"} for case in fine]
    lines = [encoded(case) for case in fine]
    mixed = [
        line if number % 10 else (encoded(broken[number]) if number % 20 else b"oops" + line)
        for number, line in enumerate(lines)
    ]
    return {
        "cases in order": lines,
        "smallest cases": [encoded(smallest(number)) for number in range(1, count + 1)],
        "each breaks two rules": [encoded(case) for case in broken],
        "every tenth broken": mixed,
    }


def encoded(case: dict[str, Any]) -> bytes:
    return json.dumps(case, separators=(",", ":")).encode("ascii")


def loads(lines: list[bytes]) -> None:
    """Read each line and keep nothing."""
    for line in lines:
        try:
            json.loads(line)
        except ValueError:
            continue


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of *work*, with that of the processes it starts: neighbours do not count."""
    started = sum(os.times()[:4])
    work()
    return sum(os.times()[:4]) - started


def command(path: Path, *flags: str) -> None:
    """Run the whole command on *path*."""
    subprocess.run(
        [sys.executable, "-m", "quality_lab", "regressions", "--file", path, *flags],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )


def measure(name: str, lines: list[bytes], rounds: int, folder: Path) -> bool:
    """Print one row of the table; return whether checking stays within its bound."""
    path = folder / "cases.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    reports = [f"--out-{kind}={folder / kind}" for kind in ("json", "junit", "md")]
    contenders: dict[str, Callable[[], object]] = {
        "json.loads": lambda: loads(lines),
        "check": lambda: check_cases(lines),
        "command": lambda: command(path),
        "reports": lambda: command(path, *reports),
    }
    taken: dict[str, list[float]] = {contender: [] for contender in contenders}
    for _ in range(rounds):
        for contender, work in contenders.items():
            taken[contender].append(seconds(work))
    median = {contender: statistics.median(times) for contender, times in taken.items()}
    floor = median["json.loads"]
    ratios = " | ".join(
        f"{median[contender]:.2f} s, {median[contender] / floor:.2f} ×"
        for contender in ("check", "command", "reports")
    )
    size = sum(map(len, lines)) / len(lines)
    print(f"| {name} | {size:,.0f} | {floor:.2f} s | {ratios} |", flush=True)
    return median["check"] <= MOST * floor


def main() -> int:
    """Return 0 where every corpus is checked within its bound."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    print(f"{asked.lines:,} lines, median of {asked.rounds}, Python {platform.python_version()}\n")
    print("| lines | bytes each | json.loads | check_cases | the command | with three reports |")
    print("|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        within = [
            measure(name, lines, asked.rounds, Path(folder)) for name, lines in corpora(asked.lines).items()
        ]
    print(f"\ncheck_cases within {MOST:g} × json.loads: {'yes' if all(within) else 'NO'}")
    return 0 if all(within) else 1


if __name__ == "__main__":
    sys.exit(main())
