"""Write upstream-like exports of any size: traces as lines, and labels for a tenth of them.

    python benchmarks/make_lines.py --calls 1000000 --bad 0.001 DIR

gives DIR/traces.jsonl, DIR/traces-clean.jsonl (the same without the bad lines), DIR/feedback.jsonl and, as the last
line of standard output, how many bad lines there are. The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path

TOOLS = (
    "compute_exchange_quote",
    "check_exchange_verification",
    "create_exchange_order",
    "fetch_exchange_requisites",
    "verify_exchange_payment",
    "issue_exchange_payout",
    "get_exchange_business_info",
    "offer_booking_link",
)
LABELS = ("good_reply", "wrong_tool", "missing_tool", "bad_args", "other")
START = 1_777_852_800  # 4 May 2026, in epoch seconds
WORDS = "quote rate baht transfer office payment receipt network wallet courier order status morning evening".split()


def trace(number: int, chance: random.Random) -> str:
    """Return one trace line of about 880 bytes."""
    tool = TOOLS[min(int(chance.expovariate(0.45)), len(TOOLS) - 1)]
    text = " ".join(chance.choices(WORDS, k=70))
    result: object = {
        "direction": "USDT->THB",
        "amountFrom": chance.randrange(50, 20_000),
        "rate": 30 + chance.randrange(400) / 100,
        "display": text,
        "note": " ".join(chance.choices(WORDS, k=12)),
    }
    draw = chance.random()
    if draw < 0.02:
        result = {"error": f"no rate for network {number % 7}"}
    elif draw < 0.06:
        result = {"ok": False, "needsVerification": True, "status": "missing", "instructions": text}
    elif draw < 0.08:
        result = {}
    return json.dumps(
        {
            "id": number,
            "conversationId": number // 5 + 1,
            "contactId": number // 7 + 1 if number % 11 else None,
            "messageId": None,
            "outboundQueueId": None,
            "source": "rag_reply" if number % 4 else "llm_reply",
            "toolName": tool,
            "args": {"asset": "USDT", "amount": chance.randrange(50, 20_000), "amountMode": "target_thb", "why": text[:150]},
            "result": result,
            "error": draw > 0.99,
            "cycle": number % 3,
            "toolCallIndex": number % 5,
            "latencyMs": None,
            "createdAt": START + number * 2,
        },
        separators=(",", ":"),
    )


def bad(number: int, line: str) -> str:
    """Return *line* spoilt in one of seven ways."""
    return (
        line[: len(line) // 2],
        "oops",
        line.replace('"toolName":"', '"toolName":7,"was":"', 1),
        line.replace('"conversationId":', '"conversation":', 1),
        line.replace('"cycle":', '"cycle":"no","was":', 1),
        line.replace('"createdAt":', '"createdAt":"then","was":', 1),
        "[" + line + "]",
    )[number % 7]


def labels(calls: int, chance: random.Random) -> Iterator[str]:
    """Yield one feedback line for about every tenth call, in upstream's flat form."""
    for number in range(1, calls + 1, 10):
        seen = json.loads(trace(number, random.Random(number)))
        yield json.dumps(
            {
                "id": number // 10 + 1,
                "toolCallId": number,
                "adminId": chance.choice((3, 5, 8)),
                "label": chance.choices(LABELS, (60, 12, 6, 18, 4))[0],
                "note": " ".join(chance.choices(WORDS, k=8)),
                "feedbackCreatedAt": START + number * 2 + 3600,
                **{name: value for name, value in seen.items() if name not in ("id", "createdAt")},
                "toolCallCreatedAt": seen["createdAt"],
            },
            separators=(",", ":"),
        )


def main() -> None:
    """Write the files that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--bad", type=float, default=0.001)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    asked.folder.mkdir(parents=True, exist_ok=True)
    spoilt = 0
    with (
        (asked.folder / "traces.jsonl").open("w", encoding="utf-8", newline="\n") as every,
        (asked.folder / "traces-clean.jsonl").open("w", encoding="utf-8", newline="\n") as clean,
    ):
        for number in range(1, asked.calls + 1):
            line = trace(number, random.Random(number))
            if chance.random() < asked.bad:
                every.write(bad(spoilt, line) + "\n")
                spoilt += 1
            else:
                every.write(line + "\n")
                clean.write(line + "\n")
    with (asked.folder / "feedback.jsonl").open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(line + "\n" for line in labels(asked.calls, chance))
    print(spoilt)


if __name__ == "__main__":
    main()
